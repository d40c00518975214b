package attributes

import "sync"

// NoNumber is the number of a document that has none.
const NoNumber = ^uint32(0)

// Numbering gives the documents of a knowledge base small numbers. A number
// never means another document: others may keep what they were told.
type Numbering struct {
	mu      sync.RWMutex
	numbers map[string]uint32
	next    uint32
}

func newNumbering() *Numbering { return &Numbering{numbers: make(map[string]uint32)} }

// Number returns the number of a document, NoNumber if it has none.
func (n *Numbering) Number(id string) uint32 {
	n.mu.RLock()
	defer n.mu.RUnlock()
	if number, ok := n.numbers[id]; ok {
		return number
	}
	return NoNumber
}

// ensure returns the number of a document, a new one if it had none.
func (n *Numbering) ensure(id string) uint32 {
	n.mu.Lock()
	defer n.mu.Unlock()
	number, ok := n.numbers[id]
	if !ok {
		number = n.next
		n.numbers[id] = number
		n.next++
	}
	return number
}

func (n *Numbering) remove(id string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.numbers, id)
}

// count returns how many documents have a number, and how many ever had.
func (n *Numbering) count() (now, ever int) {
	n.mu.RLock()
	defer n.mu.RUnlock()
	return len(n.numbers), int(n.next)
}
