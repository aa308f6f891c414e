package data

import (
	"slices"
	"strconv"
	"strings"
)

// statistics are the mean and the standard deviation of each channel of a set's
// images, of pixels from 0 to 1. Where nothing else is said they are those of the
// paper's program.
type statistics struct{ mean, std []float32 }

var (
	ofMNIST    = statistics{[]float32{.1307}, []float32{.3081}} // of all of it
	ofRotMNIST = statistics{[]float32{.13}, []float32{.2970}}
	ofPCam     = statistics{[]float32{.701, .538, .692}, []float32{.235, .277, .213}}
	ofImageNet = statistics{[]float32{.485, .456, .406}, []float32{.229, .224, .225}}
)

var normalizations = map[string]statistics{
	"strokes6-180":       ofMNIST, // which the ink is made to resemble
	upOrDown:             ofMNIST,
	"mnist6-m":           ofMNIST,
	"mnist6-circle":      ofMNIST,
	"rotmnist":           ofRotMNIST,
	"rotmnist-synthetic": ofRotMNIST,
	"cifar10":            ofImageNet,
	"cifar10-part":       ofImageNet,
	"cifar10-jpeg":       ofImageNet,
	"cifar100":           {[]float32{.49137, .48235, .44667}, []float32{.24706, .24353, .26157}},
	"stl10":              {[]float32{.4467, .4398, .4066}, []float32{.2603, .2566, .2713}},
	"pcam":               ofPCam,
	"pcam-part":          ofPCam,
	"images":             ofImageNet,
	"fashion-mnist":      {[]float32{.2860}, []float32{.3530}}, // of the images to train on
}

// Normalization returns the Mean and Std that a Dataset of that name has, nil for a
// name that is not one of a set of this package.
func Normalization(set string) (mean, std []float32) {
	if degrees, turned := strings.CutPrefix(set, turnedSixes); turned {
		if within, err := strconv.ParseFloat(degrees, 64); err == nil && within > 0 && within <= 180 {
			set = upOrDown
		}
	}
	s := normalizations[set]
	return slices.Clone(s.mean), slices.Clone(s.std)
}

// normalized sets Mean and Std to those of the set's name.
func (d *Dataset) normalized() *Dataset {
	d.Mean, d.Std = Normalization(d.Name)
	return d
}
