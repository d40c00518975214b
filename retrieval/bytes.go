package retrieval

// Bytes is the memory that the indexes take for words, vectors, topics, metadata
// and chunks that are kept, as far as they know it: what a ceiling is compared with.
func (x *Index) Bytes() (n int64) {
	n = x.chunks.bytes()
	if sized, ok := x.lexical.(interface{ Bytes() int64 }); ok {
		n += sized.Bytes()
	}
	if sized, ok := x.vectors.(interface{ Bytes() int64 }); ok {
		n += sized.Bytes()
	}
	if x.topics != nil {
		n += x.topics.Bytes()
	}
	return n + x.tables.bytes()
}
