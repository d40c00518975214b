package eval

import (
	"bufio"
	"bytes"
	"cmp"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"ragagent/store"
)

// Qrels are relevance judgements: query id -> document id -> grade.
type Qrels map[string]map[string]int

// Bounds of what a collection may hold.
const (
	MaxJudgements = 10_000_000
	MaxGrade      = 1 << 20
)

// Queries returns the ids of the judged queries in ascending order.
func (q Qrels) Queries() []string { return slices.Sorted(maps.Keys(q)) }

// Relevant returns the documents of a query with a grade of 1 or more, the
// highest grades first, equal grades by id.
func (q Qrels) Relevant(query string) []string {
	judged := q[query]
	var ids []string
	for id, grade := range judged {
		if grade > 0 {
			ids = append(ids, id)
		}
	}
	slices.SortFunc(ids, func(a, b string) int {
		return cmp.Or(cmp.Compare(judged[b], judged[a]), cmp.Compare(a, b))
	})
	return ids
}

// Fold renames the documents by name and gives each new one the highest grade
// of those it is made of: pages become files, for example, with name File.
func (q Qrels) Fold(name func(id string) string) Qrels {
	folded := make(Qrels, len(q))
	for query, judged := range q {
		grades := make(map[string]int, len(judged))
		for id, grade := range judged {
			to := name(id)
			if old, ok := grades[to]; !ok || grade > old {
				grades[to] = grade
			}
		}
		folded[query] = grades
	}
	return folded
}

// ReadQrels reads relevance judgements in either of the two formats in use,
// told apart by the number of fields:
//
//	query-id <TAB> corpus-id <TAB> score     BEIR; ids may hold spaces
//	query-id corpus-id score                 the same, separated by white space
//	qid iteration docid grade                TREC, separated by white space
//
// The first line may name the columns: it then holds no digit. Lines
// that begin with # are comments, but for those of three fields between tabs.
// The same judgement twice is accepted,
// two different grades for one document are not. Grades are whole numbers
// within +-MaxGrade. name stands for r in errors, which are LineErrors; no
// judgement at all, or none above 0, is store.ErrInvalid.
func ReadQrels(r io.Reader, name string) (Qrels, error) {
	qrels := Qrels{}
	count := 0
	for l, err := range lines(r, name) {
		if err != nil {
			return nil, err
		}
		query, doc, gradeText, err := judgement(l)
		if err != nil {
			return nil, err
		}
		if query == "" { // a comment
			continue
		}
		grade, ok := parseGrade(gradeText)
		if !ok {
			if isHeader(l) {
				continue
			}
			return nil, l.invalid("the grade %q is not a whole number within %d: write 0 for not relevant, 1 and more for relevant", gradeText, MaxGrade)
		}
		if count++; count > MaxJudgements {
			return nil, l.invalid("more than %d judgements", MaxJudgements)
		}
		if qrels[query] == nil {
			qrels[query] = map[string]int{}
		}
		if old, ok := qrels[query][doc]; ok && old != grade {
			return nil, l.invalid("query %q judges document %q a second time, %d after %d: keep one of them", query, doc, grade, old)
		}
		qrels[query][doc] = grade
	}
	return qrels, qrels.check(name)
}

// check says why nothing could be measured with q.
func (q Qrels) check(name string) error {
	if len(q) == 0 {
		return store.Invalid(name, "no judgement in it")
	}
	for _, judged := range q {
		for _, grade := range judged {
			if grade > 0 {
				return nil
			}
		}
	}
	return store.Invalid(name, "no judgement with a grade above 0 in it")
}

// judgement cuts a line of qrels; query is "" for a comment.
func judgement(l line) (query, doc, grade string, err error) {
	text := string(l.text)
	// BEIR ids may hold spaces, so three fields between tabs come first.
	if f := strings.Split(text, "\t"); len(f) == 3 {
		query, doc, grade = strings.TrimSpace(f[0]), strings.TrimSpace(f[1]), strings.TrimSpace(f[2])
	} else if strings.HasPrefix(text, "#") {
		return "", "", "", nil
	} else {
		switch f := strings.Fields(text); len(f) {
		case 3:
			query, doc, grade = f[0], f[1], f[2]
		case 4:
			query, doc, grade = f[0], f[2], f[3]
		default:
			return "", "", "", l.invalid("%d fields: write query, document, grade, or query, iteration, document, grade; ids with spaces need tabs", len(f))
		}
	}
	if query == "" || doc == "" {
		return "", "", "", l.invalid("an empty id")
	}
	return query, doc, grade, nil
}

// isHeader says whether l names the columns.
func isHeader(l line) bool {
	return l.n == 1 && !bytes.ContainsAny(l.text, "0123456789")
}

// parseGrade reads a whole number, also when written as 1.0.
func parseGrade(text string) (int, bool) {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || v != math.Trunc(v) || math.Abs(v) > MaxGrade {
		return 0, false
	}
	return int(v), true
}

// WriteQrels writes TREC qrels, by query and document id. An id that white
// space would cut is store.ErrInvalid.
func WriteQrels(w io.Writer, qrels Qrels) error {
	out := bufio.NewWriter(w)
	for _, query := range qrels.Queries() {
		for _, doc := range slices.Sorted(maps.Keys(qrels[query])) {
			if err := trecIDs(query, doc); err != nil {
				return err
			}
			fmt.Fprintf(out, "%s 0 %s %d\n", query, doc, qrels[query][doc])
		}
	}
	return out.Flush()
}

// trecIDs says which of ids cannot stand in a TREC file, the first of them at
// the start of a line.
func trecIDs(ids ...string) error {
	for i, id := range ids {
		if fields := strings.Fields(id); len(fields) != 1 || fields[0] != id || strings.ContainsRune(id, 0) {
			return store.Invalid("id", "%q is empty or has white space in it and cannot stand in a TREC file", id)
		}
		if i == 0 && strings.HasPrefix(strings.TrimPrefix(id, byteOrderMark), "#") {
			return store.Invalid("id", "%q would begin a comment in a TREC file", id)
		}
	}
	return nil
}
