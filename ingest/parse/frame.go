package parse

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"ragagent/ingest/parse/pdf"
	"ragagent/store"
)

// task is what a child is asked to do; it travels as its second argument.
type task struct {
	Format    format `json:"format"`
	Size      int64  `json:"size"`  // bytes of the file, which is standard input
	First     int    `json:"first"` // page to begin with, from 1
	Memory    int64  `json:"memory"`
	Seconds   int    `json:"seconds"` // of processor time
	MaxText   int    `json:"max_text"`
	MaxBlocks int    `json:"max_blocks"`
}

// frame is one message of a child to its parent. The first is Hello, the last
// Failure or Done; a child that ends without one of these has crashed.
type frame struct {
	Hello   bool         `json:"hello,omitempty"`
	Info    *pdf.Info    `json:"info,omitempty"`
	Page    *pdf.Page    `json:"page,omitempty"`
	Reading *wireReading `json:"reading,omitempty"`
	Failure *failure     `json:"failure,omitempty"`
	Done    bool         `json:"done,omitempty"`
}

// wireReading is a reading as a child hands it over.
type wireReading struct {
	Title    string         `json:"title"`
	Body     string         `json:"body"`
	Blocks   []Block        `json:"blocks"`
	Meta     store.Metadata `json:"meta"`
	Warnings []string       `json:"warnings"`
}

// failure is an error as a child hands it over.
type failure struct {
	Code    string `json:"code"` // a key of failureCodes
	Message string `json:"message"`
}

var failureCodes = map[string]error{
	"no_text":     ErrNoText,
	"unsupported": ErrUnsupported,
	"encrypted":   ErrEncrypted,
	"damaged":     ErrDamaged,
	"limit":       ErrLimit,
}

// err returns the error that a failure stands for.
func (f *failure) err() error {
	sentinel, ok := failureCodes[f.Code]
	if !ok {
		sentinel = ErrDamaged
	}
	if f.Message == "" {
		return sentinel
	}
	return fmt.Errorf("%w: %s", sentinel, f.Message)
}

// maxFrame bounds one frame, in bytes. A page of dense text has 10 KB.
const maxFrame = 256 << 20

func writeFrame(w io.Writer, f frame) error {
	data, err := json.Marshal(f)
	if err != nil {
		return err
	}
	if len(data) > maxFrame {
		return fmt.Errorf("frame of %d bytes", len(data))
	}
	head := binary.BigEndian.AppendUint32(nil, uint32(len(data)))
	_, err = w.Write(append(head, data...))
	return err
}

var errBadFrame = errors.New("unreadable message from the parser child")

// readFrame reads one frame of at most limit bytes. It allocates no more than
// really arrives.
func readFrame(r io.Reader, limit int64) (frame, error) {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return frame{}, err
	}
	n := int64(binary.BigEndian.Uint32(head[:]))
	if n > limit {
		return frame{}, errBadFrame
	}
	data, err := io.ReadAll(io.LimitReader(r, n))
	if err != nil {
		return frame{}, err
	}
	if int64(len(data)) != n {
		return frame{}, io.ErrUnexpectedEOF
	}
	var f frame
	if err := json.Unmarshal(data, &f); err != nil {
		return frame{}, errBadFrame
	}
	return f, nil
}

// reading rebuilds what the child read; its blocks are checked as body would
// have made them, for a child's word is not trusted.
func (w *wireReading) reading(f format) *reading {
	r := &reading{format: f, title: w.Title, meta: store.Metadata{}, warnings: w.Warnings}
	r.body.maxBytes, r.body.maxBlocks = len(w.Body)+1, len(w.Blocks)
	for key, value := range w.Meta {
		if v := property(value); v != nil {
			r.meta[key] = v
		}
	}
	for _, b := range w.Blocks {
		if b.Span.Start < 0 || b.Span.End > len(w.Body) || b.Span.Start > b.Span.End {
			continue
		}
		r.body.add(b.Kind, b.Level, b.Page, w.Body[b.Span.Start:b.Span.End])
	}
	return r
}
