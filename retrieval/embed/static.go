// Package embed holds the built-in Embedder, a static model that needs no
// service and no network, and a cache for any Embedder's questions.
//
// The model and its format, STE2, are described in static/MODEL.md and
// static/FORMAT.md.
package embed

import (
	"context"
	"crypto/sha256"
	_ "embed" // the model's files
	"encoding/hex"
	"fmt"
	"io"
	"strings"
	"sync"
	"unicode/utf8"
)

// The embedded files are strings: they stay in the binary's read-only pages
// and cost a process nothing until they are read.
var (
	//go:embed static/model.ste2
	modelFile string
	//go:embed static/vocab.txt
	vocabFile string
	//go:embed static/fold.tsv
	foldFile string
)

// StaticName is the name of the built-in embedder in settings.
const StaticName = "builtin/ste2"

// window is how many bytes of a text are tokenized at once. It bounds the
// memory of a call and the time until a cancelled context is noticed.
const window = 64 << 10

// Static is the built-in embedder: every piece of a word has a fixed vector,
// a text's vector is their weighted sum. It treats questions and passages
// alike. Text without Latin letters, digits or Greek letters has no vector.
//
// A passage is best embedded with its title in front: title + " " + text.
type Static struct {
	model       *model
	tokenizer   *tokenizer
	scratch     sync.Pool // of *scratch
	fingerprint func() string
}

// NewStatic prepares the built-in model: it reads the vocabulary (about a
// millisecond), while the vectors stay in the binary and are decoded when a
// text needs them. The error is that of a damaged build.
func NewStatic() (*Static, error) {
	return newStatic(modelFile, vocabFile, foldFile)
}

func newStatic(modelData, vocab, folds string) (*Static, error) {
	m, err := parseModel(modelData)
	if err != nil {
		return nil, fmt.Errorf("static model: %w", err)
	}
	t, err := newTokenizer(vocab, folds)
	if err != nil {
		return nil, fmt.Errorf("static model: %w", err)
	}
	if n := t.pieces.len(); n != m.rows {
		return nil, fmt.Errorf("static model: %d rows for a vocabulary of %d pieces", m.rows, n)
	}
	s := &Static{model: m, tokenizer: t}
	s.scratch.New = func() any { return newScratch(m.rows) }
	s.fingerprint = sync.OnceValue(func() string {
		h := sha256.New()
		for _, part := range []string{"STE2", modelData, vocab, folds} {
			fmt.Fprintf(h, "%d:", len(part))
			_, _ = io.Copy(h, io.LimitReader(strings.NewReader(part), int64(len(part)))) // a hash takes everything
		}
		return "ste2-" + hex.EncodeToString(h.Sum(nil)[:8])
	})
	return s, nil
}

// Embed returns one vector per text, same order, length Dim(), L2 norm 1; nil
// for a text that gives no token. The only error is that of ctx. It may be
// called concurrently; its memory does not grow with the length of a text.
func (s *Static) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	vectors := make([][]float32, len(texts))
	for i, text := range texts {
		v, err := s.embed(ctx, text)
		if err != nil {
			return nil, fmt.Errorf("embed text %d of %d: %w", i+1, len(texts), err)
		}
		vectors[i] = v
	}
	return vectors, nil
}

// EmbedQuery is Embed for one question.
func (s *Static) EmbedQuery(ctx context.Context, text string) ([]float32, error) {
	return s.embed(ctx, text)
}

// Dim returns the length of the vectors, 256.
func (s *Static) Dim() int { return s.model.dim }

// Name returns StaticName.
func (s *Static) Name() string { return StaticName }

// Fingerprint identifies the vector space: it changes with any byte of the
// model, its vocabulary or its folds.
func (s *Static) Fingerprint() string { return s.fingerprint() }

func (s *Static) embed(ctx context.Context, text string) ([]float32, error) {
	c := s.scratch.Get().(*scratch)
	defer s.scratch.Put(c)
	defer c.reset()
	for text != "" {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		n := cut(text)
		c.ids = s.tokenizer.encode(c.ids[:0], &c.word, text[:n])
		c.count()
		text = text[n:]
	}
	c.ids = s.tokenizer.end(c.ids[:0], &c.word)
	c.count()
	return s.model.vector(c.distinct, c.tf), nil
}

// cut returns the length of the next window of the text, which is never
// within a code point.
func cut(text string) int {
	if len(text) <= window {
		return len(text)
	}
	for n := window; n > window-utf8.UTFMax; n-- {
		if utf8.RuneStart(text[n]) {
			return n
		}
	}
	return window // not UTF-8: any place is as good
}

// scratch is the memory of one call. Its size depends on the vocabulary alone.
type scratch struct {
	word     word
	ids      []uint16
	tf       []uint32 // by id; zero but for the distinct ones
	distinct []uint16 // in the order of their first appearance
}

func newScratch(rows int) *scratch {
	return &scratch{tf: make([]uint32, rows)}
}

// count adds the ids of a window to the term frequencies.
func (c *scratch) count() {
	for _, id := range c.ids {
		if c.tf[id] == 0 {
			c.distinct = append(c.distinct, id)
		}
		c.tf[id]++
	}
}

func (c *scratch) reset() {
	for _, id := range c.distinct {
		c.tf[id] = 0
	}
	c.distinct = c.distinct[:0]
	c.word.n = 0
}
