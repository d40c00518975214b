package api

import (
	"bytes"
	"net/http"

	"github.com/labstack/echo/v4"

	"ragagent/retrieval/eval"
	"ragagent/store"
)

// reportPolicy lets a report style itself and nothing else.
const reportPolicy = "default-src 'none'; style-src 'unsafe-inline'; sandbox"

// getEvaluationQueries sends the figures of every query as JSON lines.
func (s *Server) getEvaluationQueries(c echo.Context) error {
	body, err := s.evaluationPart(c, store.EvaluationQueries)
	if err != nil {
		return err
	}
	c.Response().Header().Set("Cache-Control", "no-store")
	return c.Blob(http.StatusOK, "application/x-ndjson", body)
}

// getEvaluationReport sends the page that shows the evaluation.
func (s *Server) getEvaluationReport(c echo.Context) error {
	body, err := s.evaluationPart(c, store.EvaluationReport)
	if err != nil {
		return err
	}
	h := c.Response().Header()
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Security-Policy", reportPolicy)
	return c.Blob(http.StatusOK, "text/html; charset=utf-8", body)
}

func (s *Server) evaluationPart(c echo.Context, part store.EvaluationPart) ([]byte, error) {
	e, err := s.evaluation(c)
	if err != nil {
		return nil, err
	}
	if err := wantMeasured(e); err != nil {
		return nil, err
	}
	return s.cfg.Records.EvaluationPart(c.Request().Context(), e.ID, part)
}

func wantMeasured(e store.Evaluation) error {
	if e.Status == store.StatusReady {
		return nil
	}
	return newProblem(http.StatusConflict, CodeConflict, "evaluation %s is %s: there is nothing to show unless it is ready", e.ID, e.Status)
}

// compareEvaluations tests an evaluation, b, against another, a, query by query.
func (s *Server) compareEvaluations(c echo.Context) error {
	b, err := s.evaluation(c)
	if err != nil {
		return err
	}
	name := c.QueryParam("metric")
	if name == "" {
		name = "ndcg@10"
	}
	measure, err := eval.ParseMeasure(name)
	if err != nil {
		return invalidField("metric", "%v", err)
	}
	with := c.QueryParam("with")
	if with == "" {
		return invalidField("with", "is missing: name the evaluation to compare with")
	}
	a, err := s.cfg.Records.Evaluation(c.Request().Context(), with)
	if err != nil {
		return missing(err, "evaluation", with)
	}
	scores := make([]eval.Scores, 2)
	for i, e := range []store.Evaluation{a, b} {
		if scores[i], err = s.scoresOf(c, e, measure); err != nil {
			return err
		}
	}
	found, err := eval.Compare(scores[0], scores[1], eval.CompareConfig{Measure: measure})
	if err != nil {
		return err
	}
	return reply(c, http.StatusOK, found)
}

func (s *Server) scoresOf(c echo.Context, e store.Evaluation, m eval.Measure) (eval.Scores, error) {
	if err := wantMeasured(e); err != nil {
		return eval.Scores{}, err
	}
	rows, err := s.cfg.Records.EvaluationPart(c.Request().Context(), e.ID, store.EvaluationQueries)
	if err != nil {
		return eval.Scores{}, err
	}
	return eval.ReadScores(bytes.NewReader(rows), e.ID, m)
}
