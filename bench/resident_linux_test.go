package bench

import (
	"bytes"
	"os"
	"runtime/debug"
	"strconv"
	"testing"
)

// peak watches the highest resident memory of the process.
type peak struct{ known bool }

// resetPeak returns unused memory to the system and begins to watch. Only a
// process that has run no other benchmark shows what this one takes, since what
// an earlier one left behind may still be there.
func resetPeak(b *testing.B) peak {
	debug.FreeOSMemory()
	err := os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) // proc(5): resets VmHWM
	if err != nil {
		b.Log("peak-MiB is not reported: ", err)
	}
	return peak{err == nil}
}

// report adds the metric peak-MiB.
func (p peak) report(b *testing.B) {
	if !p.known {
		return
	}
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		b.Fatal(err)
	}
	_, rest, _ := bytes.Cut(status, []byte("VmHWM:"))
	words := bytes.Fields(rest)
	if len(words) == 0 {
		b.Fatal("VmHWM is not in /proc/self/status")
	}
	kib, err := strconv.Atoi(string(words[0]))
	if err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(kib)/1024, "peak-MiB")
}
