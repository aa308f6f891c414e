package tensor

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// taskFunc is a Task made of a function.
type taskFunc func(lo, hi, worker int)

func (f taskFunc) Do(lo, hi, worker int) { f(lo, hi, worker) }

// newTeam returns a team that is closed at the end of the test.
func newTeam(t testing.TB, size int) *Team {
	t.Helper()
	team, err := NewTeam(size)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(team.Close)
	return team
}

func TestNewTeamRejectsSizes(t *testing.T) {
	for _, size := range []int{-1, 0, maxTeam + 1} {
		_, errTeam := NewTeam(size)
		_, errCPU := NewCPU(size)
		for _, err := range []error{errTeam, errCPU} {
			if err == nil || !strings.Contains(err.Error(), "1..1024") || !strings.Contains(err.Error(), fmt.Sprint(size)) {
				t.Errorf("size %d: error %v does not name the size and the range", size, err)
			}
		}
	}
}

// Every item is run exactly once, by a worker of its own, for item counts
// around the chunk boundaries.
func TestForCoversItemsOnce(t *testing.T) {
	for _, size := range []int{1, 2, 3, 8} {
		team := newTeam(t, size)
		for _, n := range []int{0, 1, 2, 3, 7, 8, 9, 63, 64, 65, 1000} {
			for _, chunk := range []int{1, 2, 3, 8, 64, 2000} {
				hits := make([]atomic.Int32, n)
				inUse := make([]atomic.Bool, size)
				team.For(n, chunk, taskFunc(func(lo, hi, worker int) {
					if !inUse[worker].CompareAndSwap(false, true) {
						t.Errorf("worker %d runs twice at once", worker)
					}
					if lo >= hi || hi > n || size > 1 && n > chunk && (lo%chunk != 0 || hi-lo > chunk) {
						t.Errorf("size %d, n %d, chunk %d: range [%d:%d)", size, n, chunk, lo, hi)
					}
					for i := lo; i < hi; i++ {
						hits[i].Add(1)
					}
					inUse[worker].Store(false)
				}))
				for i := range hits {
					if hits[i].Load() != 1 {
						t.Fatalf("size %d, n %d, chunk %d: item %d ran %d times", size, n, chunk, i, hits[i].Load())
					}
				}
			}
		}
	}
}

// Plain writes of the workers are visible to the caller after For, and the
// caller's to the workers: the race detector watches.
func TestForOrdersMemory(t *testing.T) {
	team := newTeam(t, 4)
	x := make([]int, 257)
	rounds := 2000
	if testing.Short() {
		rounds = 200
	}
	for round := range rounds {
		team.For(len(x), 3, taskFunc(func(lo, hi, _ int) {
			for i := lo; i < hi; i++ {
				x[i]++
			}
		}))
		for i := range x {
			if x[i] != round+1 {
				t.Fatalf("round %d: item %d has %d", round, i, x[i])
			}
		}
	}
}

// Workers that sleep almost at once, and jobs that come at about that time, hit
// the race between the two. Two items that wait for each other make a lost
// wake-up a hang, not just a slow job.
func TestNoLostWakeup(t *testing.T) {
	team := startTeam(2, 0)
	t.Cleanup(team.Close)
	rounds := 3000
	if testing.Short() {
		rounds = 300
	}
	start := time.Now()
	for round := 0; round < rounds && time.Since(start) < 3*time.Second; round++ {
		for pause := time.Now(); time.Since(pause) < time.Duration(round%600)*100*time.Nanosecond; {
			spin(1)
		}
		var met atomic.Int32
		team.For(2, 1, taskFunc(func(int, int, int) {
			met.Add(1)
			for deadline := time.Now().Add(20 * time.Second); met.Load() < 2; runtime.Gosched() {
				if time.Now().After(deadline) {
					t.Error("the second worker never came")
					return
				}
			}
		}))
		if t.Failed() {
			return
		}
	}
}

