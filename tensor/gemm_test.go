package tensor

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/noether-go/noether/asm"
	"github.com/noether-go/noether/internal/asmtest"
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
)

// gemmCase is one call of Sgemm.
type gemmCase struct {
	transA, transB   bool
	m, n, k          int
	alpha, beta      float32
	padA, padB, padC int // leading dimensions beyond the row lengths
}

func (c gemmCase) String() string {
	return fmt.Sprintf("transA=%v transB=%v m=%d n=%d k=%d alpha=%v beta=%v pads=%d,%d,%d",
		c.transA, c.transB, c.m, c.n, c.k, c.alpha, c.beta, c.padA, c.padB, c.padC)
}

// gemmNaN surrounds operands: it must neither be used nor be overwritten.
var gemmNaN = math.Float32frombits(0x7fc12345)

// guardedMatrix returns a random matrix [rows, cols] whose gaps, and some values
// after the end, are NaN.
func guardedMatrix(rng *rand.Rand, rows, cols, ld int) []float32 {
	x := make([]float32, rows*ld+17)
	for i := range x {
		x[i] = gemmNaN
	}
	for i := range rows {
		for j := range cols {
			x[i*ld+j] = float32(rng.NormFloat64())
		}
	}
	return x
}

// operands returns A, B, C and their leading dimensions. With beta = 0 C holds
// nothing but NaN.
func (c gemmCase) operands(rng *rand.Rand) (a []float32, lda int, b []float32, ldb int, out []float32, ldc int) {
	ra, ca, rb, cb := c.m, c.k, c.k, c.n
	if c.transA {
		ra, ca = ca, ra
	}
	if c.transB {
		rb, cb = cb, rb
	}
	lda, ldb, ldc = max(1, ca+c.padA), max(1, cb+c.padB), c.n+c.padC
	a, b = guardedMatrix(rng, ra, ca, lda), guardedMatrix(rng, rb, cb, ldb)
	if c.beta == 0 {
		out = guardedMatrix(rng, c.m, 0, ldc)
	} else {
		out = guardedMatrix(rng, c.m, c.n, ldc)
	}
	return
}

// gemmProblem is a case with its operands and the result of gonum's float32
// product.
type gemmProblem struct {
	gemmCase
	a, b, start, want []float32
	lda, ldb, ldc     int
	rowNorm, colNorm  []float64 // of alpha*op(A) and op(B), Euclidean
}

func (c gemmCase) problem(rng *rand.Rand) *gemmProblem {
	p := &gemmProblem{gemmCase: c}
	p.a, p.lda, p.b, p.ldb, p.start, p.ldc = c.operands(rng)
	p.want = append(p.want, p.start...)
	if c.beta == 0 {
		for i := range c.m {
			clear(p.want[i*p.ldc : i*p.ldc+c.n]) // gonum multiplies by beta
		}
	}
	ta, tb := blas.NoTrans, blas.NoTrans
	if c.transA {
		ta = blas.Trans
	}
	if c.transB {
		tb = blas.Trans
	}
	blas32.Implementation().Sgemm(ta, tb, c.m, c.n, c.k, c.alpha, p.a, p.lda, p.b, p.ldb, c.beta, p.want, p.ldc)
	norms := func(x []float32, ld, rows int, trans bool) []float64 {
		y := make([]float64, rows)
		for i := range y {
			for k := range c.k {
				v := float64(0)
				if trans {
					v = float64(x[k*ld+i])
				} else {
					v = float64(x[i*ld+k])
				}
				y[i] += v * v
			}
			y[i] = math.Sqrt(y[i])
		}
		return y
	}
	p.rowNorm, p.colNorm = norms(p.a, p.lda, c.m, c.transA), norms(p.b, p.ldb, c.n, !c.transB)
	return p
}

