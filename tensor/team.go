package tensor

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// Task is work over a range of items that a Team shares out. Do runs the items
// lo <= i < hi; worker, 0 <= worker < Size, is the same for no two calls that
// run at the same time and so may index scratch memory. Which worker gets
// which items is left to chance: a result must not depend on it.
type Task interface {
	Do(lo, hi, worker int)
}

// maxTeam bounds the size of a team: beyond it lies a typing error, not a
// machine.
const maxTeam = 1024

const (
	// idleBeforePark is how long a worker spins for the next job before it
	// sleeps. Waking a sleeping goroutine costs 50-100 us, so the gap between
	// two kernels of a training step must be shorter than this.
	idleBeforePark = 1500 * time.Microsecond

	// pausesPerLook is the number of PAUSE instructions between two looks at
	// the generation counter.
	pausesPerLook = 4

	// looksPerClock is the number of looks between two readings of the clock,
	// which are also the moments when a spinning worker lets other goroutines
	// have its processor.
	looksPerClock = 256

	// looksPerYield is the number of looks after which a caller that waits for
	// its workers lets other goroutines run: where there are fewer processors
	// than workers, one of those is the worker waited for.
	looksPerYield = 256

	// spinBeforeNap is how long a caller spins for its workers before it sleeps
	// between looks, nap at a time: by then other programs have the processor
	// that a worker needs, and spinning would keep another one from it.
	spinBeforeNap = time.Millisecond
	nap           = 50 * time.Microsecond
)

// opened is the bit of Team.state that says that a job may be joined; the bits
// below count the workers at it.
const opened = 1 << 32

// lineSize separates what different processors write: a cache line, twice,
// because the prefetcher fetches lines in pairs.
const lineSize = 128

// Team is a fixed number of workers that share the items of a job. The caller
// of For is worker 0; the others are goroutines that live until Close. Between
// jobs they spin on a generation counter and, when nothing came for 1.5 ms,
// sleep. A job allocates nothing and costs well under a microsecond while the
// workers are awake.
//
// A job is run by those workers that come in time: one that is still waking up
// when the items have run out is not waited for. Each worker begins with a part
// of the items that is its own in every job of that length, so that data which
// several jobs use stay in its caches, and then helps the others.
//
// A Team is used by one goroutine at a time.
type Team struct {
	size    int
	idle    time.Duration // before a worker sleeps
	workers []*worker
	exited  sync.WaitGroup
	busy    atomic.Bool
	closed  atomic.Bool
	gemm    gemmState // of Sgemm and CPU.Gemm, whose workers these are

	// The job: written by For before it opens state, read by workers that
	// joined. failed and failure hold the first panic of a worker.
	task    Task
	n       int
	chunk   int
	shares  []share // one for each worker
	failed  atomic.Bool
	failure any

	_          [lineSize]byte
	generation atomic.Uint64 // one more for each job: what idle workers look at
	_          [lineSize - 8]byte
	state      atomic.Int64 // opened + number of workers at the job
	_          [lineSize - 8]byte
	asleep     atomic.Int32 // number of workers that sleep or are about to
	_          [lineSize - 4]byte
}

// share is the part of a job's chunks with which one worker begins.
type share struct {
	next atomic.Int64 // the next chunk to be claimed
	end  int64
	_    [lineSize - 16]byte
}

// worker is one goroutine of a team.
type worker struct {
	id     int
	seen   uint64 // generation last looked at
	inTask bool   // a call of Task.Do has not returned

	// asleep goes from 0 to 1 when the worker is about to sleep and back by
	// whoever ends that; if that is the team, it also sends one token to wake.
	asleep atomic.Bool
	wake   chan struct{}
	_      [lineSize]byte
}

// NewTeam returns a team of size workers, the caller of For included. The size
// must be within 1..1024; more than there are processors helps nobody.
func NewTeam(size int) (*Team, error) {
	if size < 1 || size > maxTeam {
		return nil, fmt.Errorf("tensor: a team of %d threads: the number of threads must be within 1..%d", size, maxTeam)
	}
	return startTeam(size, idleBeforePark), nil
}

// startTeam is NewTeam with another time before workers sleep.
func startTeam(size int, idle time.Duration) *Team {
	t := &Team{size: size, idle: idle, shares: make([]share, size)}
	for id := 1; id < size; id++ {
		w := &worker{id: id, wake: make(chan struct{}, 1)}
		t.workers = append(t.workers, w)
		t.exited.Add(1)
		go t.work(w)
	}
	return t
}

// Size returns the number of workers, the caller of For included.
func (t *Team) Size() int { return t.size }

// For runs task over the items 0 <= i < n and returns when all are done. Items
// are claimed chunk at a time by whichever worker is free; with one worker, or
// when one chunk holds all, the caller runs Do(0, n, 0) itself.
//
// A panic in a worker stops the handing out of items and is raised again, with
// its value, in the caller once all workers have stopped.
//
// For panics with *Error when n < 0 or chunk < 1, after Close, and when called
// while another For of the team runs: from inside a task, where the scratch
// memory of the worker is in use, or from a second goroutine.
func (t *Team) For(n, chunk int, task Task) {
	if n < 0 || chunk < 1 {
		panic(&Error{"Team.For", fmt.Sprintf("%d items in chunks of %d", n, chunk)})
	}
	if !t.busy.CompareAndSwap(false, true) {
		panic(&Error{"Team.For", "called inside a task of the same team, or by two goroutines at once"})
	}
	if t.closed.Load() {
		t.busy.Store(false)
		panic(&Error{"Team.For", "the team is closed"})
	}
	if t.size == 1 || n <= chunk {
		defer t.busy.Store(false)
		if n > 0 {
			task.Do(0, n, 0)
		}
		return
	}

	t.task, t.n, t.chunk = task, n, chunk
	chunks, begin := (n-1)/chunk+1, 0
	for w := range t.shares {
		// The caller's share is the largest: it is the first to begin.
		end := min(chunks, begin+(chunks-begin+t.size-w-1)/(t.size-w))
		t.shares[w].next.Store(int64(begin))
		t.shares[w].end = int64(end)
		begin = end
	}
	t.state.Add(opened)
	t.generation.Add(1)
	if t.asleep.Load() != 0 {
		t.rouse(chunks - 1)
	}
	returned := false
	defer func() { t.finish(returned) }()
	t.run(0)
	returned = true
}

