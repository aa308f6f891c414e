package data

import (
	"slices"
	"testing"
)

// Sets of the published program have its statistics, CIFAR-10 those of ImageNet.
func TestNormalization(t *testing.T) {
	for set, want := range map[string][2][]float32{
		"rotmnist":   {{.13}, {.2970}},
		"mnist6-180": {{.1307}, {.3081}},
		"mnist6-m":   {{.1307}, {.3081}},
		"cifar10":    {{.485, .456, .406}, {.229, .224, .225}},
		"cifar100":   {{.49137, .48235, .44667}, {.24706, .24353, .26157}},
		"stl10":      {{.4467, .4398, .4066}, {.2603, .2566, .2713}},
		"pcam":       {{.701, .538, .692}, {.235, .277, .213}},
		"nothing":    {nil, nil},

		"mnist6-180-rot5":   {{.1307}, {.3081}},
		"mnist6-180-rot180": {{.1307}, {.3081}},
		"mnist6-180-rot":    {nil, nil},
		"mnist6-180-rot0":   {nil, nil},
		"mnist6-180-rot181": {nil, nil},
		"mnist6-180-rotNaN": {nil, nil},
		"cifar10-rot5":      {nil, nil},
	} {
		if mean, std := Normalization(set); !slices.Equal(mean, want[0]) || !slices.Equal(std, want[1]) {
			t.Errorf("%s: %v, %v, want %v", set, mean, std, want)
		}
	}
}

// A set that is called after what was done to it, or is a part of one, has those of its name too.
func TestNormalizationOfNames(t *testing.T) {
	part, err := ReadPCam(pcamFolders(t))
	if err != nil {
		t.Fatal(err)
	}
	m := topped(20, 10)
	for _, d := range []*Dataset{part, MNIST6180Turned(m, 1, 12.5), MNIST6180(m, 1), MNIST6Circle(m, 1), SyntheticRotMNIST(m, 1)} {
		if mean, std := Normalization(d.Name); len(mean) != d.Channels || !slices.Equal(mean, d.Mean) || !slices.Equal(std, d.Std) {
			t.Errorf("%s: %v, %v, want %v, %v", d.Name, mean, std, d.Mean, d.Std)
		}
	}
}
