package ingest

import (
	"context"
	"slices"

	"ragagent/store"
)

// contents are the chunks of a knowledge base that should be found.
type contents struct{ words, vectors []string }

// differences are chunks in one place and not in the other, ascending.
type differences struct{ lacking, left []string }

func (d differences) none() bool { return len(d.lacking) == 0 && len(d.left) == 0 }

// index compares what can be found with what should be. Documents may have come
// and gone since their chunks were noted: what differs is confirmed, twice.
func (v *verifier) index(ctx context.Context, kb store.KnowledgeBase, want contents) {
	inspector, ok := v.cfg.Indexer.(Inspector)
	if !ok {
		return
	}
	words, vectors, err := inspector.Contents(ctx, kb.ID)
	if err != nil {
		v.problem("knowledge base "+kb.Name, actRebuild, "its indexes cannot be read: %v", err)
		return
	}
	w, x := compare(want.words, words), compare(want.vectors, vectors)
	for range 2 {
		if w.none() && x.none() {
			return
		}
		if w, x, err = v.confirm(ctx, inspector, kb, w, x); err != nil {
			v.problem("knowledge base "+kb.Name, actRebuild, "its indexes cannot be compared: %v", err)
			return
		}
	}
	v.differ(kb, "lexical index", w)
	v.differ(kb, "vector index", x)
}

func (v *verifier) differ(kb store.KnowledgeBase, index string, d differences) {
	where := "knowledge base " + kb.Name
	for _, id := range d.lacking {
		v.problem(where, actRebuild, "the %s lacks chunk %s", index, id)
	}
	for _, id := range d.left {
		v.problem(where, actRebuild, "the %s holds chunk %s, which is gone", index, id)
	}
}

func compare(want, have []string) (d differences) {
	slices.Sort(want)
	slices.Sort(have)
	for len(want) > 0 || len(have) > 0 {
		switch {
		case len(have) == 0 || len(want) > 0 && want[0] < have[0]:
			d.lacking = append(d.lacking, want[0])
			want = want[1:]
		case len(want) == 0 || have[0] < want[0]:
			d.left = append(d.left, have[0])
			have = have[1:]
		default:
			want, have = want[1:], have[1:]
		}
	}
	return d
}

// confirm keeps of some differences those that are there when every change that
// was being made has been completed: a chunk lacks if it was in the truth
// before and after the index was looked at, one is left if it was not.
func (v *verifier) confirm(ctx context.Context, inspector Inspector, kb store.KnowledgeBase, w, x differences) (differences, differences, error) {
	all := slices.Concat(w.lacking, w.left, x.lacking, x.left)
	before, err := v.visible(ctx, all)
	if err != nil {
		return w, x, err
	}
	v.order.settle()
	words, vectors, err := inspector.Contents(ctx, kb.ID)
	if err != nil {
		return w, x, err
	}
	after, err := v.visible(ctx, all)
	if err != nil {
		return w, x, err
	}
	still := func(d differences, have []string) differences {
		there := func(id string) bool { _, found := slices.BinarySearch(have, id); return found }
		return differences{
			lacking: slices.DeleteFunc(d.lacking, func(id string) bool { return !before[id] || !after[id] || there(id) }),
			left:    slices.DeleteFunc(d.left, func(id string) bool { return before[id] || after[id] || !there(id) }),
		}
	}
	slices.Sort(words)
	slices.Sort(vectors)
	return still(w, words), still(x, vectors), nil
}

// visible says which of some chunks the truth shows.
func (v *verifier) visible(ctx context.Context, ids []string) (map[string]bool, error) {
	found := make(map[string]bool, len(ids))
	for part := range slices.Chunk(ids, 1000) {
		chunks, err := v.cfg.Records.ChunksByID(ctx, part)
		if err != nil {
			return nil, err
		}
		for _, c := range chunks {
			found[c.ID] = true
		}
	}
	return found, nil
}
