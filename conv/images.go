package conv

import (
	"github.com/noether-go/noether/asm"
	"github.com/noether-go/noether/tensor"
)

// images are maps image by image, [b, row, plane, col], of the planes of a rowLattice. On the side of the sources a
// plane is (c,j), as in the maps, and on that of the targets (i,o).
type images struct {
	values             []float32
	batch, h, w        int
	channels, elements int
	targets            bool
}

// sourceImages returns images of x, in memory cut off local.
func (l *rowLattice) sourceImages(s *Shape, local *pieces) images {
	m := images{batch: s.B, h: l.h, w: l.w, channels: s.In, elements: s.NIn}
	m.values = local.cut(m.size() * m.batch)
	return m
}

// targetImages returns images of y, in memory cut off local.
func (l *rowLattice) targetImages(s *Shape, local *pieces) images {
	m := images{batch: s.B, h: l.outH, w: l.outW, channels: s.Out, elements: s.NOut, targets: true}
	m.values = local.cut(m.size() * m.batch)
	return m
}

// planes returns the number of planes of an image.
func (m *images) planes() int { return m.channels * m.elements }

// size returns the number of values of an image.
func (m *images) size() int { return m.planes() * m.h * m.w }

// image returns image b.
func (m *images) image(b int) []float32 { return m.values[b*m.size():][:m.size()] }

// inMaps returns the channel of a plane, and the number of the plane in the maps.
func (m *images) inMaps(plane int) (channel, at int) {
	if !m.targets {
		return plane / m.elements, plane
	}
	channel = plane % m.channels
	return channel, channel*m.elements + plane/m.channels
}

// channelsLast copies the planes from <= plane < end of image b to [row, col, plane], so far apart.
func (m *images) channelsLast(to []float32, b, from, end, apart int) {
	image := m.image(b)
	for y := range m.h {
		asm.Transpose(to[y*m.w*apart:], apart, image[(y*m.planes()+from)*m.w:], m.w, end-from, m.w)
	}
}

// fromChannelsLast copies them back.
func (m *images) fromChannelsLast(from []float32, b, first, end, apart int) {
	image := m.image(b)
	for y := range m.h {
		asm.Transpose(image[(y*m.planes()+first)*m.w:], m.w, from[y*m.w*apart:], apart, m.w, end-first)
	}
}

// imageTurn takes maps, batch innermost, to images or back, item by item a row of a plane.
type imageTurn struct {
	*images
	maps  []float32
	back  bool
	added [][]float32 // for each worker [col, b], where images are added to maps
	bias  []float32   // of the channels, that is added to maps
}

// toImages turns maps to images.
func (t *imageTurn) toImages(team *tensor.Team, to *images, maps []float32) {
	t.run(team, imageTurn{images: to, maps: maps})
}

// toBatch turns images to maps, or adds them if there is memory for that.
func (t *imageTurn) toBatch(team *tensor.Team, maps []float32, from *images, added [][]float32, bias []float32) {
	t.run(team, imageTurn{images: from, maps: maps, back: true, added: added, bias: bias})
}

func (t *imageTurn) run(team *tensor.Team, with imageTurn) {
	*t = with
	rows := t.planes() * t.h
	team.For(rows, max(1, rows/64), t)
	*t = imageTurn{}
}

// Do turns the rows lo <= item < hi.
func (t *imageTurn) Do(lo, hi, worker int) {
	planes, size, row := t.planes(), t.size(), t.w*t.batch
	for item := lo; item < hi; item++ {
		y, plane := item/planes, item%planes
		channel, at := t.inMaps(plane)
		maps := t.maps[(at*t.h+y)*row:][:row]
		of := t.values[(y*planes+plane)*t.w:]
		switch {
		case !t.back:
			asm.Transpose(of, size, maps, t.batch, t.w, t.batch)
			continue
		case t.added == nil:
			asm.Transpose(maps, t.batch, of, size, t.batch, t.w)
		default:
			asm.Transpose(t.added[worker], t.batch, of, size, t.batch, t.w)
			asm.Add(maps, maps, t.added[worker][:row])
		}
		if t.bias != nil {
			asm.Affine(maps, maps, 1, t.bias[channel])
		}
	}
}
