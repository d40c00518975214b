package eval

import (
	"bytes"
	"encoding/json"
	"math"
	"time"
)

// object writes a JSON object with its keys in the order they were added.
type object struct {
	buf bytes.Buffer
	err error
}

func (o *object) add(key string, value any) {
	k, err := json.Marshal(key)
	if err == nil {
		var v []byte
		if v, err = json.Marshal(value); err == nil {
			o.buf.WriteByte(',')
			o.buf.Write(k)
			o.buf.WriteByte(':')
			o.buf.Write(v)
		}
	}
	if o.err == nil {
		o.err = err
	}
}

// nest adds an object.
func (o *object) nest(key string, value *object) {
	raw, err := value.bytes()
	if o.err == nil {
		o.err = err
	}
	o.add(key, json.RawMessage(raw))
}

func (o *object) bytes() ([]byte, error) {
	if o.err != nil {
		return nil, o.err
	}
	return append(append([]byte{'{'}, bytes.TrimPrefix(o.buf.Bytes(), []byte{','})...), '}'), nil
}

func round(v float64, decimals int) float64 {
	scale := math.Pow10(decimals)
	return math.Round(v*scale) / scale
}

func milliseconds(d time.Duration) float64 {
	return round(float64(d)/float64(time.Millisecond), 3)
}
