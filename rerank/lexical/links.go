package lexical

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"math"
)

// Bounds of links by title.
const (
	linkSources  = 10 // the best chunks, which others may be tied to
	maxSharing   = 3  // chunks that may share a title that links
	maxLinks     = 50 // of one chunk; one with more is a list, which ties nothing
	minLoneTitle = 4  // letters of a title of one word
	// mentionWeight is the part of a link's weight that being named by a good
	// chunk counts by itself.
	mentionWeight = .2
)

// link is a tie that may be between a good chunk and another one.
type link struct {
	namer, named *passage // the one's text names the other's title
	to           int      // the passage that gains
	gain         float64
}

// addLinks hands evidence on along titles. With a one of the best chunks, b
// any other, and one's text naming the other's title,
//
//	w   = evidence(a)/evidence(best) * maxidf(title)/maxidf
//	res = share by idf of the question's terms that a lacks and b has
//
// b gains the most that any a gives: w res + .2 w if a names b, w res if b
// names a. title is the one that is named.
func (r *Reranker) addLinks(q *question, passages []*passage) {
	if len(passages) == 0 || passages[0].evidence <= 0 || q.total == 0 {
		return
	}
	rarity := r.titleRarity(q, passages)
	gains := make([]float64, len(passages))
	var links, held []link
	for from := range passages[:min(linkSources, len(passages))] {
		links = q.linksOf(links[:0], passages, from, rarity)
		// Reading texts is what takes time: first those that would change anything.
		held = held[:0]
		for _, l := range links {
			if l.gain > gains[l.to] && r.holds(q, &l) {
				held = append(held, l)
			}
		}
		if len(held) == 0 || r.isList(q, links) {
			continue
		}
		for _, l := range held {
			gains[l.to] = max(gains[l.to], l.gain)
		}
	}
	for i, gain := range gains {
		passages[i].add("linked by title", gain)
	}
}

func (r *Reranker) holds(q *question, l *link) bool { return r.names(q, l.namer, l.named) }

// isList says whether more than maxLinks of the links hold.
func (r *Reranker) isList(q *question, links []link) bool {
	if len(links) <= maxLinks {
		return false
	}
	possible := links[:0:0]
	for _, l := range links {
		if l.namer.mayName(l.named) {
			possible = append(possible, l)
		}
	}
	n := 0
	for i := range possible {
		if n+len(possible)-i <= maxLinks {
			return false
		}
		if r.holds(q, &possible[i]) {
			n++
		}
	}
	return n > maxLinks
}

// missing returns the share, by idf, of the terms that a lacks and b has.
func (q *question) missing(a, b *passage) float64 {
	sum := 0.
	for i, idf := range q.idf {
		if !a.has[i] && b.has[i] {
			sum += idf
		}
	}
	return sum / q.total
}

// linksOf appends the ties that one chunk may have, whatever the texts say.
// rarity is 0 for titles that do not link.
func (q *question) linksOf(links []link, passages []*passage, from int, rarity []float64) []link {
	a := passages[from]
	strength := a.evidence / passages[0].evidence
	for to, b := range passages {
		if to == from || b.hit.Title == a.hit.Title {
			continue
		}
		res := q.missing(a, b)
		if rarity[to] > 0 {
			w := strength * rarity[to]
			gain := w * res
			gain += mentionWeight * w
			links = append(links, link{namer: a, named: b, to: to, gain: gain})
		}
		if rarity[from] > 0 {
			w := strength * rarity[from]
			links = append(links, link{namer: b, named: a, to: to, gain: w * res})
		}
	}
	return links
}

// titleRarity returns, for each passage whose title can link, the highest idf
// of its words as a share of the highest there is; 0 for the others. It notes
// which word that is.
func (r *Reranker) titleRarity(q *question, passages []*passage) []float64 {
	sharing := make(map[string]int)
	for i := range passages {
		sharing[passages[i].hit.Title]++
	}
	var terms []string
	for i := range passages {
		if linkable(passages[i], sharing) {
			terms = append(terms, passages[i].title...)
		}
	}
	rarity := make([]float64, len(passages))
	if len(terms) == 0 {
		return rarity
	}
	const unknown = "\x00" // no text has this word
	weights := r.statistics.TermWeights(q.collections, append(terms, unknown))
	highest := rarestIDF(weights[len(terms)].IDF)
	at := 0
	for i := range passages {
		if !linkable(passages[i], sharing) {
			continue
		}
		for n := range passages[i].title {
			if share := min(weights[at].IDF/highest, 1); share > rarity[i] {
				rarity[i] = share
				passages[i].rarest = n
			}
			at++
		}
	}
	return rarity
}

// rarestIDF turns the idf of an unknown word, ln(1 + (n+.5)/.5), into that of
// a word of one chunk, ln(1 + (n-.5)/1.5).
func rarestIDF(unknown float64) float64 {
	n := (math.Exp(unknown) - 2) / 2
	return math.Log1p(max(n-.5, .5) / 1.5)
}

func linkable(p *passage, sharing map[string]int) bool {
	switch {
	case len(p.title) == 0 || sharing[p.hit.Title] > maxSharing:
		return false
	case len(p.title) == 1:
		return utf8.RuneCountInString(strings.TrimSpace(titleName(p.hit.Title))) >= minLoneTitle
	}
	return true
}

// titleName is a title without the bracket that tells it from others of the
// same name: "Mercury (planet)".
func titleName(title string) string {
	if i := strings.Index(title, " ("); i > 0 && strings.HasSuffix(title, ")") {
		return title[:i]
	}
	return title
}

func startsUpper(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return unicode.IsUpper(r)
}
