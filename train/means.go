package main

import (
	"flag"
	"fmt"
	"runtime"
)

// means are the flags of where data come from and what computes, which training
// and the commands share.
type means struct {
	data     string
	download bool
	device   string
	threads  int
}

func (m *means) declare(f *flag.FlagSet) {
	f.StringVar(&m.data, "data", "", "`directory` of the data files (default $NOETHER_DATA, then the user cache directory)")
	f.BoolVar(&m.download, "download", false, "fetch missing data files first")
	f.StringVar(&m.device, "device", "cpu", "where to compute: cpu")
	f.IntVar(&m.threads, "threads", runtime.GOMAXPROCS(0), "CPU `threads`; results do not depend on it")
}

func (m *means) check() error {
	if m.threads < 1 || m.threads > 1024 {
		return usageError{fmt.Errorf("-threads is %d; allowed: 1 to 1024", m.threads)}
	}
	return nil
}
