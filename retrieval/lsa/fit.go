package lsa

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"ragagent/retrieval"
)

// Bounds of a fit.
const (
	sampleSize = 16_384 // chunks that are looked at
	minDF      = 3      // chunks that have to have a term
	maxTerms   = 32_768 // the most frequent ones
	rounds     = 2      // of the iteration, behind the first
)

// entry is the weight of a term in a chunk of the sample.
type entry struct {
	row    int32
	weight float32
}

// fit finds the directions of a collection. A model of one that has too few
// terms knows none. The same chunks give the same model, within rounding,
// however they are spread over parts.
func fit(ctx context.Context, parts []retrieval.LexicalPart) (*model, error) {
	chunks := living(parts)
	m := &model{chunks: chunks, terms: make(map[string]int32)}
	rows, n := sample(parts, chunks)
	lists := m.lists(parts, rows)
	if len(lists) < 2*Dim || n < 2*Dim {
		return &model{chunks: chunks}, ctx.Err()
	}
	normalise(lists, n)
	terms, texts := newMatrix(len(lists)), newMatrix(n)
	for term, number := range m.terms {
		r := rand.New(rand.NewPCG(hash(term), 1))
		for i := range terms.row(int(number)) {
			terms.row(int(number))[i] = float32(r.NormFloat64())
		}
	}
	for range rounds + 1 {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		clear(texts.values)
		for t, list := range lists {
			for _, e := range list {
				add(texts.row(int(e.row)), terms.row(t), e.weight)
			}
		}
		texts.orthonormalise()
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		clear(terms.values)
		for t, list := range lists {
			for _, e := range list {
				add(terms.row(t), texts.row(int(e.row)), e.weight)
			}
		}
		terms.orthonormalise()
	}
	m.basis = terms.values
	return m, nil
}

func living(parts []retrieval.LexicalPart) (n int) {
	for _, p := range parts {
		n += p.Living()
	}
	return n
}

// sample gives about sampleSize of the chunks a row; -1 stands for none.
func sample(parts []retrieval.LexicalPart, chunks int) (rows [][]int32, n int) {
	most := uint64(math.MaxUint64)
	if chunks > sampleSize {
		most = most / uint64(chunks) * sampleSize
	}
	rows = make([][]int32, len(parts))
	for i, p := range parts {
		rows[i] = make([]int32, p.Chunks())
		for chunk := range rows[i] {
			rows[i][chunk] = -1
			if p.Alive(chunk) && hash(p.ID(chunk)) <= most {
				rows[i][chunk] = int32(n)
				n++
			}
		}
	}
	return rows, n
}

// hash is FNV-1a with its bits spread, so that any of them are as good as others.
func hash(s string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * 1099511628211
	}
	h ^= h >> 32
	h *= 0x9e3779b97f4a7c15
	return h ^ h>>29
}

// lists numbers the terms that are worth it and returns their weights in the
// sample, (1 + ln tf) idf.
func (m *model) lists(parts []retrieval.LexicalPart, rows [][]int32) [][]entry {
	df := make(map[string]int)
	for _, p := range parts {
		for term, chunks := range p.Terms() {
			if !isCJK(term) {
				df[term] += len(chunks)
			}
		}
	}
	least := leastDF(df)
	var lists [][]entry
	for i, p := range parts {
		for term, chunks := range p.Terms() {
			n := df[term]
			if n < least {
				continue
			}
			idf := float32(math.Log1p((float64(m.chunks-n) + .5) / (float64(n) + .5)))
			for _, o := range chunks {
				row := rows[i][o.Chunk]
				if row < 0 {
					continue
				}
				number, known := m.terms[term]
				if !known {
					number = int32(len(lists))
					m.terms[strings.Clone(term)] = number
					m.idf = append(m.idf, idf)
					lists = append(lists, nil)
				}
				lists[number] = append(lists[number], entry{row, frequency(o.Count) * idf})
			}
		}
	}
	return lists
}

// leastDF is the lowest number of chunks, minDF or more, that at most maxTerms
// terms reach.
func leastDF(df map[string]int) int {
	counts := make([]int, 0, len(df))
	for _, n := range df {
		if n >= minDF {
			counts = append(counts, n)
		}
	}
	if len(counts) <= maxTerms {
		return minDF
	}
	slices.Sort(counts)
	return counts[len(counts)-maxTerms] + 1
}

// normalise gives every row the norm 1.
func normalise(lists [][]entry, rows int) {
	sums := make([]float64, rows)
	for _, list := range lists {
		for _, e := range list {
			sums[e.row] += float64(e.weight) * float64(e.weight)
		}
	}
	for _, list := range lists {
		for i := range list {
			list[i].weight /= float32(math.Sqrt(sums[list[i].row]))
		}
	}
}
