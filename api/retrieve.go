package api

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"ragagent/retrieval"
	"ragagent/store"
)

type retrieveRequest struct {
	Query          string          `json:"query"`
	KnowledgeBases []string        `json:"knowledge_bases"`
	TopK           *int            `json:"top_k"`
	ScoreThreshold *float64        `json:"score_threshold"`
	Filter         json.RawMessage `json:"filter"`
	Mode           retrieval.Mode  `json:"mode"`
	Rewrite        rewriteChoice   `json:"rewrite"`
	Rerank         rerankChoice    `json:"rerank"`
	MMRLambda      float64         `json:"mmr_lambda"`
	Fold           *bool           `json:"fold"`
	Explain        bool            `json:"explain"`
	ExplainChunk   string          `json:"explain_chunk"`
}

type retrieveAnswer struct {
	Query          string      `json:"query"`
	RewrittenQuery string      `json:"rewritten_query,omitempty"`
	Queries        []string    `json:"queries,omitempty"` // all that were searched, if several
	Passage        string      `json:"passage,omitempty"` // made up by a model; its vector counted
	Hits           []hitAnswer `json:"hits"`
	Degraded       []string    `json:"degraded"`
	ElapsedMS      float64     `json:"elapsed_ms"` // with microseconds
	Stages         []stageTime `json:"stages,omitempty"`
	// Routes are the knowledge bases that were searched of many.
	Routes []routeAnswer `json:"routes,omitempty"`
	// ExplainedChunk is what became of explain_chunk.
	ExplainedChunk *standingAnswer `json:"explained_chunk,omitempty"`
}

type routeAnswer struct {
	KnowledgeBase string  `json:"knowledge_base"`
	Score         float64 `json:"score"`
}

// stageTime is how long one of retrieval's stages took.
type stageTime struct {
	Stage     string  `json:"stage"`
	ElapsedMS float64 `json:"elapsed_ms"` // with microseconds
}

func stagesOf(times retrieval.Timings) []stageTime {
	var out []stageTime
	for stage, took := range times {
		if took > 0 {
			out = append(out, stageTime{retrieval.Stage(stage).String(), float64(took.Microseconds()) / 1000})
		}
	}
	return out
}

type hitAnswer struct {
	ChunkID       string                 `json:"chunk_id"`
	DocumentID    string                 `json:"document_id"`
	DocumentName  string                 `json:"document_name"`
	KnowledgeBase string                 `json:"knowledge_base"`
	Score         float64                `json:"score"`
	Title         string                 `json:"title"`
	Text          string                 `json:"text"`
	Headings      []string               `json:"headings"`
	PageStart     int                    `json:"page_start,omitempty"`
	PageEnd       int                    `json:"page_end,omitempty"`
	CharStart     int                    `json:"char_start"`
	CharEnd       int                    `json:"char_end"`
	Context       string                 `json:"context,omitempty"`
	Parent        *parentAnswer          `json:"parent,omitempty"`
	AlsoIn        []placeAnswer          `json:"also_in,omitempty"`
	Metadata      store.Metadata         `json:"metadata"`
	Explain       *retrieval.Explanation `json:"explain,omitempty"`
}

// parentAnswer is the section that is shown in the place of a small chunk.
type parentAnswer struct {
	sectionAnswer
	Text string `json:"text"`
	// Others are the chunks of the section that were found too, best first.
	Others []siblingAnswer `json:"others"`
}

// sectionAnswer is a part of a document's text.
type sectionAnswer struct {
	PageStart int `json:"page_start,omitempty"`
	PageEnd   int `json:"page_end,omitempty"`
	CharStart int `json:"char_start"`
	CharEnd   int `json:"char_end"`
}

type siblingAnswer struct {
	ChunkID   string  `json:"chunk_id"`
	Score     float64 `json:"score"`
	CharStart int     `json:"char_start"`
	CharEnd   int     `json:"char_end"`
}

func sectionOf(s store.Section) sectionAnswer {
	return sectionAnswer{PageStart: s.PageStart, PageEnd: s.PageEnd, CharStart: s.Start, CharEnd: s.End}
}

// parentOf is the section of a hit, nil where the hit is shown as it is.
func parentOf(h retrieval.Hit) *parentAnswer {
	if h.ParentText == "" {
		return nil
	}
	out := &parentAnswer{sectionAnswer: sectionOf(h.Parent), Text: h.ParentText, Others: make([]siblingAnswer, len(h.Siblings))}
	for i, s := range h.Siblings {
		out.Others[i] = siblingAnswer{ChunkID: s.ID, Score: s.Score, CharStart: s.Span.Start, CharEnd: s.Span.End}
	}
	return out
}

