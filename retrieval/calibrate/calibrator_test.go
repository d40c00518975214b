package calibrate_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"ragagent/retrieval"
	"ragagent/retrieval/calibrate"
	"ragagent/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// world is knowledge bases whose chunk k has words of topic k%10, and vectors
// that know the topic or know nothing.
type world struct {
	kbs    []store.KnowledgeBase
	chunks int
	knows  map[string]bool // by fingerprint
	broken error
	asked  int
	files  map[string][]byte
	now    time.Time
}

func newWorld() *world {
	return &world{
		kbs:    []store.KnowledgeBase{{ID: "kb_1", Name: "one", Fingerprint: "good", ChunkCount: 60}},
		chunks: 60, knows: map[string]bool{"good": true},
		files: make(map[string][]byte), now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
	}
}

func chunkID(k int) string { return fmt.Sprintf("chk_%03d", k) }

func (w *world) sample(_ string, n int) (ids []string) {
	for k := range min(n, w.chunks) {
		ids = append(ids, chunkID(k))
	}
	return ids
}

func (w *world) KnowledgeBases(context.Context, store.Page) ([]store.KnowledgeBase, error) {
	return w.kbs, nil
}

func (w *world) ChunksByID(_ context.Context, ids []string) (out []store.Chunk, err error) {
	for _, id := range ids {
		var k int
		if _, err := fmt.Sscanf(id, "chk_%d", &k); err != nil {
			return nil, err
		}
		out = append(out, store.Chunk{ID: id, Text: strings.Repeat(fmt.Sprintf("topic%d ", k%10), 12)})
	}
	return out, nil
}

func topicOf(question string) (topic int) {
	_, _ = fmt.Sscanf(question, "topic%d", &topic)
	return topic
}

func (w *world) TopByWords(_ context.Context, _, question string, n int) (ids []string, err error) {
	for k := topicOf(question); k < w.chunks && len(ids) < n; k += 10 {
		ids = append(ids, chunkID(k))
	}
	return ids, nil
}

func (w *world) Cosines(_ context.Context, kb store.KnowledgeBase, question string, ids []string) ([]float32, error) {
	w.asked++
	if w.broken != nil {
		return nil, w.broken
	}
	r := rand.New(rand.NewPCG(uint64(w.asked), 1))
	out := make([]float32, len(ids))
	for i, id := range ids {
		out[i] = float32(.1 * r.NormFloat64())
		var k int
		if _, _ = fmt.Sscanf(id, "chk_%d", &k); w.knows[kb.Fingerprint] && k%10 == topicOf(question) {
			out[i] += .3
		}
	}
	return out, nil
}

func (w *world) Write(_ context.Context, kind, key, stamp string, write func(io.Writer) error) error {
	var b strings.Builder
	err := write(&b)
	w.files[kind+key+stamp] = []byte(b.String())
	return err
}

func (w *world) Read(_ context.Context, kind, key, stamp string) ([]byte, error) {
	if data, ok := w.files[kind+key+stamp]; ok {
		return data, nil
	}
	return nil, store.ErrNotFound
}

func (w *world) Remove(kind, key string) error {
	for name := range w.files {
		if strings.HasPrefix(name, kind+key) {
			delete(w.files, name)
		}
	}
	return nil
}

