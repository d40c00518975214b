package tabular

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"ragagent/ingest/parse/doc"
)

// Bounds of what is held of a JSON file.
const (
	maxHeld = 1 << 20 // bytes of a value; one that is larger is read part by part
	maxLine = 4 << 20 // bytes of a line that is a value
	// Each damaged place takes several looks at what stands around it.
	maxDamages = 1000
)

// ReadJSON reads JSON, values one after the other, and JSON Lines, in UTF-8.
// The elements of arrays and the lines become records, "name: value | name:
// value", with what identifies them first and long texts as paragraphs below;
// other objects become headings with what stands under them. Numbers stay as
// they are written. What follows an error is read where the next value can be
// found, with a warning; ErrDamaged if there is nothing to read.
func ReadJSON(r io.ReaderAt, size int64, out doc.Sink) error {
	d := &jsonReader{
		scanner: scanner{source: newSource(r, size)},
		records: &records{out: out, table: newTable(out)},
	}
	if d.isLines() {
		d.lines()
	} else {
		d.values()
	}
	d.flush()
	switch {
	case d.err != nil:
		return d.err
	case d.good == 0 && d.bad > 0:
		return fmt.Errorf("%w: it is not JSON", doc.ErrDamaged)
	case d.bad > 0 && d.lined:
		d.out.Warn(fmt.Sprintf("%d lines are not JSON and were left out", d.bad))
	case d.bad > 0:
		d.out.Warn(fmt.Sprintf("the JSON is damaged at %d places; what follows them may be missing", d.bad))
	}
	d.report()
	return nil
}

// jsonReader reads the values of a file.
type jsonReader struct {
	scanner
	*records
	lined bool
	good  int // values
	bad   int // places that are none
}

// isLines says that half of the first lines are values of their own.
func (d *jsonReader) isLines() bool {
	begin := d.offset()
	defer d.seek(begin)
	lines, values := 0, 0
	for lines < 10 {
		line, ok := d.line(maxLine)
		if !ok {
			break
		}
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		lines++
		if v, err := parseLine(line); err == nil && (v.kind == objectNode || v.kind == arrayNode && len(v.members) > 0) {
			values++
		}
	}
	return lines >= 2 && 2*values >= lines
}

// line reads a line of at most limit bytes; of a longer one, the rest is
// skipped.
func (d *jsonReader) line(limit int) ([]byte, bool) {
	if _, ok := d.peek(); !ok {
		return nil, false
	}
	var line []byte
	for len(line) < limit {
		c, ok := d.next()
		if !ok || c == '\n' {
			return line, true
		}
		line = append(line, c)
	}
	d.skipLine()
	return line, true
}

// parseLine reads a line that is one value.
func parseLine(line []byte) (*node, error) {
	s := scanner{source: newSource(bytes.NewReader(line), int64(len(line)))}
	v, err := s.value(0)
	if err != nil {
		return nil, err
	}
	if _, more := s.space(); more {
		return nil, s.syntax("more than a value")
	}
	return v, nil
}

func (d *jsonReader) lines() {
	d.lined = true
	for !d.out.Full() {
		line, ok := d.line(maxLine)
		if !ok {
			return
		}
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		v, err := parseLine(line)
		if err != nil {
			d.bad++
			continue
		}
		d.good++
		d.element(v, nil, 1)
	}
}

// values reads values one after the other, mostly a single one.
func (d *jsonReader) values() {
	for !d.out.Full() {
		if _, more := d.space(); !more {
			return
		}
		err := d.part(1, 0, false)
		if err == nil {
			d.good++
			continue
		}
		d.bad++
		if d.count > 0 {
			d.good++
		}
		// The next line that begins a value may do so outside the damaged one.
		if d.bad >= maxDamages || !d.findValue() {
			return
		}
	}
}

// findValue goes to the next line that begins an object or array.
func (d *jsonReader) findValue() bool {
	for {
		d.skipLine()
		c, ok := d.peek()
		for ok && (c == ' ' || c == '\t') {
			d.at++
			c, ok = d.peek()
		}
		switch {
		case !ok:
			return false
		case c == '{' || c == '[':
			return true
		}
	}
}

// maxLevel bounds the headings of objects in objects.
const maxLevel = 6

// part reads the value that begins here, as a whole if it is small. inArray
// says that it is an element.
func (d *jsonReader) part(level, depth int, inArray bool) error {
	begin := d.offset()
	d.limit = begin + maxHeld
	v, err := d.value(depth)
	d.limit = 0
	switch {
	case err == nil && inArray:
		d.element(v, nil, level)
		return nil
	case err == nil:
		d.root(v, level)
		return nil
	case !errors.Is(err, errLarge) && depth > maxSalvage:
		return err
	}
	// The sound parts of a damaged array or object can be read.
	d.seek(begin)
	switch c, _ := d.space(); c {
	case '[':
		d.at++
		return d.elements(level, depth)
	case '{':
		d.at++
		return d.parts(level, depth)
	}
	return err
}

// maxSalvage is the depth to which damaged values are read part by part. Each
// level is read once more for it.
const maxSalvage = 8

// elements reads an array one element at a time.
func (d *jsonReader) elements(level, depth int) error {
	for !d.out.Full() {
		more, err := d.another()
		if err != nil || !more {
			return err
		}
		if err := d.part(level, depth+1, true); err != nil {
			return err
		}
	}
	return nil
}

// parts reads an object one member at a time.
func (d *jsonReader) parts(level, depth int) error {
	for !d.out.Full() {
		name, more, err := d.name()
		if err != nil || !more {
			return err
		}
		d.flush()
		c, _ := d.space()
		if c == '{' || c == '[' {
			d.heading(level, name)
		} else {
			d.field = name
		}
		if err := d.part(min(level+1, maxLevel), depth+1, false); err != nil {
			return err
		}
	}
	return nil
}
