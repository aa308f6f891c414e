// Package stream gives counter-based random streams. A stream is a function of
// (seed, name, step) alone, so a resumed run draws the numbers that the
// undisturbed run would have drawn, and no stream depends on how often another
// was read.
package stream

import (
	"encoding/binary"
	"math/rand/v2"
)

// Stream is a ChaCha8 generator keyed by (seed, name, step). The zero value is
// not ready: call Seed first. A Stream is not safe for concurrent use.
type Stream struct {
	rand.ChaCha8
}

// New returns the stream of (seed, name, step).
func New(seed uint64, name string, step uint64) *Stream {
	s := new(Stream)
	s.Seed(seed, name, step)
	return s
}

// Seed moves s to the start of the stream of (seed, name, step). It allocates
// nothing.
func (s *Stream) Seed(seed uint64, name string, step uint64) {
	const (
		offset = 0xcbf29ce484222325 // FNV-1a, 64 bits
		prime  = 0x100000001b3
	)
	lo, hi := uint64(offset), uint64(offset)
	for i := range len(name) {
		lo = (lo ^ uint64(name[i])) * prime
		hi = (hi ^ uint64(name[len(name)-1-i])) * prime
	}
	var key [32]byte
	binary.LittleEndian.PutUint64(key[0:], seed)
	binary.LittleEndian.PutUint64(key[8:], step)
	binary.LittleEndian.PutUint64(key[16:], lo)
	binary.LittleEndian.PutUint64(key[24:], hi)
	s.ChaCha8.Seed(key)
}

// Float64 returns the next number in [0, 1), a multiple of 2^-53.
func (s *Stream) Float64() float64 { return float64(s.Uint64()>>11) * 0x1p-53 }

// IntN returns the next integer in [0, n), without bias. It panics if n <= 0.
func (s *Stream) IntN(n int) int {
	if n <= 0 {
		panic("stream: IntN needs n > 0")
	}
	// Rejection keeps the distribution exact; the loop nearly always runs once.
	limit := -uint64(n) % uint64(n)
	for {
		if v := s.Uint64(); v >= limit {
			return int(v % uint64(n))
		}
	}
}

// Shuffle permutes n items by Fisher and Yates' algorithm.
func (s *Stream) Shuffle(n int, swap func(i, j int)) {
	for i := n - 1; i > 0; i-- {
		swap(i, s.IntN(i+1))
	}
}

// Normal returns the next standard normal number (Box and Muller's polar form
// is avoided: it would consume a random number of draws).
func (s *Stream) Normal() float64 {
	u, v := s.Float64(), s.Float64()
	return boxMuller(u, v)
}
