package bm25

import "slices"

// IDs implements retrieval.LexicalIndex.
func (x *Index) IDs(collection string) (ids []string, ok bool) {
	c := x.collection(collection)
	if c == nil {
		return nil, false
	}
	s := c.snapshot.Load()
	ids = make([]string, 0, s.live.chunks)
	for _, v := range s.views {
		for chunk := range v.chunks() {
			if v.alive(uint32(chunk)) {
				ids = append(ids, v.ids.at(chunk))
			}
		}
	}
	slices.Sort(ids)
	return ids, true
}
