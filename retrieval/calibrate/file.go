package calibrate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"ragagent/retrieval"
	"ragagent/store"
)

// FileKind is the kind of the side files of calibrations, one for each
// knowledge base. fileStamp changes with the formula of the weight.
const (
	FileKind  = "weights"
	fileStamp = "1"
)

// keptFingerprints is how many embedders of one knowledge base are remembered:
// those of a change and of a way back.
const keptFingerprints = 4

// record is a calibration in a side file.
type record struct {
	Fingerprint string    `json:"fingerprint"`
	Weight      float64   `json:"weight"`
	Agreement   float64   `json:"agreement"`
	Error       float64   `json:"error"`
	Spread      float64   `json:"spread"`
	Questions   int       `json:"questions"`
	Chunks      int       `json:"chunks"`
	At          time.Time `json:"at"`
}

// entry returns what is known of a knowledge base. c.mu is held.
func (c *Calibrator) entry(kb string) *entry {
	e := c.known[kb]
	if e == nil {
		e = &entry{weights: make(map[string]retrieval.DenseWeight)}
		c.known[kb] = e
	}
	return e
}

// keep remembers a calibration, in the place of the oldest if there are too many.
func (e *entry) keep(fingerprint string, w retrieval.DenseWeight) {
	e.weights[fingerprint] = w
	for len(e.weights) > keptFingerprints {
		oldest := slices.MinFunc(slices.Sorted(maps.Keys(e.weights)), func(a, b string) int {
			return e.weights[a].At.Compare(e.weights[b].At)
		})
		delete(e.weights, oldest)
	}
}

// kept returns the calibrations as they are written, by fingerprint.
func (e *entry) kept() []record {
	var out []record
	for _, f := range slices.Sorted(maps.Keys(e.weights)) {
		w := e.weights[f]
		out = append(out, record{f, w.Weight, w.Agreement, w.Error, w.Spread, w.Questions, w.Chunks, w.At})
	}
	return out
}

func (c *Calibrator) save(ctx context.Context, kb string, records []record) error {
	if c.cfg.Files == nil {
		return nil
	}
	err := c.cfg.Files.Write(ctx, FileKind, kb, fileStamp, func(w io.Writer) error { return json.NewEncoder(w).Encode(records) })
	if err != nil {
		return fmt.Errorf("keep the calibration of %s: %w", kb, err)
	}
	return nil
}

// Load reads what an earlier process found out about a knowledge base, which is
// nothing if there is no file. A file that cannot be used is an error, and the
// background calibrates anew.
func (c *Calibrator) Load(ctx context.Context, kbID string) error {
	if c.cfg.Files == nil {
		return nil
	}
	data, err := c.cfg.Files.Read(ctx, FileKind, kbID, fileStamp)
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	var records []record
	if err := json.Unmarshal(data, &records); err != nil {
		return fmt.Errorf("calibration of %s: %w: %w", kbID, store.ErrDamaged, err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, r := range records {
		c.entry(kbID).keep(r.Fingerprint, retrieval.DenseWeight{
			Weight: r.Weight, Source: retrieval.WeightCalibrated, Agreement: r.Agreement, Error: r.Error, Spread: r.Spread,
			Questions: r.Questions, Chunks: r.Chunks, At: r.At,
		})
	}
	return nil
}
