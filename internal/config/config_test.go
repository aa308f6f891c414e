package config

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/noether-go/noether/tensor"
)

// Memory that does not suffice is no mistake, but has keys that it depends on.
func TestExplainMemory(t *testing.T) {
	c, err := Lookup(Default)
	if err != nil {
		t.Fatal(err)
	}
	cause := &tensor.AllocError{Values: 7, Err: errors.New("no pages")}
	got := c.Explain(fmt.Errorf("a layer: %w", cause))
	var mistake *Error
	if !errors.Is(got, cause) || errors.As(got, &mistake) {
		t.Errorf("the cause is lost: %v", got)
	}
	for _, key := range []string{"train.batch", "group.elements", "net.width"} {
		if want := key + ", which is " + c.Value(key); !strings.Contains(got.Error(), want) {
			t.Errorf("%q does not say %q", got, want)
		}
	}
}

// A jitter is compared with what "auto" stands for, which depends on whether a subset is learned.
func TestDiffers(t *testing.T) {
	for _, c := range []struct {
		set, key string
		want     bool
	}{
		{"conv.partial=true group.jitter=stratified", "group.jitter", false},
		{"conv.partial=true group.jitter=comb", "group.jitter", true},
		{"conv.partial=false group.jitter=comb", "group.jitter", false},
		{"conv.partial=false group.jitter=stratified", "group.jitter", true},
		{"conv.partial=false net.type=AugerinoCKResNet group.jitter=stratified", "group.jitter", false},
		{"group.jitter=iid", "group.jitter", true},
		{"group.jitter=auto", "group.jitter", false},
		{"conv.partial=false", "group.jitter", false},
		{"conv.partial=false", "conv.partial", true},
	} {
		preset, err := Lookup(Default)
		if err != nil {
			t.Fatal(err)
		}
		changed := preset
		for assignment := range strings.FieldsSeq(c.set) {
			if err := changed.Set(assignment); err != nil {
				t.Fatal(err)
			}
		}
		if got := changed.Differs(c.key, &preset); got != c.want {
			t.Errorf("%s: %s differs: %v, want %v", c.set, c.key, got, c.want)
		}
	}
}
