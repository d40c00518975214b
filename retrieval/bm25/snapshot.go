package bm25

// snapshot is what a search sees of a collection: it never changes.
type snapshot struct {
	name   string // of the collection
	views  []*view
	live   sizes
	titles int // distinct titles of live chunks
	// titleStems is how many distinct stems these have.
	titleStems int
	// mostTitleDF is how many titles a stem is in at most.
	mostTitleDF uint32
	joints      *joints // nil if there are none
}

// view is a segment less what was deleted from it since it was built.
type view struct {
	*segment
	dead bitmap // chunks; nil if none
	live sizes
	// titleDF holds, for each stem of the segment's titles, how many distinct
	// titles of the whole collection have it.
	titleDF     []uint32
	mostTitleDF uint32 // the highest of titleDF
}

func (v *view) alive(chunk uint32) bool {
	return v.dead == nil || !v.dead.has(chunk)
}

// liveDF counts the live chunks that have a term of a field over chunks. buf
// is used for decoding.
func (v *view) liveDF(f *field, term int, buf *[]posting) int {
	if v.dead == nil {
		return int(f.df[term])
	}
	*buf = appendPostings((*buf)[:0], f.list(term))
	n := 0
	for _, p := range *buf {
		if !v.dead.has(p.doc) {
			n++
		}
	}
	return n
}

// before and after return the neighbour of a chunk in its document, or -1 if
// that is none or across a joint. A document is deleted as a whole, so the
// neighbour of a live chunk is alive.
func (v *view) before(chunk uint32) int {
	if chunk == 0 || v.docOf[chunk-1] != v.docOf[chunk] {
		return -1
	}
	return int(chunk) - 1
}

func (v *view) after(chunk uint32) int {
	if int(chunk)+1 == v.chunks() || v.docOf[chunk+1] != v.docOf[chunk] {
		return -1
	}
	return int(chunk) + 1
}
