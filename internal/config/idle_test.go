package config

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

// A value that was changed and makes no difference is pointed out, with the reason;
// one that stands as in the preset, is zero, or does make one is not.
func TestIdle(t *testing.T) {
	const full, mirror, t2, chain = "rotmnist-se2-8-full", "mnist6-m-mirror-2-partial", "rotmnist-t2-1", "cifar10-se2-4-full-13layer"
	fired := map[string]bool{}
	for _, c := range []struct {
		preset, set string
		want        string // what is said of the last assignment; "": nothing
	}{
		{mirror, "group.sampling=deterministic", "mirror has finitely many elements"},
		{full, "group.sampling=deterministic", ""},
		{full, "group.shared=true", ""},
		{full, "group.shared=true group.jitter=stratified conv.per_element=true", ""},
		{full, "net.type=AugerinoCKResNet group.shared=true", "all convolutions of AugerinoCKResNet are on translations alone"},
		{Default, "group.shared=true", "draws elements of the subset that it learns"},
		{Default, "group.shared=false", ""},
		{mirror, "conv.partial=false group.shared=true", "mirror has finitely many elements"},
		{t2, "group.shared=true", "T(2) has finitely many elements"},
		{full, "group.sampling=deterministic group.shared=true", "all layers have one grid"},
		{mirror, "group.jitter=comb", "mirror has finitely many elements"},
		{mirror, "group.jitter=stratified", ""}, // what the preset's auto stands for
		{full, "group.sampling=deterministic group.jitter=stratified", "group.sampling = deterministic elements stand on a grid"},
		{full, "group.sampling=deterministic", ""}, // its comb stands as in the preset
		{full, "conv.compat=true group.jitter=stratified", "which is a comb"},
		{Default, "conv.compat=true group.jitter=stratified", "which is a comb"},
		{Default, "conv.compat=true group.jitter=iid", "which is a comb"},
		{Default, "conv.compat=true group.jitter=auto", ""},
		{Default, "conv.compat=true group.jitter=comb", ""},
		{Default, "conv.compat=true", ""},
		{full, "group.jitter=stratified", ""},
		{Default, "group.elements=1 group.jitter=comb", "a single element"},
		{Default, "group.name=E(2) group.elements=2 group.jitter=comb", "a single element"},
		{Default, "group.name=E(2) group.elements=4 group.jitter=comb", ""},
		{t2, "group.measure=haar", "T(2) has one element"},
		{mirror, "group.measure=haar", ""},
		{full, "group.measure=haar", ""},
		{Default, "group.init_temperature=1", "no elements of SE(2) are dropped"},
		{full, "group.end_temperature=0.1", "conv.partial is false"},
		{full, "group.name=E(2) conv.compat=true net.type=AugerinoCKResNet group.init_temperature=1", "does not learn whether copies are mirrored"},
		{full, "group.name=E(2) net.type=AugerinoCKResNet group.init_temperature=1", ""},
		{mirror, "group.init_temperature=1 group.end_temperature=0.1", ""},
		{Default, "group.sampling=deterministic conv.compat=true group.end_temperature=0.1", ""},
		{Default, "kernel.type=MAGNet kernel.omega0=30", "kernel.type is MAGNet, and only SIREN has a frequency"},
		{Default, "kernel.type=MAGNet", ""},
		{Default, "kernel.omega0=30", ""},
		{Default, "kernel.activation=Swish", "kernel.type is SIREN, and only MLP"},
		{Default, "kernel.type=MLP kernel.activation=Swish kernel.norm=LayerNorm", ""},
		{Default, "kernel.norm=LayerNorm", "kernel.type is SIREN, and only MLP"},
		{Default, "net.dropouts=[1]", "net.dropout is 0"},
		{Default, "net.dropout=0.5 net.dropouts=[1]", "CKResNet has dropout in each of its blocks"},
		{Default, "net.dropout=0.5", ""},
		{chain, "net.dropout=0", ""},
		{chain, "net.dropout=0 net.dropouts=[1]", "net.dropout is 0"},
		{chain, "net.dropout=0 net.dropouts=[]", ""},
		{chain, "net.dropouts=[1]", ""},
		{t2, "net.last_t2=true", "all convolutions of a network on T(2)"},
		{full, "net.last_t2=true", ""},
		{mirror, "net.last_t2=true", ""},
		{full, "train.lr_subset=0.1", "conv.partial is false"},
		{full, "train.lr_subset=0", ""},
		{Default, "train.lr_subset=0.1", ""}, // beside a rate of keeping elements, which it has no use for
		{full, "conv.partial=true train.lr_subset=0.1", ""},
		{full, "net.type=AugerinoCKResNet train.lr_subset=0.1", ""},
		{full, "conv.compat=true net.type=AugerinoCKResNet train.lr_subset=0.1", "is trained at train.lr"},
		{mirror, "train.lr_subset=0.1", "probabilities of keeping elements"},
		{mirror, "train.lr_keep=0 train.lr_subset=0.1", ""},
		{Default, "group.sampling=deterministic train.lr_subset=0.1", "probabilities of keeping elements"},
		{Default, "group.sampling=deterministic conv.compat=true train.lr_subset=0.1", ""},
		{full, "train.lr_keep=0.1", "conv.partial is false"},
		{full, "group.name=E(2) conv.compat=true train.lr_keep=0.1", "conv.partial is false"},
		{Default, "train.lr_keep=0.1", "no elements of SE(2) are dropped"},
		{Default, "group.sampling=deterministic train.lr_keep=0.1", ""},
		{Default, "group.name=E(2) train.lr_keep=0.1", ""},
		{Default, "group.name=E(2) conv.compat=true train.lr_keep=0.1", "trained at train.lr_subset"},
		{full, "group.name=E(2) conv.compat=true net.type=AugerinoCKResNet train.lr_keep=0.1", "is trained at train.lr, as"},
		{Default, "train.lr_omega0=0.1", "kernel.learn_omega0 is false"},
		{Default, "kernel.learn_omega0=true train.lr_omega0=0.1", ""},
		{Default, "train.momentum=0.9", "train.optimizer is adam"},
		{Default, "train.optimizer=sgd train.momentum=0.9 train.nesterov=true", ""},
		{Default, "train.optimizer=adam train.nesterov=true", "train.optimizer is adam"},
		{Default, "train.monotonic_order=increasing", "train.monotonic is 0"},
		{Default, "train.monotonic=0.1 train.monotonic_order=increasing", ""},
		{Default, "train.decay_factor=2", "train.schedule is cosine, and it belongs to multistep and plateau"},
		{Default, "train.schedule=plateau train.decay_factor=2", ""},
		{Default, "train.schedule=multistep train.decay_epochs=[1] train.decay_factor=2", ""},
		{Default, "train.patience=2", "train.schedule is cosine, and it belongs to plateau"},
		{Default, "train.schedule=multistep train.decay_epochs=[1] train.patience=2", "it belongs to plateau"},
		{Default, "train.schedule=plateau train.patience=2", ""},
		{full, "train.schedule=constant", ""}, // its warm-up stands as in the preset
		{full, "train.schedule=constant train.warmup_epochs=2", "train.schedule is constant, and it belongs to cosine"},
		{full, "train.warmup_epochs=2", ""},
	} {
		cfg, err := Lookup(c.preset)
		if err != nil {
			t.Fatal(err)
		}
		last := ""
		for assignment := range strings.FieldsSeq(c.set) {
			if err := cfg.Set(assignment); err != nil {
				t.Fatal(err)
			}
			last, _, _ = strings.Cut(assignment, "=")
		}
		if err := cfg.Check(); err != nil {
			t.Errorf("%s, %s: %v", c.preset, c.set, err)
			continue
		}
		list := cfg.Idle()
		i := slices.IndexFunc(list, func(i Idle) bool { return i.Key == last })
		if c.want == "" {
			if len(list) > 0 {
				t.Errorf("%s, %s: %v", c.preset, c.set, list[0].Err)
			}
			continue
		}
		var mistake *Error
		if i < 0 || !errors.As(list[i].Err, &mistake) || !strings.HasPrefix(list[i].Err.Error(), last+" is "+cfg.Value(last)+", which has no effect: ") ||
			!strings.Contains(list[i].Err.Error(), c.want) {
			t.Errorf("%s, %s: %v, want %s", c.preset, c.set, list, c.want)
			continue
		}
		fired[last] = true
	}
	for _, rule := range idleRules {
		if !fired[rule.key] {
			t.Errorf("no case of this test shows when %s has no effect", rule.key)
		}
	}
}

