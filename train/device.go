package main

import (
	"fmt"

	"github.com/noether-go/noether/tensor"
)

// openDevice opens the device that -device names.
func openDevice(m *means) (tensor.Device, error) {
	if m.device == "cpu" {
		dev, err := tensor.NewCPU(m.threads)
		if err != nil {
			return nil, usageError{err}
		}
		return dev, nil
	}
	return nil, usageError{fmt.Errorf("-device %q is not in this build; allowed: cpu", m.device)}
}
