package chunk

import "ragagent/store"

// Sizes of pieces in tokens where the settings say 0.
const (
	// DefaultSize is about 240 English words: long enough for a paragraph with
	// its context or the rows of a small table, short enough that one piece is
	// about one thing and that ten of them fit a model's attention.
	DefaultSize = 320
	// DefaultChildSize holds where a section is shown in the place of a piece:
	// the piece then only has to be found.
	DefaultChildSize = 128
)

// Bounds of the sizes of store.Chunking.
const (
	MinSize       = 32
	MaxSize       = 4096
	MaxParentSize = 8192
)

// MaxBytes is the length no piece passes under the given settings.
func MaxBytes(settings store.Chunking) int {
	settings = withDefaults(settings)
	return maxBytes(settings.Size, settings.Overlap)
}

func maxBytes(size, overlap int) int { return (size + size/4 + overlap + 1) * bytesPerToken }

func withDefaults(c store.Chunking) store.Chunking {
	switch {
	case c.Size != 0:
	case c.Parent.Size != 0:
		c.Size = DefaultChildSize
	default:
		c.Size = DefaultSize
	}
	return c
}

// Check refuses settings out of their bounds with an ErrInvalid that names the
// field and what is allowed.
func Check(c store.Chunking) error {
	size := withDefaults(c).Size
	switch c.Strategy {
	case "", store.ChunkingStructure, store.ChunkingSentence, store.ChunkingFixed:
	default:
		return store.Invalid("chunking.strategy", "is %q, allowed are %s, %s and %s", string(c.Strategy),
			store.ChunkingStructure, store.ChunkingSentence, store.ChunkingFixed)
	}
	switch {
	case size < MinSize || size > MaxSize:
		return store.Invalid("chunking.size", "is %d, allowed are %d to %d tokens, or 0 for the default", c.Size, MinSize, MaxSize)
	case c.Overlap < 0 || c.Overlap > size/2:
		return store.Invalid("chunking.overlap", "is %d, allowed are 0 to %d, half of chunking.size", c.Overlap, size/2)
	case c.Parent.Size != 0 && (c.Parent.Size <= size || c.Parent.Size > MaxParentSize):
		return store.Invalid("chunking.parent.size", "is %d, allowed are %d (more than chunking.size) to %d tokens, or 0 for no sections",
			c.Parent.Size, size+1, MaxParentSize)
	}
	return nil
}