// check computes the problem and compares it with gonum's result. Both round
// their sums, so they may differ by twice the bound of the error of a sum. It is
// relative to the sum of the magnitudes, which the product of the norms bounds
// (Cauchy and Schwarz).
func (p *gemmProblem) check(t *testing.T, team *Team) {
	t.Helper()
	out := append([]float32(nil), p.start...)
	Sgemm(team, p.transA, p.transB, p.m, p.n, p.k, p.alpha, p.a, p.lda, p.b, p.ldb, p.beta, out, p.ldc)
	for i := range out {
		r, col := i/p.ldc, i%p.ldc
		if r >= p.m || col >= p.n {
			if math.Float32bits(out[i]) != math.Float32bits(gemmNaN) {
				t.Fatalf("%v: wrote outside of C, row %d column %d", p, r, col)
			}
			continue
		}
		magnitude := math.Abs(float64(p.alpha)) * p.rowNorm[r] * p.colNorm[col]
		if p.beta != 0 {
			magnitude += math.Abs(float64(p.beta) * float64(p.start[i]))
		}
		if d := math.Abs(float64(out[i]) - float64(p.want[i])); !(d <= 2*float64(p.k+4)*0x1p-24*magnitude) {
			t.Fatalf("%v: C[%d][%d] = %v, gonum has %v", p, r, col, out[i], p.want[i])
		}
	}
}

// gemmCPU returns a device that is closed at the end of the test.
func gemmCPU(t *testing.T, threads int) *CPU {
	t.Helper()
	d, err := NewCPU(threads)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	return d
}

// gemmShapes reach every path: tiles and their edges, A and B in place and
// packed (leading dimensions that are multiples of 4 KiB, a B beyond gemmInPlace,
// transposes), several blocks of k, several groups of strips and panels, more
// strips than are packed at a time, scalar products.
var gemmShapes = [][3]int{
	{1, 1, 1}, {1, 40, 7}, {40, 1, 7}, {3, 3, 0}, {14, 32, 16}, {15, 33, 17}, {13, 31, 5}, {29, 65, 64},
	{32, 300, 32}, {300, 32, 32}, {32, 32, 900}, {2, 3, 5000}, {100, 100, 100}, {31, 128, 1030},
	{130, 1024, 9}, {400, 70, 60}, {57, 680, 680},
	{3100, 1, 384}, {45, 37, 300}, {9, 2, 9000}, {13, 1030, 33},
}

func TestSgemm(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	factors := [][2]float32{{1, 0}, {-0.5, 2}, {1, 1}}
	var problems []*gemmProblem
	for _, s := range gemmShapes {
		for trans := range 4 {
			if s[0]*s[1]*s[2] > 1<<24 && trans != 0 {
				continue // the race detector makes portable code slow
			}
			c := gemmCase{transA: trans&1 != 0, transB: trans&2 != 0, m: s[0], n: s[1], k: s[2]}
			if (s[0]+s[1]+trans)%2 == 0 {
				c.padA, c.padB, c.padC = 3, 1, 5
			}
			for i, f := range factors {
				// The oracle is slow: large products go without some pairs.
				if s[0]*s[1]*s[2] < 1<<19 || i == trans%len(factors) {
					c.alpha, c.beta = f[0], f[1]
					problems = append(problems, c.problem(rng))
				}
			}
		}
	}
	checkProblems(t, problems)
}

// TestSgemmRandom draws shapes, transposes, factors and strides.
func TestSgemmRandom(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	factors := []float32{0, 1, 1, 1, -1, 0.25, 3}
	var problems []*gemmProblem
	for range 150 {
		side := []int{5, 40, 120}[rng.IntN(3)]
		c := gemmCase{
			transA: rng.IntN(2) == 1, transB: rng.IntN(2) == 1,
			m: 1 + rng.IntN(side), n: 1 + rng.IntN(side), k: rng.IntN(2 * side),
			alpha: factors[rng.IntN(len(factors))], beta: factors[rng.IntN(len(factors))],
			padA: rng.IntN(4), padB: rng.IntN(4), padC: rng.IntN(4),
		}
		if rng.IntN(8) == 0 {
			c.padB = 1024 - c.n%1024 // B aliased, unless transposed
		}
		problems = append(problems, c.problem(rng))
	}
	checkProblems(t, problems)
}

// checkProblems computes all problems at every level, on one or two threads.
func checkProblems(t *testing.T, problems []*gemmProblem) {
	teams := []*Team{newTeam(t, 1), newTeam(t, 2)}
	asmtest.EachLevel(t, func(t *testing.T) {
		for i, p := range problems {
			p.check(t, teams[i%2])
		}
	})
}

