package main

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/noether-go/noether/data"
	"github.com/noether-go/noether/internal/config"
	"github.com/noether-go/noether/model"
	"github.com/noether-go/noether/tensor"
)

// variations are values that a user may give instead of the default preset's.
var variations = []string{
	"data.augment=rotation data.rotate=10",
	"group.name=T(2) group.elements=1", "group.name=E(2)", "group.name=C4", "group.name=D4 group.elements=8", "group.name=mirror group.elements=2",
	"group.name=R+", "group.name=Sim(2)", "group.name=SE(2)_periodic",
	"group.elements=1", "group.elements=3", "group.sampling=deterministic", "group.shared=true", "group.jitter=comb", "group.jitter=iid",
	"group.measure=mean", "group.measure=haar", "group.init_temperature=1", "group.end_temperature=0.2",
	"conv.partial=false", "conv.per_element=true", "conv.compat=true", "conv.bias=false", "conv.separable=true",
	"conv.algorithm=taps", "conv.algorithm=frequency", "conv.algorithm=lowrank",
	"kernel.type=MAGNet", "kernel.type=Gabor", "kernel.type=Fourier", "kernel.type=MLP",
	"kernel.side=1", "kernel.side=5", "kernel.hidden=2", "kernel.layers=2", "kernel.omega0=20", "kernel.learn_omega0=true", "kernel.weight_norm=true",
	"kernel.activation=Swish", "kernel.norm=LayerNorm",
	"net.type=GCNN", "net.type=AugerinoCKResNet", "net.type=AugerinoGCNN", "net.norm=LayerNorm", "net.width=1", "net.factors=[1]", "net.factors=[2,1,1]",
	"net.pools=[]", "net.pools=[0,1,2]", "net.last_t2=true", "net.pooling=mean", "net.pooling=learned", "net.dropout=0.2", "net.dropouts=[1]",
	"train.steps_per_epoch=1", "train.optimizer=sgd", "train.lr_subset=0.1", "train.lr_keep=0.1", "train.lr_omega0=0.1", "train.momentum=0.9",
	"train.nesterov=true", "train.weight_decay=0.1", "train.kernel_norm=0.1", "train.monotonic=0.1", "train.monotonic_order=increasing",
	"train.augerino_width=0.1", "train.clip_norm=1", "train.schedule=constant", "train.schedule=multistep", "train.schedule=plateau",
	"train.decay_epochs=[1]", "train.decay_factor=2", "train.patience=1", "train.warmup_epochs=1",
}

// Any two values together either train or are refused by an error about the
// configuration: none ends in a panic, or in an error of a package that does not
// know the keys.
func TestPairsOfValues(t *testing.T) {
	dev, err := tensor.NewCPU(1)
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	var set *data.Dataset
	try := func(values ...string) (err error) {
		defer func() {
			if r := recover(); r != nil {
				err = fmt.Errorf("panic: %v", r)
			}
		}()
		args := []string{"-epochs", "3", "-set", "data.size=16", "-set", "train.batch=2", "-set", "net.width=2", "-set", "group.elements=4", "-set", "kernel.hidden=4", "-set", "kernel.side=3"}
		for _, v := range values {
			for _, a := range fields(v) {
				args = append(args, "-set", a)
			}
		}
		o, err := parse(args, nil)
		if err != nil {
			return err
		}
		c, err := o.configuration()
		if err != nil {
			return err
		}
		net, err := c.NewNetwork()
		if err != nil {
			return err
		}
		if set == nil {
			if set, err = openData(t.Context(), c, &o.means, nil); err != nil {
				t.Fatal(err)
			}
		}
		tc := c.Training()
		tc.Device = dev
		tr, err := model.NewTrainer(net, set, tc)
		if err != nil {
			return c.Explain(err)
		}
		defer tr.Close()
		_, err = tr.Step()
		return err
	}
	for n, base := range []string{
		"", "conv.partial=false", "conv.partial=false net.type=AugerinoGCNN", "group.name=E(2) group.sampling=deterministic",
		"group.name=E(2) conv.compat=true", "conv.partial=false conv.compat=true net.type=AugerinoCKResNet",
	} {
		if n > 0 && testing.Short() {
			break
		}
		trained, refused := 0, 0
		for i, a := range variations {
			for j, b := range variations[:i+1] {
				if (n > 0 || testing.Short()) && (i+j+n)%4 != 0 { // a part of them, for the time that all take
					continue
				}
				var mistake *config.Error
				switch err := try(base, a, b); {
				case err == nil:
					trained++
				case errors.As(err, &mistake):
					refused++
				default:
					t.Errorf("%s, %s, %s: %v", base, a, b, err)
				}
			}
		}
		if trained < refused/4 || refused == 0 {
			t.Errorf("%s: %d pairs train and %d are refused", base, trained, refused)
		}
	}
}

// fields returns the assignments of a variation, in whose groups _ stands for a space.
func fields(v string) []string {
	list := strings.Fields(v)
	for i := range list {
		list[i] = strings.Replace(list[i], ")_", ") ", 1)
	}
	return list
}
