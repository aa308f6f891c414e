package config

import (
	"encoding/json"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/noether-go/noether/internal/safetensors"
)

// used is what a value of a key changes, and nothing else: fields of the description that
// a checkpoint has of the network, and fields of the configuration of its training.
type used struct {
	key, value string
	with       string // other assignments, before as after
	changes    string // fields and their values as JSON, in order
	only       string // architecture that has the key, "" for both
	elsewhere  string // who reads a key that belongs to neither
}

var uses = []used{
	{key: "preset", elsewhere: "package train: names of runs, and Idle"},
	{key: "seed", value: "7", changes: `network.seed=7 training.Seed=7`},

	{key: "data.set", value: "cifar10", changes: `network.channels=3 network.classes=10 network.side=32`},
	{key: "data.split", value: "published", with: "data.set=rotmnist", elsewhere: "package train: how images are read"},
	{key: "data.side", value: "40", with: "data.set=images data.side=32 data.classes=3", changes: `network.side=40`},
	{key: "data.classes", value: "4", with: "data.set=images data.side=32 data.classes=3", changes: `network.classes=4`},
	{key: "data.size", value: "100", elsewhere: "package train: how images are generated"},
	{key: "data.rot_interval", value: "30", with: "data.set=mnist6-180", elsewhere: "package train: how images are read"},
	{key: "data.augment", value: "flip-crop", with: "data.set=cifar10", changes: `training.Augment.Crop=4 training.Augment.Flip=true`},
	{key: "data.rotate", value: "90", with: "data.augment=rotation data.rotate=45", changes: `training.Augment.Rotate=1.5707963267948966`},

	{key: "group.name", value: "E(2)", changes: `network.group="E(2)"`},
	{key: "group.elements", value: "4", changes: `network.elements=4`},
	{key: "group.sampling", value: "deterministic", changes: `network.sampling=1`},
	{key: "group.shared", value: "true", changes: `network.shared_elements=true`},
	{key: "group.jitter", value: "iid", changes: `network.jitter=2`},
	{key: "group.measure", value: "haar", changes: `network.measure=2`},
	{key: "group.init_temperature", value: "0.75", changes: `network.init_temperature=0.75`},
	{key: "group.end_temperature", value: "0.25", changes: `network.end_temperature=0.25`},

	{key: "conv.partial", value: "true", with: "group.jitter=stratified", changes: `network.partial=true`},
	{key: "conv.per_element", value: "true", changes: `network.per_element=true`},
	{key: "conv.compat", value: "true", changes: `network.compat=true`},
	{key: "conv.bias", value: "false", changes: `network.no_bias=true`},
	{key: "conv.separable", value: "true", changes: `network.separable=true`},
	{key: "conv.algorithm", value: "lowrank", elsewhere: "NewNetwork: no setting of the network, see TestAlgorithmCounts"},

	{key: "kernel.type", value: "Gabor", changes: `network.kernel_net="Gabor"`},
	{key: "kernel.side", value: "5", changes: `network.kernel_side=5`},
	{key: "kernel.hidden", value: "6", changes: `network.kernel_hidden=6`},
	{key: "kernel.layers", value: "4", changes: `network.kernel_layers=4`},
	{key: "kernel.omega0", value: "20", changes: `network.omega0=20`},
	{key: "kernel.learn_omega0", value: "true", changes: `network.learn_omega0=true`},
	{key: "kernel.weight_norm", value: "true", changes: `network.weight_norm=true`},
	{key: "kernel.activation", value: "Swish", with: "kernel.type=MLP", changes: `network.kernel_activation="Swish"`},
	{key: "kernel.norm", value: "LayerNorm", with: "kernel.type=MLP", changes: `network.kernel_norm="LayerNorm"`},

	{key: "net.type", value: "GCNN", with: "net.pooling=max", changes: `network.type="GCNN"`, only: "CKResNet"},
	{key: "net.type", value: "AugerinoCKResNet", with: "group.jitter=stratified", changes: `network.type="AugerinoCKResNet"`, only: "CKResNet"},
	{key: "net.type", value: "AugerinoGCNN", with: "group.jitter=stratified", changes: `network.type="AugerinoGCNN"`, only: "GCNN"},
	{key: "net.norm", value: "LayerNorm", changes: `network.norm="LayerNorm"`},
	{key: "net.width", value: "3", changes: `network.width=3`},
	{key: "net.factors", value: "[1,2]", changes: `network.factors=[1,2]`},
	{key: "net.pools", value: "[2]", changes: `network.pools=[2]`},
	{key: "net.last_t2", value: "true", changes: `network.last_t2=true`, only: "CKResNet"},
	{key: "net.pooling", value: "mean", with: "net.pooling=max", changes: `network.pooling="mean"`},
	{key: "net.dropout", value: "0.5", with: "net.dropout=0.25 net.dropouts=[1]", changes: `network.dropout=0.5`},
	{key: "net.dropouts", value: "[2]", with: "net.dropout=0.25 net.dropouts=[1]", changes: `network.dropouts=[2]`, only: "GCNN"},

	{key: "train.epochs", value: "7", changes: `training.Epochs=7`},
	{key: "train.batch", value: "16", changes: `training.Batch=16`},
	{key: "train.steps_per_epoch", value: "9", changes: `training.StepsPerEpoch=9`},
	{key: "train.optimizer", value: "sgd", changes: `training.Optimizer.Algorithm=1`},
	{key: "train.lr", value: "0.25", changes: `training.Optimizer.LR=0.25`},
	{key: "train.lr_subset", value: "0.25", changes: `training.Optimizer.SubsetLR=0.25`},
	{key: "train.lr_keep", value: "0.25", changes: `training.Optimizer.KeepLR=0.25`},
	{key: "train.lr_omega0", value: "0.25", changes: `training.Optimizer.FrequencyLR=0.25`},
	{key: "train.momentum", value: "0.75", with: "train.optimizer=sgd", changes: `training.Optimizer.Momentum=0.75`},
	{key: "train.nesterov", value: "true", with: "train.optimizer=sgd train.momentum=0.75", changes: `training.Optimizer.Nesterov=true`},
	{key: "train.weight_decay", value: "0.25", changes: `training.Optimizer.WeightDecay=0.25`},
	{key: "train.clip_norm", value: "0.25", changes: `training.Optimizer.Clip=0.25`},
	{key: "train.kernel_norm", value: "0.25", changes: `training.Penalties.Norms=0.25`},
	{key: "train.monotonic", value: "0.25", changes: `training.Penalties.Monotonic=0.25`},
	{key: "train.monotonic_order", value: "increasing", changes: `training.Penalties.Increasing=true`},
	{key: "train.augerino_width", value: "0.25", changes: `training.Penalties.Width=0.25`},
	{key: "train.schedule", value: "constant", changes: `training.Schedule="constant"`},
	{key: "train.warmup_epochs", value: "2", changes: `training.Warmup=2`},
	{key: "train.decay_epochs", value: "[1,2]", with: "train.schedule=multistep", changes: `training.Decay.Epochs=[1,2]`},
	{key: "train.decay_factor", value: "5", with: "train.schedule=multistep", changes: `training.Decay.Factor=5`},
	{key: "train.patience", value: "5", with: "train.schedule=plateau", changes: `training.Decay.Patience=5`},
	{key: "train.eval_draws", value: "9", changes: `training.EvalDraws=9`},
	{key: "train.save_every", value: "9", elsewhere: "package train: how often states are saved"},
}

