package storetest

import (
	"encoding/json"
	"sync"
	"sync/atomic"
	"testing"

	"ragagent/store"
)

func checkpoint(run string, status store.CheckpointStatus) store.Checkpoint {
	return store.Checkpoint{
		RunID: run, ConversationID: "conv_1", Agent: "rag", Question: "why?", Status: status,
		State: json.RawMessage(`{"version":1}`), Scope: json.RawMessage(`{"knowledge_bases":["kb_1"]}`),
		Steps:     []store.Thought{{Position: 1, Thought: "look it up", Tool: "search", ToolInput: `{}`, Observation: "found"}},
		StartedAt: at(1), UpdatedAt: at(2), ExpiresAt: at(60),
	}
}

func testCheckpoints(t *testing.T, open func(t *testing.T) Records) {
	t.Run("a round takes the place of the one before", func(t *testing.T) {
		f := newFixture(t, open)
		c := checkpoint("run_1", store.CheckpointRunning)
		f.must(f.SaveCheckpoint(f.ctx, c))
		c.Status, c.State, c.UpdatedAt = store.CheckpointWaiting, json.RawMessage(`{"version":1,"turn":2}`), at(3)
		c.Steps = append(c.Steps, store.Thought{Position: 2, Thought: "ask"})
		f.must(f.SaveCheckpoint(f.ctx, c))
		got, err := f.Checkpoint(f.ctx, "run_1")
		f.must(err)
		f.equal("checkpoint", c, got)
		_, err = f.Checkpoint(f.ctx, "run_none")
		f.wantErr(err, store.ErrNotFound)
		c.Steps[1].Position = 3
		f.wantErr(f.SaveCheckpoint(f.ctx, c), store.ErrInvalid)
		f.must(f.DeleteCheckpoint(f.ctx, "run_1"))
		f.must(f.DeleteCheckpoint(f.ctx, "run_1"))
		_, err = f.Checkpoint(f.ctx, "run_1")
		f.wantErr(err, store.ErrNotFound)
	})
	t.Run("one of many takes it, once", func(t *testing.T) {
		f := newFixture(t, open)
		want := checkpoint("run_1", store.CheckpointWaiting)
		f.must(f.SaveCheckpoint(f.ctx, want))
		var taken atomic.Int32
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				got, err := f.TakeCheckpoint(f.ctx, "run_1", at(5))
				if err != nil {
					f.wantErr(err, store.ErrConflict)
					return
				}
				taken.Add(1)
				f.equal("taken", want, got)
			})
		}
		wg.Wait()
		f.equal("takers", int32(1), taken.Load())
		_, err := f.TakeCheckpoint(f.ctx, "run_none", at(5))
		f.wantErr(err, store.ErrNotFound)
	})
	t.Run("it expires", func(t *testing.T) {
		f := newFixture(t, open)
		f.must(f.SaveCheckpoint(f.ctx, checkpoint("run_1", store.CheckpointWaiting)))
		_, err := f.TakeCheckpoint(f.ctx, "run_1", at(60))
		f.wantErr(err, store.ErrConflict)
		_, err = f.TakeCheckpoint(f.ctx, "run_1", at(59))
		f.must(err)
	})
	t.Run("a start marks what was running", func(t *testing.T) {
		f := newFixture(t, open)
		f.must(f.SaveCheckpoint(f.ctx, checkpoint("run_1", store.CheckpointRunning)))
		f.must(f.SaveCheckpoint(f.ctx, checkpoint("run_2", store.CheckpointWaiting)))
		old := checkpoint("run_3", store.CheckpointRunning)
		old.ExpiresAt = at(4)
		f.must(f.SaveCheckpoint(f.ctx, old))
		n, err := f.InterruptCheckpoints(f.ctx, at(5))
		f.must(err)
		f.equal("marked", 1, n)
		for id, want := range map[string]store.CheckpointStatus{"run_1": store.CheckpointInterrupted, "run_2": store.CheckpointWaiting} {
			got, err := f.Checkpoint(f.ctx, id)
			f.must(err)
			f.equal(id, want, got.Status)
		}
		_, err = f.Checkpoint(f.ctx, "run_3")
		f.wantErr(err, store.ErrNotFound)
	})
	t.Run("it goes with its run and its conversation", func(t *testing.T) {
		f := newFixture(t, open)
		conv, run, messages := exchange("conv_1", 1)
		f.must(f.SaveCheckpoint(f.ctx, checkpoint(run.ID, store.CheckpointRunning)))
		f.must(f.StartConversation(f.ctx, conv, run, messages))
		_, err := f.Checkpoint(f.ctx, run.ID)
		f.wantErr(err, store.ErrNotFound)
		f.must(f.SaveCheckpoint(f.ctx, checkpoint("run_2", store.CheckpointWaiting)))
		f.must(f.DeleteConversation(f.ctx, "conv_1"))
		_, err = f.Checkpoint(f.ctx, "run_2")
		f.wantErr(err, store.ErrNotFound)
	})
}
