package mail

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"ragagent/ingest/parse/doc"
)

// text adds a text of the message.
func (rd *reader) text(p part) {
	data, err := p.data(maxBody)
	if err != nil {
		rd.err = err
		return
	}
	if p.body.size() > maxBody {
		rd.out.Warn(fmt.Sprintf("a text was cut after %d MB", maxBody>>20))
	}
	if p.mediaType == "text/html" {
		rd.html(data, p.params["charset"])
		return
	}
	text := strings.ReplaceAll(decodeText(data, p.params["charset"]), "\r\n", "\n")
	if strings.EqualFold(p.params["format"], "flowed") {
		text = unflow(text, strings.EqualFold(p.params["delsp"], "yes"))
	}
	addPlain(rd.out, text)
}

// html adds a text in HTML. What the header of the part says of its charset
// counts more than what the text says.
func (rd *reader) html(data []byte, charset string) {
	text := string(data)
	if charset != "" || utf8.Valid(data) {
		text = decodeText(data, charset)
		if head := strings.ToLower(text[:min(len(text), 1024)]); !strings.Contains(head, "<html") && !strings.Contains(head, "<!doctype") {
			text = "<!DOCTYPE html>\n" + text
		}
		text = "\ufeff" + text
	}
	err := rd.out.Embedded("message.html", strings.NewReader(text), int64(len(text)))
	if err != nil && !errors.Is(err, doc.ErrNoText) {
		rd.out.Warn(fmt.Sprintf("a text of the message was not read: %v", err))
	}
}

// unflow joins the lines of a paragraph that were cut for the way (RFC 3676):
// those that end with a blank go on. delsp says that the blank is not a part of
// the text.
func unflow(text string, delsp bool) string {
	out := make([]byte, 0, len(text))
	open, depth := false, 0 // of the line before
	for i, line := range strings.Split(text, "\n") {
		level := len(line) - len(strings.TrimLeft(line, ">"))
		rest := strings.TrimPrefix(line[level:], " ") // stuffed
		signature := rest == "-- "
		if !open || level != depth || signature {
			if i > 0 {
				out = append(out, '\n')
			}
			if level > 0 {
				out = append(append(out, line[:level]...), ' ')
			}
		}
		out = append(out, rest...)
		open, depth = strings.HasSuffix(rest, " ") && !signature, level
		if open && delsp {
			out = out[:len(out)-1]
		}
	}
	return string(out)
}

// addPlain adds the paragraphs of a text. Lines behind > are what is replied
// to.
func addPlain(out doc.Sink, text string) {
	var lines []string
	quoted := false
	flush := func() {
		if len(lines) > 0 {
			out.Add(doc.Block{Kind: kindOf(lines, quoted), Text: strings.Join(lines, "\n")})
		}
		lines = lines[:0]
	}
	for line := range strings.SplitSeq(text, "\n") {
		rest, isQuoted := strings.CutPrefix(strings.TrimLeft(line, " "), ">")
		if isQuoted {
			line = strings.TrimPrefix(rest, " ")
		}
		if isQuoted != quoted && strings.TrimSpace(line) != "" {
			flush()
			quoted = isQuoted
		}
		if bare := strings.TrimLeft(line, "> \t"); strings.TrimSpace(bare) == "" || line == "-- " {
			flush()
			continue
		}
		lines = append(lines, line)
	}
	flush()
}

var item = regexp.MustCompile(`^\s*([-*+•]|[0-9]{1,3}[.)])\s+\S`)

func kindOf(lines []string, quoted bool) doc.Kind {
	if quoted {
		return doc.Quote
	}
	items := 0
	for _, line := range lines {
		if item.MatchString(line) {
			items++
		}
	}
	if items >= 2 && item.MatchString(lines[0]) {
		return doc.List
	}
	return doc.Paragraph
}
