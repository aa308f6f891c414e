package cases

import (
	"math"
	"strings"
	"testing"
)

func TestNamesDiffer(t *testing.T) {
	seen := map[string]bool{}
	add := func(name string) {
		if seen[name] {
			t.Errorf("two cases are called %s", name)
		}
		seen[name] = true
	}
	for _, g := range Gemms {
		add(g.Bench("avx512", 1))
	}
	for _, c := range Convs {
		add(c.Bench("auto", "all", 1))
	}
	for _, g := range Growths {
		for _, c := range g.Cases() {
			add(c.Bench("auto", "all", 1))
		}
	}
	for _, s := range append(Steps, Partial()...) {
		add(s.TrainBench(2))
	}
}

// TestContract has names that others rely on.
func TestContract(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{Gemm{M: 1024, N: 1024, K: 1024}.Bench("avx512", 1), "Sgemm/impl=avx512/threads=1/m=1024/n=1024/k=1024"},
		{SirenBench("forward+backward", 3136, 2), "Siren/pass=forward+backward/positions=3136/threads=2"},
		{Convs[0].Bench("auto", "all", 1), "Conv/case=rotmnist1/algorithm=auto/pass=all/threads=1"},
		{Steps[0].TrainBench(2), "TrainStep/preset=rotmnist-se2-8-partial/batch=64/threads=2"},
		{Inferences[1].InferBench(2), "Infer/preset=rotmnist-se2-8-partial/batch=1/threads=2"},
	} {
		if c.got != c.want {
			t.Errorf("got %s, want %s", c.got, c.want)
		}
	}
}

// TestNetworks checks that the presets exist and are described to the peers as
// they are.
func TestNetworks(t *testing.T) {
	for _, s := range append(append(Partial(), Steps...), Inferences...) {
		text, err := s.Network()
		if err != nil {
			t.Error(err)
		}
		if strings.Contains(text, "net= ") {
			t.Errorf("%s: the peers do not know the network", s.Preset)
		}
	}
	got, err := Step{Preset: "rotmnist-se2-8-partial", Batch: 64, Theta: 0.5}.Network()
	const want = "net=ckresnet channels=1 side=28 classes=10 width=32 factors=1,2 pools=0,1 dropouts= dropout=0 elements=8 group=SE(2) partial=1 perelement=0 theta=0.5 k=7 hidden=32 layers=3 omega0=10 batch=64"
	if err != nil || got != want {
		t.Errorf("got %s, %v, want %s", got, err, want)
	}
	if _, err := (Step{Preset: "no-such"}).Network(); err == nil {
		t.Error("a preset that does not exist, and no error")
	}
}

func TestOperations(t *testing.T) {
	// 256->256@14, 7 x 7 taps, batch 64, three passes.
	if got, want := Convs[0].Operations(), 3*2*256.0*256*49*14*14*64; got != want {
		t.Errorf("got %g operations, want %g", got, want)
	}
	for axis, power := range map[string]float64{"batch": 1, "channels": 2, "elements": 2, "side": 2, "live": 2} {
		for _, g := range Growths {
			if g.Axis != axis {
				continue
			}
			if got := math.Log2(g.Formula(8) / g.Formula(4)); !(math.Abs(got-power) <= 1e-12) {
				t.Errorf("operations grow with the power %v of the %s, want %v", got, axis, power)
			}
		}
	}
}
