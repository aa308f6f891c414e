// Package bench holds the benchmarks of the engine. They are its tests, so
//
//	go test ./bench -run '^$' -bench 'Conv/case=rotmnist1'
//
// measures one, and so do the names that follow (a part may be any regular
// expression):
//
//	Sgemm/impl=amx/threads=1/m=1024/n=1024/k=1024           GFLOP/s, and the share of the FMA peak
//	Elementwise/op=sin/impl=avx512/n=65536                  sin, exp, log, relu, adam
//	Siren/pass=forward|forward+backward/positions=3136/threads=2
//	Conv/case=rotmnist1/algorithm=auto/pass=forward|backward|all/threads=1
//	TrainStep/preset=rotmnist-se2-8-partial/batch=64/threads=2   with the peak of resident memory
//	Infer/preset=rotmnist-se2-8-partial/batch=1/threads=2
//
// The sizes stand in package cases. Package compare runs them against other
// software, and package report makes BENCHMARKS.md of what that measured; see
// the README of this folder.
package bench
