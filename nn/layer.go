package nn

import "github.com/noether-go/noether/tensor"

// Layer is what every layer with one input and one output offers. The order of
// calls is: constructor, Plan, then Arena.Bind and Parameters.Bind, then Bind,
// then any number of passes. Forward(train) computes the output map from the live
// elements of the input map. Backward follows a Forward(true): it reads the
// gradient of the output map, writes or adds (Map.Accumulate) the gradient of
// the input map, and adds to the gradients of the parameters. Backward may
// overwrite the gradient of the output map.
//
// A pass allocates nothing. A layer belongs to one network and is used by one
// goroutine at a time.
type Layer interface {
	// Parameters returns the layer's parameters and statistics, nil if none.
	Parameters() []*Parameter
	// Plan reserves the layer's buffers and returns its output map, which has the
	// memory of in for a layer that works in place. It calls Map.Read or
	// Map.KeepValue for in.
	Plan(p *Plan, in *Map) *Map
	// Bind sets the device that the arena and the parameters are bound to.
	Bind(dev tensor.Device)
	Forward(train bool)
	Backward()
}

// checkWidth returns an error unless n, the number of what, is positive.
func checkWidth(layer, what string, n int) error {
	if n < 1 {
		return &ConfigError{Layer: layer, Field: what, Value: n, Allowed: "at least 1"}
	}
	return nil
}

// checkChannels panics unless the map has the channels that a layer was built
// for.
func checkChannels(op string, want int, in *Map) {
	if in.C != want {
		refuse(op, "the layer has %d channels, its input %d", want, in.C)
	}
}
