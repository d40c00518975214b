package lsa

import (
	"math"
	"unicode/utf8"

	"ragagent/retrieval"
	"ragagent/retrieval/analysis"
)

// Dim is the number of dimensions. 64 rank within .001 of 96 and better than
// 128 and 256, on the collections of docs/quality.md.
const Dim = 64

// model gives terms their directions.
type model struct {
	chunks int // of the collection when it was fitted
	terms  map[string]int32
	idf    []float32
	basis  []float32 // Dim per term
}

// bytes is the memory of the model: a term takes about 64 bytes in the table.
func (m *model) bytes() int64 { return int64(len(m.terms)) * (64 + 4 + 4*Dim) }

func (m *model) direction(term int32) []float32 {
	return m.basis[int(term)*Dim : int(term)*Dim+Dim]
}

// code is a unit vector in steps of 1/codeScale; all zero for a chunk that has
// no term of the model.
type code [Dim]int8

const codeScale = 127

// fold returns the codes of a part's chunks from the given one on, count of
// them, or fewer at the end.
func (m *model) fold(part retrieval.LexicalPart, from, count int) []code {
	count = min(count, part.Chunks()-from)
	sums := make([]float32, count*Dim)
	for term, chunks := range part.Terms() {
		number, known := m.terms[term]
		if !known {
			continue
		}
		direction := m.direction(number)
		for _, o := range chunks {
			if i := int(o.Chunk) - from; i >= 0 && i < count {
				add(sums[i*Dim:i*Dim+Dim], direction, frequency(o.Count)*m.idf[number])
			}
		}
	}
	codes := make([]code, count)
	for i := range codes {
		codes[i] = encode(sums[i*Dim : i*Dim+Dim])
	}
	return codes
}

// query returns the unit vector of a question; ok is false if the model has
// nothing to say about it.
func (m *model) query(terms []retrieval.TermWeight) (q [Dim]float32, ok bool) {
	for _, t := range terms {
		if number, known := m.terms[t.Term]; known {
			add(q[:], m.direction(number), m.idf[number])
		}
	}
	norm := norm(q[:])
	if norm == 0 {
		return q, false
	}
	for i := range q {
		q[i] /= norm
	}
	return q, true
}

func (c *code) cosine(q *[Dim]float32) float64 {
	sum := float32(0)
	for i, v := range c {
		sum += float32(v) * q[i]
	}
	return float64(min(max(sum/codeScale, 0), 1))
}

func encode(v []float32) (c code) {
	norm := norm(v)
	if norm == 0 {
		return c
	}
	for i, x := range v {
		c[i] = int8(math.Round(float64(x / norm * codeScale)))
	}
	return c
}

// frequency damps repetition: 1 + ln(count).
func frequency(count uint32) float32 {
	if count == 1 {
		return 1
	}
	return float32(1 + math.Log(float64(count)))
}

func norm(v []float32) float32 {
	sum := float32(0)
	for _, x := range v {
		sum += x * x
	}
	return float32(math.Sqrt(float64(sum)))
}

// add adds a times x to y.
func add(y, x []float32, a float32) {
	y = y[:len(x)]
	for i, v := range x {
		y[i] += a * v
	}
}

// isCJK says whether a term is of characters: their bigrams share what they
// have in common already, and directions made of them rank worse.
func isCJK(term string) bool {
	r, _ := utf8.DecodeRuneInString(term)
	return analysis.IsCJK(r)
}