// TestSgemmZeroFactors: what is multiplied by zero is not read.
func TestSgemmZeroFactors(t *testing.T) {
	team := newTeam(t, 2)
	nan := []float32{gemmNaN, gemmNaN, gemmNaN, gemmNaN}
	c := []float32{1, 2, 3, 4}
	Sgemm(team, false, false, 2, 2, 2, 0, nan, 2, nan, 2, 0.5, c, 2)
	sameBits(t, []float32{0.5, 1, 1.5, 2}, c, "alpha = 0")
	Sgemm(team, false, true, 2, 2, 2, 0, nil, 2, nil, 2, 0, c, 2)
	sameBits(t, []float32{0, 0, 0, 0}, c, "alpha = beta = 0")
	copy(c, nan)
	Sgemm(team, true, false, 2, 2, 2, 2, []float32{1, 0, 0, 1}, 2, []float32{1, 2, 3, 4}, 2, 0, c, 2)
	sameBits(t, []float32{2, 4, 6, 8}, c, "beta = 0")
	Sgemm(team, false, false, 0, 2, 2, 1, nil, 2, nil, 2, 0, nil, 2)
	Sgemm(team, false, false, 2, 0, 2, 1, nil, 2, nil, 0, 0, nil, 0)
	Sgemm(team, false, false, 2, 2, 0, 1, nil, 0, nil, 2, 1, c, 2)
	sameBits(t, []float32{2, 4, 6, 8}, c, "nothing to do")
}

// eachCache runs f at each level, with a second-level cache that is small or unknown and with a large one.
func eachCache(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	defer func(before int) { secondLevelCache = before }(secondLevelCache)
	for _, size := range []int{0, gemmLargeCache} {
		secondLevelCache = size
		t.Run(fmt.Sprintf("cache=%d", size), func(t *testing.T) { asmtest.EachLevel(t, f) })
	}
}

// TestSgemmThreads demands the same bits of any number of threads and with either cache. The last two shapes
// have enough panels for workers to pack B for themselves, of three threads all of A as
// well, of five parts of it; with a large cache the B of the last one stays in place.
func TestSgemmThreads(t *testing.T) {
	results := make(map[string][]float32)
	eachCache(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(3, 4))
		teams := []*Team{newTeam(t, 1), newTeam(t, 3)}
		if !testing.Short() {
			teams = append(teams, newTeam(t, 2), newTeam(t, 5))
		}
		for _, s := range [][3]int{{33, 400, 29}, {32, 32, 1500}, {60, 100, 530}, {64, 1024, 12}, {50, 1300, 160}, {50, 800, 530}} {
			for trans := range 4 {
				c := gemmCase{transA: trans&1 != 0, transB: trans&2 != 0, m: s[0], n: s[1], k: s[2]}
				a, lda, b, ldb, out, ldc := c.operands(rng)
				for _, c.alpha = range []float32{1, 1.5} {
					key := fmt.Sprint(asm.Active(), c)
					for _, team := range teams {
						Sgemm(team, c.transA, c.transB, c.m, c.n, c.k, c.alpha, a, lda, b, ldb, 0, out, ldc)
						if results[key] == nil {
							results[key] = slices.Clone(out)
						}
						sameBits(t, results[key], out, "%v with %d threads", c, team.Size())
					}
				}
			}
		}
	})
}

// TestGemmEvenBlocks: what is packed at a time is within its bound but for a strip or a panel, 2048 rows of 512 steps
// fit it, and no block is much lower than another.
func TestGemmEvenBlocks(t *testing.T) {
	asmtest.EachLevel(t, func(t *testing.T) {
		for m := 1; m < 9000; m += 31 {
			j := gemmJob{m: m, n: m, k: 1024, batch: 1, lda: 1024, ldb: 1024, ldc: m, alpha: 2, transB: true}
			j.plan(1)
			if j.packA {
				checkEven(t, j.strips, j.packedStrips, j.mr*j.kc, gemmPackedA)
			}
			if j.packB && !j.ownB {
				checkEven(t, j.panels, j.packedPanels, j.nr*j.kc, gemmPackedB)
			}
		}
		j := gemmJob{m: 2048, n: 2048, k: 2048, batch: 1, lda: 2048, ldb: 2048, ldc: 2048, alpha: 1}
		if j.plan(2); j.packA && j.packedStrips != j.strips {
			t.Errorf("%d of %d strips of 2048 rows are packed at a time", j.packedStrips, j.strips)
		}
	})
}

