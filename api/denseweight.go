package api

import (
	"time"

	"ragagent/retrieval"
)

// denseWeightAnswer tells what the vectors of a knowledge base count, and what
// a calibration saw.
type denseWeightAnswer struct {
	Weight       float64                `json:"weight"`
	Source       retrieval.WeightSource `json:"source"`
	Agreement    *float64               `json:"agreement,omitempty"`
	Error        *float64               `json:"error,omitempty"`
	Spread       *float64               `json:"spread,omitempty"`
	Questions    int                    `json:"questions,omitempty"`
	Chunks       int                    `json:"chunks,omitempty"`
	CalibratedAt *time.Time             `json:"calibrated_at,omitempty"`
}

func denseWeightOf(w retrieval.DenseWeight) *denseWeightAnswer {
	out := &denseWeightAnswer{Weight: w.Weight, Source: w.Source}
	if w.Source == retrieval.WeightCalibrated {
		out.Agreement, out.Error, out.Spread = &w.Agreement, &w.Error, &w.Spread
		out.Questions, out.Chunks, out.CalibratedAt = w.Questions, w.Chunks, &w.At
	}
	return out
}
