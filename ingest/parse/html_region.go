package parse

import (
	"fmt"
	"regexp"

	"golang.org/x/net/html/atom"
)

// regionKind is what a part of a page is for.
type regionKind byte

const (
	noRegion      regionKind = iota
	mainRegion               // what the page is about
	articleRegion            // likewise, where no main region is marked
	navRegion
	footerRegion
	headerRegion
	asideRegion
	noticeRegion // named as cookie banners, advertisements and the like are
)

// region is an open or closed part of a page.
type region struct {
	tag    atom.Atom
	kind   regionKind
	parent *region
	inside bool // the main region or an article
	text   int  // bytes
	anchor int  // bytes of it that are links
	broken bool // it was never closed
}

// isContainer says that an element may be a region.
func isContainer(tag atom.Atom) bool {
	switch tag {
	case atom.Div, atom.Section, atom.Article, atom.Main, atom.Header, atom.Footer, atom.Nav, atom.Aside, atom.Form, atom.Dialog:
		return true
	}
	return false
}

// notice matches names of classes and ids of what is no content.
var notice = regexp.MustCompile(`(?i)(^|[\s_-])(cookies?|consent|gdpr|ccpa|newsletter|subscribe|advert|advertisement|ads?|sponsored|social|share|sharing|sharebar|breadcrumbs?|sidebar|popup|modal|skip-?link|related-?(posts|articles|links)|paywall|site-?(nav|header|footer)|navbar|menu|toolbar|pagination)($|[\s_-])`)

// regionOf tells what a container is for by its name, role and class.
func regionOf(tag atom.Atom, a attributes, inContent bool) regionKind {
	switch a.role {
	case "main":
		return mainRegion
	case "article":
		return articleRegion
	case "navigation", "menu", "menubar", "toolbar", "search":
		return navRegion
	case "contentinfo":
		return footerRegion
	case "banner":
		return headerRegion
	case "complementary":
		return asideRegion
	case "dialog", "alertdialog":
		return noticeRegion
	}
	switch tag {
	case atom.Main:
		return mainRegion
	case atom.Article:
		return articleRegion
	case atom.Nav:
		return navRegion
	case atom.Footer:
		return footerRegion
	case atom.Aside:
		return asideRegion
	case atom.Dialog:
		return noticeRegion
	case atom.Header:
		if inContent {
			return noRegion // the title of an article and who wrote it
		}
		return headerRegion
	}
	if notice.MatchString(a.class) || notice.MatchString(a.id) {
		return noticeRegion
	}
	return noRegion
}

// htmlBlock is a block and where it stands.
type htmlBlock struct {
	kind   Kind
	level  int
	text   string
	anchor int // bytes of it that are links
	links  int
	region *region
}

// htmlPage collects the blocks of a page.
type htmlPage struct {
	blocks    []htmlBlock
	current   *region // innermost open one
	depth     int
	bytes     int
	maxBytes  int
	maxBlocks int
	err       error
}

func newHTMLPage(maxBytes, maxBlocks int) htmlPage {
	return htmlPage{current: &region{}, maxBytes: maxBytes, maxBlocks: maxBlocks}
}

// maxRegions bounds the open containers that are told apart.
const maxRegions = 256

// open begins a container.
func (p *htmlPage) open(tag atom.Atom, kind regionKind) {
	if p.depth >= maxRegions {
		return
	}
	p.depth++
	inside := p.current.inside || kind == mainRegion || kind == articleRegion
	p.current = &region{tag: tag, kind: kind, parent: p.current, inside: inside}
}

// find returns the innermost open container of that tag; nil for none.
func (p *htmlPage) find(tag atom.Atom) *region {
	for r := p.current; r.parent != nil; r = r.parent {
		if r.tag == tag {
			return r
		}
	}
	return nil
}

// closesRegion says that an end tag ends a region, not only a container.
func (p *htmlPage) closesRegion(tag atom.Atom) bool {
	last := p.find(tag)
	if last == nil {
		return false
	}
	for r := p.current; r != last.parent; r = r.parent {
		if r.kind != noRegion {
			return true
		}
	}
	return false
}

// close ends the innermost container of that tag and those within it.
func (p *htmlPage) close(tag atom.Atom) {
	last := p.find(tag)
	if last == nil {
		return
	}
	for p.current != last.parent {
		p.current = p.current.parent
		p.depth--
	}
}

// end closes what is still open.
func (p *htmlPage) end() {
	for r := p.current; r.parent != nil; r = r.parent {
		r.broken = true
	}
}

func (p *htmlPage) inContent() bool { return p.current.inside }

func (p *htmlPage) add(b htmlBlock) {
	b.region = p.current
	for r := b.region; r != nil; r = r.parent {
		r.text += len(b.text)
		r.anchor += b.anchor
	}
	p.bytes += len(b.text)
	p.blocks = append(p.blocks, b)
	switch {
	case len(p.blocks) > p.maxBlocks:
		p.err = fmt.Errorf("%w: more than %d blocks of text", ErrLimit, p.maxBlocks)
	case p.bytes > p.maxBytes:
		p.err = fmt.Errorf("%w: more than %d MB of text", ErrLimit, p.maxBytes>>20)
	}
}

// write adds blocks to b.
func (p *htmlPage) write(b *body, blocks []htmlBlock) {
	for _, block := range blocks {
		b.add(block.kind, block.level, 0, block.text)
	}
}
