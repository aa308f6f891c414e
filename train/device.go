package main

import (
	"fmt"

	"github.com/noether-go/noether/tensor"
)

// openDevice opens the device that -device names.
func openDevice(o *options) (tensor.Device, error) {
	if o.device == "cpu" {
		dev, err := tensor.NewCPU(o.threads)
		if err != nil {
			return nil, usageError{err}
		}
		return dev, nil
	}
	return nil, usageError{fmt.Errorf("-device %q is not in this build; allowed: cpu", o.device)}
}
