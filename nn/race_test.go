//go:build race

package nn_test

// raceEnabled: the detector's reports make buffers escape to the heap, so
// allocations say nothing.
const raceEnabled = true