func (w *world) calibrator(t *testing.T) *calibrate.Calibrator {
	t.Helper()
	c, err := calibrate.New(calibrate.Config{
		Space: w, Records: w, Sample: w.sample, Files: w, Measured: map[string]float64{"builtin": .2},
		Every: time.Second, Now: func() time.Time { return w.now },
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestGoodAndUseless(t *testing.T) {
	w := newWorld()
	c := w.calibrator(t)
	kb := w.kbs[0]
	if diff := cmp.Diff(retrieval.DenseWeight{Source: retrieval.WeightPending}, c.Weight(kb)); diff != "" {
		t.Error("before: ", diff)
	}
	check(t, c.Ensure(t.Context(), kb))
	good := c.Weight(kb)
	if good.Source != retrieval.WeightCalibrated || good.Questions != 180 || good.Chunks != 60 || !good.At.Equal(w.now) ||
		good.Weight < .05 || good.Weight > .3 {
		t.Errorf("%+v", good)
	}
	kb.Fingerprint = "useless"
	check(t, c.Ensure(t.Context(), kb))
	if got := c.Weight(kb); got.Weight != 0 || got.Source != retrieval.WeightCalibrated || got.Agreement > 3*got.Error {
		t.Errorf("%+v", got)
	}
	kb.Fingerprint = "builtin"
	asked := w.asked
	check(t, c.Ensure(t.Context(), kb))
	if got := c.Weight(kb); got.Weight != .2 || got.Source != retrieval.WeightMeasured || w.asked != asked {
		t.Errorf("%+v after %d more questions", got, w.asked-asked)
	}
}

func TestKeptForTheNextStart(t *testing.T) {
	w := newWorld()
	first := w.calibrator(t)
	check(t, first.Ensure(t.Context(), w.kbs[0]))
	asked := w.asked
	second := w.calibrator(t)
	check(t, second.Load(t.Context(), "kb_1"))
	if diff := cmp.Diff(first.Weight(w.kbs[0]), second.Weight(w.kbs[0])); diff != "" {
		t.Error(diff)
	}
	check(t, second.Ensure(t.Context(), w.kbs[0]))
	if w.asked != asked {
		t.Errorf("%d questions were asked again", w.asked-asked)
	}
	check(t, second.Load(t.Context(), "kb_2")) // there is nothing
	w.files[calibrate.FileKind+"kb_1"+"1"] = []byte("{")
	if err := second.Load(t.Context(), "kb_1"); !errors.Is(err, store.ErrDamaged) {
		t.Error(err)
	}
}

// The background calibrates what rests, again when it has grown, and forgets
// what is gone.
func TestBackground(t *testing.T) {
	w := newWorld()
	c := w.calibrator(t)
	step := func(want int, why string) {
		t.Helper()
		before := w.asked
		w.now = w.now.Add(time.Second)
		c.Round(t.Context())
		if got := w.asked - before; got != want {
			t.Errorf("%s: %d questions, want %d", why, got, want)
		}
	}
	w.kbs[0].ChunkCount = 30
	step(0, "seen for the first time")
	w.kbs[0].ChunkCount = 60
	step(0, "still growing")
	step(180, "at rest")
	w.kbs[0].ChunkCount = 119
	step(0, "a little more")
	step(0, "a little more")
	w.kbs[0].ChunkCount = 120
	step(0, "twice as many")
	step(180, "twice as many, at rest")
	w.kbs = nil
	step(0, "gone")
	if len(w.files) != 0 {
		t.Errorf("left: %v", w.files)
	}
}

func TestNeverAtRest(t *testing.T) {
	w := newWorld()
	c := w.calibrator(t)
	for range 70 {
		w.kbs[0].ChunkCount++
		w.now = w.now.Add(time.Second)
		c.Round(t.Context())
	}
	if got := c.Weight(w.kbs[0]); got.Source != retrieval.WeightCalibrated {
		t.Errorf("%+v after more than a minute", got)
	}
}

// A server that is down is asked ever more seldom, and nothing counts meanwhile.
func TestEmbedderIsDown(t *testing.T) {
	w := newWorld()
	w.broken = store.ErrUnavailable
	c := w.calibrator(t)
	for range 100 {
		w.now = w.now.Add(time.Second)
		c.Round(t.Context())
	}
	if w.asked < 4 || w.asked > 8 {
		t.Errorf("asked %d times in 100 s", w.asked)
	}
	if got := c.Weight(w.kbs[0]); got.Source != retrieval.WeightPending || got.Weight != 0 {
		t.Errorf("%+v", got)
	}
	w.broken = nil
	w.now = w.now.Add(10 * time.Minute)
	c.Round(t.Context())
	if got := c.Weight(w.kbs[0]); got.Source != retrieval.WeightCalibrated {
		t.Errorf("%+v when it is back", got)
	}
}

func TestStartAndClose(t *testing.T) {
	c := newWorld().calibrator(t)
	check(t, c.Close())
	c.Start()
	check(t, c.Close())
	if _, err := calibrate.New(calibrate.Config{}); err == nil {
		t.Error("nothing is required")
	}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
