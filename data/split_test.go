package data

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// The 10000th number from seed 5489 is the one that the C++ standard demands
// (ISO/IEC 14882:2011, 26.5.5).
func TestMT19937(t *testing.T) {
	m := newMT19937(5489)
	var x uint32
	for range 10000 {
		x = m.uint32()
	}
	if x != 4123659995 {
		t.Errorf("the 10000th number is %d", x)
	}
}

// What torch.randperm(10) returns after torch.manual_seed.
func TestTorchPermutation(t *testing.T) {
	for seed, want := range map[uint32][]int{
		0:  {4, 1, 7, 5, 3, 9, 0, 8, 6, 2},
		1:  {5, 6, 1, 2, 0, 8, 9, 3, 7, 4},
		42: {2, 6, 1, 8, 4, 5, 0, 9, 3, 7},
	} {
		if got := torchPermutation(10, seed); !slices.Equal(got, want) {
			t.Errorf("seed %d gives %v, want %v", seed, got, want)
		}
	}
	// Of 50000 numbers, which every word of the generator's state goes into: taken with Python's Mersenne Twister.
	if got, want := fmt.Sprintf("%x", sha256.Sum256([]byte(fmt.Sprint(torchPermutation(50000, 42))))), "8efc844b8bb1f6cc"; !strings.HasPrefix(got, want) {
		t.Errorf("seed 42 gives a permutation of 50000 of SHA-256 %s, want %s", got, want)
	}
	for n := range 3 {
		if got := torchPermutation(n, 42); len(got) != n {
			t.Errorf("%d numbers of %d", len(got), n)
		}
	}
}

func TestDivision(t *testing.T) {
	for n, want := range map[int]int{9: 0, 10: 1, 19: 1, 20: 2} {
		learn, validate, err := setAsideTenth("dir", &Split{Labels: make([]uint8, n)}, Division{})
		if len(validate) != want || (err == nil) != (want > 0) || err == nil && len(learn) != n-want {
			t.Errorf("of %d images %d to train on, %d set aside, %v", n, len(learn), len(validate), err)
		}
	}
	// The last three of seed 42's permutation of ten.
	learn, validate := Division{Published: true, Seed: 7}.setAside(10, 3)
	if !slices.Equal(learn, []int{0, 1, 2, 4, 5, 6, 8}) || !slices.Equal(validate, []int{3, 7, 9}) {
		t.Errorf("published: %v to train on, %v set aside", learn, validate)
	}
	for _, by := range []Division{{Seed: 1}, {Seed: 2}, {Published: true}} {
		learn, validate := by.setAside(50000, 5000)
		if len(learn) != 45000 || len(validate) != 5000 {
			t.Fatalf("%+v: %d to train on, %d set aside", by, len(learn), len(validate))
		}
		if all := slices.Sorted(slices.Values(slices.Concat(learn, validate))); !slices.Equal(all, upTo(50000)) {
			t.Errorf("%+v: an image is missing or there twice", by)
		}
	}
}

// What a seed stands for is part of what a result means: the same images in the same places, turned by the
// same angles, on every architecture. The digests were taken on amd64 and hold on arm64.
func TestSeedsStored(t *testing.T) {
	m := topped(60, 30)
	parts := func(d *Dataset) []*Split { return []*Split{&d.Train, &d.Validation, &d.Test} }
	augmented := func(a Augmentation) []*Split {
		d, s := colours(10), new(Split)
		d.Mean, d.Std = []float32{0, 0}, []float32{1. / 255, 1. / 255}
		l := NewLoader(d, LoaderConfig{Batch: 10, Seed: 3, Augment: a})
		defer l.Close()
		for range 5 {
			for _, v := range l.Next().Images {
				s.Images = append(s.Images, uint8(v+.5))
			}
		}
		return []*Split{s}
	}
	for name, c := range map[string]struct {
		parts []*Split
		want  string
	}{
		"mnist6-180":         {parts(MNIST6180(m, 3)), "cf62884f1ab6f313"},
		"mnist6-180-rot50":   {parts(MNIST6180Turned(m, 3, 50)), "a7b0b08887e68762"},
		"mnist6-circle":      {parts(MNIST6Circle(m, 3)), "944c65df3ef7b970"},
		"rotmnist-synthetic": {parts(SyntheticRotMNIST(digitsOf(120, 20), 3)), "bab03831511d8e44"},
		"augmented":          {augmented(Augmentation{Rotate: 1, Flip: true, Crop: 2}), "61c779952f036aca"},
	} {
		sum := sha256.New()
		for _, s := range c.parts {
			sum.Write(s.Images)
			sum.Write(s.Labels)
		}
		if got := fmt.Sprintf("%x", sum.Sum(nil)[:8]); got != c.want {
			t.Errorf("%s: digest %s, want %s", name, got, c.want)
		}
	}
}