// TestGemmStripHeights: two workers share an even number of tiles where operands are in place, and products of few steps
// have strips as high as the level allows.
func TestGemmStripHeights(t *testing.T) {
	asmtest.EachLevel(t, func(t *testing.T) {
		for m := 16; m < 200; m += 3 {
			for n := 40; n < 100; n += 7 {
				j := gemmJob{m: m, n: n, k: 40, batch: 1, lda: 40, ldb: n, ldc: n, alpha: 1}
				if j.plan(2); !j.packA && !j.packB && j.strips*j.panels%2 == 1 && j.strips*j.panels < gemmOddTiles {
					t.Errorf("%d x %d x %d: %d strips of %d panels", m, n, j.k, j.strips, j.panels)
				}
			}
		}
		j := gemmJob{m: 32, n: 1856, k: 3, batch: 1, lda: 3, ldb: 1856, ldc: 1856, alpha: 1}
		if j.plan(1); !j.packB && j.strips != ceilDiv(j.m, asm.StripRows(j.k)) {
			t.Errorf("%d strips of 32 rows and 3 steps", j.strips)
		}
	})
}

// TestGemmScratch: what products pack has grown to whole huge pages once it has a good part of one, and is given back
// with the team.
func TestGemmScratch(t *testing.T) {
	team, err := NewTeam(1)
	if err != nil {
		t.Fatal(err)
	}
	defer team.Close()
	const n = 640
	x, pages := make([]float32, n*n), 0
	for _, size := range []int{20, n, 100} {
		Sgemm(team, true, true, size, size, size, 2, x, n, x, n, 0, make([]float32, n*n), n)
		for _, b := range []block{team.gemm.a, team.gemm.b} {
			if bytes := 4 * len(b.values); bytes > hugePage/8 && bytes%hugePage != 0 {
				t.Errorf("products of side %d: %d bytes of packed matrices", size, bytes)
			} else {
				pages += bytes / hugePage
			}
		}
	}
	if pages == 0 {
		t.Error("no product has packed as much as a huge page holds a good part of")
	}
	team.Close()
	if team.gemm.a.values != nil || team.gemm.b.values != nil {
		t.Error("a closed team has packed matrices")
	}
}

// TestGemmInPlace: a large cache makes a B in whole lines stay in place where it would else be packed, small ones and
// those at a distance of pages aside.
func TestGemmInPlace(t *testing.T) {
	eachCache(t, func(t *testing.T) {
		tile := gemmJob{batch: 1}
		if tile.planTiles(1); !tile.high() {
			t.Skip("strips are low")
		}
		large := secondLevelCache > 0
		aligned, err := allocate(1 << 10)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			m, n, k, ldb, offset int
			small, large         bool // B is packed
		}{
			{512, 384, 512, 384, 0, false, false},
			{512, 512, 512, 512, 0, true, false},
			{512, 512, 512, 512, 4, true, true},
			{512, 500, 512, 500, 0, true, true},
			{512, 500, 512, 512, 0, true, false},
			{512, 512, 1536, 512, 0, true, true},
			{127, 512, 1536, 512, 0, true, false},
			{128, 512, 1536, 512, 0, true, true},
			{47, 512, 1536, 512, 0, false, false},
			{127, 1024, 512, 1024, 0, true, true},
			{127, 1600, 2400, 1600, 0, true, false},
			{127, 1616, 2600, 1616, 0, true, true},
		} {
			j := gemmJob{m: c.m, n: c.n, k: c.k, batch: 1, b: aligned[c.offset:], lda: c.k, ldb: c.ldb, ldc: c.n, alpha: 1}
			want := c.small
			if large {
				want = c.large
			}
			if j.plan(1); j.packB != want {
				t.Errorf("%+v: packs B: %v", c, j.packB)
			}
		}
		j := gemmJob{m: 512, n: 512, k: 512, batch: 2, b: aligned, lda: 512, ldb: 512, ldc: 512, strideB: 512*512 + 4, alpha: 1}
		if j.plan(1); !j.packB {
			t.Error("a second B between lines stays in place")
		}
	})
}

