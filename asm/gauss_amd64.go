//go:build !noasm

package asm

// sgaussAVX512 and sgaussAVX2 are gaussFactors for 1 <= e <= 3.
//
//go:noescape
func sgaussAVX512(m, n, e int, a *float32, b *float32, ldb int, c *float32, distance, ldc int)

//go:noescape
func sgaussAVX2(m, n, e int, a *float32, b *float32, ldb int, c *float32, distance, ldc int)

// gaussFrequencies is the most frequencies of a call, which the columns of a vector then take some microseconds for.
const gaussFrequencies = 256

func gaussFactors(m, n, e int, a []float32, b []float32, ldb int, c []float32, distance, ldc int) {
	if e < 1 || e > 3 || level != AVX512 && level != AVX2 {
		gaussFactorsOf(m, n, e, a, b, ldb, c, distance, ldc)
		return
	}
	count := 2*e + 1
	for f := 0; f < m; f += gaussFrequencies {
		rows := min(gaussFrequencies, m-f)
		cols := stripColumns(3*rows+count, avx512NR)
		for j := 0; j < n; j += cols {
			gaussColumns(rows, min(cols, n-j), e, a[f*count:], b[j:], ldb, c[f*ldc+j:], distance, ldc)
		}
	}
}

// gaussColumns is gaussFactors for so much as one call of a kernel may take.
//
//go:noinline
func gaussColumns(m, n, e int, a []float32, b []float32, ldb int, c []float32, distance, ldc int) {
	if level == AVX512 {
		sgaussAVX512(m, n, e, &a[0], &b[0], ldb, &c[0], distance, ldc)
	} else {
		sgaussAVX2(m, n, e, &a[0], &b[0], ldb, &c[0], distance, ldc)
	}
}
