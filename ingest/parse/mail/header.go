package mail

import (
	"bytes"
	"net/mail"
	"strings"
	"time"

	"ragagent/ingest/parse/doc"
)

// header is the fields of a message or part, names in lower case, values
// decoded. Of fields with one name the first counts.
type header map[string]string

// maxField bounds the value of one field, in bytes.
const maxField = 64 << 10

// readHeader reads the header of a message or part and returns what follows
// it. A line that is no field ends the header; fields behind maxHeader bytes are
// passed over.
func readHeader(s section) (header, section, error) {
	h := header{}
	name := ""
	var value []byte
	end := s.end
	put := func() {
		if _, ok := h[name]; !ok && name != "" {
			h[name] = string(value)
		}
		name, value = "", nil
	}
	first, ended := true, false
	err := s.lines(func(line []byte, offset int64) bool {
		switch {
		case ended:
			end = offset
			return false
		case first && (len(line) == 0 || bytes.HasPrefix(line, []byte("From ")) || bytes.HasPrefix(line, []byte(">From "))):
			return offset-s.start < maxHeader
		case len(line) == 0:
			ended = true
			return true
		case line[0] == ' ' || line[0] == '\t':
			if name != "" && len(value)+len(line) <= maxField {
				value = append(append(value, ' '), bytes.TrimSpace(line)...)
			}
			return true
		}
		before, after, ok := bytes.Cut(line, []byte(":"))
		before = bytes.TrimRight(before, " \t")
		if !ok || len(before) == 0 || len(before) > 100 || bytes.ContainsAny(before, " \t<>()\"/;") {
			end = offset
			return false
		}
		put()
		if offset-s.start > maxHeader {
			return true // without a name, nothing is kept of it
		}
		first = false
		if offset == s.start {
			before = bytes.TrimPrefix(before, []byte("\xef\xbb\xbf"))
		}
		name, value = strings.ToLower(string(before)), append([]byte(nil), bytes.TrimSpace(after)...)
		value = value[:min(len(value), maxField)]
		return true
	})
	put()
	return h, s.from(end), err
}

// isMessage says that a header has fields that messages have.
func (h header) isMessage() bool {
	for _, name := range []string{"from", "to", "subject", "date", "message-id", "received", "sender", "mime-version", "content-type"} {
		if h[name] != "" {
			return true
		}
	}
	return false
}

// text returns a field as it is to be read.
func (h header) text(name string) string {
	return strings.Join(strings.Fields(decodeWords(h[name])), " ")
}

// people returns the addresses of a field, "Name <address>" each.
func (h header) people(name string) []string {
	var out []string
	list, err := mail.ParseAddressList(h[name])
	if err != nil {
		if text := h.text(name); text != "" {
			return []string{text}
		}
		return nil
	}
	const most = 500
	for _, a := range list[:min(len(list), most)] {
		person := a.Address
		if name := strings.Join(strings.Fields(decodeWords(a.Name)), " "); name != "" && name != a.Address {
			person = name + " <" + a.Address + ">"
		}
		out = append(out, person)
	}
	return out
}

// date is when the message was written; not ok if that cannot be told.
func (h header) date() (t time.Time, ok bool) {
	value := h.text("date")
	t, err := mail.ParseDate(value)
	if err != nil {
		// With the zone in words behind it, or a wrong weekday before it.
		for _, layout := range []string{"2 Jan 2006 15:04:05 -0700", "2 Jan 2006 15:04:05", "2 Jan 2006 15:04", time.RFC3339, "2006-01-02 15:04:05"} {
			_, rest, cut := strings.Cut(value, ",")
			if !cut {
				rest = value
			}
			rest = strings.TrimSpace(rest)
			if t, err = time.Parse(layout, rest[:min(len(rest), len(layout)+1)]); err == nil {
				break
			}
		}
	}
	return t, err == nil && t.Year() > 1900 && t.Year() < 10000
}

// describe tells the title and the properties of a message.
func (h header) describe(out doc.Sink) {
	out.Title(h.text("subject"))
	out.Property("subject", h.text("subject"))
	from := strings.Join(h.people("from"), ", ")
	out.Property("author", from)
	out.Property("from", from)
	out.Property("to", h.people("to"))
	out.Property("cc", h.people("cc"))
	out.Property("message_id", strings.Trim(h.text("message-id"), "<>"))
	if t, ok := h.date(); ok {
		out.Property("created", t.UTC().Format(time.RFC3339))
	}
}

// summary is what stands above the text of a message.
func (h header) summary() string {
	var lines []string
	add := func(name, value string) {
		if value != "" {
			lines = append(lines, name+": "+value)
		}
	}
	add("From", strings.Join(h.people("from"), ", "))
	add("To", strings.Join(h.people("to"), ", "))
	add("Cc", strings.Join(h.people("cc"), ", "))
	if t, ok := h.date(); ok {
		add("Date", t.Format("Monday, 2 January 2006, 15:04 -0700"))
	} else {
		add("Date", h.text("date"))
	}
	return strings.Join(lines, "\n")
}
