package chromem

// best keeps the n largest things it was offered, in a heap with the smallest
// of them on top.
type best[T any] struct {
	n       int
	compare func(a, b T) int
	items   []T
}

// reset empties it. n is 1 or more.
func (b *best[T]) reset(n int, compare func(a, b T) int) {
	b.n, b.compare, b.items = n, compare, b.items[:0]
}

func (b *best[T]) full() bool { return len(b.items) == b.n }

// last returns the smallest that is kept; there is one.
func (b *best[T]) last() T { return b.items[0] }

func (b *best[T]) offer(x T) {
	if !b.full() {
		b.items = append(b.items, x)
		b.up(len(b.items) - 1)
		return
	}
	if b.compare(x, b.items[0]) > 0 {
		b.items[0] = x
		b.down(0)
	}
}

func (b *best[T]) up(i int) {
	for i > 0 {
		parent := (i - 1) / 2
		if b.compare(b.items[parent], b.items[i]) <= 0 {
			return
		}
		b.items[parent], b.items[i] = b.items[i], b.items[parent]
		i = parent
	}
}

func (b *best[T]) down(i int) {
	for {
		least := 2*i + 1
		if least >= len(b.items) {
			return
		}
		if r := least + 1; r < len(b.items) && b.compare(b.items[r], b.items[least]) < 0 {
			least = r
		}
		if b.compare(b.items[i], b.items[least]) <= 0 {
			return
		}
		b.items[i], b.items[least] = b.items[least], b.items[i]
		i = least
	}
}
