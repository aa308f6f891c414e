//go:build race

// Package race says whether the race detector is built in. Its reports make
// buffers escape to the heap, so tests of allocation hold without it only.
package race

// Enabled says whether the race detector is built in.
const Enabled = true
