package tensor

import "fmt"

// ReserveWorkspace makes the workspace of every worker at least n values long.
// Like the sizes of an arena it is reserved when a layer is bound, so that a pass
// allocates nothing. The error says how many bytes were wanted, or that the device
// is closed.
func (d *CPU) ReserveWorkspace(n int) error {
	threads := d.Threads()
	switch {
	case d.closed:
		return errClosed
	case n < 0:
		return fmt.Errorf("tensor: a workspace of %d values (%d bytes) for each of %d threads: the number is negative", n, 4*int64(n), threads)
	case n > maxValues/threads-alignment:
		return fmt.Errorf("tensor: a workspace of %d values (%.3g bytes) for each of %d threads: more than can be addressed", n, 4*float64(n), threads)
	}
	n = roundUp(n)
	if n <= d.workspace.Len()/threads {
		return nil
	}
	// One block for all workers, so that it is large enough for huge pages.
	larger, err := d.Alloc(n * threads)
	if err != nil {
		return err
	}
	d.Free(d.workspace)
	d.workspace = larger
	return nil
}

// Workspace returns the memory of a worker, 64-byte aligned, which all Tasks that
// run on this device have in common: its contents matter only within one call of
// Do. A later ReserveWorkspace may move it.
func (d *CPU) Workspace(worker int) []float32 {
	n := d.workspace.Len() / d.Threads()
	return d.workspace.Host()[worker*n : (worker+1)*n : (worker+1)*n]
}
