package bm25

// evaluate makes sure that chunks have their values. A value is the sum of the
// same numbers in the same order whichever way a chunk was found, so scores
// are equal to the last bit wherever the ranking equals.
func (m *match) evaluate(part int, chunks []uint32) {
	p := &m.parts[part]
	from := len(p.values)
	for _, chunk := range chunks {
		if p.value[chunk] == 0 {
			p.values = append(p.values, value{chunk: chunk})
			p.value[chunk] = uint32(len(p.values))
		}
	}
	fresh := p.values[from:]
	if len(fresh) == 0 {
		return
	}
	v := evaluation{p: p, fresh: fresh, from: uint32(from)}
	avg := m.average()
	for _, t := range m.stems {
		v.each(&t.in[part], func(of *value, tf uint32) {
			of.words += float64(t.idf * bm25L(tf, m.scratch.norms.of(p.length[of.chunk])))
		})
	}
	v.titles(func(of *value, t *titleScore) { of.words += float64(titleWeight * t.field) })
	for _, t := range m.pairs {
		v.each(&t.in[part], func(of *value, tf uint32) { of.words += m.pairGain(&t, tf, p.length[of.chunk]) })
	}
	v.titles(func(of *value, t *titleScore) { of.words += m.titleMatchGain(p, t) })
	for _, t := range m.surface {
		v.each(&t.in[part], func(of *value, tf uint32) {
			of.exact += float64(t.idf * bm25(tf, p.length[of.chunk], avg, fieldB))
		})
	}
	for _, t := range m.singles {
		v.each(&t.in[part], func(of *value, tf uint32) { of.words += m.singleGain(&t, tf, p.singleLength[of.chunk]) })
	}
}

// pairGain, singleGain and titleMatchGain are what one list adds to the words
// of a chunk.
func (m *match) pairGain(t *termList, tf, dl uint32) float64 {
	return float64(pairWeight * t.idf * bm25(tf, dl, m.average(), fieldB))
}

func (m *match) singleGain(t *termList, tf, dl uint32) float64 {
	return float64(singleWeight * t.idf * bm25(tf, dl, average(m.live.singles, m.live.chunks), fieldB))
}

func (m *match) titleMatchGain(p *part, t *titleScore) float64 {
	return float64(titleMatchWeight*t.named) + float64(titleCoverWeight*m.cover(p, t)*m.most)
}

// evaluation is the new values of a part.
type evaluation struct {
	p     *part
	fresh []value
	from  uint32 // index of fresh[0] in p.values
}

// each calls add for the new values whose chunk is in a list.
func (v *evaluation) each(l *list, add func(of *value, tf uint32)) {
	switch {
	case l.dense != nil:
		for i := range v.fresh {
			if tf := l.dense.tf(v.fresh[i].chunk); tf > 0 {
				add(&v.fresh[i], tf)
			}
		}
	case len(l.postings) > searchShare*len(v.fresh):
		for i := range v.fresh {
			if tf := l.tf(v.fresh[i].chunk); tf > 0 {
				add(&v.fresh[i], tf)
			}
		}
	default:
		value := v.p.value
		for _, q := range l.postings {
			if i := value[q.doc]; i > v.from {
				add(&v.p.values[i-1], q.tf)
			}
		}
	}
}

// titles calls add for the new values whose title has a score.
func (v *evaluation) titles(add func(of *value, t *titleScore)) {
	if len(v.p.titled) == 0 {
		return
	}
	for i := range v.fresh {
		if t := v.p.titleScore(v.fresh[i].chunk); t != nil {
			add(&v.fresh[i], t)
		}
	}
}
