package quickjs

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"

	"ragagent/agent/codeact"
)

// task is the first line that a child reads.
type task struct {
	Code      string             `json:"code"`
	Functions []codeact.Function `json:"functions"`
	Memory    int64              `json:"memory"`  // bytes, of the interpreter
	Seconds   int                `json:"seconds"` // of work, calls not counted
	Output    int                `json:"output"`  // bytes that may be printed
}

// line is one line of a child: a call, or at last what it came to.
type line struct {
	Hello    bool             `json:"hello,omitempty"`
	Function string           `json:"function,omitempty"`
	Args     json.RawMessage  `json:"args,omitempty"`
	Outcome  *codeact.Outcome `json:"outcome,omitempty"`
}

// answer is what a child reads for a call.
type answer struct {
	Value json.RawMessage `json:"value,omitempty"`
	Error string          `json:"error,omitempty"`
}

// maxLine bounds one line, in bytes.
const maxLine = 4 << 20

var errLongLine = errors.New("a message is too long")

// wire carries JSON, a value a line.
type wire struct {
	in  *bufio.Reader
	out io.Writer
}

func newWire(in io.Reader, out io.Writer) *wire { return &wire{bufio.NewReader(in), out} }

func (w *wire) write(v any) error {
	raw, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if len(raw) > maxLine {
		return errLongLine
	}
	_, err = w.out.Write(append(raw, '\n'))
	return err
}

func (w *wire) read(v any) error {
	var raw []byte
	for {
		part, err := w.in.ReadSlice('\n')
		if raw = append(raw, part...); len(raw) > maxLine {
			return errLongLine
		}
		if err == nil {
			return json.Unmarshal(raw, v)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return err
		}
	}
}