// TestGemmTransposedInPlace: high strips of a transposed A are packed only where its rows share few sets of the caches
// and there are many panels, or where they share one.
func TestGemmTransposedInPlace(t *testing.T) {
	asmtest.EachLevel(t, func(t *testing.T) {
		j := gemmJob{transA: true, batch: 1, alpha: 1}
		if j.planTiles(1); !j.high() {
			t.Skip("strips are low")
		}
		for _, c := range []struct {
			rows, panels int
			packs        bool
		}{
			{512, 32, false}, {512, 33, true}, {768, 32, false}, {1024, 4, true}, {500, 400, false},
		} {
			j.m, j.n, j.k = c.rows, c.panels*j.nr, 4096
			j.lda, j.ldb, j.ldc = j.m, j.n, j.n
			if j.plan(2); j.packA != c.packs {
				t.Errorf("%d rows, %d panels: packs A: %v", c.rows, c.panels, j.packA)
			}
		}
	})
}

func checkEven(t *testing.T, n, block, size, most int) {
	t.Helper()
	blocks := ceilDiv(n, block)
	if last := n - (blocks-1)*block; block < 1 || (block-1)*size >= most || last < block-blocks {
		t.Errorf("blocks of %d of %d, %d values each, the last of %d", block, n, size, last)
	}
}

// TestGemmNext: what is fetched during a pass is what the worker packs next, each row of
// it with one strip.
func TestGemmNext(t *testing.T) {
	defer func(before int) { secondLevelCache = before }(secondLevelCache)
	secondLevelCache = 0 // or B might stay in place
	const m, n, k, q1 = 60, 2000, 1100, 7
	for _, alpha := range []float32{1, 2} { // A in place, and packed
		j := gemmJob{m: m, n: n, k: k, batch: 1, lda: k, ldb: n, ldc: n, alpha: alpha, b: make([]float32, k*n)}
		for i := range j.b {
			j.b[i] = float32(i)
		}
		j.plan(1)
		if !j.ownB {
			continue // low strips that are packed
		}
		check := func(x gemmPass, p, q int) {
			t.Helper()
			next := j.next(&x, q1)
			if q == q1 {
				if next != nil {
					t.Fatalf("alpha %v, %+v: B from %v on is fetched, want nothing", alpha, x, next[0])
				}
				return
			}
			row := p
			for s := range 5 {
				ahead := j.ahead(next, x.steps, s, 5)
				if want := float32(row*n + q*j.nr); ahead.X[0] != want || ahead.LD != n {
					t.Fatalf("alpha %v, %+v: strip %d fetches B from %v on, want %v", alpha, x, s, ahead.X[0], want)
				}
				row += ahead.Rows
			}
			if row != p+x.steps {
				t.Fatalf("alpha %v, %+v: rows up to %d are fetched, want %d", alpha, x, row, p+x.steps)
			}
		}
		first := gemmPass{q0: 2, q1: 4, steps: j.kc}
		if j.blocked {
			check(first, 0, 4)
			check(gemmPass{q0: 4, q1: q1, steps: j.kc}, 0, q1)
		} else {
			check(first, j.kc, 2)
			check(gemmPass{q0: 2, q1: 4, p0: 2 * j.kc, steps: k - 2*j.kc}, 0, 4)
			check(gemmPass{q0: 4, q1: q1, p0: 2 * j.kc, steps: k - 2*j.kc}, 0, q1)
		}
	}
}

func sameBits(t *testing.T, want, got []float32, format string, args ...any) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d values, want %d", fmt.Sprintf(format, args...), len(got), len(want))
	}
	for i := range want {
		if math.Float32bits(want[i]) != math.Float32bits(got[i]) {
			t.Fatalf("%s: value %d is %v, want %v", fmt.Sprintf(format, args...), i, got[i], want[i])
		}
	}
}

