package parse

import "strings"

// kept returns the blocks that are the page's content. What is around it on
// every page of a site is left out, as long as what remains is a fair part of
// the page: an odd page is better read whole than not at all.
func (p *htmlPage) kept() []htmlBlock {
	all := p.where(func(htmlBlock) bool { return true })
	for _, b := range all {
		p.forget(b)
	}
	text := p.where(func(b htmlBlock) bool { return !p.around(b) })
	main := p.content(text)
	switch {
	case weigh(main) > 0 && (2*weigh(main) >= weigh(text) || weigh(main) >= 1000 && 5*weigh(main) >= weigh(text)):
		return p.withTitle(main, text)
	case weigh(text) > 0 && 10*weigh(text) >= 3*weigh(all):
		return p.withTitle(text, all)
	}
	links := p.where(func(b htmlBlock) bool { return !within(b.region, navRegion) })
	if 10*weigh(links) >= weigh(all) && len(links) > 0 {
		return links
	}
	return all
}

// forget makes of a region that was never closed no region: it may hold all
// that follows it.
func (p *htmlPage) forget(b htmlBlock) {
	for r := b.region; r != nil; r = r.parent {
		if r.broken && r.kind > articleRegion {
			r.kind = noRegion
		}
	}
}

func (p *htmlPage) where(keep func(htmlBlock) bool) []htmlBlock {
	var out []htmlBlock
	for _, b := range p.blocks {
		if keep(b) {
			out = append(out, b)
		}
	}
	return out
}

// content returns the blocks of the main region, else those of the articles.
func (p *htmlPage) content(blocks []htmlBlock) []htmlBlock {
	for _, kind := range []regionKind{mainRegion, articleRegion} {
		var out []htmlBlock
		for _, b := range blocks {
			if within(b.region, kind) {
				out = append(out, b)
			}
		}
		if len(out) > 0 {
			return out
		}
	}
	return nil
}

func within(r *region, kind regionKind) bool {
	for ; r != nil; r = r.parent {
		if r.kind == kind {
			return true
		}
	}
	return false
}

// weigh adds up the text of blocks; links count little.
func weigh(blocks []htmlBlock) int {
	n := 0
	for _, b := range blocks {
		n += 10*len(b.text) - 9*b.anchor
	}
	return (n + 9) / 10
}

// withTitle adds to the blocks chosen the page's title, if they have none and
// it stands among the others before them.
func (p *htmlPage) withTitle(chosen, among []htmlBlock) []htmlBlock {
	for _, b := range chosen {
		if b.kind == Heading && b.level == 1 {
			return chosen
		}
	}
	for _, b := range among {
		if len(chosen) > 0 && b == chosen[0] {
			break
		}
		if b.kind == Heading && b.level == 1 && !within(b.region, navRegion) && !within(b.region, footerRegion) {
			return append([]htmlBlock{b}, chosen...)
		}
	}
	return chosen
}

// around says that a block is not of the page's content by where it stands, or
// that it is a list of links outside of it.
func (p *htmlPage) around(b htmlBlock) bool {
	for r := b.region; r != nil; r = r.parent {
		if p.isAround(r) {
			return true
		}
	}
	return !b.region.inside && isMenu(b)
}

// Shares of link text, in percent.
const (
	someLinks = 30
	mostLinks = 85
)

func (p *htmlPage) isAround(r *region) bool {
	linked := 100*r.anchor >= someLinks*r.text
	inside := r.parent != nil && r.parent.inside
	switch r.kind {
	case navRegion:
		return true
	case footerRegion, asideRegion:
		return !inside || linked
	case headerRegion:
		return linked
	case noticeRegion:
		// Names are a hint alone; whole pages stand in a "sidebar-layout".
		const short = 300
		return 3*r.text < p.bytes && (linked || r.text < short || !inside && r.text < 2000)
	}
	return false
}

// isMenu says that a block is a list of short links.
func isMenu(b htmlBlock) bool {
	if b.kind != List && b.kind != Paragraph && b.kind != Table || b.links < 3 || 100*b.anchor < mostLinks*(len(b.text)-3*b.links) {
		return false
	}
	return len(strings.Fields(b.text)) < 8*b.links
}
