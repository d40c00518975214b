package eval

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Scored is one document of a ranking.
type Scored struct {
	ID    string  `json:"id"`
	Score float64 `json:"score"`
}

// Run is what a system returned: query id -> distinct documents, best first.
// The order decides; scores only explain it.
type Run map[string][]Scored

// MaxRunLines bounds a run file.
const MaxRunLines = 20_000_000

// Queries returns the ids of the queries in ascending order.
func (r Run) Queries() []string { return slices.Sorted(maps.Keys(r)) }

// Fold renames the documents by name and keeps the best rank of each.
func (r Run) Fold(name func(id string) string) Run {
	folded := make(Run, len(r))
	for query, ranking := range r {
		folded[query] = foldRanking(ranking, name)
	}
	return folded
}

func foldRanking(ranking []Scored, name func(id string) string) []Scored {
	seen := make(map[string]bool, len(ranking))
	best := make([]Scored, 0, len(ranking))
	for _, s := range ranking {
		s.ID = name(s.ID)
		if !seen[s.ID] {
			seen[s.ID] = true
			best = append(best, s)
		}
	}
	return best
}

// ReadRun reads a TREC run file: `qid Q0 docid rank score tag` between white
// space, in any order; lines that begin with # are comments. As trec_eval
// does, it ignores the rank column and orders by descending score in single
// precision, equal scores by descending document id, byte by byte. The tag may
// be missing. A document twice for a query, a score that is no finite number
// and an empty file are errors; those of a line are LineErrors with name for r.
func ReadRun(r io.Reader, name string) (Run, error) {
	run := Run{}
	type pair struct{ query, doc string }
	seen := map[pair]bool{}
	for l, err := range lines(r, name) {
		if err != nil {
			return nil, err
		}
		f := strings.Fields(string(l.text))
		if strings.HasPrefix(f[0], "#") {
			continue
		}
		if len(f) < 5 {
			return nil, l.invalid("%d fields, not the six of `qid Q0 docid rank score tag`", len(f))
		}
		score, err := strconv.ParseFloat(f[4], 64)
		if err != nil || math.IsNaN(score) || math.IsInf(score, 0) {
			return nil, l.invalid("the score %q is not a finite number", f[4])
		}
		key := pair{f[0], f[2]}
		if seen[key] {
			return nil, l.invalid("document %q a second time for query %q: a ranking holds each document once", f[2], f[0])
		}
		seen[key] = true
		if len(seen) > MaxRunLines {
			return nil, l.invalid("more than %d lines", MaxRunLines)
		}
		run[f[0]] = append(run[f[0]], Scored{ID: f[2], Score: score})
	}
	if len(run) == 0 {
		return nil, (line{file: name, n: 1}).invalid("no result in it")
	}
	for _, ranking := range run {
		slices.SortFunc(ranking, func(a, b Scored) int {
			return cmp.Or(cmp.Compare(float32(b.Score), float32(a.Score)), strings.Compare(b.ID, a.ID))
		})
	}
	return run, nil
}

// WriteRun writes a TREC run file, queries in ascending order of their id,
// ranks from 1. Scores are printed as single-precision numbers that strictly
// decrease: one that does not lie below the score above it is lowered to the
// next number that does. So every reader that sorts by score (trec_eval keeps
// it in single precision in some versions) finds the order of run, ties and
// all. An id or tag with white space in it, and a score that is no finite
// single-precision number, are store.ErrInvalid.
func WriteRun(w io.Writer, run Run, tag string) error {
	if err := trecIDs(tag); err != nil {
		return fmt.Errorf("tag: %w", err)
	}
	out := bufio.NewWriter(w)
	for _, query := range run.Queries() {
		above := float32(math.Inf(1))
		for i, s := range run[query] {
			if err := trecIDs(query, s.ID); err != nil {
				return err
			}
			score, err := below(above, s.Score)
			if err != nil {
				return fmt.Errorf("query %q, document %q: %w", query, s.ID, err)
			}
			above = score
			fmt.Fprintf(out, "%s Q0 %s %d %s %s\n", query, s.ID, i+1, strconv.FormatFloat(float64(score), 'g', -1, 32), tag)
		}
	}
	return out.Flush()
}