// gemmReference computes GemmArgs in float64, with the magnitude that bounds the
// error of each value before the epilogue.
func gemmReference(g *GemmArgs, c []float32) (want, derivative, magnitude []float64) {
	want, derivative, magnitude = make([]float64, len(c)), make([]float64, len(c)), make([]float64, len(c))
	at := func(x []float32, trans bool, ld, i, j int) float64 {
		if trans {
			i, j = j, i
		}
		return float64(x[i*ld+j])
	}
	for p := range max(1, g.Batch) {
		for i := range g.M {
			for j := range g.N {
				o := p*g.StrideC + i*g.LDC + j
				var s, abs float64
				if g.Accumulate {
					s = float64(c[o])
					abs = math.Abs(s)
				}
				if !g.Bias.IsZero() {
					x := float64(g.Bias.Host()[i])
					s += x
					abs += math.Abs(x)
				}
				for k := range g.K {
					x := at(g.A.Host()[p*g.StrideA:], g.TransA, g.LDA, i, k) * at(g.B.Host()[p*g.StrideB:], g.TransB, g.LDB, k, j)
					s += x
					abs += math.Abs(x)
				}
				want[o], magnitude[o] = s, abs
				switch g.Epilogue {
				case ReLUEpilogue:
					want[o] = max(s, 0)
				case SinEpilogue:
					w := float64(g.Omega)
					want[o], derivative[o] = math.Sin(w*s), w*math.Cos(w*s)
					magnitude[o] *= math.Abs(w)
				}
			}
		}
	}
	return want, derivative, magnitude
}

// TestGemmDevice runs CPU.Gemm over batches, shared operands, bias and
// epilogues at every level and compares with float64 and between one and two
// threads.
func TestGemmDevice(t *testing.T) {
	asmtest.EachLevel(t, func(t *testing.T) {
		one, two := gemmCPU(t, 1), gemmCPU(t, 2)
		rng := rand.New(rand.NewPCG(5, 6))
		random := func(n int) []float32 {
			x := make([]float32, n)
			for i := range x {
				x[i] = float32(rng.NormFloat64())
			}
			return x
		}
		for i, s := range [][4]int{
			{1, 32, 200, 20}, {3, 17, 45, 33}, {5, 30, 64, 40}, {2, 8, 600, 3}, {7, 5, 5, 5}, {0, 20, 90, 10}, {2, 40, 40, 0},
			{2, 95, 90, 95}, // enough for a matrix unit
		} {
			for variant := range 16 {
				g := &GemmArgs{
					TransA: variant&1 != 0, TransB: variant&2 != 0, Accumulate: variant&4 != 0,
					Batch: s[0], M: s[1], N: s[2], K: s[3],
					LDA: s[3] + 1, LDB: s[2] + 2, LDC: s[2] + 3,
					Epilogue: Epilogue((i + variant) % 3), Omega: 3,
				}
				ra, rb := g.M, g.K
				if g.TransA {
					ra, g.LDA = g.K, g.M+1
				}
				if g.TransB {
					rb, g.LDB = g.N, g.K+2
				}
				g.StrideA, g.StrideB, g.StrideC = ra*g.LDA+5, rb*g.LDB+1, g.M*g.LDC+7
				if variant%3 == 1 {
					g.StrideA = 0
				}
				if variant%5 == 1 {
					g.StrideB = 0
				}
				batch := max(1, g.Batch)
				g.A, g.B = HostBuffer(random(ra*g.LDA+5+batch*g.StrideA)), HostBuffer(random(rb*g.LDB+1+batch*g.StrideB))
				if variant&8 != 0 {
					g.Bias = HostBuffer(random(g.M))
				}
				start := random(batch * g.StrideC)
				derivative := variant&1 == 0 && g.Epilogue == SinEpilogue
				want, wantDerivative, magnitude := gemmReference(g, start)
				name := fmt.Sprintf("sizes %v variant %d", s, variant)
				run := func(d *CPU) (c, der []float32) {
					c, der = append([]float32(nil), start...), append([]float32(nil), start...)
					args := *g
					args.C = HostBuffer(c)
					if derivative {
						args.Derivative = HostBuffer(der)
					}
					d.Gemm(&args)
					return
				}
				c, der := run(one)
				for p := range c {
					r, col := p%g.StrideC/g.LDC, p%g.StrideC%g.LDC
					if r >= g.M || col >= g.N {
						if c[p] != start[p] || der[p] != start[p] {
							t.Fatalf("%s: wrote outside of C or Derivative, value %d", name, p)
						}
						continue
					}
					bound := (float64(g.K+8)*magnitude[p] + 4) * 0x1p-24
					if d := math.Abs(float64(c[p]) - want[p]); !(d <= bound) {
						t.Fatalf("%s: value %d is %v, want %v", name, p, c[p], want[p])
					}
					if !derivative && der[p] != start[p] {
						t.Fatalf("%s: wrote a derivative that was not asked for", name)
					}
					if d := math.Abs(float64(der[p]) - wantDerivative[p]); !(d <= bound*float64(g.Omega)) && derivative {
						t.Fatalf("%s: derivative %d is %v, want %v", name, p, der[p], wantDerivative[p])
					}
				}
				c2, der2 := run(two)
				sameBits(t, c, c2, "%s on two threads", name)
				sameBits(t, der, der2, "derivative of %s on two threads", name)
			}
		}
	})
}

