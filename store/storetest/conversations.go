package storetest

import (
	"encoding/json"
	"fmt"
	"sync"
	"testing"

	"ragagent/store"
)

// exchange is the n-th question and answer of a conversation.
func exchange(conv string, n int) (store.Conversation, store.Run, []store.Message) {
	c := store.Conversation{ID: conv, Title: fmt.Sprintf("question %d", n), CreatedAt: at(n), UpdatedAt: at(n)}
	run := store.Run{
		ID: fmt.Sprintf("run_%s_%03d", conv, n), ConversationID: conv, Agent: "default", Question: "why?", Answer: "because [1]",
		FinishedReason: "complete", Trace: json.RawMessage(`{"label":"run","children":[]}`), StartedAt: at(n), EndedAt: at(n + 1),
		Steps: []store.Thought{
			{Position: 1, Thought: "look it up", Tool: "dataset_retriever", ToolInput: `{"query":"why"}`, Observation: "Source 1", ElapsedMS: 12},
			{Position: 2, Thought: "answer", Error: "none", ElapsedMS: 3},
		},
	}
	messages := []store.Message{
		{ID: fmt.Sprintf("msg_%s_%03d_a", conv, n), ConversationID: conv, Role: "user", Content: "why?", CreatedAt: at(n)},
		{
			ID: fmt.Sprintf("msg_%s_%03d_b", conv, n), ConversationID: conv, RunID: run.ID, Role: "assistant", Content: "because [1]",
			Citations: []store.Citation{{
				ID: 1, DocumentID: "doc_1", DocumentName: "a.pdf", KnowledgeBase: "kb", ChunkID: "chk_1",
				PageStart: 2, PageEnd: 3, CharStart: 10, CharEnd: 17, Quote: "because", Verified: true,
			}},
			CreatedAt: at(n + 1),
		},
	}
	return c, run, messages
}