// finish closes the job, waits for the workers that joined it and passes on
// what one of them panicked with, unless the caller itself panics.
func (t *Team) finish(returned bool) {
	if !returned {
		t.stop()
	}
	var since time.Time
	for looks, s := 1, t.state.Add(-opened); s != 0; looks, s = looks+1, t.state.Load() {
		spin(1)
		switch {
		case looks%looksPerYield != 0:
		case since.IsZero():
			since = time.Now()
		case time.Since(since) > spinBeforeNap:
			time.Sleep(nap)
			looks = looksPerYield - 1 // look once, then sleep again
		default:
			runtime.Gosched()
		}
	}
	v := t.failure
	failed := t.failed.Load()
	t.task, t.failure = nil, nil
	t.failed.Store(false)
	t.busy.Store(false)
	if failed && returned {
		panic(v)
	}
}

// run claims chunks and runs them until none is left, first those of the
// worker's own share.
func (t *Team) run(worker int) {
	task, n, chunk := t.task, t.n, t.chunk
	for at, w := 0, worker; at < t.size; at, w = at+1, w+1 {
		if w == t.size {
			w = 0
		}
		for s := &t.shares[w]; s.next.Load() < s.end; {
			c := s.next.Add(1) - 1
			if c >= s.end {
				break
			}
			lo, hi := int(c)*chunk, n
			if n-lo > chunk {
				hi = lo + chunk
			}
			task.Do(lo, hi, worker)
		}
	}
}

// stop hands out no more chunks.
func (t *Team) stop() {
	for w := range t.shares {
		t.shares[w].next.Store(t.shares[w].end)
	}
}

// rouse wakes up to n sleeping workers.
func (t *Team) rouse(n int) {
	for _, w := range t.workers {
		if n == 0 {
			return
		}
		if w.asleep.Load() && w.asleep.CompareAndSwap(true, false) {
			w.wake <- struct{}{} // never blocks: one token for each sleep
			n--
		}
	}
}

// work is the life of a worker.
func (t *Team) work(w *worker) {
	closing := false
	defer func() {
		if closing {
			t.exited.Done()
		} else {
			go t.work(w) // a task ended the goroutine with runtime.Goexit
		}
	}()
	for {
		t.await(w)
		if closing = t.closed.Load(); closing {
			return
		}
		t.join(w)
	}
}

// await returns when a generation has begun that the worker has not seen.
func (t *Team) await(w *worker) {
	var idle time.Time
	for looks := 1; ; looks++ {
		if g := t.generation.Load(); g != w.seen {
			w.seen = g
			return
		}
		spin(pausesPerLook)
		if looks%looksPerClock != 0 {
			continue
		}
		if idle.IsZero() {
			idle = time.Now()
		} else if time.Since(idle) > t.idle {
			t.sleep(w)
			idle = time.Time{}
		} else {
			runtime.Gosched()
		}
	}
}

// sleep parks the worker until For or Close wakes it. No wake-up is lost: the
// worker announces its sleep before it looks at the generation for the last
// time, and For begins a generation before it looks for sleepers.
func (t *Team) sleep(w *worker) {
	w.asleep.Store(true)
	t.asleep.Add(1)
	defer t.asleep.Add(-1)
	if t.generation.Load() != w.seen && w.asleep.CompareAndSwap(true, false) {
		return // a job came in between, and nobody has sent a token
	}
	<-w.wake
}

// join takes part in the present job, if there still is one.
func (t *Team) join(w *worker) {
	if t.state.Add(1) < opened {
		t.state.Add(-1)
		return
	}
	defer t.leave(w)
	w.inTask = true
	t.run(w.id)
	w.inTask = false
}

// leave ends the worker's part in a job and notes what went wrong in it.
func (t *Team) leave(w *worker) {
	v := recover()
	if w.inTask {
		if v == nil {
			v = &Error{"Team.For", "a task called runtime.Goexit"}
		}
		if t.failed.CompareAndSwap(false, true) {
			t.failure = v
		}
		t.stop()
		w.inTask = false
	}
	t.state.Add(-1)
}

// spin pauses n times. It is a function of its own, neither inlined nor a leaf,
// so that its prologue lets the garbage collector stop a spinning goroutine:
// the assembly of pause cannot be interrupted by the scheduler.
//
//go:noinline
func spin(n uint32) { pause(n) }

// Close ends the workers, gives the memory of packed matrices back and returns when
// that is done. Closing again does nothing. Close panics with *Error inside a task of the team.
func (t *Team) Close() {
	if !t.busy.CompareAndSwap(false, true) {
		panic(&Error{"Team.Close", "called while a job runs"})
	}
	defer t.busy.Store(false)
	if !t.closed.Swap(true) {
		t.generation.Add(1)
		t.rouse(len(t.workers))
	}
	t.exited.Wait()
	t.gemm.release()
}