// A job that begins between a worker's last look and its announcement of sleep
// finds nobody to wake: the worker must see it by itself. One that begins after
// the announcement sends a token, which the worker must take.
func TestSleepSeesJob(t *testing.T) {
	for _, roused := range []bool{false, true} {
		w := &worker{id: 1, wake: make(chan struct{}, 1)}
		team := &Team{size: 2, workers: []*worker{w}}
		awake := make(chan struct{})
		if !roused {
			team.generation.Add(1)
		}
		go func() {
			team.sleep(w)
			close(awake)
		}()
		if roused {
			for !w.asleep.Load() {
				runtime.Gosched()
			}
			team.generation.Add(1)
			team.rouse(1)
		}
		select {
		case <-awake:
		case <-time.After(20 * time.Second):
			t.Fatalf("roused %v: still asleep", roused)
		}
		if len(w.wake) != 0 || w.asleep.Load() || team.asleep.Load() != 0 {
			t.Errorf("roused %v: %d tokens left, asleep %v, %d asleep", roused, len(w.wake), w.asleep.Load(), team.asleep.Load())
		}
	}
}

func TestWorkersSleepWhenIdle(t *testing.T) {
	team := newTeam(t, 3)
	deadline := time.Now().Add(10 * time.Second)
	for team.asleep.Load() != 2 {
		if time.Now().After(deadline) {
			t.Fatal("workers still spin")
		}
		time.Sleep(time.Millisecond)
	}
}

// More workers than processors: the caller must let them run.
func TestOversubscribed(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	team := newTeam(t, 4)
	var sum atomic.Int64
	for range 200 {
		team.For(64, 1, taskFunc(func(lo, hi, _ int) { sum.Add(int64(hi - lo)) }))
	}
	if sum.Load() != 200*64 {
		t.Fatalf("ran %d items, want %d", sum.Load(), 200*64)
	}
}

// panicOf returns what f panics with.
func panicOf(f func()) (v any) {
	defer func() { v = recover() }()
	f()
	return nil
}

func TestPanicReachesCaller(t *testing.T) {
	for _, size := range []int{1, 2, 3} {
		team := newTeam(t, size)
		want := errors.New("item 5")
		for range 100 {
			v := panicOf(func() {
				team.For(64, 1, taskFunc(func(lo, hi, _ int) {
					for i := lo; i < hi; i++ {
						if i == 5 {
							panic(want)
						}
					}
				}))
			})
			if v != want {
				t.Fatalf("size %d: panic %v, want %v", size, v, want)
			}
			// The team works on.
			var n atomic.Int32
			team.For(64, 1, taskFunc(func(lo, hi, _ int) { n.Add(int32(hi - lo)) }))
			if n.Load() != 64 {
				t.Fatalf("size %d: %d items after a panic, want 64", size, n.Load())
			}
		}
	}
}

// A panic of a worker other than the caller, while the caller still works.
func TestPanicInWorker(t *testing.T) {
	team := newTeam(t, 2)
	failed := make(chan struct{})
	want := errors.New("worker 1")
	v := panicOf(func() {
		team.For(2, 1, taskFunc(func(_, _, worker int) {
			if worker == 1 {
				close(failed)
				panic(want)
			}
			<-failed
		}))
	})
	if v != want {
		t.Fatalf("panic %v, want %v", v, want)
	}
}

func TestGoexitInWorker(t *testing.T) {
	team := newTeam(t, 2)
	for range 10 {
		gone := make(chan struct{})
		v := panicOf(func() {
			team.For(2, 1, taskFunc(func(_, _, worker int) {
				if worker == 1 {
					close(gone)
					runtime.Goexit()
				}
				<-gone
			}))
		})
		if e, ok := v.(*Error); !ok || !strings.Contains(e.Problem, "Goexit") {
			t.Fatalf("panic %v, want an *Error about Goexit", v)
		}
	}
}

func TestForRejectsMisuse(t *testing.T) {
	nothing := taskFunc(func(int, int, int) {})
	for _, size := range []int{1, 2} {
		team := newTeam(t, size)
		for name, f := range map[string]func(){
			"negative n":    func() { team.For(-1, 1, nothing) },
			"zero chunk":    func() { team.For(1, 0, nothing) },
			"nested":        func() { team.For(4, 1, taskFunc(func(int, int, int) { team.For(1, 1, nothing) })) },
			"nested inline": func() { team.For(1, 1, taskFunc(func(int, int, int) { team.For(1, 1, nothing) })) },
			"close inside":  func() { team.For(1, 1, taskFunc(func(int, int, int) { team.Close() })) },
		} {
			if _, ok := panicOf(f).(*Error); !ok {
				t.Errorf("size %d, %s: no *Error", size, name)
			}
			team.For(10, 1, nothing) // the team works on
		}
		team.Close()
		team.Close()
		if _, ok := panicOf(func() { team.For(1, 1, nothing) }).(*Error); !ok {
			t.Errorf("size %d: no *Error after Close", size)
		}
	}
}

