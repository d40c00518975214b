package parse

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"golang.org/x/text/transform"

	"ragagent/store"
)

// textFile is a file that is written in characters: all of them, or, of a long
// file whose format can be read bit by bit, a stream.
type textFile struct {
	format   format
	language string // of source code, "" where it is not known
	text     string // UTF-8
	warnings []string

	stream *io.SectionReader // the bytes of the file; nil if text has it all
	cs     charset           // of the stream
}

// decode finds out the character encoding and the format of a text.
func decode(name, data string) (textFile, error) {
	cs := charsetOf(data)
	text, err := cs.decode(data)
	if err != nil {
		return textFile{}, err
	}
	if controlHeavy(text) {
		return textFile{}, fmt.Errorf("%w: it looks like binary data of an unknown kind", ErrUnsupported)
	}
	text = strings.TrimPrefix(text, "\uFEFF")
	warnings := cs.warnings(text)
	if n := strings.Count(text, "\x00"); n > 0 {
		text = strings.ReplaceAll(text, "\x00", "")
		warnings = append(warnings, fmt.Sprintf("%d zero characters were left out", n))
	}
	f := textFile{format: textFormat(name, text), text: text, warnings: warnings}
	switch f.format {
	case formatMarkdown:
		f.text = clean(text)
	case formatCode:
		f.language = codeLanguage(name, text)
	}
	return f, nil
}

// maxWhole bounds the texts that are decoded as a whole, in bytes, where they
// can be read as a stream.
const maxWhole = 8 << 20

// openText is decode for a file of any length.
func openText(name string, file *io.SectionReader) (textFile, error) {
	if file.Size() > maxWhole {
		f, err := openStream(name, file)
		if err != nil || f.stream != nil {
			return f, err
		}
	}
	data, err := readFile(io.NewSectionReader(file, 0, file.Size()))
	if err != nil {
		return textFile{}, err
	}
	return decode(name, data)
}

// openStream finds out whether a text can be read as a stream; if so, stream is
// set.
func openStream(name string, file *io.SectionReader) (textFile, error) {
	cs, err := charsetOfFile(file)
	if err != nil {
		return textFile{}, err
	}
	head, err := readFile(io.NewSectionReader(file, 0, guessBytes))
	if err != nil {
		return textFile{}, err
	}
	begin, err := decode(name, head)
	if err != nil {
		return textFile{}, err
	}
	switch f := begin.format; {
	case f == formatPlain, f == formatCode, traits[f].read != nil && cs.decoder == nil:
		return textFile{format: f, language: begin.language, stream: file, cs: cs, warnings: cs.warnings("")}, nil
	}
	return textFile{}, nil
}

// expect is about how many bytes of text will come of the file.
func (f textFile) expect() int64 {
	if f.stream != nil {
		return f.stream.Size()
	}
	return int64(len(f.text))
}

// bytes returns the file as UTF-8 without a byte order mark, for the reader of
// a format that has one.
func (f textFile) bytes() (r io.ReaderAt, size int64) {
	if f.stream == nil {
		return strings.NewReader(f.text), int64(len(f.text))
	}
	skip := int64(0)
	var mark [3]byte
	if _, err := f.stream.ReadAt(mark[:], 0); err == nil && string(mark[:]) == "\uFEFF" {
		skip = int64(len(mark))
	}
	return io.NewSectionReader(f.stream, skip, f.stream.Size()-skip), f.stream.Size() - skip
}

// decoded returns the characters of a stream.
func (f textFile) decoded() io.Reader {
	all := io.NewSectionReader(f.stream, 0, f.stream.Size())
	if f.cs.decoder == nil {
		return all
	}
	return transform.NewReader(all, f.cs.decoder.NewDecoder())
}

// reading is what was found in a file.
type reading struct {
	format   format
	body     body
	title    string
	meta     store.Metadata
	warnings []string
	expected int // bytes of text, about; 0 while unknown
}

func newReading(f format, maxBytes, maxBlocks int) *reading {
	return &reading{format: f, body: body{maxBytes: maxBytes, maxBlocks: maxBlocks}, meta: store.Metadata{}}
}

// read reads the text by its format, one of those that this package reads.
func (f textFile) read(maxBytes, maxBlocks int) *reading {
	r := newReading(f.format, maxBytes, maxBlocks)
	f.into(r)
	return r
}

// into reads the text into a reading.
func (f textFile) into(r *reading) {
	warnings := f.warnings
	if f.language != "" {
		r.meta["code_language"] = f.language
	}
	switch {
	case f.format == formatHTML:
		r.title, r.meta = readHTML(&r.body, f.text)
	case f.format == formatMarkdown:
		var more []string
		r.title, r.meta, more = readMarkdown(&r.body, f.text)
		warnings = append(warnings, more...)
	case f.stream != nil:
		if err := readStream(&r.body, f.decoded(), f.format == formatCode); err != nil && r.body.err == nil {
			r.body.err = streamError(err, f.cs)
		}
	case f.format == formatCode:
		readCode(&r.body, f.text)
	default:
		readPlain(&r.body, f.text)
	}
	for _, w := range warnings {
		r.warn(w)
	}
}

func streamError(err error, cs charset) error {
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return err
	}
	return fmt.Errorf("%w: not readable as %s", ErrDamaged, cs.name)
}

// try reads the text; not ok if its reader panics. goldmark has done so on odd
// input, and one file must not end the server.
func (f textFile) try(maxBytes, maxBlocks int) (r *reading, ok bool) {
	defer func() {
		if recover() != nil {
			r, ok = nil, false
		}
	}()
	return f.read(maxBytes, maxBlocks), true
}
