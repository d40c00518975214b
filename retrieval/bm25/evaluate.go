package bm25

import "slices"

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
	slices.SortFunc(fresh, func(a, b value) int { return int(a.chunk) - int(b.chunk) })
	for i := range fresh {
		p.value[fresh[i].chunk] = uint32(from + i + 1)
	}
	v := evaluation{p: p, fresh: fresh, from: uint32(from)}
	avg := m.average()
	for _, t := range m.stems {
		v.each(t.postings[part], func(of *value, tf uint32) {
			of.words += float64(t.idf * bm25L(tf, m.scratch.norms.of(p.length[of.chunk])))
		})
	}
	v.titles(func(of *value, t *titleScore) { of.words += float64(titleWeight * t.field) })
	for _, t := range m.pairs {
		v.each(t.postings[part], func(of *value, tf uint32) { of.words += m.pairGain(&t, tf, p.length[of.chunk]) })
	}
	v.titles(func(of *value, t *titleScore) { of.words += m.titleMatchGain(t) })
	for _, t := range m.surface {
		v.each(t.postings[part], func(of *value, tf uint32) {
			of.exact += float64(t.idf * bm25(tf, p.length[of.chunk], avg, fieldB))
		})
	}
	for _, t := range m.singles {
		v.each(t.postings[part], func(of *value, tf uint32) { of.words += m.singleGain(&t, tf, p.singleLength[of.chunk]) })
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

func (m *match) titleMatchGain(t *titleScore) float64 {
	return float64(titleMatchWeight*t.named) + float64(titleCoverWeight*t.cover*m.most)
}

// evaluation is the new values of a part, ascending by chunk.
type evaluation struct {
	p     *part
	fresh []value
	from  uint32 // index of fresh[0] in p.values
}

// scanShare is how many times longer than the other a list has to be, for it to
// pay to look each entry of the shorter one up in it.
const scanShare = 24

// each calls add for the new values whose chunk is in a list.
func (v *evaluation) each(list []posting, add func(of *value, tf uint32)) {
	if len(list) > scanShare*len(v.fresh) {
		for i := range v.fresh {
			n := gallop(list, v.fresh[i].chunk)
			list = list[n:]
			if len(list) > 0 && list[0].doc == v.fresh[i].chunk {
				add(&v.fresh[i], list[0].tf)
			}
		}
		return
	}
	value := v.p.value
	for _, q := range list {
		if i := value[q.doc]; i > v.from {
			add(&v.p.values[i-1], q.tf)
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

// gallop returns how many postings at the beginning of a list are of docs
// before the given one.
func gallop(list []posting, doc uint32) int {
	step := 1
	for step < len(list) && list[step-1].doc < doc {
		step *= 2
	}
	from, to := step/2, min(step, len(list)) // what is before from is too small
	for from < to {
		middle := (from + to) / 2
		if list[middle].doc < doc {
			from = middle + 1
		} else {
			to = middle
		}
	}
	return from
}
