package lsa

import (
	"context"
	"slices"
	"unsafe"

	"ragagent/retrieval"
)

// foldAtOnce is how many chunks of a part are folded in at once: 8 MB of sums.
const foldAtOnce = 32_768

// codesOf returns the codes of a part's chunks: those that are known, of this
// part or of others that were merged into it, and the rest folded in.
func (m *model) codesOf(ctx context.Context, p retrieval.LexicalPart, old *collection) ([]code, error) {
	if len(m.terms) == 0 {
		return nil, nil
	}
	if known := old.part(p.Key()); known != nil {
		return known.codes, nil
	}
	codes := make([]code, p.Chunks())
	for from := 0; from < len(codes); from += foldAtOnce {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		block := codes[from:min(from+foldAtOnce, len(codes))]
		if !old.copyTo(block, p, from) {
			copy(block, m.fold(p, from, len(block)))
		}
	}
	return codes, nil
}

// copyTo copies the codes of the chunks from the given one on, and says whether
// all of them are known.
func (c *collection) copyTo(block []code, p retrieval.LexicalPart, from int) bool {
	if c == nil {
		return false
	}
	for i := range block {
		known, ok := c.code(p.ID(from + i))
		if !ok {
			return false
		}
		block[i] = known
	}
	return true
}

// part returns the part with a key, nil if it is not known.
func (c *collection) part(key any) *part {
	if c == nil {
		return nil
	}
	if i := slices.IndexFunc(c.parts, func(p part) bool { return p.key == key }); i >= 0 {
		return &c.parts[i]
	}
	return nil
}

// code looks a chunk up by its id.
func (c *collection) code(id string) (code, bool) {
	for i := range c.parts {
		p := &c.parts[i]
		if chunk := p.find(id); chunk >= 0 && chunk < len(p.codes) {
			return p.codes[chunk], true
		}
	}
	return code{}, false
}

// holds says whether exactly these parts are known.
func (c *collection) holds(parts []retrieval.LexicalPart) bool {
	if c == nil {
		return false
	}
	return slices.EqualFunc(c.parts, parts, func(known part, p retrieval.LexicalPart) bool { return known.key == p.Key() })
}

func (x *Index) known(name string) *collection {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.bases[name]
}

// set replaces what is known of a collection; nil forgets it.
func (x *Index) set(name string, c *collection) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if c == nil {
		delete(x.bases, name)
		return
	}
	x.bases[name] = c
}

// keep forgets all other collections.
func (x *Index) keep(names []string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for name := range x.bases {
		if _, found := slices.BinarySearch(names, name); !found {
			delete(x.bases, name)
		}
	}
}

// Bytes implements retrieval.Topics.
func (x *Index) Bytes() (n int64) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	for _, c := range x.bases {
		n += c.model.bytes()
		for _, p := range c.parts {
			n += int64(len(p.codes)) * int64(unsafe.Sizeof(code{}))
		}
	}
	return n
}

// Cosines implements retrieval.Topics. A chunk that is not folded in yet gets
// the mean of the others, so that it is neither ahead nor behind. A question
// with characters (CJK) gets nothing.
func (x *Index) Cosines(terms []retrieval.TermWeight, chunks []retrieval.Location) []float64 {
	if slices.ContainsFunc(terms, func(t retrieval.TermWeight) bool { return isCJK(t.Term) }) {
		return nil
	}
	questions := make(map[string]*question)
	cosines := make([]float64, len(chunks))
	var missing []int
	sum := 0.
	for i := range chunks {
		at := &chunks[i]
		q, asked := questions[at.Collection]
		if !asked {
			q = x.ask(at.Collection, terms)
			questions[at.Collection] = q
		}
		cosine, ok := q.cosine(at)
		if !ok {
			missing = append(missing, i)
			continue
		}
		cosines[i] = cosine
		sum += cosine
	}
	if 2*len(missing) > len(chunks) {
		return nil
	}
	for _, i := range missing {
		cosines[i] = sum / float64(len(chunks)-len(missing))
	}
	return cosines
}

// question is a query in the directions of one collection.
type question struct {
	of     *collection
	vector [Dim]float32
}

// ask returns nil if a collection's model has nothing to say.
func (x *Index) ask(name string, terms []retrieval.TermWeight) *question {
	c := x.known(name)
	if c == nil {
		return nil
	}
	vector, ok := c.model.query(terms)
	if !ok {
		return nil
	}
	return &question{c, vector}
}

// cosine compares with a chunk, whose part may have been merged since.
func (q *question) cosine(at *retrieval.Location) (float64, bool) {
	if q == nil {
		return 0, false
	}
	if p := q.of.part(at.Part); p != nil && at.Chunk < len(p.codes) {
		return p.codes[at.Chunk].cosine(&q.vector), true
	}
	code, ok := q.of.code(at.ID)
	return code.cosine(&q.vector), ok
}
