package bm25

import "math"

// Weights of the fields beside the text itself, whose weight is 1. They were
// tuned together on six collections and confirmed on six others.
const (
	titleWeight      = .3
	pairWeight       = .2
	singleWeight     = .2
	titleMatchWeight = .15
	titleCoverWeight = .05
)

// Parameters of BM25.
const (
	k1          = 1.2
	fieldB      = .75
	titleFieldB = .3
	// Those of BM25L, for the text.
	textK1    = .9
	textB     = .75
	textDelta = .5
	// mostOfIDF is what a term can give at most, as a multiple of its idf.
	mostOfIDF = k1 + 1
)

// idf is the weight of a term that df of n docs have: ln(1 + (n-df+.5)/(df+.5)).
func idf(n, df int) float64 {
	return math.Log1p((float64(n-df) + .5) / (float64(df) + .5))
}

// bm25 is the share of idf that tf occurrences in a field of dl tokens give
// (Robertson and Zaragoza 2009), 0..k1+1.
func bm25(tf, dl uint32, average, b float64) float64 {
	t := float64(tf)
	return t * (k1 + 1) / (t + k1*(1-b+b*float64(dl)/average))
}

// bm25L is the same for the text, where the length of a chunk must not make a
// match worthless (Lv and Zhai 2011): with c the occurrences normalised by
// length, (k1+1)(c+delta)/(k1+c+delta). norm is lengthNorm of the chunk.
func bm25L(tf uint32, norm float64) float64 {
	c := float64(tf)*norm + textDelta
	return (textK1 + 1) * c / (textK1 + c)
}

// lengthNorm is what one occurrence counts in a chunk of dl tokens.
func lengthNorm(dl uint32, average float64) float64 {
	return 1 / (1 - textB + textB*float64(dl)/average)
}

// average of a sum over n chunks; 1 where there is nothing to divide.
func average(sum int64, n int) float64 {
	if n == 0 || sum == 0 {
		return 1
	}
	return float64(sum) / float64(n)
}
