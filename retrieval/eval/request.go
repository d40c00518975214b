package eval

import (
	"fmt"
	"maps"
	"slices"

	"ragagent/retrieval"
	"ragagent/store"
)

// Bounds of a Request.
const (
	MaxRequestQuestions  = 20_000
	MaxRequestJudgements = 1_000_000
	MaxRequestMeasures   = 100
)

// Request says what is to be measured on knowledge bases that are loaded.
type Request struct {
	Name           string   `json:"name"`
	KnowledgeBases []string `json:"knowledge_bases"` // ids, at least one
	// Questions are asked in this order, each with an id of its own; those that
	// Qrels do not judge are left out.
	Questions []Question `json:"questions"`
	// Qrels name documents by their id, by their name, by what their metadata
	// have under MetadataID, or pages, all of them as FILE#pN.
	Qrels    Qrels          `json:"qrels"`
	Measures []Measure      `json:"measures"` // none means DefaultMeasures
	Names    []string       `json:"names"`    // of the measures, as in Scores
	Depth    int            `json:"depth"`    // of the rankings: 0 means DefaultDepth
	Mode     retrieval.Mode `json:"mode"`     // "" means hybrid

	NoRewrite bool `json:"no_rewrite"`
	NoRerank  bool `json:"no_rerank"`
	// Rewrite and Rerank are kinds; "" leaves them to the knowledge bases.
	Rewrite   store.RewriteKind `json:"rewrite,omitempty"`
	Rerank    store.RerankKind  `json:"rerank,omitempty"`
	MMRLambda float64           `json:"mmr_lambda,omitempty"` // 0 means the default
}

// Check brings r to what will be measured, and says what is wrong with it:
// store.ErrInvalid.
func (r *Request) Check() error {
	if len(r.KnowledgeBases) == 0 {
		return store.Invalid("knowledge_bases", "is missing: name at least one")
	}
	if err := r.checkMeasures(); err != nil {
		return err
	}
	if err := r.checkQuestions(); err != nil {
		return err
	}
	return r.checkQrels()
}

func (r *Request) checkMeasures() error {
	if len(r.Measures) == 0 {
		r.Measures, r.Names = DefaultMeasures(), nil
	}
	if len(r.Measures) > MaxRequestMeasures {
		return store.Invalid("metrics", "%d, at most %d are allowed", len(r.Measures), MaxRequestMeasures)
	}
	if r.Depth == 0 {
		r.Depth = DefaultDepth
	}
	for _, m := range r.Measures {
		r.Depth = max(r.Depth, m.Cut)
	}
	if r.Depth < 1 || r.Depth > store.MaxTopK {
		return store.Invalid("top_k", "%d is not from 1 to %d", r.Depth, store.MaxTopK)
	}
	return nil
}

func (r *Request) checkQuestions() error {
	if len(r.Questions) == 0 {
		return store.Invalid("queries", "is missing: give at least one query")
	}
	if len(r.Questions) > MaxRequestQuestions {
		return store.Invalid("queries", "%d, at most %d are allowed", len(r.Questions), MaxRequestQuestions)
	}
	seen := make(map[string]bool, len(r.Questions))
	for i, q := range r.Questions {
		field := fmt.Sprintf("queries[%d]", i)
		switch {
		case q.ID == "":
			return store.Invalid(field, "has no _id")
		case seen[q.ID]:
			return store.Invalid(field, "the _id %q is there already", q.ID)
		case q.Text == "" || len(q.Text) > retrieval.MaxQueryBytes:
			return store.Invalid(field, "the text of %q has %d bytes, allowed are 1 to %d", q.ID, len(q.Text), retrieval.MaxQueryBytes)
		}
		seen[q.ID] = true
	}
	for _, id := range r.Qrels.Queries() {
		if !seen[id] {
			return store.Invalid("qrels", "judge query %q, which is not among the queries", id)
		}
	}
	return nil
}

func (r *Request) checkQrels() error {
	judgements := 0
	for query, judged := range r.Qrels {
		judgements += len(judged)
		for id, grade := range judged {
			if id == "" || grade < -MaxGrade || grade > MaxGrade {
				return store.Invalid("qrels", "query %q judges %q with %d: a document needs an id and a grade within %d", query, id, grade, MaxGrade)
			}
		}
	}
	if judgements > MaxRequestJudgements {
		return store.Invalid("qrels", "%d judgements, at most %d are allowed", judgements, MaxRequestJudgements)
	}
	if err := r.Qrels.check("qrels"); err != nil {
		return err
	}
	r.Questions = slices.DeleteFunc(slices.Clone(r.Questions), func(q Question) bool { return r.Qrels[q.ID] == nil })
	return nil
}

// Dataset is the collection that r makes of its knowledge bases.
func (r *Request) Dataset() *Dataset {
	return &Dataset{Name: r.Name, ByPage: r.byPage(), Queries: r.Questions, Qrels: r.Qrels}
}

// byPage says that everything that is judged reads FILE#pN.
func (r *Request) byPage() bool {
	for _, judged := range r.Qrels {
		for id := range judged {
			if _, _, ok := ParsePageID(id); !ok {
				return false
			}
		}
	}
	return true
}

// Locate names a hit as the qrels do: by page, or by whichever of the
// document's names is judged. One that is not judged by any name keeps its id.
func (r *Request) Locate() Locate {
	if r.byPage() {
		return ByPage()
	}
	judged := r.judged()
	return func(h retrieval.Hit) []string {
		var ids []string
		for _, name := range documentNames(h.DocumentID, h.DocumentName, h.Metadata) {
			if judged[name] {
				ids = append(ids, name)
			}
		}
		if len(ids) == 0 {
			return []string{h.DocumentID}
		}
		return ids
	}
}

// judged is everything that qrels judge.
func (r *Request) judged() map[string]bool {
	all := map[string]bool{}
	for _, judged := range r.Qrels {
		for id := range judged {
			all[id] = true
		}
	}
	return all
}

// Absent tells what is judged relevant and is none of the documents it was
// told of: no system can find it.
type Absent struct {
	byPage bool
	left   map[string]bool
}

// Absent returns an Absent that was told of nothing yet.
func (r *Request) Absent() *Absent {
	a := &Absent{byPage: r.byPage(), left: map[string]bool{}}
	for query := range r.Qrels {
		for _, id := range r.Qrels.Relevant(query) {
			if a.byPage {
				id = File(id)
			}
			a.left[id] = true
		}
	}
	return a
}

// Tell says that a document is there.
func (a *Absent) Tell(doc store.Document) {
	if a.byPage {
		delete(a.left, stem(doc.Name))
		return
	}
	for _, name := range documentNames(doc.ID, doc.Name, doc.Metadata) {
		delete(a.left, name)
	}
}

// IDs are what is absent, in ascending order; of pages the files.
func (a *Absent) IDs() []string { return slices.Sorted(maps.Keys(a.left)) }

// documentNames are what qrels may call a document, each once.
func documentNames(id, name string, metadata store.Metadata) []string {
	names := []string{id}
	if name != "" {
		names = append(names, name)
	}
	if own, ok := metadata[MetadataID].(string); ok && own != "" && own != name && own != id {
		names = append(names, own)
	}
	return names
}