func TestCloseLeavesNoGoroutines(t *testing.T) {
	before := runtime.NumGoroutine()
	for round := range 20 {
		team := newTeam(t, 5)
		if round%2 == 0 {
			team.For(100, 1, taskFunc(func(int, int, int) {}))
		}
		if round%5 == 0 {
			time.Sleep(2 * idleBeforePark) // close sleeping workers too
		}
		team.Close()
	}
	// Close waits until the goroutines have passed their last statement.
	deadline := time.Now().Add(10 * time.Second)
	for runtime.NumGoroutine() > before {
		if time.Now().After(deadline) {
			t.Fatalf("%d goroutines left", runtime.NumGoroutine()-before)
		}
		time.Sleep(time.Millisecond)
	}
}

func TestForAllocatesNothing(t *testing.T) {
	for _, size := range []int{1, 2, 3} {
		team := newTeam(t, size)
		task := taskFunc(func(int, int, int) {})
		if n := testing.AllocsPerRun(200, func() { team.For(100, 1, task) }); n != 0 {
			t.Errorf("size %d: %v allocations", size, n)
		}
	}
}

// The garbage collector must be able to stop working and spinning workers at
// once. A quarter of the stops must be fast: where the machine is busy with
// other things, many are not. The bound is far above what is measured on a quiet
// one (below 1 ms) and far below the seconds that a loop without a preemption
// point costs.
func TestStopTheWorldBesideTeam(t *testing.T) {
	dev, err := NewCPU(2)
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	var stop atomic.Bool
	var wg sync.WaitGroup
	wg.Add(1)
	go func() {
		defer wg.Done()
		x, y := HostBuffer(make([]float32, 1<<18)), HostBuffer(make([]float32, 1<<18))
		for !stop.Load() {
			dev.SinCos(x, y, x, 0.5)
			dev.Add(y, x, y)
		}
	}()
	rounds := 60
	if testing.Short() {
		rounds = 10
	}
	var stops []time.Duration
	var stats runtime.MemStats
	for range rounds {
		start := time.Now()
		runtime.ReadMemStats(&stats) // stops the world
		stops = append(stops, time.Since(start))
		time.Sleep(time.Millisecond)
	}
	stop.Store(true)
	wg.Wait()
	slices.Sort(stops)
	if quick := stops[len(stops)/4]; quick > 100*time.Millisecond {
		t.Errorf("stopping the world takes %v", quick)
	}
	t.Logf("stopping the world: median %v, longest %v", stops[len(stops)/2], stops[len(stops)-1])
}

// BenchmarkTeamFor measures one dispatch of an empty job with awake workers.
func BenchmarkTeamFor(b *testing.B) {
	for _, size := range []int{1, 2} {
		b.Run(fmt.Sprintf("threads=%d", size), func(b *testing.B) {
			team := newTeam(b, size)
			task := taskFunc(func(int, int, int) {})
			b.ReportAllocs()
			for b.Loop() {
				team.For(size, 1, task)
			}
		})
	}
}

// meeting is a job of two items that wait for each other.
type meeting struct{ met atomic.Int32 }

func (m *meeting) Do(lo, hi, _ int) {
	m.met.Add(int32(hi - lo))
	for m.met.Load() < 2 {
		spin(1)
	}
}

// BenchmarkTeamMeet measures a dispatch in which the second worker must take
// part: the latency from For to the other processor and back.
func BenchmarkTeamMeet(b *testing.B) {
	if runtime.GOMAXPROCS(0) < 2 {
		b.Skip("needs two processors")
	}
	team := newTeam(b, 2)
	var m meeting
	for b.Loop() {
		m.met.Store(0)
		team.For(2, 1, &m)
	}
}
