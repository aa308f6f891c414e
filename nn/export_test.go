package nn

// Shares reports whether two maps have the same memory.
func (m *Map) Shares(with *Map) bool { return m.shares(with) }
