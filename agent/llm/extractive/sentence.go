package extractive

import (
	"context"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"ragagent/retrieval/analysis"
)

// sentence is a candidate for the answer.
type sentence struct {
	passage  *Passage
	rank     int // of the passage, from 0
	position int // in the passage, from 0
	text     string
	lead     string // what to read before a row: see unit.lead
	coverage float64
	score    float64
}

// Weights of a sentence's score. They were fitted on questions with known
// answers from five collections (see docs/quality.md): the answer stands in
// the best sentence for about three questions in four.
const (
	weightCoverage = 4.51 // idf share of the query's terms in the sentence
	weightBigram   = 1.21 // share of the query's adjacent terms that are adjacent here
	weightPassage  = 5.06 // the passage's score relative to the best
	weightType     = 1.53 // holds what the question asks for: a number, a name
	weightFirst    = .74  // opens its passage
	weightContext  = 9.29 // coverage together with the sentence before and the title
	weightTitle    = 5.74 // coverage of the title alone
	weightQuestion = -.88 // is a question itself
	weightShort    = -2.45
	shortTokens    = 4
	weightSimilar  = 4  // cosine with the query; see Config.Embedder
	weightYear     = -3 // names years, but none of those asked about
	// weightLong times ln(1 + tokens/10): a long sentence holds many words by
	// chance. Not for CJK, where a token is a bigram.
	weightLong = -1
	// Rows of tables, which those collections have none of.
	weightRow   = .5  // where a figure is asked for
	weightTotal = 1.5 // sums the table up
	weightLabel = -3  // share of its label that was not asked for
)

// answer is what reading the passages gave.
type answer struct {
	sentences []sentence // best first
	signals   signals
}

// read scores every sentence of the passages.
func (m *Model) read(ctx context.Context, query string, seen Observation) answer {
	passages := seen.Passages[:min(len(seen.Passages), m.cfg.Passages)]
	q := newQuestion(m.analyzer, query, seen.Result.Terms)
	var a answer
	if len(passages) == 0 {
		return a
	}
	top := max(evidence(passages[0].Score), 1e-9)
	found := map[string]bool{}
	var meanings []string
	for rank := range passages {
		p := &passages[rank]
		title := termSet(m.analyzer, titleOf(p))
		for i, u := range m.units(p.Context, p.Text) {
			maps.Copy(found, u.terms)
			if u.heads {
				continue
			}
			s := sentence{passage: p, rank: rank, position: i, text: u.text, lead: strings.Join(u.lead, "\n"), coverage: q.coverage(u.about)}
			s.score = q.score(u, title) + weightPassage*evidence(p.Score)/top
			a.sentences = append(a.sentences, s)
			meanings = append(meanings, strings.TrimSpace(u.context+"\n"+u.text))
		}
	}
	for i, cosine := range m.similar(ctx, query, meanings) {
		a.sentences[i].score += weightSimilar * cosine
	}
	slices.SortStableFunc(a.sentences, func(x, y sentence) int {
		switch {
		case x.score > y.score:
			return -1
		case x.score < y.score:
			return 1
		}
		return 0 // stable: by passage, then by place
	})
	a.signals = q.signals(m.analyzer, passages, found)
	return a
}

// score is what a unit is worth, the standing of its passage aside.
func (q question) score(u unit, title map[string]bool) float64 {
	score := weightCoverage*q.coverage(u.about) +
		weightBigram*q.bigrams(u.aboutTokens) +
		weightType*oneIf(q.fitsType(u.text, u.tokens)) +
		weightFirst*oneIf(u.first) +
		weightContext*q.coverage(u.about, u.before, title) +
		weightTitle*q.coverage(title) +
		weightQuestion*oneIf(isQuestion(u.text)) +
		weightYear*oneIf(q.otherYear(strings.Join(u.lead, " ")+" "+u.text))
	if !q.cjk {
		score += weightLong * math.Log1p(float64(len(u.tokens))/10)
	}
	if !u.row {
		return score + weightShort*oneIf(len(u.tokens) < shortTokens)
	}
	return score + weightRow*oneIf(q.kind == figure) + weightTotal*oneIf(u.total) + weightLabel*q.foreign(u.label)
}

// evidence undoes the calibration of a passage's score, 1 - exp(-4 evidence):
// the ratio of two scores says little where both are near 1.
func evidence(score float64) float64 {
	const scale, most = 4, 1 - 1e-9
	return -math.Log1p(-min(max(score, 0), most)) / scale
}

// titleOf is what stands above a passage.
func titleOf(p *Passage) string {
	title := p.Title
	if title == "" {
		title = p.Document
	}
	return strings.Join(append([]string{title}, p.Headings...), "\n")
}

// How far behind the best a sentence may lie to be said along: further if it
// comes from a passage that is cited anyway.
const (
	marginSame  = 3.5
	marginOther = 1.75
)

// best returns the best sentences in the order they are read in: by passage,
// best first, and by place.
func (a answer) best(most int) []sentence {
	var out []sentence
	for _, s := range a.sentences {
		if len(out) == most || s.score < a.sentences[0].score-marginSame {
			break
		}
		behind := a.sentences[0].score - s.score
		cited := slices.ContainsFunc(out, func(o sentence) bool { return o.passage == s.passage })
		said := slices.ContainsFunc(out, func(o sentence) bool { return plain(o.text) == plain(s.text) })
		if !said && (cited || behind <= marginOther) {
			out = append(out, s)
		}
	}
	slices.SortFunc(out, func(x, y sentence) int {
		if x.rank != y.rank {
			return x.rank - y.rank
		}
		return x.position - y.position
	})
	return out
}

var (
	spaces = regexp.MustCompile(`\s+`)
	// reference is a number in brackets in the document itself, which a reader
	// would take for one of our citations.
	reference = regexp.MustCompile(`\s*[\[【]\s*\d+(?:\s*[,;–-]\s*\d+)*\s*[\]】]`)
)

// plain is a sentence as it is repeated: word for word on one line, without
// the document's own reference numbers.
func plain(text string) string {
	return strings.TrimSpace(spaces.ReplaceAllString(reference.ReplaceAllString(text, ""), " "))
}

func citation(id int) string { return "[" + strconv.Itoa(id) + "]" }

func isQuestion(text string) bool {
	text = strings.TrimRightFunc(text, unicode.IsSpace)
	return strings.HasSuffix(text, "?") || strings.HasSuffix(text, "？")
}

func oneIf(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

func termsOf(tokens []analysis.Token) map[string]bool {
	out := make(map[string]bool, len(tokens))
	for _, t := range tokens {
		out[t.Term] = true
	}
	return out
}