func testConversations(t *testing.T, open func(t *testing.T) Records) {
	t.Run("an exchange is kept whole", func(t *testing.T) {
		f := newFixture(t, open)
		conv, run, messages := exchange("conv_1", 1)
		f.must(f.StartConversation(f.ctx, conv, run, messages))
		got, err := f.Conversation(f.ctx, conv.ID)
		f.must(err)
		f.equal("conversation", conv, got)
		gotRun, err := f.Run(f.ctx, run.ID)
		f.must(err)
		f.equal("run", run, gotRun)
		gotMessages, err := f.Messages(f.ctx, conv.ID, store.Page{})
		f.must(err)
		f.equal("messages", messages, gotMessages)
		_, err = f.Conversation(f.ctx, "conv_none")
		f.wantErr(err, store.ErrNotFound)
		_, err = f.Run(f.ctx, "run_none")
		f.wantErr(err, store.ErrNotFound)
	})
	t.Run("the next one joins", func(t *testing.T) {
		f := newFixture(t, open)
		var all []store.Message
		for n := 1; n <= 3; n++ {
			conv, run, messages := exchange("conv_1", n)
			keep := f.AddExchange
			if n == 1 {
				keep = f.StartConversation
			}
			f.must(keep(f.ctx, conv, run, messages))
			all = append(all, messages...)
		}
		got, err := f.Conversation(f.ctx, "conv_1")
		f.must(err)
		f.equal("conversation", store.Conversation{ID: "conv_1", Title: "question 1", CreatedAt: at(1), UpdatedAt: at(3)}, got)
		page := func(p store.Page) []store.Message {
			messages, err := f.Messages(f.ctx, "conv_1", p)
			f.must(err)
			return messages
		}
		f.equal("the first", all[:2], page(store.Page{Limit: 2}))
		f.equal("the next", all[2:5], page(store.Page{Limit: 3, After: all[1].ID}))
		f.equal("the rest", all[5:], page(store.Page{After: all[4].ID}))
		f.equal("beyond", 0, len(page(store.Page{After: all[5].ID})))
		last := func(n int) []store.Message {
			messages, err := f.LastMessages(f.ctx, "conv_1", n)
			f.must(err)
			return messages
		}
		f.equal("the last", all[3:], last(3))
		f.equal("more than there are", all, last(50))
		f.equal("none", 0, len(last(0)))
	})
	t.Run("a failed call leaves nothing", func(t *testing.T) {
		f := newFixture(t, open)
		conv, run, messages := exchange("conv_1", 1)
		f.must(f.StartConversation(f.ctx, conv, run, messages))
		bad := func(want error, change func(c *store.Conversation, r *store.Run, m []store.Message)) {
			t.Helper()
			conv, run, messages := exchange("conv_2", 2)
			change(&conv, &run, messages)
			f.wantErr(f.StartConversation(f.ctx, conv, run, messages), want)
			_, err := f.Conversation(f.ctx, "conv_2")
			f.wantErr(err, store.ErrNotFound)
			_, err = f.Run(f.ctx, "run_conv_2_002")
			f.wantErr(err, store.ErrNotFound)
		}
		bad(store.ErrConflict, func(_ *store.Conversation, r *store.Run, m []store.Message) { r.ID = run.ID; m[1].RunID = run.ID })
		bad(store.ErrConflict, func(_ *store.Conversation, _ *store.Run, m []store.Message) { m[1].ID = messages[0].ID })
		again, otherRun, otherMessages := exchange("conv_1", 3)
		f.wantErr(f.StartConversation(f.ctx, again, otherRun, otherMessages), store.ErrConflict)
		f.wantErr(f.AddExchange(f.ctx, again, run, messages), store.ErrConflict)
		bad(store.ErrInvalid, func(_ *store.Conversation, r *store.Run, _ []store.Message) { r.Steps[1].Position = 3 })
		bad(store.ErrInvalid, func(_ *store.Conversation, r *store.Run, _ []store.Message) { r.Steps[1].Position = 1 })
		bad(store.ErrInvalid, func(_ *store.Conversation, _ *store.Run, m []store.Message) { m[0].Role = "nobody" })
		bad(store.ErrInvalid, func(_ *store.Conversation, r *store.Run, _ []store.Message) { r.Trace = json.RawMessage("{") })
		bad(store.ErrInvalid, func(_ *store.Conversation, _ *store.Run, m []store.Message) { m[0].ConversationID = "conv_1" })
		got, err := f.Messages(f.ctx, "conv_1", store.Page{})
		f.must(err)
		f.equal("messages", messages, got)
		kept, err := f.Conversation(f.ctx, "conv_1")
		f.must(err)
		f.equal("conversation", conv, kept)
	})
	t.Run("questions stand before their answers", func(t *testing.T) {
		f := newFixture(t, open)
		const n = 16
		var wg sync.WaitGroup
		conv, run, messages := exchange("conv_1", 0)
		f.must(f.StartConversation(f.ctx, conv, run, messages))
		for i := 1; i < n; i++ {
			wg.Go(func() {
				conv, run, messages := exchange("conv_1", i)
				if err := f.AddExchange(f.ctx, conv, run, messages); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		all, err := f.Messages(f.ctx, "conv_1", store.Page{Limit: 2 * n})
		f.must(err)
		if len(all) != 2*n {
			t.Fatalf("%d messages, want %d", len(all), 2*n)
		}
		for i := 0; i < len(all); i += 2 {
			question, answer := all[i].ID, all[i+1].ID
			if question[:len(question)-1] != answer[:len(answer)-1] {
				t.Errorf("%s is followed by %s", question, answer)
			}
		}
	})
	t.Run("delete", func(t *testing.T) {
		f := newFixture(t, open)
		conv, run, messages := exchange("conv_1", 1)
		f.must(f.StartConversation(f.ctx, conv, run, messages))
		other, otherRun, otherMessages := exchange("conv_2", 1)
		f.must(f.StartConversation(f.ctx, other, otherRun, otherMessages))
		f.must(f.DeleteConversation(f.ctx, "conv_1"))
		f.wantErr(f.DeleteConversation(f.ctx, "conv_1"), store.ErrNotFound)
		_, err := f.Conversation(f.ctx, "conv_1")
		f.wantErr(err, store.ErrNotFound)
		_, err = f.Run(f.ctx, run.ID)
		f.wantErr(err, store.ErrNotFound)
		left, err := f.Messages(f.ctx, "conv_1", store.Page{})
		f.must(err)
		f.equal("messages left", 0, len(left))
		kept, err := f.Messages(f.ctx, "conv_2", store.Page{})
		f.must(err)
		f.equal("messages of the other", otherMessages, kept)
		f.must(f.StartConversation(f.ctx, conv, run, messages)) // its ids are free again
	})
	t.Run("a deleted one does not come back", func(t *testing.T) {
		f := newFixture(t, open)
		conv, run, messages := exchange("conv_1", 1)
		f.wantErr(f.AddExchange(f.ctx, conv, run, messages), store.ErrNotFound)
		f.must(f.StartConversation(f.ctx, conv, run, messages))
		f.must(f.DeleteConversation(f.ctx, "conv_1"))
		conv, run, messages = exchange("conv_1", 2) // it was being answered
		f.wantErr(f.AddExchange(f.ctx, conv, run, messages), store.ErrNotFound)
		_, err := f.Conversation(f.ctx, "conv_1")
		f.wantErr(err, store.ErrNotFound)
		_, err = f.Run(f.ctx, run.ID)
		f.wantErr(err, store.ErrNotFound)
		left, err := f.Messages(f.ctx, "conv_1", store.Page{})
		f.must(err)
		f.equal("messages left", 0, len(left))
	})
}
