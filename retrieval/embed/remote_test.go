package embed_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ragagent/retrieval/embed"
	"ragagent/store"
)

// scripted is a Service that answers as its function says and notes what it was
// asked.
type scripted struct {
	answer func(call int, texts []string) ([][]float32, error)
	asked  [][]string
	digest string
}

func (s *scripted) Vectors(_ context.Context, texts []string) ([][]float32, error) {
	s.asked = append(s.asked, texts)
	return s.answer(len(s.asked)-1, texts)
}

func (s *scripted) Digest(context.Context) (string, error) { return s.digest, nil }

// ramp gives each text a vector in the direction of its length.
func ramp(texts []string) [][]float32 {
	vectors := make([][]float32, len(texts))
	for i, t := range texts {
		vectors[i] = []float32{float32(len(t)), 3, 4}
	}
	return vectors
}

func always(_ int, texts []string) ([][]float32, error) { return ramp(texts), nil }

func remote(t *testing.T, s *scripted, change func(*embed.RemoteConfig)) *embed.Remote {
	t.Helper()
	cfg := embed.RemoteConfig{Service: s, Name: "test/m", Model: "m", Backoff: time.Microsecond}
	if change != nil {
		change(&cfg)
	}
	answer := s.answer
	s.answer = always
	r, err := embed.NewRemote(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	s.answer, s.asked = answer, nil
	return r
}

func TestRemoteBatches(t *testing.T) {
	s := &scripted{answer: always}
	r := remote(t, s, func(c *embed.RemoteConfig) {
		c.MaxBatch, c.MaxBatchBytes = 3, 12
		c.Prefixes = &embed.Prefixes{Query: "q:", Document: "d:"}
	})
	got, err := r.Embed(t.Context(), []string{"a", "b", " \n", "c", "d", "eeeeeeeeee", "f\xff"})
	if err != nil {
		t.Fatal(err)
	}
	want := [][]string{{"d:a", "d:b", "d:c"}, {"d:d"}, {"d:eeeeeeeeee"}, {"d:f\uFFFD"}}
	if diff := cmp.Diff(want, s.asked); diff != "" {
		t.Error(diff)
	}
	for i, v := range got {
		if i == 2 {
			if v != nil {
				t.Errorf("a text of spaces has the vector %v", v)
			}
			continue
		}
		if norm := math.Sqrt(float64(v[0]*v[0] + v[1]*v[1] + v[2]*v[2])); math.Abs(norm-1) > 1e-6 {
			t.Errorf("vector %d has norm %g", i, norm)
		}
	}
	if _, err := r.EmbedQuery(t.Context(), "x"); err != nil || s.asked[4][0] != "q:x" {
		t.Errorf("%q, %v", s.asked[4], err)
	}
}

// TestRemoteBadAnswers: what cannot be a vector is an error, never stored.
func TestRemoteBadAnswers(t *testing.T) {
	nan := float32(math.NaN())
	inf := float32(math.Inf(1))
	for name, vectors := range map[string][][]float32{
		"too few":         {},
		"too many":        {{1, 0, 0}, {1, 0, 0}},
		"zero":            {{0, 0, 0}},
		"not a number":    {{1, nan, 0}},
		"infinite":        {{1, inf, 0}},
		"other dimension": {{1, 0}},
		"none":            {nil},
	} {
		t.Run(name, func(t *testing.T) {
			s := &scripted{answer: func(int, []string) ([][]float32, error) { return vectors, nil }}
			r := remote(t, s, nil)
			if got, err := r.Embed(t.Context(), []string{"text"}); err == nil || errors.Is(err, store.ErrUnavailable) {
				t.Errorf("got %v, %v", got, err)
			}
			if len(s.asked) != 1 {
				t.Errorf("asked %d times: a wrong answer does not become right", len(s.asked))
			}
		})
	}
}

func TestRemoteRepeats(t *testing.T) {
	refused := errors.New("connection refused")
	for name, c := range map[string]struct {
		err         error
		failures    int
		asked       int
		unavailable bool
		fails       bool
	}{
		"the connection, twice":  {refused, 2, 3, false, false},
		"the connection, always": {refused, 99, 4, true, true},
		"too busy":               {embed.AnsweredWith(429, "", errors.New("busy")), 1, 2, false, false},
		"503, always":            {embed.AnsweredWith(503, "", errors.New("full")), 99, 4, true, true},
		"500, once":              {embed.AnsweredWith(500, "", errors.New("oops")), 1, 2, false, false},
		"500, always":            {embed.AnsweredWith(500, "", errors.New("oops")), 99, 4, false, true},
		"no such model":          {embed.AnsweredWith(404, "", errors.New("not found")), 99, 1, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			s := &scripted{answer: func(call int, texts []string) ([][]float32, error) {
				if call < c.failures {
					return nil, c.err
				}
				return ramp(texts), nil
			}}
			r := remote(t, s, nil)
			_, err := r.Embed(t.Context(), []string{"text"})
			if (err != nil) != c.fails || errors.Is(err, store.ErrUnavailable) != c.unavailable || len(s.asked) != c.asked {
				t.Errorf("%v after %d requests", err, len(s.asked))
			}
		})
	}
}

