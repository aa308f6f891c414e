package nn

import "github.com/noether-go/noether/tensor"

// Class says what a parameter is to the optimiser and to a checkpoint.
type Class uint8

const (
	Weight    Class = iota // trained with the base learning rate
	Subset                 // learned size of a group subset, theta
	Keep                   // learned logit of the probability of keeping a group element
	Frequency              // omega_0 of a SIREN, where it is learned
	Statistic              // running statistics: saved, not trained, no gradient
	Constant               // saved for the reader of a checkpoint, never changed
)

// Parameter is a named array of a network. Host holds the initial values and,
// after Parameters.Download, the current ones; Value and Grad are the device's
// copies once Parameters.Bind has run.
type Parameter struct {
	Name  string // the PyTorch module path, such as "blocks.0.gconv1.bias"
	Shape []int
	Class Class
	Host  []float32 // as many as the product of Shape

	Value, Grad tensor.Buffer
}

// NewParameter returns a parameter of zeros. It panics with *Error for a negative length,
// or more values than any memory has.
func NewParameter(name string, class Class, shape ...int) *Parameter {
	for _, d := range shape {
		if d < 0 {
			refuse("NewParameter", "%q has shape %v; no length may be negative", name, shape)
		}
	}
	n, ok := product(shape...)
	if !ok {
		refuse("NewParameter", "%q has shape %v, more than %d values, which no memory has", name, shape, addressable)
	}
	return &Parameter{Name: name, Shape: shape, Class: class, Host: make([]float32, n)}
}

// Unbound returns the first of some parameters that has no memory on a device, as before Parameters.Bind and after
// Parameters.Release, or nil.
func Unbound(params []*Parameter) *Parameter {
	for _, p := range params {
		if p.Value.IsZero() {
			return p
		}
	}
	return nil
}

// Trained reports whether the optimiser changes the parameter.
func (p *Parameter) Trained() bool { return p.Class <= Frequency }

// Parameters are the parameters of a network. Bind lays the trained ones of each
// class next to each other, so that the optimiser takes one step per class.
type Parameters struct {
	list  []*Parameter
	dev   tensor.Device
	arena tensor.Arena
	value [Frequency + 1]tensor.Buffer
	grad  [Frequency + 1]tensor.Buffer
}

// Add appends parameters. It panics on a name that is taken or after Bind.
func (ps *Parameters) Add(list ...*Parameter) {
	if ps.dev != nil {
		refuse("Parameters.Add", "already bound to a device")
	}
	for _, p := range list {
		if ps.Lookup(p.Name) != nil {
			refuse("Parameters.Add", "two parameters are named %q", p.Name)
		}
		ps.list = append(ps.list, p)
	}
}

// All returns the parameters in the order in which they were added.
func (ps *Parameters) All() []*Parameter { return ps.list }

// Lookup returns the parameter of that name, or nil.
func (ps *Parameters) Lookup(name string) *Parameter {
	for _, p := range ps.list {
		if p.Name == name {
			return p
		}
	}
	return nil
}

// Count returns the number of trained scalars.
func (ps *Parameters) Count() int {
	n := 0
	for _, p := range ps.list {
		if p.Trained() {
			n += len(p.Host)
		}
	}
	return n
}

// Bind allocates the parameters and their gradients on dev and uploads the
// values. Gradients start at zero. The error is the device's; Bind can then be called
// again. It panics with *Error where dev is nil and, as Upload and Download, where Host is not as
// long as Shape says.
func (ps *Parameters) Bind(dev tensor.Device) error {
	const op = "Parameters.Bind"
	if ps.dev != nil {
		refuse(op, "already bound to a device")
	}
	if dev == nil {
		refuse(op, "the device is nil; one such as tensor.NewCPU returns is needed")
	}
	ps.checkHost(op)
	var size [Frequency + 1]int
	for _, p := range ps.list {
		if p.Trained() {
			size[p.Class] += len(p.Host)
		}
	}
	for c := range size {
		ps.arena.Reserve(&ps.value[c], size[c])
		ps.arena.Reserve(&ps.grad[c], size[c])
	}
	for _, p := range ps.list {
		if !p.Trained() {
			ps.arena.Reserve(&p.Value, len(p.Host))
		}
	}
	if err := ps.arena.Bind(dev); err != nil {
		ps.arena = tensor.Arena{} // the next Bind plans anew
		return err
	}
	ps.dev = dev
	var at [Frequency + 1]int
	for _, p := range ps.list {
		if p.Trained() {
			lo := at[p.Class]
			hi := lo + len(p.Host)
			p.Value, p.Grad = ps.value[p.Class].Slice(lo, hi), ps.grad[p.Class].Slice(lo, hi)
			at[p.Class] = hi
		}
	}
	ps.Upload()
	return nil
}

// Class returns all values and all gradients of one trained class as two flat
// buffers. It panics with *Error for Statistic and Constant, which have no gradients.
func (ps *Parameters) Class(c Class) (value, grad tensor.Buffer) {
	if c > Frequency {
		refuse("Parameters.Class", "class %d is not trained; Weight, Subset, Keep and Frequency are", c)
	}
	return ps.value[c], ps.grad[c]
}

// checkHost panics unless Host and Shape of every parameter agree.
func (ps *Parameters) checkHost(op string) {
	for _, p := range ps.list {
		if n, _ := product(p.Shape...); len(p.Host) != n {
			refuse(op, "%q has shape %v, but Host has %d values; %d are needed", p.Name, p.Shape, len(p.Host), n)
		}
	}
}

// bound panics unless the parameters live on a device.
func (ps *Parameters) bound(op string) {
	if ps.dev == nil {
		refuse(op, "not bound to a device; call Parameters.Bind first")
	}
}

// ZeroGrad clears all gradients. As Upload and Download, it panics with *Error before Bind
// and after Release.
func (ps *Parameters) ZeroGrad() {
	ps.bound("Parameters.ZeroGrad")
	for _, g := range ps.grad {
		ps.dev.Fill(g, 0)
	}
}

// Upload copies Host to the device.
func (ps *Parameters) Upload() {
	ps.bound("Parameters.Upload")
	ps.checkHost("Parameters.Upload")
	for _, p := range ps.list {
		ps.dev.Upload(p.Value, p.Host)
	}
}

// Download copies the device's values to Host.
func (ps *Parameters) Download() {
	ps.bound("Parameters.Download")
	ps.checkHost("Parameters.Download")
	for _, p := range ps.list {
		ps.dev.Download(p.Host, p.Value)
	}
}

// Release frees the device memory. Values not downloaded are lost.
func (ps *Parameters) Release() {
	if ps.dev == nil {
		return
	}
	ps.arena.Release()
	for _, p := range ps.list {
		p.Value, p.Grad = tensor.Buffer{}, tensor.Buffer{}
	}
	ps.dev = nil
}
