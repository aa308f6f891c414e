package conv

import "github.com/noether-go/noether/asm"

// panelLocal is the memory of a worker for the convolution of an image by asm.GaussPanel.
type panelLocal struct {
	image []float32 // [row, col, target] of a panel
	block []float32 // [source, slot, target] some of the kernel, or of its gradient
	rows  []float32 // [row, source, col] with zeros between the sources
	x     []float32 // [plane, source, col] likewise
	y     []float32 // [plane, col, target] of a panel, or of its gradient
	spare []float32 // see asm.GaussPanel
}

func (l *rowLattice) newPanelLocal(s *Shape) panelLocal {
	sources, targets := s.Sources(), s.Targets()
	x, dy := l.forward.spread(sources), l.adjoint.spread(targets)
	return panelLocal{
		image: aligned(max(l.h*l.w, l.outH*l.outW) * panelTargets),
		block: aligned(panelSources * len(s.Offsets) * panelTargets),
		rows:  aligned(max(l.h*x, l.outH*dy)),
		x:     aligned(l.planes() * max(x, dy)),
		y:     aligned(l.planes() * max(l.w, l.outW) * panelTargets),
		spare: aligned(asm.GaussSpare),
	}
}

// spread returns the length of the rows of n planes with zeros before, between and behind them: as many as the taps reach
// beyond a plane on either side.
func (p *rowPass) spread(n int) int { return p.before + n*p.apart() }

// apart returns the distance of these rows.
func (p *rowPass) apart() int { return p.fromW + p.before }

// analyseSpread transforms n planes of an image [fromH, n, fromW] to x [plane, spread], with rows [fromH, spread] for what is
// between.
func (p *rowPass) analyseSpread(x, rows, image []float32, n int) {
	gap, length := p.before, p.spread(n)
	for y := range p.fromH {
		to := rows[y*length:][:length]
		clear(to[:gap])
		for to, from := to[gap:], image[y*n*p.fromW:][:n*p.fromW]; len(from) > 0; to, from = to[p.apart():], from[p.fromW:] {
			copy(to, from[:p.fromW])
			clear(to[p.fromW:][:gap])
		}
	}
	gemmNN(p.planes(), length, p.fromH, p.analysis, p.fromH, rows, length, x, length, false)
}

// convolvePanels computes image b of to from that of from, in a pass forward or adjoint.
func (l *perElementPass) convolvePanels(pass *rowPass, to, from *images, b int, worker *perElementLocal) {
	m := &worker.panel
	sources, targets := from.planes(), to.planes()
	pass.analyseSpread(m.x, m.rows, from.image(b), sources)
	blocks := blocksOf(sources, panelSources)
	for m0 := 0; m0 < targets; m0 += panelTargets {
		width := min(panelTargets, targets-m0)
		for block := range blocks {
			n0, n1 := share(sources, blocks, block)
			l.panelSlots(m.block, worker.kernel, pass.reversed, n0, n1, m0, width)
			for f := range pass.count {
				pass.multiplyPanel(m.y, m.x, m.block, f, sources, n0, n1, width, block > 0, m.spare)
			}
		}
		pass.synthesise(m.image, m.y, panelTargets)
		to.fromChannelsLast(m.image, b, m0, m0+width, panelTargets)
	}
}

// multiplyPanel computes, or adds to, the planes of y [plane, toW, 16] at frequency f for width targets, from the sources
// n0 to n1-1 of so many.
func (p *rowPass) multiplyPanel(y, x, slots []float32, f, sources, n0, n1, width int, accumulate bool, spare []float32) {
	s := p.shapes[f]
	s.N, s.M, s.XPlane, s.YPlane = n1-n0, width, p.spread(sources), p.toW*panelTargets
	from := x[p.plane[f]*s.XPlane+n0*p.apart():]
	asm.GaussPanel(&s, from, p.apart(), slots, y[p.plane[f]*s.YPlane:], panelTargets, spare, accumulate)
}

// panelSlots brings a block of a kernel to [source, slot, 16]: sources n0 <= n < n1, and width targets from m0 on.
func (l *perElementPass) panelSlots(block, kernel []float32, reversed bool, n0, n1, m0, width int) {
	taps, sources := len(l.shape.Offsets), l.shape.Sources()
	for n := n0; n < n1; n++ {
		to := block[(n-n0)*taps*panelTargets:]
		if reversed {
			asm.Transpose(to, panelTargets, kernel[(n*sources+m0)*taps:], taps, width, taps)
		} else {
			asm.Transpose(to, panelTargets, kernel[(m0*sources+n)*taps:], sources*taps, width, taps)
		}
	}
}

// kernelGradPanels computes the gradient of the kernel of image b, in slots.
func (l *perElementPass) kernelGradPanels(b int, worker *perElementLocal) {
	a := l.lattice
	m := &worker.panel
	sources, targets, taps := l.x.planes(), l.y.planes(), len(l.shape.Offsets)
	a.forward.analyseSpread(m.x, m.rows, l.x.image(b), sources)
	blocks := blocksOf(sources, panelSources)
	for m0 := 0; m0 < targets; m0 += panelTargets {
		width := min(panelTargets, targets-m0)
		l.y.channelsLast(m.image, b, m0, m0+width, panelTargets)
		gemmNN(a.planes(), a.outW*panelTargets, a.outH, a.dy, a.outH, m.image, a.outW*panelTargets, m.y, a.outW*panelTargets, false)
		for block := range blocks {
			n0, n1 := share(sources, blocks, block)
			db := m.block[:(n1-n0)*taps*panelTargets]
			clear(db)
			for f := range a.count {
				a.panelGrad(db, m.x, m.y, f, sources, n0, n1, width, m.spare)
			}
			for n := n0; n < n1; n++ {
				asm.Transpose(worker.dkernel[(m0*l.shape.Sources()+n)*taps:], l.shape.Sources()*taps, db[(n-n0)*taps*panelTargets:], panelTargets, taps, width)
			}
		}
	}
}

// panelGrad adds to the gradient of a block of slots what comes from frequency f.
func (l *rowLattice) panelGrad(db, x, dy []float32, f, sources, n0, n1, width int, spare []float32) {
	p := &l.forward
	s := l.gradShapes[f]
	s.N, s.M, s.XPlane, s.YPlane = n1-n0, width, p.spread(sources), l.outW*panelTargets
	from := x[l.plane[f]*s.XPlane+n0*p.apart():]
	asm.GaussPanelGrad(&s, from, p.apart(), dy[l.plane[f]*s.YPlane:], panelTargets, db, spare)
}
