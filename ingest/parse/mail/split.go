package mail

import (
	"bytes"
	"strings"
)

// split returns the parts of a multipart. Where its boundary is missing or
// wrong, the lines tell it. None if there are no parts.
func (p part) split() ([]part, error) {
	standard := "text/plain"
	if p.mediaType == "multipart/digest" {
		standard = "message/rfc822"
	}
	sections, err := p.body.parts(p.params["boundary"])
	if err == nil && len(sections) == 0 {
		var boundary string
		if boundary, err = p.body.boundary(); boundary != "" && err == nil {
			sections, err = p.body.parts(boundary)
		}
	}
	if err != nil {
		return nil, err
	}
	out := make([]part, 0, len(sections))
	for _, s := range sections {
		h, body, err := readPartHeader(s)
		if err != nil {
			return nil, err
		}
		out = append(out, newPart(h, body, standard))
	}
	return out, nil
}

// readPartHeader reads the header of a part, which may be empty: then the part
// begins with a blank line.
func readPartHeader(s section) (header, section, error) {
	head, err := s.bytes(2)
	if err != nil {
		return nil, s, err
	}
	if bytes.HasPrefix(head, []byte("\n")) || bytes.HasPrefix(head, []byte("\r\n")) {
		return header{}, s, nil
	}
	return readHeader(s)
}

// parts cuts a section at the lines of a boundary.
func (s section) parts(boundary string) ([]section, error) {
	boundary = strings.TrimRight(boundary, " ")
	if boundary == "" {
		return nil, nil
	}
	delimiter := []byte("--" + boundary)
	var out []section
	begin := int64(-1) // of the part that is open
	next := false      // it begins with the next line
	err := s.lines(func(line []byte, offset int64) bool {
		if next {
			begin, next = offset, false
		}
		if !bytes.HasPrefix(line, delimiter) {
			return true
		}
		rest := bytes.TrimRight(line[len(delimiter):], " \t")
		if len(rest) > 0 && string(rest) != "--" {
			return true
		}
		if begin >= 0 && len(out) < maxParts {
			out = append(out, section{s.r, begin, offset})
		}
		begin, next = -1, len(rest) == 0
		return next
	})
	if begin >= 0 && len(out) < maxParts { // the end is missing
		out = append(out, s.from(begin))
	}
	return out, err
}

// boundary looks for the first line that can be one: two hyphens, and a field
// of a part's header below.
func (s section) boundary() (string, error) {
	candidate, found := "", ""
	err := s.lines(func(line []byte, _ int64) bool {
		if candidate != "" && bytes.HasPrefix(bytes.ToLower(line), []byte("content-")) {
			found = candidate
			return false
		}
		candidate = ""
		if len(line) > 3 && len(line) <= 200 && bytes.HasPrefix(line, []byte("--")) && string(line) != "-- " {
			candidate = strings.TrimRight(string(line[2:]), " \t")
		}
		return true
	})
	return found, err
}
