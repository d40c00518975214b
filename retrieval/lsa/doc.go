// Package lsa compares chunks with questions by latent semantic analysis
// (Deerwester et al. 1990): terms that occur in the same chunks point in
// similar directions, so that a chunk may be about a question without having
// its words. The directions of a collection are the span of the largest
// singular vectors of its term matrix, found by randomised subspace iteration
// (Halko, Martinsson and Tropp 2011) on a sample of its chunks; all others are
// folded in. It is derived from the lexical index and kept in memory only.
package lsa
