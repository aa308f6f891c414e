package conv

import (
	"github.com/noether-go/noether/asm"
	"github.com/noether-go/noether/tensor"
)

// imageBlocks are maps image by image, channels last in blocks of planes,
//
//	[b, block, row, col, plane of the block] .
//
// On the side of the sources a plane is (c,j), as in the maps, and on that of the
// targets (i,o).
type imageBlocks struct {
	values             []float32
	batch, area        int // images, and positions of a plane
	channels, elements int
	byElement          bool // (i,o), in blocks of whole elements
	blocks             int
}

// sourceImages returns images of x, in blocks of at most so many planes, in memory cut off local.
func sourceImages(s *Shape, local *pieces, most int) imageBlocks {
	m := imageBlocks{batch: s.B, area: s.H * s.W, channels: s.In, elements: s.NIn, blocks: blocksOf(s.Sources(), most)}
	m.values = local.cut(m.planes() * m.area * m.batch)
	return m
}

// targetImages returns images of y, in blocks of at most so many planes if an element has no more.
func targetImages(s *Shape, local *pieces, most int) imageBlocks {
	m := imageBlocks{batch: s.B, area: s.OutH * s.OutW, channels: s.Out, elements: s.NOut, byElement: true}
	m.blocks = blocksOf(s.NOut, max(1, most/s.Out))
	m.values = local.cut(m.planes() * m.area * m.batch)
	return m
}

// planes returns the number of planes of an image.
func (m *imageBlocks) planes() int { return m.channels * m.elements }

// block returns the planes of a block.
func (m *imageBlocks) block(i int) (from, to int) {
	if m.byElement {
		from, to = share(m.elements, m.blocks, i)
		return from * m.channels, to * m.channels
	}
	return share(m.planes(), m.blocks, i)
}

// image returns block number i of image b.
func (m *imageBlocks) image(b, i int) []float32 {
	from, to := m.block(i)
	return m.values[(b*m.planes()+from)*m.area:][:(to-from)*m.area]
}

// imageTurn takes maps, batch innermost, to images or back, item by item a position.
type imageTurn struct {
	*imageBlocks
	maps  []float32
	back  bool
	added [][]float32 // for each worker [plane, b], where images are added to maps
}

// toImages turns maps to images.
func (t *imageTurn) toImages(team *tensor.Team, to *imageBlocks, maps []float32) {
	t.run(team, imageTurn{imageBlocks: to, maps: maps})
}

// toBatch turns images to maps, or adds them if there is memory for that.
func (t *imageTurn) toBatch(team *tensor.Team, maps []float32, from *imageBlocks, added [][]float32) {
	t.run(team, imageTurn{imageBlocks: from, maps: maps, back: true, added: added})
}

func (t *imageTurn) run(team *tensor.Team, with imageTurn) {
	*t = with
	team.For(t.area, max(1, t.area/32), t)
	*t = imageTurn{}
}

// Do turns the positions lo <= at < hi.
func (t *imageTurn) Do(lo, hi, worker int) {
	size, distance := t.planes()*t.area, t.area*t.batch // of images, and of planes of maps
	for at := lo; at < hi; at++ {
		for i := range t.blocks {
			from, to := t.block(i)
			image := t.values[from*t.area+at*(to-from):]
			// Groups of planes, and how far these and the groups are apart.
			groups, rows, first, ld, stride := 1, to-from, from, distance, 0
			if t.byElement {
				groups, rows, first = (to-from)/t.channels, t.channels, from/t.channels
				ld, stride = t.elements*distance, distance
			}
			maps := t.maps[first*distance+at*t.batch:]
			switch {
			case !t.back:
				asm.TransposeGroups(image, size, maps, ld, stride, groups, rows, t.batch)
			case t.added == nil:
				asm.TransposeToGroups(maps, ld, stride, image, size, t.batch, groups, rows)
			default:
				added := t.added[worker]
				asm.Transpose(added, t.batch, image, size, t.batch, to-from)
				for plane := range to - from {
					sum := maps[plane/rows*stride+plane%rows*ld:][:t.batch]
					asm.Add(sum, sum, added[plane*t.batch:][:t.batch])
				}
			}
		}
	}
}
