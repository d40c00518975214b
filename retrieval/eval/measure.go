package eval

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"ragagent/store"
)

// Kind is what a measure counts.
type Kind string

// The kinds of measures, with trec_eval's name for each. Without a cut they
// look at the whole ranking. n is the number of documents looked at, rel that
// of relevant ones in the qrels.
const (
	NDCG      Kind = "ndcg"      // ndcg_cut, ndcg; Järvelin and Kekäläinen 2002, linear gain
	Recall    Kind = "recall"    // recall, set_recall: relevant found / rel
	Precision Kind = "precision" // P, set_P: relevant found / cut; without a cut / n
	MRR       Kind = "mrr"       // recip_rank (with -M cut): 1/rank of the first relevant document
	MAP       Kind = "map"       // map_cut, map: sum of precision at each relevant document / rel
	Success   Kind = "success"   // success: 1 if any relevant document was found
	// Complete is 1 if every relevant document was found, for questions that
	// need several. trec_eval has no name for it.
	Complete Kind = "complete"
)

// Measure is a kind and the rank it stops at.
type Measure struct {
	Kind Kind
	Cut  int // 1..MaxCut; 0 looks at the whole ranking
}

// MaxCut bounds Measure.Cut.
const MaxCut = 100_000

// DefaultMeasures are what `ragagent eval` prints.
func DefaultMeasures() []Measure {
	return []Measure{{NDCG, 10}, {Recall, 10}, {Recall, 100}, {MRR, 10}, {MAP, 0}, {Success, 1}, {Success, 10}, {Complete, 10}}
}

// otherNames are further names of kinds, those of trec_eval among them.
func (k Kind) otherNames() []Kind {
	switch k {
	case NDCG:
		return []Kind{"ndcg_cut"}
	case Recall:
		return []Kind{"r", "set_recall"}
	case Precision:
		return []Kind{"p", "set_p"}
	case MRR:
		return []Kind{"rr", "recip_rank"}
	case MAP:
		return []Kind{"ap", "map_cut"}
	}
	return nil
}

func parseKind(name string) (Kind, bool) {
	given := Kind(strings.ToLower(name))
	for _, k := range []Kind{NDCG, Recall, Precision, MRR, MAP, Success, Complete} {
		if k == given || slices.Contains(k.otherNames(), given) {
			return k, true
		}
	}
	return "", false
}

// ParseMeasure reads "ndcg@10" or "map", in any case. trec_eval's names are
// read too, and so is its way to write a cut: "P_10", "recip_rank",
// "ndcg_cut.10".
func ParseMeasure(text string) (Measure, error) {
	name, cut, hasCut := strings.Cut(text, "@")
	if i := strings.LastIndexAny(text, "_."); !hasCut && i > 0 && strings.Trim(text[i+1:], "0123456789") == "" {
		name, cut, hasCut = text[:i], text[i+1:], true
	}
	kind, ok := parseKind(name)
	if !ok {
		return Measure{}, store.Invalid("measure", "%q is none of ndcg, recall, precision, mrr, map, success, complete, each with @CUT or without", text)
	}
	m := Measure{Kind: kind}
	if hasCut {
		n, err := strconv.Atoi(cut)
		if err != nil || n < 1 || n > MaxCut {
			return Measure{}, store.Invalid("measure", "%q: the cut is not a number from 1 to %d", text, MaxCut)
		}
		m.Cut = n
	}
	return m, nil
}

// String returns what ParseMeasure reads.
func (m Measure) String() string {
	if m.Cut == 0 {
		return string(m.Kind)
	}
	return fmt.Sprintf("%s@%d", m.Kind, m.Cut)
}

// MarshalText writes String, so that a Measure can be a JSON string or key.
func (m Measure) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// UnmarshalText reads with ParseMeasure.
func (m *Measure) UnmarshalText(text []byte) error {
	parsed, err := ParseMeasure(string(text))
	if err == nil {
		*m = parsed
	}
	return err
}

// Of returns the value of m, 0..1, for one query's ranking, best first without
// duplicates, and its judged documents. It is 0 where nothing is relevant.
func (m Measure) Of(ranking []Scored, judged map[string]int) float64 {
	relevant := 0
	for _, grade := range judged {
		if grade > 0 {
			relevant++
		}
	}
	if relevant == 0 {
		return 0
	}
	if m.Cut > 0 && len(ranking) > m.Cut {
		ranking = ranking[:m.Cut]
	}
	if m.Kind == NDCG {
		return dcg(ranking, judged) / idealDCG(judged, m.Cut)
	}
	return m.ofFound(foundRanks(ranking, judged), len(ranking), relevant)
}

// ofFound computes the binary measures from the ranks, from 1, of the relevant
// documents among the n that were looked at.
func (m Measure) ofFound(ranks []int, n, relevant int) float64 {
	if len(ranks) == 0 {
		return 0
	}
	switch m.Kind {
	case Recall:
		return float64(len(ranks)) / float64(relevant)
	case Precision:
		if m.Cut > 0 {
			n = m.Cut // ranks beyond the end of the list count as irrelevant
		}
		return float64(len(ranks)) / float64(n)
	case MRR:
		return 1 / float64(ranks[0])
	case MAP:
		sum := 0.0
		for i, rank := range ranks {
			sum += float64(i+1) / float64(rank)
		}
		return sum / float64(relevant)
	case Success:
		return 1
	case Complete:
		if len(ranks) == relevant {
			return 1
		}
	}
	return 0
}

// foundRanks returns the ranks, from 1, of the relevant documents.
func foundRanks(ranking []Scored, judged map[string]int) []int {
	var ranks []int
	for i, s := range ranking {
		if judged[s.ID] > 0 {
			ranks = append(ranks, i+1)
		}
	}
	return ranks
}

// dcg is the sum of grade/log2(rank+1) over the relevant documents.
func dcg(ranking []Scored, judged map[string]int) float64 {
	sum := 0.0
	for i, s := range ranking {
		if grade := judged[s.ID]; grade > 0 {
			sum += float64(grade) / math.Log2(float64(i+2))
		}
	}
	return sum
}

// idealDCG is the DCG of all relevant documents in order of their grade, down
// to rank cut, or all of them for cut 0.
func idealDCG(judged map[string]int, cut int) float64 {
	var grades []int
	for _, grade := range judged {
		if grade > 0 {
			grades = append(grades, grade)
		}
	}
	slices.Sort(grades)
	slices.Reverse(grades)
	if cut > 0 && len(grades) > cut {
		grades = grades[:cut]
	}
	sum := 0.0
	for i, grade := range grades {
		sum += float64(grade) / math.Log2(float64(i+2))
	}
	return sum
}
