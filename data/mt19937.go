package data

// mt19937 is the Mersenne Twister of 32 bits (Matsumoto and Nishimura, "Mersenne
// Twister", ACM TOMACS 8(1), 1998), the generator of PyTorch on CPUs.
type mt19937 struct {
	state [624]uint32
	next  int // of state to be given out
}

func newMT19937(seed uint32) *mt19937 {
	m := &mt19937{next: 624}
	m.state[0] = seed
	for i := 1; i < len(m.state); i++ {
		last := m.state[i-1]
		m.state[i] = 1812433253*(last^last>>30) + uint32(i)
	}
	return m
}

func (m *mt19937) uint32() uint32 {
	if m.next == len(m.state) {
		m.twist()
	}
	x := m.state[m.next]
	m.next++
	x ^= x >> 11
	x ^= x << 7 & 0x9d2c5680
	x ^= x << 15 & 0xefc60000
	return x ^ x>>18
}

func (m *mt19937) twist() {
	const n, shift = len(m.state), 397
	for i := range n {
		x := m.state[i]&0x80000000 | m.state[(i+1)%n]&0x7fffffff
		m.state[i] = m.state[(i+shift)%n] ^ x>>1
		if x&1 == 1 {
			m.state[i] ^= 0x9908b0df
		}
	}
	m.next = 0
}

// torchPermutation returns the permutation of 0, 1, ..., n-1 that PyTorch's
// randperm makes on a CPU with a generator of that seed.
func torchPermutation(n int, seed uint32) []int {
	random := newMT19937(seed)
	order := upTo(n)
	for i := range max(0, n-1) {
		j := i + int(random.uint32()%uint32(n-i))
		order[i], order[j] = order[j], order[i]
	}
	return order
}