// Presets, and what belongs to none, have nothing that was changed.
func TestIdleOfPresets(t *testing.T) {
	for _, p := range Presets() {
		c, err := Lookup(p.Name)
		if err != nil {
			t.Fatal(err)
		}
		if list := c.Idle(); len(list) > 0 {
			t.Errorf("%s: %v", p.Name, list[0].Err)
		}
	}
	c := toy("mnist6-180", true)
	c.Train.Momentum = 0.5
	if list := c.Idle(); len(list) > 0 {
		t.Errorf("without a preset: %v", list[0].Err)
	}
}

// Values that a preset has for others than the present combination neither stop a run
// nor reach the packages that would refuse them.
func TestIdleValuesStayAway(t *testing.T) {
	c := thirteenLayers(cifar("cifar10", 4, false))
	c.Net.Dropout, c.Kernel.Type, c.Train.Schedule, c.Train.WarmupEpochs, c.Train.Epochs = 0, "MAGNet", "constant", 5, 3
	c.Train.Momentum = 0.9
	if err := c.Check(); err != nil {
		t.Fatal(err)
	}
	if _, err := c.NewNetwork(); err != nil {
		t.Error(err)
	}
	if tc := c.Training(); tc.Warmup != 0 || tc.Decay.Patience != 0 || tc.Decay.Factor != 0 || tc.Optimizer.Momentum != 0 {
		t.Errorf("%+v", tc)
	}
	c.Train.Schedule, c.Train.Optimizer = "plateau", "sgd"
	if tc := c.Training(); tc.Warmup != 0 || tc.Decay.Patience != 10 || tc.Decay.Factor != 10 || tc.Optimizer.Momentum != 0.9 {
		t.Errorf("%+v", tc)
	}
}
