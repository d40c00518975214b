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
func (p *Parser) parseText(ctx context.Context, name string, file store.Blob, tell func(done, total int)) (Text, error) {
	if file.Size() > maxHere {
		return p.parseApart(ctx, name, file, tell)
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
	return p.parseApart(ctx, name, file, tell)
}

// parseApart reads a file in a child. Markdown that kills its child is read by
// another one as it stands, and so is what only looked like another format.
func (p *Parser) parseApart(ctx context.Context, name string, file store.Blob, tell func(done, total int)) (Text, error) {
	var r *reading
	take := func(f frame) error {
		err := r.take(f)
		if done := r.body.out.Len(); err == nil && r.expected > 0 {
			tell(done, max(r.expected, done))
		}
		return err
	}
	err := p.sandbox.with(ctx, file, func(ctx context.Context, s *session) error {
		r = newReading("", p.cfg.MaxText, p.cfg.MaxBlocks)
		err := s.run(ctx, task{Name: hint(name)}, take)
		warning := ""
		var dead *crash
		switch {
		case err != nil && r.format == formatMarkdown && errors.As(err, &dead):
			warning = "the Markdown is too complex; it was read as plain text"
		case err != nil && r.format.asText(err):
			warning = "the file could not be read as " + string(r.format) + "; it was read as plain text"
		default:
			return err
		}
		r = newReading("", p.cfg.MaxText, p.cfg.MaxBlocks)
		err = s.run(ctx, task{Name: hint(name), Format: formatPlain}, take)
		r.warn(warning)
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
	case markdownExtensions[ext], htmlExtensions[ext], plainExtensions[ext], codeExtensions[ext],
		tableExtensions[ext] != "", jsonExtensions[ext] != "":
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
