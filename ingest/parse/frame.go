package parse

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"unsafe"

	"ragagent/ingest/parse/pdf"
	"ragagent/store"
)

// task is what a child is asked to do; it travels as its second argument.
type task struct {
	// Format is formatPDF, formatPlain to read a text without its marks, or ""
	// to tell formats apart.
	Format    format `json:"format"`
	Name      string `json:"name"`  // of the file, helps to tell text formats apart
	Size      int64  `json:"size"`  // bytes of the file, which is standard input
	First     int    `json:"first"` // page to begin with, from 1
	Memory    int64  `json:"memory"`
	Seconds   int    `json:"seconds"` // of processor time
	MaxText   int    `json:"max_text"`
	MaxBlocks int    `json:"max_blocks"`
	// Pooled says that this is no task: those come one by one, and the file is
	// another each time.
	Pooled bool `json:"pooled,omitempty"`
}

// frame is one message of a child to its parent. The first is Hello, the last
// Failure or Done; a child that ends without one of these has crashed.
type frame struct {
	Hello   bool         `json:"hello,omitempty"`
	Info    *pdf.Info    `json:"info,omitempty"`
	Page    *wirePage    `json:"page,omitempty"`
	Format  format       `json:"format,omitempty"` // of a file, before it is read
	Expect  int64        `json:"expect,omitempty"` // with Format: bytes of text that it has about
	Reading *wireReading `json:"reading,omitempty"`
	Blocks  int          `json:"blocks,omitempty"` // how many are packed in raw
	Failure *failure     `json:"failure,omitempty"`
	Done    bool         `json:"done,omitempty"`
	Last    bool         `json:"last,omitempty"` // with Failure or Done: there will be no more

	// raw is what is packed of Page or Blocks. It travels behind the JSON as it
	// is: JSON would make it up to six times as long.
	raw string
}

// wireReading is what a child knows of a text when it has handed over its
// blocks.
type wireReading struct {
	Title    string         `json:"title"`
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

// maxHead bounds the JSON of one frame, in bytes.
const maxHead = 4 << 20

// writeFrame writes the length of the JSON, that of raw, and both.
func writeFrame(w io.Writer, f frame) error {
	data, err := json.Marshal(f)
	if err != nil {
		return err
	}
	if len(data) > maxHead || len(f.raw) > math.MaxUint32 {
		return fmt.Errorf("%w: a message of %d and %d bytes", ErrLimit, len(data), len(f.raw))
	}
	head := binary.BigEndian.AppendUint32(nil, uint32(len(data)))
	head = binary.BigEndian.AppendUint32(head, uint32(len(f.raw)))
	if _, err := w.Write(append(head, data...)); err != nil {
		return err
	}
	_, err = io.WriteString(w, f.raw)
	return err
}

var (
	errBadFrame = errors.New("unreadable message from the parser child")
	errTalk     = fmt.Errorf("%w: its parser has too much to say about it", ErrLimit)
)

// listener reads frames.
type listener struct {
	from io.Reader
	left *int64 // bytes that may still be said
	buf  []byte // of raw, for one frame after the other: all of them are as long as the text
}

// next reads one frame and takes its bytes off left. errTalk if they are more,
// errBadFrame for what is no frame, else an error of from. The frame's raw is
// overwritten by the next one: what is kept of it has to be copied.
func (l *listener) next() (frame, error) {
	var head [8]byte
	if _, err := io.ReadFull(l.from, head[:]); err != nil {
		return frame{}, err
	}
	size, raw := binary.BigEndian.Uint32(head[:]), binary.BigEndian.Uint32(head[4:])
	if size > maxHead {
		return frame{}, errBadFrame
	}
	*l.left -= int64(len(head)) + int64(size) + int64(raw)
	if *l.left < 0 {
		return frame{}, errTalk
	}
	data := make([]byte, size)
	if _, err := io.ReadFull(l.from, data); err != nil {
		return frame{}, err
	}
	var f frame
	if err := json.Unmarshal(data, &f); err != nil {
		return frame{}, errBadFrame
	}
	if int(raw) > len(l.buf) {
		l.buf = make([]byte, raw)
	}
	n, err := io.ReadFull(l.from, l.buf[:raw])
	f.raw = unsafe.String(unsafe.SliceData(l.buf), n) // read before the buffer is written again
	return f, err
}

// writeOrder writes a task for a pooled child.
func writeOrder(w io.Writer, t task) error {
	data, err := json.Marshal(t)
	if err != nil {
		return err
	}
	_, err = w.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(data))), data...))
	return err
}

// readOrder reads a task; io.EOF when there are no more.
func readOrder(r io.Reader) (t task, err error) {
	var size uint32
	if err := binary.Read(r, binary.BigEndian, &size); err != nil {
		return t, err
	}
	data := make([]byte, min(size, maxHead))
	if _, err := io.ReadFull(r, data); err != nil {
		return t, err
	}
	return t, json.Unmarshal(data, &t)
}
