package bm25

import "math/bits"

// Segments are merged by tiers: as soon as a tier has tierSize segments they
// become one of the next. With n documents added one by one there are at most
// tierSize-1 segments in each of log(n)/log(tierSize) tiers, and every chunk is
// rewritten as many times as there are tiers.
const (
	tierSize  = 4
	firstTier = 32 // chunks; all smaller segments are one tier
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
		if v.live.tokens > c.shop.segmentTokens/2 {
			continue // it is as long as it should get
		}
		t := tier(v.live.chunks)
		tiers[t] = append(tiers[t], v)
		if group := tiers[t]; len(group) == tierSize {
			for tokens(group) > c.shop.segmentTokens {
				group = group[:len(group)-1]
			}
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

// mergeViews puts one segment in the place of several.
func (c *collection) mergeViews(group []*view) {
	merged := mergeSegments(group)
	gone := make(map[*segment]bool, len(group))
	for _, v := range group {
		gone[v.segment] = true
	}
	e := &edit{c: c, own: make(map[*view]bool)}
	for _, v := range c.snapshot.Load().views {
		if !gone[v.segment] {
			e.views = append(e.views, v)
		}
	}
	v := &view{segment: merged, live: merged.sizesOf(0, uint32(merged.chunks()))}
	v.titleDF = make([]uint32, merged.titles.stems.len())
	for stem := range v.titleDF {
		v.titleDF[stem] = c.titleDF[merged.titles.stems.term(stem)]
	}
	e.views = append(e.views, v)
	e.own[v] = true
	for i := range merged.documents {
		c.move(merged, uint32(i), gone)
	}
	e.commit()
}
