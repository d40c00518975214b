package bm25

import "slices"

// before and after return the neighbours of a chunk in its document; ok is false
// at its ends.
func (m *match) before(p *part, chunk uint32) (q *part, neighbour uint32, ok bool) {
	if before := p.before(chunk); before >= 0 {
		return p, uint32(before), true
	}
	if j := m.snaps[p.snap].joints; j != nil {
		return m.across(p, chunk, j.before)
	}
	return nil, 0, false
}

func (m *match) after(p *part, chunk uint32) (q *part, neighbour uint32, ok bool) {
	if after := p.after(chunk); after >= 0 {
		return p, uint32(after), true
	}
	if j := m.snaps[p.snap].joints; j != nil {
		return m.across(p, chunk, j.after)
	}
	return nil, 0, false
}

// across returns the neighbour behind a joint.
func (m *match) across(p *part, chunk uint32, joints map[spot]spot) (q *part, neighbour uint32, ok bool) {
	to, ok := joints[spot{m.index(p) - p.views, chunk}]
	if !ok {
		return nil, 0, false
	}
	return &m.parts[p.views+to.view], to.chunk, true
}

// index returns that of a part.
func (m *match) index(p *part) int {
	i, _ := m.at(p.first)
	return i
}

// evaluateWithNeighbours evaluates what the scores of chunks need.
func (m *match) evaluateWithNeighbours(part int, chunks []uint32) {
	p := &m.parts[part]
	all := m.scratch.neighbours[:0]
	for _, chunk := range chunks {
		all = append(all, chunk)
		if before := p.before(chunk); before >= 0 {
			all = append(all, uint32(before))
		}
		if after := p.after(chunk); after >= 0 {
			all = append(all, uint32(after))
		}
	}
	m.evaluate(part, all)
	m.scratch.neighbours = all
	if m.snaps[p.snap].joints == nil {
		return
	}
	for _, chunk := range m.joined(p, chunks) {
		if q, before, ok := m.before(p, chunk); ok {
			m.evaluate(m.index(q), []uint32{before})
		}
		if q, after, ok := m.after(p, chunk); ok {
			m.evaluate(m.index(q), []uint32{after})
		}
	}
}

// joined returns those of the chunks that have a neighbour across a joint.
func (m *match) joined(p *part, chunks []uint32) (joined []uint32) {
	for _, chunk := range m.jointed(p) {
		if slices.Contains(chunks, chunk) {
			joined = append(joined, chunk)
		}
	}
	return joined
}

// jointed returns the chunks of a part that have a neighbour across a joint.
func (m *match) jointed(p *part) (chunks []uint32) {
	j := m.snaps[p.snap].joints
	if j == nil {
		return nil
	}
	view := m.index(p) - p.views
	for _, side := range []map[spot]spot{j.before, j.after} {
		for s := range side {
			if s.view == view {
				chunks = append(chunks, s.chunk)
			}
		}
	}
	slices.Sort(chunks)
	return slices.Compact(chunks)
}