// TestGemmGroups: more columns of B, and more matrices of a batch, than are packed at a time. Each row of A, or
// column of B, is zero but for one step, so that C has the values of the other operand there.
func TestGemmGroups(t *testing.T) {
	const k = 512
	step := func(q, i int) int { return (37*i + q) % k }
	numbered := func(n int) []float32 {
		x := make([]float32, n)
		for i := range x {
			x[i] = float32(i % 99991)
		}
		return x
	}
	asmtest.EachLevel(t, func(t *testing.T) {
		d := gemmCPU(t, 2)
		check := func(g *GemmArgs, want func(q, i, j int) float32) {
			t.Helper()
			c := make([]float32, g.Batch*g.M*g.N)
			g.K, g.C, g.LDC, g.StrideC = k, HostBuffer(c), g.N, g.M*g.N
			d.Gemm(g)
			for at, got := range c {
				q, i, j := at/g.StrideC, at/g.N%g.M, at%g.N
				if got != want(q, i, j) {
					t.Fatalf("product %d of %d x %d: C[%d][%d] = %v, want %v", q, g.M, g.N, i, j, got, want(q, i, j))
				}
			}
		}
		{
			const batch, m, n, ldb = 2, 16, gemmPackedB/k + 100, 5 << 10
			a, b := make([]float32, batch*m*k), numbered(batch*k*ldb)
			for at := range batch * m {
				a[at*k+step(at/m, at%m)] = 1
			}
			check(&GemmArgs{Batch: batch, M: m, N: n, A: HostBuffer(a), LDA: k, StrideA: m * k, B: HostBuffer(b), LDB: ldb, StrideB: k * ldb},
				func(q, i, j int) float32 { return b[(q*k+step(q, i))*ldb+j] })
		}
		{
			const batch, m, n, lda = 3, gemmPackedA/k/3 + 20, 100, 1 << 10
			a, b := numbered(batch*m*lda), make([]float32, batch*k*n)
			for q := range batch {
				for j := range n {
					b[(q*k+step(q, j))*n+j] = 1
				}
			}
			check(&GemmArgs{Batch: batch, M: m, N: n, A: HostBuffer(a), LDA: lda, StrideA: m * lda, B: HostBuffer(b), LDB: n, StrideB: k * n},
				func(q, i, j int) float32 { return a[(q*m+i)*lda+step(q, j)] })
		}
	})
}

// TestGemmAllocs: a product allocates once, and never again if none is larger.
func TestGemmAllocs(t *testing.T) {
	team := newTeam(t, 2)
	rng := rand.New(rand.NewPCG(7, 8))
	for i := range 8 {
		c := gemmCase{transA: i&1 != 0, transB: i&2 != 0, m: 70, n: 200 << (i & 4), k: 90}
		a, lda, b, ldb, out, ldc := c.operands(rng)
		if n := testing.AllocsPerRun(2, func() {
			Sgemm(team, c.transA, c.transB, c.m, c.n, c.k, 2, a, lda, b, ldb, 0, out, ldc)
		}); n != 0 {
			t.Errorf("%v: %v allocations", c, n)
		}
	}
	d := gemmCPU(t, 2)
	x := HostBuffer(make([]float32, 64*1024))
	y := HostBuffer(make([]float32, 64*1024))
	z := HostBuffer(make([]float32, 64*1024))
	g := &GemmArgs{TransB: true, M: 32, N: 256, K: 16, A: x, LDA: 16, B: x, LDB: 16, C: y, LDC: 256, Batch: 4, StrideC: 32 * 256,
		Bias: x, Epilogue: SinEpilogue, Omega: 10, Derivative: z}
	if n := testing.AllocsPerRun(2, func() { d.Gemm(g) }); n != 0 {
		t.Errorf("CPU.Gemm: %v allocations", n)
	}
}

