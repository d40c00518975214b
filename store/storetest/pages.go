package storetest

import (
	"fmt"
	"slices"
	"testing"

	"ragagent/store"
)

// testPages walks every listing in pages of several sizes.
func testPages(t *testing.T, open func(t *testing.T) Records) {
	f := newFixture(t, open)
	const n = 60
	var kbs, docs, jobs, convs []string
	for i := range n {
		kb := f.addKnowledgeBase(fmt.Sprintf("kb_%04d", (i*37)%n)) // not made in the order of ids
		kbs = append(kbs, kb.ID)
		doc, job := f.queue("kb_0000", (i*17)%n)
		docs, jobs = append(docs, doc.ID), append(jobs, job.ID)
		conv, run, messages := exchange(fmt.Sprintf("conv_%04d", (i*23)%n), i)
		f.must(f.StartConversation(f.ctx, conv, run, messages))
		convs = append(convs, conv.ID)
	}
	for _, c := range []struct {
		name string
		want []string
		list func(store.Page) ([]string, error)
	}{
		{"knowledge bases", kbs, func(p store.Page) ([]string, error) {
			all, err := f.KnowledgeBases(f.ctx, p)
			return ids(all, func(kb store.KnowledgeBase) string { return kb.ID }), err
		}},
		{"documents", docs, func(p store.Page) ([]string, error) {
			all, err := f.Documents(f.ctx, "kb_0000", p)
			return ids(all, func(d store.Document) string { return d.ID }), err
		}},
		{"jobs", jobs, func(p store.Page) ([]string, error) {
			all, err := f.Jobs(f.ctx, store.JobFilter{}, p)
			return ids(all, func(j store.Job) string { return j.ID }), err
		}},
		{"queued jobs", jobs, func(p store.Page) ([]string, error) {
			all, err := f.Jobs(f.ctx, store.JobFilter{Status: store.StatusQueued}, p)
			return ids(all, func(j store.Job) string { return j.ID }), err
		}},
		{"conversations", convs, func(p store.Page) ([]string, error) {
			all, err := f.Conversations(f.ctx, p)
			return ids(all, func(c store.Conversation) string { return c.ID }), err
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := fixture{Records: f.Records, t: t, ctx: t.Context()}
			want := slices.Sorted(slices.Values(c.want))
			for _, size := range []int{1, 7, 0, n, store.MaxPage + 1} {
				page := store.Page{Limit: size}
				var got []string
				for {
					rows, err := c.list(page)
					f.must(err)
					if len(rows) > page.Size() {
						t.Fatalf("a page of %d has %d rows", page.Size(), len(rows))
					}
					got = append(got, rows...)
					if len(rows) < page.Size() {
						break
					}
					page.After = rows[len(rows)-1]
				}
				f.equal(fmt.Sprintf("in pages of %d", page.Size()), want, got)
			}
		})
	}
}
