// Command gonum measures gonum's SGEMM: it takes a case per line, such as
//
//	gemm m=512 n=512 k=512 transa=0 transb=0 seconds=0.05
//
// and answers with the tail of a line in the format of Go's benchmarks. It uses
// as many threads as GOMAXPROCS says. gonum is a module that go.mod names, so
// nothing has to be installed.
package main

import (
	"bufio"
	"fmt"
	"os"
	"runtime/debug"
	"time"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/gonum"
)

func main() {
	version := "of unknown version"
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, d := range info.Deps {
			if d.Path == "gonum.org/v1/gonum" {
				version = d.Version
			}
		}
	}
	fmt.Println("ready: gonum", version)
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		if err := answer(in.Text()); err != nil {
			fmt.Println("error:", err)
		}
	}
}

func answer(line string) error {
	var m, n, k, transA, transB int
	var seconds float64
	if _, err := fmt.Sscanf(line, "gemm m=%d n=%d k=%d transa=%d transb=%d seconds=%g", &m, &n, &k, &transA, &transB, &seconds); err != nil {
		return err
	}
	a, b, c := values(m*k), values(k*n), values(m*n)
	ta, lda := blas.NoTrans, k
	if transA == 1 {
		ta, lda = blas.Trans, m
	}
	tb, ldb := blas.NoTrans, n
	if transB == 1 {
		tb, ldb = blas.Trans, k
	}
	product := func() { gonum.Implementation{}.Sgemm(ta, tb, m, n, k, 1, a, lda, b, ldb, 0, c, n) }
	product()
	start, times := time.Now(), 0
	for {
		product()
		times++
		if elapsed := time.Since(start); elapsed.Seconds() >= seconds {
			fmt.Printf("%d %.1f ns/op\n", times, float64(elapsed.Nanoseconds())/float64(times))
			return nil
		}
	}
}

func values(n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(uint32(i)*2654435761%1000)/500 - 1
	}
	return x
}