// TestGemmRefuses: sizes that do not fit panic with *Error.
func TestGemmRefuses(t *testing.T) {
	team := newTeam(t, 1)
	d := gemmCPU(t, 1)
	x := make([]float32, 24)
	hx := HostBuffer(x)
	const huge = math.MaxInt/2 + 1000 // twice that wraps around
	args := func(f func(g *GemmArgs)) func() {
		return func() {
			g := &GemmArgs{M: 2, N: 3, K: 4, A: hx, LDA: 4, B: hx, LDB: 3, C: HostBuffer(make([]float32, 6)), LDC: 3}
			f(g)
			d.Gemm(g)
		}
	}
	for name, f := range map[string]func(){
		"negative m":      func() { Sgemm(team, false, false, -1, 1, 1, 1, x, 1, x, 1, 0, x, 1) },
		"small lda":       func() { Sgemm(team, false, false, 2, 3, 4, 1, x, 3, x, 3, 0, x, 3) },
		"small lda, T":    func() { Sgemm(team, true, false, 2, 3, 4, 1, x, 1, x, 3, 0, x, 3) },
		"small ldb":       func() { Sgemm(team, false, false, 2, 3, 4, 1, x, 4, x, 2, 0, x, 3) },
		"small ldc":       func() { Sgemm(team, false, false, 2, 3, 4, 1, x, 4, x, 3, 0, x, 2) },
		"short a":         func() { Sgemm(team, false, false, 2, 3, 4, 1, x[:7], 4, x, 3, 0, x, 3) },
		"short b":         func() { Sgemm(team, false, false, 2, 3, 4, 1, x, 4, x[:11], 3, 0, x, 3) },
		"short c":         func() { Sgemm(team, false, false, 2, 3, 4, 1, x, 4, x, 3, 0, x[:5], 3) },
		"short bias":      args(func(g *GemmArgs) { g.Bias = HostBuffer(x[:1]) }),
		"shared C":        args(func(g *GemmArgs) { g.Batch = 2 }),
		"negative stride": args(func(g *GemmArgs) { g.Batch, g.StrideA, g.StrideC = 2, -1, 6 }),
		"short batch":     args(func(g *GemmArgs) { g.Batch, g.StrideC = 2, 6 }),
		"epilogue":        args(func(g *GemmArgs) { g.Epilogue = SinEpilogue + 1 }),
		"no derivative":   args(func(g *GemmArgs) { g.Derivative = hx }),
		"short derivative": args(func(g *GemmArgs) {
			g.Epilogue, g.Derivative = SinEpilogue, HostBuffer(x[:5])
		}),
		"lda beyond an int":         func() { Sgemm(team, false, false, 3, 3, 4, 1, x, huge, x, 3, 0, x, 3) },
		"lda beyond an int, T":      func() { Sgemm(team, true, false, 2, 3, 3, 1, x, huge, x, 3, 0, x, 3) },
		"ldb beyond an int":         func() { Sgemm(team, false, false, 2, 3, 3, 1, x, 4, x, huge, 0, x, 3) },
		"ldc beyond an int":         func() { Sgemm(team, false, false, 3, 3, 4, 1, x, 4, x, 3, 0, x, huge) },
		"stride of A beyond an int": args(func(g *GemmArgs) { g.Batch, g.StrideA, g.StrideC, g.C = 3, huge, 6, hx }),
		"stride of B beyond an int": args(func(g *GemmArgs) { g.Batch, g.StrideB, g.StrideC, g.C = 3, huge, 6, hx }),
		"stride of C beyond an int": args(func(g *GemmArgs) { g.Batch, g.StrideC = 3, huge }),
		"device memory":             args(func(g *GemmArgs) { g.A = DeviceBuffer(4096, 24) }),
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if _, ok := recover().(*Error); !ok {
					t.Fatal("no panic with *Error")
				}
			}()
			f()
		})
	}
}