// TestRemoteDown: while a server is down, questions do not wait for it each.
func TestRemoteDown(t *testing.T) {
	now := time.Unix(0, 0)
	s := &scripted{answer: func(int, []string) ([][]float32, error) { return nil, errors.New("connection refused") }}
	r := remote(t, s, func(c *embed.RemoteConfig) { c.Now = func() time.Time { return now } })
	for range 5 {
		if _, err := r.EmbedQuery(t.Context(), "why"); !errors.Is(err, store.ErrUnavailable) {
			t.Fatal(err)
		}
	}
	if len(s.asked) != 2 {
		t.Errorf("%d requests for 5 questions, want 2", len(s.asked))
	}
	now, s.answer = now.Add(3*time.Second), always
	if v, err := r.EmbedQuery(t.Context(), "why"); err != nil || len(v) != 3 {
		t.Errorf("%v, %v", v, err)
	}
}

// TestRemoteTooLong: of a batch that is too long only the text that is at fault
// is shortened, and the log says so.
func TestRemoteTooLong(t *testing.T) {
	s := &scripted{answer: func(_ int, texts []string) ([][]float32, error) {
		for _, text := range texts {
			if len(text) > 100 {
				return nil, &embed.ServiceError{Err: errors.New("too long"), TooLong: true}
			}
		}
		return ramp(texts), nil
	}}
	var log bytes.Buffer
	r := remote(t, s, func(c *embed.RemoteConfig) { c.Log = slog.New(slog.NewTextHandler(&log, nil)) })
	long := strings.Repeat("é", 100) // 200 bytes
	got, err := r.Embed(t.Context(), []string{"a", "bb", long, "dddd"})
	if err != nil {
		t.Fatal(err)
	}
	want, _ := r.Embed(t.Context(), []string{"a", "bb", strings.Repeat("é", 42), "dddd"})
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if !strings.Contains(log.String(), "bytes=200 embedded=84") {
		t.Errorf("log: %s", log.String())
	}
}

func TestRemoteFingerprint(t *testing.T) {
	is := func(digest string, change func(*embed.RemoteConfig)) string {
		return remote(t, &scripted{digest: digest}, change).Fingerprint()
	}
	one := is("abc", nil)
	if !strings.HasPrefix(one, "m-3-") {
		t.Errorf("fingerprint %q", one)
	}
	if same := is("abc", func(c *embed.RemoteConfig) { c.Name, c.Model = "other/m", "m:latest" }); same != one {
		t.Errorf("%s and %s: another provider is no other space", one, same)
	}
	for what, other := range map[string]string{
		"weights":  is("abd", nil),
		"model":    is("abc", func(c *embed.RemoteConfig) { c.Model = "n" }),
		"prefixes": is("abc", func(c *embed.RemoteConfig) { c.Prefixes = &embed.Prefixes{Document: "d: "} }),
	} {
		if other == one {
			t.Errorf("other %s, the same fingerprint", what)
		}
	}
}

func TestPrefixesOf(t *testing.T) {
	for name, want := range map[string]embed.Prefixes{
		"nomic-embed-text:v1.5":              {Query: "search_query: ", Document: "search_document: "},
		"intfloat/multilingual-e5-small":     {Query: "query: ", Document: "passage: "},
		"intfloat/e5-base-v2":                {Query: "query: ", Document: "passage: "},
		"BAAI/bge-small-en-v1.5":             {Query: "Represent this sentence for searching relevant passages: "},
		"bge-m3":                             {},
		"mxbai-embed-large:latest":           {Query: "Represent this sentence for searching relevant passages: "},
		"snowflake-arctic-embed2":            {Query: "query: "},
		"Snowflake/snowflake-arctic-embed-m": {Query: "Represent this sentence for searching relevant passages: "},
		"intfloat/multilingual-e5-large-instruct": {
			Query: "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery: ",
		},
		"text-embedding-3-small": {},
		"all-minilm":             {},
	} {
		if got := embed.PrefixesOf(name); got != want {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
