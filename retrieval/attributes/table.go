package attributes

import (
	"slices"
	"strings"
	"sync"
	"unsafe"

	"ragagent/store"
)

// Table is what the documents of one knowledge base can be filtered by. All
// methods may be called concurrently.
type Table struct {
	mu        sync.RWMutex
	numbering *Numbering
	live      Bits
	columns   map[string]*column
	shapes    []*shape // by number: the columns a document is in
	known     map[string]*shape
}

// shape is the names of the fields that documents have, which many have in
// common.
type shape struct {
	key   string
	names []string
	users int
}

// New returns an empty table.
func New() *Table {
	t := &Table{}
	t.reset()
	return t
}

func (t *Table) reset() {
	t.numbering, t.live = newNumbering(), nil
	t.columns, t.shapes, t.known = make(map[string]*column), nil, make(map[string]*shape)
}

// Put sets the fields of a document, in the place of those it had.
func (t *Table) Put(doc *store.Document) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.put(doc)
}

func (t *Table) put(doc *store.Document) {
	number := t.numbering.ensure(doc.ID)
	t.removeFields(number)
	for int(number>>6) >= len(t.live) {
		t.live = append(t.live, 0)
	}
	t.live.set(number)
	for int(number) >= len(t.shapes) {
		t.shapes = append(t.shapes, nil)
	}
	s := t.shape(doc.FieldNames())
	s.users++
	t.shapes[number] = s
	for _, name := range s.names {
		c := t.columns[name]
		if c == nil {
			c = new(column)
			t.columns[name] = c
		}
		c.add(number, doc.Field(name))
	}
}

// shape returns the one of these names.
func (t *Table) shape(names []string) *shape {
	slices.Sort(names)
	key := strings.Join(names, "\x00")
	s := t.known[key]
	if s == nil {
		s = &shape{key: key, names: names}
		t.known[key] = s
	}
	return s
}

// Remove forgets a document; one that is not there is no error.
func (t *Table) Remove(id string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	number := t.numbering.Number(id)
	if number == NoNumber {
		return
	}
	t.removeFields(number)
	t.live.clear(number)
	t.numbering.remove(id)
	if now, ever := t.numbering.count(); ever-now > now+minUnused {
		t.renumber()
	}
}

func (t *Table) removeFields(number uint32) {
	if int(number) >= len(t.shapes) || t.shapes[number] == nil {
		return
	}
	s := t.shapes[number]
	t.shapes[number] = nil
	for _, name := range s.names {
		c := t.columns[name]
		c.remove(number)
		if c.isEmpty() {
			delete(t.columns, name)
		}
	}
	if s.users--; s.users == 0 {
		delete(t.known, s.key)
	}
}

// renumber gives the documents that are left the first numbers. Sets made
// before keep the numbering they were made with.
func (t *Table) renumber() {
	old := t.numbering
	old.mu.RLock()
	defer old.mu.RUnlock()
	fresh, next := make([]uint32, old.next), uint32(0)
	for number := range old.next {
		if t.live.Has(number) {
			fresh[number] = next
			next++
		}
	}
	t.numbering = newNumbering()
	t.numbering.next = next
	t.live = newBits(int(next))
	shapes := make([]*shape, next)
	for id, number := range old.numbers {
		n := fresh[number]
		t.numbering.numbers[id] = n
		t.live.set(n)
		shapes[n] = t.shapes[number]
	}
	t.shapes = shapes
	for _, c := range t.columns {
		c.renumber(fresh)
	}
}

// Replace makes the table hold what another holds, which must not be used after.
func (t *Table) Replace(other *Table) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.numbering, t.live, t.columns = other.numbering, other.live, other.columns
	t.shapes, t.known = other.shapes, other.known
}

// Count returns the number of documents.
func (t *Table) Count() int {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.live.Count()
}

// Bytes is about the memory that the table takes.
func (t *Table) Bytes() int64 {
	t.mu.RLock()
	defer t.mu.RUnlock()
	const stringSize = int64(unsafe.Sizeof(""))
	now, _ := t.numbering.count()
	n := int64(len(t.live))*8 + int64(now)*96 // an id and its two entries
	n += 8 * int64(cap(t.shapes))
	for key, s := range t.known {
		n += 2*int64(len(key)) + stringSize*int64(cap(s.names)+2)
	}
	for name, c := range t.columns {
		n += int64(len(name)) + c.bytes()
	}
	return n
}
