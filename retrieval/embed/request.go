package embed

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"time"
	"unicode/utf8"
)

// fit asks for the vectors of texts. What is too long for one request is asked
// for in halves, and a single text that is too long is shortened.
func (r *Remote) fit(ctx context.Context, texts []string, attempts int) ([][]float32, error) {
	vectors, err := r.ask(ctx, texts, attempts)
	var e *ServiceError
	if err == nil || !errors.As(err, &e) || !e.TooLong {
		return vectors, err
	}
	if len(texts) == 1 {
		vector, err := r.shortened(ctx, texts[0], attempts, err)
		return [][]float32{vector}, err
	}
	half := len(texts) / 2
	left, err := r.fit(ctx, texts[:half], attempts)
	if err != nil {
		return nil, err
	}
	right, err := r.fit(ctx, texts[half:], attempts)
	return append(left, right...), err
}

// shortened embeds as much of the beginning of a text as the model takes: it
// is cut to three quarters again and again.
func (r *Remote) shortened(ctx context.Context, text string, attempts int, tooLong error) ([]float32, error) {
	for n := len(text) * 3 / 4; n >= shortest; n = n * 3 / 4 {
		for n > 0 && !utf8.RuneStart(text[n]) {
			n--
		}
		vectors, err := r.ask(ctx, []string{text[:n]}, attempts)
		var e *ServiceError
		if errors.As(err, &e) && e.TooLong {
			continue
		}
		if err != nil {
			return nil, err
		}
		r.cfg.Log.Warn("a text is longer than the embedder reads: its end is found by its words only",
			"embedder", r.cfg.Name, "bytes", len(text), "embedded", n)
		return vectors[0], nil
	}
	return nil, tooLong
}

// ask sends one request until it is answered, at most attempts times.
func (r *Remote) ask(ctx context.Context, texts []string, attempts int) ([][]float32, error) {
	var vectors [][]float32
	err := r.repeat(ctx, attempts, func(ctx context.Context) (err error) {
		vectors, err = r.cfg.Service.Vectors(ctx, texts)
		return err
	})
	if err != nil {
		return nil, err
	}
	if len(vectors) != len(texts) {
		return nil, fmt.Errorf("the server answered with %d vectors to %d texts", len(vectors), len(texts))
	}
	for i := range vectors {
		if err := r.normalise(vectors[i]); err != nil {
			return nil, fmt.Errorf("vector %d of %d: %w", i+1, len(vectors), err)
		}
	}
	return vectors, nil
}

func (r *Remote) askDigest(ctx context.Context) (digest string, err error) {
	err = r.repeat(ctx, r.cfg.Attempts, func(ctx context.Context) (err error) {
		digest, err = r.cfg.Service.Digest(ctx)
		return err
	})
	if err != nil {
		return "", r.failure(err)
	}
	return digest, nil
}

// repeat calls do until it succeeds, fails for good or has failed attempts
// times. Each call has Timeout; if ctx ends, its error is returned.
func (r *Remote) repeat(ctx context.Context, attempts int, do func(context.Context) error) error {
	for attempt := 1; ; attempt++ {
		err := r.once(ctx, do)
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		e := meaning(err)
		if attempt >= attempts || !e.Unavailable && !e.Failed {
			return e
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(r.backoff(attempt, e.RetryAfter)):
		}
	}
}

func (r *Remote) once(ctx context.Context, do func(context.Context) error) error {
	select {
	case r.requests <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-r.requests }()
	ctx, cancel := context.WithTimeout(ctx, r.cfg.Timeout)
	defer cancel()
	return do(ctx)
}

// backoff is how long to wait after an attempt that failed, counted from 1:
// doubled each time, and never the same for two that failed together.
func (r *Remote) backoff(attempt int, asked time.Duration) time.Duration {
	wait := r.cfg.Backoff << (attempt - 1)
	wait += rand.N(wait/2 + 1)
	return min(max(wait, asked), maxRetryAfter)
}

// normalise brings a vector to L2 norm 1. One of another dimension than the
// first, of norm 0 or with a number that is none is an error.
func (r *Remote) normalise(v []float32) error {
	if len(v) == 0 || r.dim != 0 && len(v) != r.dim {
		return fmt.Errorf("it has %d dimensions, not %d", len(v), r.dim)
	}
	var sum float64
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	norm := math.Sqrt(sum)
	if norm == 0 || math.IsNaN(norm) || math.IsInf(norm, 0) {
		return fmt.Errorf("its L2 norm is %g", norm)
	}
	for i, x := range v {
		v[i] = float32(float64(x) / norm)
	}
	return nil
}
