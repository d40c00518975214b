package office

import (
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"ragagent/ingest/parse/container"
	"ragagent/ingest/parse/doc"
)

// pack is an open file with the sink its text goes to.
type pack struct {
	*container.Container
	out   doc.Sink
	added bool   // something was
	cut   string // the part that could not be read to its end, "" for none
	why   error  // an ErrDamaged with what is wrong with it; nil if nobody knows
}

func openPack(r io.ReaderAt, size int64, out doc.Sink) (*pack, error) {
	c, err := container.Open(r, size)
	if err != nil {
		return nil, err
	}
	return &pack{Container: c, out: out}, nil
}

// add appends a block.
func (p *pack) add(b doc.Block) {
	if strings.TrimSpace(b.Text) == "" {
		return
	}
	p.added = true
	p.out.Add(b)
}

// finish says what has to be said of the whole.
func (p *pack) finish() error {
	switch {
	case p.added || p.out.Full():
		return nil
	case p.why != nil:
		return p.why
	case p.cut != "":
		return fmt.Errorf("%w: nothing could be read of it", doc.ErrDamaged)
	}
	return doc.ErrNoText
}

// errStop ends a walk early without a fault.
var errStop = errors.New("stop")

// walk hands the tokens of a part to do, until it returns an error. A part that
// is broken ends where it breaks, with a warning; one that is missing has no
// tokens. Errors are of limits, and of do.
func (p *pack) walk(part string, do func(s *scanner, t token) error) error {
	r, err := p.Open(part)
	switch {
	case errors.Is(err, doc.ErrEncrypted):
		return err
	case errors.Is(err, container.ErrMissing):
		return nil
	case err != nil:
		p.broken(part)
		return nil
	}
	defer r.Close()
	s := newScanner(r)
	for !p.out.Full() {
		t, err := s.next()
		if err == nil {
			err = do(s, t)
		}
		switch {
		case err == nil:
		case errors.Is(err, io.EOF), errors.Is(err, errStop):
			return nil
		case errors.Is(err, doc.ErrDamaged), errors.Is(err, io.ErrUnexpectedEOF):
			p.broken(part)
			if errors.Is(err, doc.ErrDamaged) {
				p.why = err
			}
			return nil
		default:
			return err
		}
	}
	return nil
}

// broken says that a part could not be read to its end; once, as some are gone
// through twice.
func (p *pack) broken(part string) {
	if p.cut == part {
		return
	}
	p.cut = part
	p.out.Warn(fmt.Sprintf("the part %s of the file is damaged; what stands before the damage was read", path.Base(part)))
}

// skipElement reads on behind the end of the element whose start was just read.
func (s *scanner) skipElement() error {
	for depth := 1; depth > 0; {
		t, err := s.next()
		if err != nil {
			return err
		}
		switch t.kind {
		case start:
			depth++
		case end:
			depth--
		}
	}
	return nil
}

// maxValue bounds what is held of a short value, in bytes.
const maxValue = 64 << 10

// content reads the text inside the element whose start was just read, the
// beginning of it where it is long.
func (s *scanner) content() (string, error) {
	var out strings.Builder
	err := s.eachText(func(part []byte) {
		if out.Len() < maxValue {
			out.Write(part)
		}
	})
	return out.String(), err
}

// eachText calls do for the pieces of text inside the element whose start was
// just read.
func (s *scanner) eachText(do func(part []byte)) error {
	for depth := 1; depth > 0; {
		t, err := s.next()
		if err != nil {
			return err
		}
		switch t.kind {
		case start:
			depth++
		case end:
			depth--
		case text:
			do(t.text)
		}
	}
	return nil
}

// relation is what a part refers to.
type relation struct {
	kind   string // last word of its type: "slide", "footnotes"
	target string // name of a part; "" for what lies outside
}

// maxRelations bounds those of one part.
const maxRelations = 100_000

// relations reads those of a part by their ids; those of the file itself for "".
func (p *pack) relations(part string) (map[string]relation, error) {
	dir, base := path.Split(part)
	out := map[string]relation{}
	err := p.walk(dir+"_rels/"+base+".rels", func(_ *scanner, t token) error {
		if t.kind != start || t.name != "Relationship" || len(out) == maxRelations {
			return nil
		}
		r := relation{kind: path.Base(t.attr("Type"))}
		if !strings.EqualFold(t.attr("TargetMode"), "External") {
			r.target = resolve(dir, t.attr("Target"))
		}
		out[t.attr("Id")] = r
		return nil
	})
	return out, err
}

// resolve makes the name of a part of a reference from a part in dir.
func resolve(dir, target string) string {
	target = strings.ReplaceAll(target, `\`, "/")
	if !strings.HasPrefix(target, "/") {
		target = "/" + dir + target
	}
	return strings.TrimPrefix(path.Clean(target), "/")
}

// one returns the target of the first relation of a kind, usual where there is
// none.
func one(relations map[string]relation, kind, usual string) string {
	best := ""
	for _, r := range relations {
		if r.kind == kind && r.target != "" && (best == "" || r.target < best) {
			best = r.target
		}
	}
	if best == "" {
		return usual
	}
	return best
}

// mainPart returns the name of the part that holds the document.
func (p *pack) mainPart(usual string) (string, error) {
	relations, err := p.relations("")
	if err != nil {
		return "", err
	}
	part := one(relations, "officeDocument", usual)
	if !p.Has(part) {
		part = usual
	}
	if !p.Has(part) {
		return "", fmt.Errorf("%w: the part with its text is missing", doc.ErrDamaged)
	}
	return part, nil
}
