package tensor

// Address returns where a host buffer lies, for tests of alignment.
func Address(b Buffer) uintptr { return address(b.host) }
