// Command train trains a network that learns its own symmetries and leaves a
// directory with its weights, its metrics and a report.
//
//	go run ./train                                    # generated (synthetic) digits, offline
//	go run ./train -preset mnist6-180 -download       # MNIST
//	go run ./train -set conv.partial=false            # full equivariance, to compare
//	go run ./train -resume runs/DIRECTORY             # after Ctrl-C, a crash or kill -9
//	go run ./train sweep -seeds 3 PRESET...           # several runs, and a table
//	go run ./train eval runs/DIRECTORY                # the accuracy of what was trained
//	go run ./train inspect runs/DIRECTORY -out DIR    # what it has learned about symmetry
//	go run ./train export runs/DIRECTORY net.onnx     # for other programs
//
// A run is described by a configuration: a preset (-list shows them), whose
// values a TOML file (-config) and single assignments (-set key=value) replace.
//
// The run directory holds config.toml, metrics.jsonl (a line per epoch),
// result.json, last.safetensors, best.safetensors, state.safetensors (for
// -resume), report.html and rotation.svg. Each is replaced as a whole or not at
// all.
//
// Standard output carries the result, standard error the log and the progress
// bar. The program ends with 0 when the run is complete, 1 when it failed, 2 when
// flags or configuration cannot be used, and 130 when it was interrupted; go run
// turns all but 0 into 1.
//
// docs/command-line.md describes every flag, key and file.
package main
