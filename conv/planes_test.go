package conv

import (
	"fmt"
	"strings"
	"testing"

	"github.com/noether-go/noether/internal/stream"
)

// The depthwise passes are, plane by plane, the convolution of one channel, over shapes
// that clip taps on all sides, with fewer live elements than planned.
func TestDepthwisePasses(t *testing.T) {
	var problems []problem
	random := stream.New(4, "shapes", 0)
	for range 40 {
		channels, most, side := 1+random.IntN(5), 1+random.IntN(4), 1+2*random.IntN(4)
		live := 1 + random.IntN(most)
		h, w, b := 1+random.IntN(9), 1+random.IntN(9), []int{1, 2, 3, 7, 16, 19, 40, 64}[random.IntN(8)]
		padding := Same
		if random.IntN(2) == 1 && h >= side && w >= side {
			padding = Valid
		}
		p := problem{trial: trial{name: fmt.Sprint(channels, most, live, h, w, b, side, padding)}}
		p.largest = *newShape(1, channels, 1, most, h, w, b, grid(side), side, padding)
		p.largest.Depthwise = true
		p.live = p.largest
		p.live.NOut = live
		p.solve(stream.New(5, p.name, 0))
		problems = append(problems, p)
	}
	testPasses(t, func(*Shape) Passes { return new(planes) }, problems)
}

// solve draws what a depthwise problem is given, and puts its results together of those
// of its planes.
func (p *problem) solve(src *stream.Stream) {
	s, one := p.live, p.live
	one.Depthwise, one.Out, one.NOut = false, 1, 1
	in, out, taps := s.H*s.W*s.B, s.OutH*s.OutW*s.B, len(s.Offsets)
	n := s.Targets()
	p.x, p.dy, p.kernel, p.bias = normal(src, n*in), normal(src, n*out), normal(src, n*taps), normal(src, s.Out)
	w := &p.want
	w.db, w.sizeB = make([]float64, s.Out), make([]float64, s.Out)
	for k := range n {
		d := definition(&one, p.x[k*in:(k+1)*in], p.kernel[k*taps:(k+1)*taps], p.bias[k/s.NOut:], p.dy[k*out:(k+1)*out])
		w.y, w.sizeY = append(w.y, d.y...), append(w.sizeY, d.sizeY...)
		w.dx, w.sizeX = append(w.dx, d.dx...), append(w.sizeX, d.sizeX...)
		w.dk, w.size = append(w.dk, d.dk...), append(w.size, d.size...)
		w.db[k/s.NOut] += d.db[0]
		w.sizeB[k/s.NOut] += d.sizeB[0]
	}
}

// A depthwise layer has as many channels on either side.
func TestDepthwiseChannels(t *testing.T) {
	_, err := NewDepthwise(Config{Name: "n", In: 2, Out: 3}, 1)
	if err == nil || !strings.Contains(err.Error(), "conv: n: Config.In is 2; allowed are 0 and Out") {
		t.Errorf("error %v", err)
	}
	if _, err := NewDepthwise(Config{Name: "n", In: 3, Out: 3}, 1); err != nil {
		t.Error(err)
	}
}
