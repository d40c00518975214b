package parse

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"ragagent/store"
)

// maxHere bounds the text files that may be read in this process, in bytes;
// harmless says which of them are.
const maxHere = 1 << 20

// parseText reads the formats that are written in characters: small and simple
// files at once, any others in a child, where memory and time are bounded.
func (p *Parser) parseText(ctx context.Context, name string, file store.Blob) (Text, error) {
	if file.Size() > maxHere {
		return p.parseApart(ctx, name, file)
	}
	if err := ctx.Err(); err != nil {
		return Text{}, err
	}
	data, err := readFile(io.NewSectionReader(file, 0, file.Size()))
	if err != nil {
		return Text{}, fmt.Errorf("read %s: %w", name, err)
	}
	found, err := decode(name, data)
	if err != nil {
		return Text{}, err
	}
	if found.harmless() {
		if r, ok := found.try(p.cfg.MaxText, p.cfg.MaxBlocks); ok {
			return p.finish(r)
		}
	}
	return p.parseApart(ctx, name, file)
}

// parseApart reads a text in a child. Markdown that kills its child is read by
// another one as it stands.
func (p *Parser) parseApart(ctx context.Context, name string, file store.Blob) (Text, error) {
	var r *reading
	err := p.sandbox.with(ctx, file, func(ctx context.Context, s *session) error {
		r = newReading("", p.cfg.MaxText, p.cfg.MaxBlocks)
		err := s.run(ctx, task{Name: hint(name)}, r.take)
		var dead *crash
		if r.format != formatMarkdown || !errors.As(err, &dead) {
			return err
		}
		r = newReading("", p.cfg.MaxText, p.cfg.MaxBlocks)
		err = s.run(ctx, task{Name: hint(name), Format: formatPlain}, r.take)
		r.warnings = append(r.warnings, "the Markdown is too complex; it was read as plain text")
		return err
	})
	if err != nil {
		return Text{}, err
	}
	return p.finish(r)
}

// hint is what of a file's name helps to tell text formats apart. The rest is
// nobody's business: other users of the system see the arguments of a child.
func hint(name string) string {
	base, ext := strings.ToLower(path.Base(name)), strings.ToLower(path.Ext(name))
	switch {
	case codeNames[base]:
		return base
	case markdownExtensions[ext], htmlExtensions[ext], plainExtensions[ext], codeExtensions[ext]:
		return "x" + ext
	}
	return ""
}

func readFile(r *io.SectionReader) (string, error) {
	var out strings.Builder
	out.Grow(int(r.Size()))
	_, err := io.Copy(&out, r)
	return out.String(), err
}

// textFile is a text file as characters.
type textFile struct {
	format   format
	text     string // UTF-8
	warnings []string
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
	f := textFile{format: textFormat(name, text), text: text, warnings: cs.warnings(text)}
	if f.format == formatMarkdown {
		f.text = clean(text)
	}
	return f, nil
}

// reading is what a text format's reader found.
type reading struct {
	format   format
	body     body
	title    string
	meta     store.Metadata
	warnings []string
}

func newReading(f format, maxBytes, maxBlocks int) *reading {
	return &reading{format: f, body: body{maxBytes: maxBytes, maxBlocks: maxBlocks}, meta: store.Metadata{}}
}

// read reads the text by its format.
func (f textFile) read(maxBytes, maxBlocks int) *reading {
	r := newReading(f.format, maxBytes, maxBlocks)
	switch f.format {
	case formatHTML:
		r.title, r.meta = readHTML(&r.body, f.text)
	case formatMarkdown:
		r.title, r.meta, r.warnings = readMarkdown(&r.body, f.text)
	case formatCode:
		readCode(&r.body, f.text)
	default:
		readPlain(&r.body, f.text)
	}
	r.warnings = append(f.warnings, r.warnings...)
	return r
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
