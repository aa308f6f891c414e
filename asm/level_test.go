package asm

import (
	"errors"
	"slices"
	"testing"
)

func TestParseLevel(t *testing.T) {
	for l := Generic; l < levels; l++ {
		got, err := ParseLevel(l.String())
		if err != nil || got != l {
			t.Errorf("ParseLevel(%q) = %v, %v", l.String(), got, err)
		}
	}
	for _, s := range []string{"", "AVX2", "avx-512", "sse", "generic "} {
		if l, err := ParseLevel(s); err == nil {
			t.Errorf("ParseLevel(%q) = %v, want an error", s, l)
		}
	}
	if s := Level(77).String(); s != "Level(77)" {
		t.Errorf("Level(77).String() = %q", s)
	}
}

func TestAvailable(t *testing.T) {
	all := Available()
	if all[0] != Generic || !slices.IsSorted(all) || !slices.Contains(all, Detected()) || all[len(all)-1] != Detected() {
		t.Errorf("Available() = %v, Detected() = %v", all, Detected())
	}
	t.Logf("available: %v, active: %v", all, Active())
}

func TestSetLevel(t *testing.T) {
	before := Active()
	defer func() {
		if err := SetLevel(before); err != nil {
			t.Fatal(err)
		}
	}()
	all := Available()
	for l := Generic; l < levels+2; l++ {
		was := Active()
		err := SetLevel(l)
		if slices.Contains(all, l) {
			if err != nil || Active() != l {
				t.Errorf("SetLevel(%v) = %v, active %v", l, err, Active())
			}
			continue
		}
		var e *Error
		if !errors.As(err, &e) || Active() != was {
			t.Errorf("SetLevel(%v) = %v, active %v: want an *Error and level %v as before", l, err, Active(), was)
		}
	}
}

func TestLevelFromEnv(t *testing.T) {
	for _, l := range Available() {
		if got, err := levelFromEnv(l.String()); err != nil || got != l {
			t.Errorf("levelFromEnv(%q) = %v, %v", l.String(), got, err)
		}
	}
	if got, err := levelFromEnv(""); err != nil || got != Detected() {
		t.Errorf("levelFromEnv(\"\") = %v, %v", got, err)
	}
	unavailable := NEON
	if slices.Contains(Available(), NEON) {
		unavailable = AVX2
	}
	for _, s := range []string{"fastest", "AVX2", "1", unavailable.String()} {
		got, err := levelFromEnv(s)
		var e *Error
		if !errors.As(err, &e) || e.Func != EnvVariable || got != Detected() {
			t.Errorf("levelFromEnv(%q) = %v, %v: want %v and an *Error", s, got, err, Detected())
		}
		t.Log(err)
	}
}
