package bm25

import "math/bits"

// Segments are merged by tiers: as soon as a tier has tierSize segments they
// become one of the next. With n documents added one by one there are at most
// tierSize-1 segments in each of log(n)/log(tierSize) tiers, and every chunk is
// rewritten as many times as there are tiers.
const (
	tierSize  = 4
	firstTier = 32 // chunks; all smaller segments are one tier
	// maxSegmentTokens bounds a merged segment, whose lists are addressed with
	// 32 bits.
	maxSegmentTokens = 400 << 20
	// A segment with at least this share (one in...) of dead chunks is rewritten.
	deadShare = 3
)

// tier returns the tier of a segment with n live chunks.
func tier(n int) int {
	return (bits.Len(uint(n/firstTier)) + 1) / 2
}

// merge brings the collection back to its tiers. Searches go on meanwhile.
func (c *collection) merge() {
	for {
		group := c.mergeable()
		if group == nil {
			return
		}
		c.mergeViews(group)
	}
}

// mergeable returns views to be merged into one; nil if there is nothing to do.
func (c *collection) mergeable() []*view {
	views := c.snapshot.Load().views
	tiers := make(map[int][]*view)
	for _, v := range views {
		if dead := v.chunks() - v.live.chunks; dead*deadShare > v.chunks() {
			return []*view{v}
		}
		t := tier(v.live.chunks)
		tiers[t] = append(tiers[t], v)
		if group := tiers[t]; len(group) == tierSize && tokens(group) <= maxSegmentTokens {
			return group
		}
	}
	return nil
}

func tokens(views []*view) int64 {
	sum := int64(0)
	for _, v := range views {
		sum += v.live.tokens
	}
	return sum
}

// mergeAll leaves one segment, or as few as their bound allows.
func (c *collection) mergeAll() {
	var group []*view
	for _, v := range c.snapshot.Load().views {
		if len(group) > 0 && tokens(group)+v.live.tokens > maxSegmentTokens {
			c.mergeViews(group)
			group = nil
		}
		group = append(group, v)
	}
	if len(group) > 1 {
		c.mergeViews(group)
	}
}

// mergeViews puts one segment in the place of several.
func (c *collection) mergeViews(group []*view) {
	merged := mergeSegments(group)
	gone := make(map[*view]bool, len(group))
	for _, v := range group {
		gone[v] = true
	}
	e := &edit{c: c, own: make(map[*view]bool)}
	for _, v := range c.snapshot.Load().views {
		if !gone[v] {
			e.views = append(e.views, v)
		}
	}
	v := &view{segment: merged, live: merged.sizesOf(0, uint32(merged.chunks()))}
	v.titleDF = make([]uint32, merged.titles.stems.len())
	for stem := range v.titleDF {
		v.titleDF[stem] = c.titleDF[merged.titles.stems.term(stem)]
	}
	e.views = append(e.views, v)
	for i, d := range merged.documents {
		c.documents[d.id] = place{merged, uint32(i)}
	}
	e.commit()
}