// TestEveryKeyCounts: a value of a key reaches the network or its training, in both
// architectures, and changes what it stands for alone.
func TestEveryKeyCounts(t *testing.T) {
	for _, key := range Keys() {
		if !slices.ContainsFunc(uses, func(u used) bool { return u.key == key }) {
			t.Errorf("there is no row for %s", key)
		}
	}
	plain := map[string]map[string]string{} // fields, by the assignments that they follow from
	for _, u := range uses {
		for _, architecture := range []string{"CKResNet", "GCNN"} {
			if u.only != "" && u.only != architecture || u.value == "" {
				continue
			}
			with := "net.width=2 kernel.hidden=4 net.type=" + architecture + " " + u.with
			if plain[with] == nil {
				plain[with] = fields(t, with)
			}
			after := fields(t, with+" "+u.key+"="+u.value)
			if got := changes(plain[with], after); got != u.changes {
				t.Errorf("%s: %s=%s changes %q, want %q", architecture, u.key, u.value, got, u.changes)
			}
		}
	}
}

// changes returns the fields that are others after a change, with their values.
func changes(before, after map[string]string) string {
	var list []string
	for name, value := range after {
		if value != before[name] {
			list = append(list, name+"="+value)
		}
	}
	for name := range before {
		if _, ok := after[name]; !ok {
			list = append(list, name+" left out")
		}
	}
	slices.Sort(list)
	return strings.Join(list, " ")
}

// TestAlgorithmCounts: of an algorithm, which no description of a network has, a network
// that cannot take it says which it is.
func TestAlgorithmCounts(t *testing.T) {
	for _, architecture := range []string{"CKResNet", "GCNN"} {
		c := assigned(t, "conv.separable=true conv.algorithm=lowrank net.type="+architecture)
		if _, err := c.NewNetwork(); err == nil || !strings.HasPrefix(err.Error(), `conv.algorithm is "lowrank"`) {
			t.Errorf("%s: %v", architecture, err)
		}
	}
}

// assigned returns the configuration of a small network with such assignments.
func assigned(t *testing.T, assignments string) Config {
	t.Helper()
	c := toy("strokes6-180", false)
	for assignment := range strings.FieldsSeq(assignments) {
		if err := c.Set(assignment); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Check(); err != nil {
		t.Fatalf("%s: %v", assignments, err)
	}
	return c
}

// fields returns what a configuration makes of the network and of its training, by field.
func fields(t *testing.T, assignments string) map[string]string {
	t.Helper()
	c := assigned(t, assignments)
	net, err := c.NewNetwork()
	if err != nil {
		t.Fatalf("%s: %v", assignments, err)
	}
	path := filepath.Join(t.TempDir(), "net")
	if err := net.Save(path); err != nil {
		t.Fatal(err)
	}
	file, err := safetensors.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var network map[string]json.RawMessage
	if err := json.Unmarshal([]byte(file.Metadata["noether.network"]), &network); err != nil {
		t.Fatal(err)
	}
	list := map[string]string{}
	for name, value := range network {
		list["network."+name] = string(value)
	}
	flatten(list, "training", reflect.ValueOf(c.Training()))
	return list
}

// flatten adds the fields of a struct, and of those in it, to a list.
func flatten(list map[string]string, name string, v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			flatten(list, name+"."+v.Type().Field(i).Name, v.Field(i))
		}
	case reflect.Func, reflect.Interface: // of the caller
	default:
		text, err := json.Marshal(v.Interface())
		if err != nil {
			panic(err)
		}
		list[name] = string(text)
	}
}
