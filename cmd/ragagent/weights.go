package main

import (
	"fmt"

	"ragagent/retrieval"
	"ragagent/retrieval/calibrate"
	"ragagent/retrieval/embed"
)

// wireWeights sets up what knows how much the vectors of each knowledge base
// count. The built-in embedder's weight was measured.
func (a *app) wireWeights(cfg appConfig, index *retrieval.Index) error {
	builtin, err := embed.NewStatic()
	if err != nil {
		return fmt.Errorf("built-in embedder: %w", err)
	}
	config := calibrate.Config{
		Space:    a.pipeline,
		Records:  a.records,
		Sample:   index.Sample,
		Measured: map[string]float64{builtin.Fingerprint(): retrieval.DefaultDenseWeight},
		Log:      cfg.log,
	}
	if !cfg.fromTexts {
		config.Files = a.sideFiles
	}
	if a.weights, err = calibrate.New(config); err != nil {
		return err
	}
	a.onClose(a.weights.Close)
	return nil
}
