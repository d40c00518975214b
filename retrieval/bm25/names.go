package bm25

import "strings"

// names is a list of strings in one: 4 bytes each beside their characters, and
// nothing for the garbage collector to follow.
type names struct {
	blob string
	ends []uint32 // end of each name in blob
}

func (n *names) len() int { return len(n.ends) }

func (n *names) at(i int) string {
	start := uint32(0)
	if i > 0 {
		start = n.ends[i-1]
	}
	return n.blob[start:n.ends[i]]
}

func (n *names) bytes() int { return len(n.blob) + 4*len(n.ends) }

// namesBuilder collects names.
type namesBuilder struct {
	blob strings.Builder
	ends []uint32
}

func (b *namesBuilder) add(name string) {
	b.blob.WriteString(name)
	b.ends = append(b.ends, uint32(b.blob.Len()))
}

func (b *namesBuilder) len() int { return len(b.ends) }

func (b *namesBuilder) build() names {
	return names{blob: strings.Clone(b.blob.String()), ends: append([]uint32(nil), b.ends...)}
}
