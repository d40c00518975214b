package retrieval

import "math"

// evidenceScale makes a chunk that holds all words of a question score about .9.
const evidenceScale = 4

// Calibrate turns evidence, the sum that ranking works with (about 0..1, but
// open above), into a score of 0..1: 1 - exp(-4 evidence). Negative evidence
// is 0.
func Calibrate(evidence float64) float64 {
	return -math.Expm1(-evidenceScale * max(evidence, 0))
}

// Evidence is the inverse of Calibrate: a reranker that adds to a score adds
// to its evidence.
func Evidence(score float64) float64 {
	return -math.Log1p(-min(score, maxScore)) / evidenceScale
}

// maxScore keeps the evidence of a score finite.
const maxScore = 1 - 1e-12
