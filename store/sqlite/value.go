package sqlite

import (
	"database/sql/driver"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"time"

	"ragagent/store"
)

// timestamp stores a time as Unix nanoseconds, the zero time as 0.
type timestamp struct{ *time.Time }

func (t timestamp) Value() (driver.Value, error) {
	if t.IsZero() {
		return int64(0), nil
	}
	return t.UnixNano(), nil
}

func (t timestamp) Scan(src any) error {
	ns, ok := src.(int64)
	if !ok {
		return fmt.Errorf("a time is stored as %T", src)
	}
	*t.Time = time.Time{}
	if ns != 0 {
		*t.Time = time.Unix(0, ns).UTC()
	}
	return nil
}

// integer reads a number without the detour over its digits that database/sql
// takes for an *int.
type integer struct{ *int }

func (i integer) Scan(src any) error {
	n, ok := src.(int64)
	if !ok {
		return fmt.Errorf("a number is stored as %T", src)
	}
	*i.int = int(n)
	return nil
}

// jsonValue stores the value a pointer points to as JSON.
type jsonValue struct{ ptr any }

func (j jsonValue) Value() (driver.Value, error) {
	b, err := json.Marshal(j.ptr)
	return string(b), err
}

func (j jsonValue) Scan(src any) error {
	s, ok := src.(string)
	if !ok {
		return fmt.Errorf("JSON is stored as %T", src)
	}
	return json.Unmarshal([]byte(s), j.ptr)
}

// stringList stores a list of strings as JSON; no strings come back as nil.
type stringList struct{ slice *[]string }

func (l stringList) Value() (driver.Value, error) {
	if len(*l.slice) == 0 {
		return "[]", nil
	}
	return jsonValue{l.slice}.Value()
}

func (l stringList) Scan(src any) error {
	if src == "[]" { // most chunks and documents have none: do not parse
		*l.slice = nil
		return nil
	}
	return jsonValue{l.slice}.Scan(src)
}

// metadata stores store.Metadata as a JSON object; an empty one comes back nil.
type metadata struct{ *store.Metadata }

func (m metadata) Value() (driver.Value, error) {
	if len(*m.Metadata) == 0 {
		return "{}", nil
	}
	for key, value := range *m.Metadata {
		if err := checkProperty(key, value); err != nil {
			return nil, err
		}
	}
	return jsonValue{m.Metadata}.Value()
}

func checkProperty(key string, value any) error {
	if key == "" {
		return store.Invalid("metadata", "a key is empty")
	}
	switch v := value.(type) {
	case string, bool, []string:
		return nil
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return store.Invalid("metadata."+key, "the number is not finite")
		}
		return nil
	}
	return store.Invalid("metadata."+key, "%T is not a string, number, boolean or list of strings", value)
}

func (m metadata) Scan(src any) error {
	*m.Metadata = nil
	if src == "{}" {
		return nil
	}
	if err := (jsonValue{m.Metadata}).Scan(src); err != nil {
		return err
	}
	for key, value := range *m.Metadata {
		list, ok := value.([]any)
		if !ok {
			continue
		}
		texts := make([]string, len(list))
		for i, item := range list {
			if texts[i], ok = item.(string); !ok {
				return fmt.Errorf("metadata %q holds a %T in a list", key, item)
			}
		}
		(*m.Metadata)[key] = texts
	}
	return nil
}

// encodeVector appends the little-endian float32 of v to dst.
func encodeVector(dst []byte, v []float32) []byte {
	for _, x := range v {
		dst = binary.LittleEndian.AppendUint32(dst, math.Float32bits(x))
	}
	return dst
}

// decodeVector is the inverse of encodeVector; no bytes are no vector.
func decodeVector(b []byte) ([]float32, error) { return decodeVectorTo(nil, b) }

// decodeVectorTo uses the memory of dst, if that is enough.
func decodeVectorTo(dst []float32, b []byte) ([]float32, error) {
	if len(b) == 0 {
		return nil, nil
	}
	if len(b)%4 != 0 {
		return nil, fmt.Errorf("a vector is stored in %d bytes, not a multiple of 4", len(b))
	}
	dst = slices.Grow(dst[:0], len(b)/4)[:len(b)/4]
	for i := range dst {
		dst[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
	}
	return dst, nil
}

// unitTolerance is how far the L2 norm of a stored vector may be from 1.
const unitTolerance = 1e-6

// checkVector is nil for a vector of norm 1, and for none at all.
func checkVector(v []float32) error {
	if v == nil {
		return nil
	}
	var sum float64
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	if norm := math.Sqrt(sum); !(math.Abs(norm-1) <= unitTolerance) { // a NaN fails too
		return store.Invalid("vector", "its L2 norm is %g, not 1", norm)
	}
	return nil
}

// citations stores a message's citations as JSON; none come back as nil.
type citations struct{ list *[]store.Citation }

func (c citations) Value() (driver.Value, error) {
	if len(*c.list) == 0 {
		return "[]", nil
	}
	return jsonValue{c.list}.Value()
}

func (c citations) Scan(src any) error {
	*c.list = nil
	if src == "[]" {
		return nil
	}
	return jsonValue{c.list}.Scan(src)
}
