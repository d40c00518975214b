package extractive

import "context"

// maxMeanings bounds the sentences whose meaning is compared: those of the
// best passages, which come first.
const maxMeanings = 300

// similar returns the cosines of the first maxMeanings texts with the query; a
// text without a vector has 0. Without an embedder, or when it fails, there are
// none.
func (m *Model) similar(ctx context.Context, query string, texts []string) []float64 {
	if m.cfg.Embedder == nil || len(texts) == 0 {
		return nil
	}
	q, err := m.cfg.Embedder.EmbedQuery(ctx, query)
	if err != nil || q == nil {
		return nil
	}
	vectors, err := m.cfg.Embedder.Embed(ctx, texts[:min(len(texts), maxMeanings)])
	if err != nil {
		return nil
	}
	cosines := make([]float64, len(vectors))
	for i, v := range vectors {
		if len(v) == len(q) {
			cosines[i] = dot(q, v)
		}
	}
	return cosines
}

func dot(a, b []float32) float64 {
	sum := 0.0
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}