func (s *Server) retrieve(c echo.Context) error {
	var in retrieveRequest
	body, err := decodeJSON(c.Request(), s.cfg.MaxJSONBytes, &in)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(c.Request().Context(), s.cfg.RetrieveTimeout)
	defer cancel()
	query, err := s.queryOf(ctx, in)
	if err != nil {
		return err
	}
	if err := s.wantReady(); err != nil {
		return err
	}
	return s.once(c, fingerprintOf(body), func() (int, any, error) {
		leave, err := s.retrieves.enter(ctx)
		if err != nil {
			return 0, nil, err
		}
		defer leave()
		found, err := s.cfg.Retriever.Retrieve(ctx, query)
		if err != nil {
			return 0, nil, err
		}
		s.metrics.retrieved(query, found)
		return http.StatusOK, retrieveAnswerOf(found), nil
	})
}

func (s *Server) queryOf(ctx context.Context, in retrieveRequest) (retrieval.Query, error) {
	query := retrieval.Query{
		Text:      in.Query,
		Mode:      in.Mode,
		MMRLambda: in.MMRLambda,
		NoFold:    in.Fold != nil && !*in.Fold,
		Explain:   in.Explain,

		ExplainChunk: in.ExplainChunk,
	}
	if err := questionProblem("query", strings.TrimSpace(in.Query), retrieval.MaxQueryBytes); err != nil {
		return query, err
	}
	if len(in.ExplainChunk) > maxIDBytes {
		return query, invalidField("explain_chunk", "has %d bytes, at most %d are allowed", len(in.ExplainChunk), maxIDBytes)
	}
	switch in.Mode {
	case "", retrieval.Hybrid, retrieval.Lexical, retrieval.Dense:
	default:
		return query, invalidField("mode", "must be hybrid, lexical or dense, not %q", in.Mode)
	}
	if t := in.ScoreThreshold; t != nil {
		if *t < 0 || *t > 1 {
			return query, invalidField("score_threshold", "is %g, allowed are 0 to 1", *t)
		}
		query.ScoreThreshold = *t
	}
	var err error
	if query.Rewrite, query.NoRewrite, err = in.Rewrite.of("rewrite"); err != nil {
		return query, err
	}
	if query.Rerank, query.NoRerank, err = in.Rerank.of("rerank"); err != nil {
		return query, err
	}
	if err := lambdaProblem(query.MMRLambda); err != nil {
		return query, err
	}
	if query.Filter, err = store.ParseFilter(in.Filter); err != nil {
		return query, err
	}
	if query.TopK, err = topKOf(in.TopK); err != nil {
		return query, err
	}
	kbs, err := s.scopeOf(ctx, in.KnowledgeBases)
	for _, kb := range kbs {
		query.KnowledgeBases = append(query.KnowledgeBases, kb.ID)
	}
	return query, err
}

func retrieveAnswerOf(r retrieval.Result) retrieveAnswer {
	out := retrieveAnswer{
		Query:          r.Query,
		RewrittenQuery: r.Rewritten,
		Queries:        r.Queries,
		Passage:        r.Passage,
		Hits:           make([]hitAnswer, len(r.Hits)),
		Degraded:       array(r.Degraded),
		ElapsedMS:      float64(r.Elapsed.Microseconds()) / 1000,
		Stages:         stagesOf(r.Timings),
		ExplainedChunk: standingOf(r.Standing),
	}
	for _, route := range r.Routes {
		out.Routes = append(out.Routes, routeAnswer{route.KnowledgeBaseName, route.Score})
	}
	for i, h := range r.Hits {
		out.Hits[i] = hitAnswer{
			ChunkID:       h.ID,
			DocumentID:    h.DocumentID,
			DocumentName:  h.DocumentName,
			KnowledgeBase: h.KnowledgeBaseName,
			Score:         h.Score,
			Title:         h.Title,
			Text:          h.Text,
			Headings:      array(h.Headings),
			PageStart:     h.PageStart,
			PageEnd:       h.PageEnd,
			CharStart:     h.Span.Start,
			CharEnd:       h.Span.End,
			Context:       h.Context,
			Parent:        parentOf(h),
			AlsoIn:        placesOf(h),
			Metadata:      metadataOf(h.Metadata),
			Explain:       h.Explain,
		}
	}
	return out
}
