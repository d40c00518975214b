package api

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"ragagent/retrieval"
	"ragagent/retrieval/eval"
	"ragagent/store"
)

// Evaluations measures retrieval in the background; queue.Queue implements it.
type Evaluations interface {
	Submit(ctx context.Context, req eval.Request) (store.Evaluation, error)
	Cancel(ctx context.Context, id string) (store.Evaluation, error)
	Delete(ctx context.Context, id string) error
	// Live adds the progress of this moment, and when it will be done: zero
	// where nobody can tell.
	Live(e store.Evaluation) (store.Evaluation, time.Time)
}

// evaluationRequest is the body of POST /evaluations. Queries and Qrels come in
// several shapes: see parseQueries and parseQrels.
type evaluationRequest struct {
	Name           string          `json:"name"`
	KnowledgeBases []string        `json:"knowledge_bases"`
	Queries        json.RawMessage `json:"queries"`
	Qrels          json.RawMessage `json:"qrels"`
	Metrics        []string        `json:"metrics"`
	TopK           *int            `json:"top_k"`
	Mode           retrieval.Mode  `json:"mode"`
	Rewrite        rewriteChoice   `json:"rewrite"`
	Rerank         rerankChoice    `json:"rerank"`
	MMRLambda      float64         `json:"mmr_lambda"`
}

type evaluationAnswer struct {
	ID             string       `json:"id"`
	Name           string       `json:"name"`
	KnowledgeBases []string     `json:"knowledge_bases"`
	Status         store.Status `json:"status"`
	Done           int          `json:"done"`
	Total          int          `json:"total"`
	// ETAMS is null while nobody can tell.
	ETAMS *int64 `json:"eta_ms"`
	Error string `json:"error,omitempty"`
	// Figures are null until the evaluation is ready.
	Figures   json.RawMessage `json:"figures"`
	Warnings  []string        `json:"warnings"`
	CreatedAt time.Time       `json:"created_at"`
	StartedAt *time.Time      `json:"started_at"`
	UpdatedAt time.Time       `json:"updated_at"`
}

func (s *Server) evaluationOf(e store.Evaluation) evaluationAnswer {
	e, ends := s.cfg.Evaluations.Live(e)
	out := evaluationAnswer{
		ID: e.ID, Name: e.Name, KnowledgeBases: array(e.KnowledgeBases), Status: e.Status, Done: e.Done, Total: e.Total,
		Error: e.Error, Figures: e.Figures, Warnings: array(e.Warnings),
		CreatedAt: e.CreatedAt.UTC(), UpdatedAt: e.UpdatedAt.UTC(),
	}
	if !ends.IsZero() || e.Status.Ended() {
		ms := max(ends.Sub(s.cfg.Now()).Milliseconds(), 0)
		out.ETAMS = &ms
	}
	if !e.StartedAt.IsZero() {
		started := e.StartedAt.UTC()
		out.StartedAt = &started
	}
	return out
}

// wantEvaluations refuses where the server was not set up to measure.
func (s *Server) wantEvaluations() error {
	if s.cfg.Evaluations == nil {
		return newProblem(http.StatusNotFound, CodeNotSupported, "this server makes no evaluations")
	}
	return nil
}

func (s *Server) createEvaluation(c echo.Context) error {
	if err := s.wantEvaluations(); err != nil {
		return err
	}
	leave, err := s.texts.enter(c.Request().Context()) // a request may be large
	if err != nil {
		return err
	}
	defer leave()
	var in evaluationRequest
	body, err := decodeJSON(c.Request(), s.cfg.MaxTextBytes, &in)
	if err != nil {
		return err
	}
	req, err := s.evaluationRequestOf(c.Request().Context(), in)
	if err != nil {
		return err
	}
	return s.once(c, fingerprintOf(body), func() (int, any, error) {
		e, err := s.cfg.Evaluations.Submit(c.Request().Context(), req)
		return http.StatusAccepted, s.evaluationOf(e), err
	})
}

func (s *Server) evaluationRequestOf(ctx context.Context, in evaluationRequest) (req eval.Request, err error) {
	req = eval.Request{Name: in.Name, Mode: in.Mode, MMRLambda: in.MMRLambda}
	if req.Rewrite, req.NoRewrite, err = in.Rewrite.of("rewrite"); err != nil {
		return req, err
	}
	if req.Rerank, req.NoRerank, err = in.Rerank.of("rerank"); err != nil {
		return req, err
	}
	if err := lambdaProblem(in.MMRLambda); err != nil {
		return req, err
	}
	if len(in.Name) > store.MaxName {
		return req, invalidField("name", "has %d bytes, at most %d are allowed", len(in.Name), store.MaxName)
	}
	switch in.Mode {
	case "", retrieval.Hybrid, retrieval.Lexical, retrieval.Dense:
	default:
		return req, invalidField("mode", "must be hybrid, lexical or dense, not %q", in.Mode)
	}
	if req.Depth, err = topKOf(in.TopK); err != nil {
		return req, err
	}
	for _, name := range in.Metrics {
		m, err := eval.ParseMeasure(name)
		if err != nil {
			return req, invalidField("metrics", "%v", err)
		}
		req.Measures, req.Names = append(req.Measures, m), append(req.Names, name)
	}
	if req.Questions, req.Qrels, err = judgedQueries(in.Queries, in.Qrels); err != nil {
		return req, err
	}
	kbs, err := s.scopeOf(ctx, in.KnowledgeBases)
	for _, kb := range kbs {
		req.KnowledgeBases = append(req.KnowledgeBases, kb.ID)
		if req.Name == "" {
			req.Name = kb.Name
		}
	}
	return req, err
}

func (s *Server) listEvaluations(c echo.Context) error {
	if err := s.wantEvaluations(); err != nil {
		return err
	}
	page, err := pageOf(c.QueryParams(), "eval")
	if err != nil {
		return err
	}
	rows, err := s.cfg.Records.Evaluations(c.Request().Context(), probe(page))
	if err != nil {
		return err
	}
	return reply(c, http.StatusOK, listOf(rows, page, func(e store.Evaluation) string { return e.ID }, s.evaluationOf))
}

// evaluation reads the one that the path names.
func (s *Server) evaluation(c echo.Context) (store.Evaluation, error) {
	if err := s.wantEvaluations(); err != nil {
		return store.Evaluation{}, err
	}
	id := param(c, "id")
	e, err := s.cfg.Records.Evaluation(c.Request().Context(), id)
	return e, missing(err, "evaluation", id)
}

func (s *Server) getEvaluation(c echo.Context) error {
	e, err := s.evaluation(c)
	if err != nil {
		return err
	}
	return reply(c, http.StatusOK, s.evaluationOf(e))
}

func (s *Server) cancelEvaluation(c echo.Context) error {
	e, err := s.evaluation(c)
	if err != nil {
		return err
	}
	return s.once(c, fingerprintOf(nil), func() (int, any, error) {
		e, err := s.cfg.Evaluations.Cancel(c.Request().Context(), e.ID)
		return http.StatusOK, s.evaluationOf(e), err
	})
}

func (s *Server) deleteEvaluation(c echo.Context) error {
	if err := s.wantEvaluations(); err != nil {
		return err
	}
	id := param(c, "id")
	if err := s.cfg.Evaluations.Delete(c.Request().Context(), id); err != nil {
		return missing(err, "evaluation", id)
	}
	return c.NoContent(http.StatusNoContent)
}
