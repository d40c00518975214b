package storetest

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"ragagent/store"
)

func evaluation(n int) store.Evaluation {
	return store.Evaluation{
		ID: fmt.Sprintf("eval_%04d", n), Name: "nightly", KnowledgeBases: []string{"kb_1", "kb_2"},
		Status: store.StatusQueued, Total: 3, CreatedAt: at(n), UpdatedAt: at(n),
	}
}

func testEvaluations(t *testing.T, open func(t *testing.T) Records) {
	t.Run("one is kept with its parts", func(t *testing.T) {
		f := newFixture(t, open)
		e := evaluation(1)
		f.must(f.AddEvaluation(f.ctx, e, []byte(`{"queries":1}`)))
		f.wantErr(f.AddEvaluation(f.ctx, e, nil), store.ErrConflict)
		got, err := f.Evaluation(f.ctx, e.ID)
		f.must(err)
		f.equal("evaluation", e, got)
		request, err := f.EvaluationPart(f.ctx, e.ID, store.EvaluationRequest)
		f.must(err)
		f.equal("request", `{"queries":1}`, string(request))
		_, err = f.EvaluationPart(f.ctx, e.ID, store.EvaluationReport)
		f.wantErr(err, store.ErrNotFound)
		_, err = f.Evaluation(f.ctx, "eval_none")
		f.wantErr(err, store.ErrNotFound)
	})
	t.Run("it comes to its end in one step", func(t *testing.T) {
		f := newFixture(t, open)
		e := evaluation(1)
		f.must(f.AddEvaluation(f.ctx, e, nil))
		e.Status, e.Done, e.Attempts, e.Figures = store.StatusReady, 3, 1, json.RawMessage(`{"ndcg@10":0.5,"queries":3}`)
		e.Warnings, e.StartedAt, e.UpdatedAt = []string{"one is missing"}, at(2), at(3)
		got, err := f.UpdateEvaluation(f.ctx, e.ID, func(stored *store.Evaluation) error {
			*stored = e
			stored.ID, stored.Name, stored.Total, stored.CreatedAt = "eval_other", "other", 9, at(9)
			return nil
		}, map[store.EvaluationPart][]byte{store.EvaluationQueries: []byte("{}\n"), store.EvaluationReport: []byte("<p>")})
		f.must(err)
		f.equal("what is returned", e, got)
		got, err = f.Evaluation(f.ctx, e.ID)
		f.must(err)
		f.equal("what is stored", e, got)
		body, err := f.EvaluationPart(f.ctx, e.ID, store.EvaluationReport)
		f.must(err)
		f.equal("report", "<p>", string(body))
	})
	t.Run("an error of the edit changes nothing", func(t *testing.T) {
		f := newFixture(t, open)
		e, stop := evaluation(1), errors.New("stop")
		f.must(f.AddEvaluation(f.ctx, e, nil))
		_, err := f.UpdateEvaluation(f.ctx, e.ID, func(stored *store.Evaluation) error {
			stored.Status = store.StatusFailed
			return stop
		}, map[store.EvaluationPart][]byte{store.EvaluationReport: []byte("x")})
		f.wantErr(err, stop)
		got, err := f.Evaluation(f.ctx, e.ID)
		f.must(err)
		f.equal("evaluation", e, got)
		_, err = f.EvaluationPart(f.ctx, e.ID, store.EvaluationReport)
		f.wantErr(err, store.ErrNotFound)
		_, err = f.UpdateEvaluation(f.ctx, "eval_none", func(*store.Evaluation) error { return nil }, nil)
		f.wantErr(err, store.ErrNotFound)
	})
	t.Run("listed by id, unfinished apart", func(t *testing.T) {
		f := newFixture(t, open)
		for n := range 5 {
			e := evaluation(n)
			e.Status = []store.Status{store.StatusReady, store.StatusRunning, store.StatusFailed, store.StatusQueued, store.StatusCancelled}[n]
			f.must(f.AddEvaluation(f.ctx, e, nil))
		}
		page, err := f.Evaluations(f.ctx, store.Page{Limit: 2, After: "eval_0001"})
		f.must(err)
		f.equal("page", []string{"eval_0002", "eval_0003"}, evaluationIDs(page))
		open, err := f.UnfinishedEvaluations(f.ctx)
		f.must(err)
		f.equal("unfinished", []string{"eval_0001", "eval_0003"}, evaluationIDs(open))
	})
	t.Run("a deleted one takes its parts along", func(t *testing.T) {
		f := newFixture(t, open)
		f.must(f.AddEvaluation(f.ctx, evaluation(1), []byte("x")))
		f.must(f.DeleteEvaluation(f.ctx, "eval_0001"))
		_, err := f.EvaluationPart(f.ctx, "eval_0001", store.EvaluationRequest)
		f.wantErr(err, store.ErrNotFound)
		f.wantErr(f.DeleteEvaluation(f.ctx, "eval_0001"), store.ErrNotFound)
	})
}

func evaluationIDs(all []store.Evaluation) []string {
	ids := make([]string, len(all))
	for i, e := range all {
		ids[i] = e.ID
	}
	return ids
}
