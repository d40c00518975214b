package parse

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"regexp"
	"strings"
)

// sniff tells formats that the first bytes of a file decide; "" for others,
// which may be text.
func sniff(head []byte) format {
	switch {
	case isPDF(head):
		return formatPDF
	case bytes.HasPrefix(head, []byte("PK\x03\x04")), bytes.HasPrefix(head, []byte("PK\x05\x06")):
		return formatZip
	case bytes.HasPrefix(head, []byte("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1")):
		return formatOLE
	case bytes.HasPrefix(bytes.TrimLeft(head, "\xef\xbb\xbf \t\r\n"), []byte(`{\rtf`)):
		return formatRTF
	case looksLikeMail(head):
		return formatMail
	}
	return ""
}

var mailField = regexp.MustCompile(`^[!-9;-~]+:`)

// mailFields are of RFC 5322, and of what delivers mail.
var mailFields = set("from to cc date subject received message-id mime-version return-path delivered-to reply-to sender in-reply-to references")

// looksLikeMail says that a file begins with the header of a message: fields
// and nothing else up to the first blank line, three of them known ones, or two
// that no letter has but a message.
func looksLikeMail(head []byte) bool {
	known := map[string]bool{}
	technical := 0
	for line := range bytes.Lines(bytes.TrimLeft(head, "\xef\xbb\xbf\r\n")) {
		line = bytes.TrimRight(line, "\r\n")
		if len(line) == 0 {
			break
		}
		if line[0] == ' ' || line[0] == '\t' || bytes.HasPrefix(line, []byte("From ")) && len(known) == 0 {
			continue // a field that goes on, or an envelope
		}
		if !mailField.Match(line) {
			if len(line) > 900 { // cut off by the end of head, at the latest
				break
			}
			return false
		}
		name, _, _ := strings.Cut(strings.ToLower(string(line)), ":")
		if !mailFields[name] || known[name] {
			continue
		}
		known[name] = true
		if name == "received" || name == "message-id" || name == "mime-version" || name == "return-path" || name == "delivered-to" {
			technical++
		}
	}
	return len(known) >= 3 || len(known) == 2 && (technical > 0 || known["from"] && (known["subject"] || known["date"]))
}

// beginsJSON says that a text begins as JSON does.
func beginsJSON(head string) bool {
	head = strings.TrimSpace(head)
	return head != "" && (head[0] == '{' || head[0] == '[')
}

// looksLikeJSON says that the beginning of a text is JSON, with keys and values
// in it, as far as it goes.
func looksLikeJSON(head string) bool {
	if !beginsJSON(head) {
		return false
	}
	d := json.NewDecoder(strings.NewReader(head))
	tokens := 0
	for {
		token, err := d.Token()
		switch {
		case err == nil:
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			return tokens >= 4
		default:
			return false
		}
		tokens++
		if s, ok := token.(string); tokens == 2 && head[0] == '{' && (!ok || s == "") {
			return false
		}
	}
}

// Bounds of what is taken for a table without a name that says so.
const (
	tableLines = 5  // that it has at least
	tableField = 80 // bytes of a field, in the mean, at most
)

// looksLikeTable says that the lines of a text have the same number of the same
// separator: tabs or semicolons, or commas that no blank follows, as in prose.
// whole says that head does not end within a line.
func looksLikeTable(head string, whole bool) bool {
	lines := strings.Split(strings.TrimRight(head, "\r\n"), "\n")
	if !whole {
		lines = lines[:len(lines)-1]
	}
	if len(lines) < tableLines {
		return false
	}
	for _, separator := range []byte{'\t', ';', ','} {
		if n := separators(lines[0], separator); n >= 2 || n == 1 && separator == '\t' {
			if consistent(lines, separator, n) {
				return true
			}
		}
	}
	return false
}

func consistent(lines []string, separator byte, n int) bool {
	total := 0
	for _, line := range lines {
		if separators(line, separator) != n {
			return false
		}
		total += len(line)
		if separator != '\t' && 2*strings.Count(line, string(separator)+" ") > n {
			return false // as in prose
		}
	}
	return total <= tableField*(n+1)*len(lines)
}

// separators counts those of a line that stand outside quotes; -1 where quotes
// are left open.
func separators(line string, separator byte) int {
	n, quoted := 0, false
	for i := range len(line) {
		switch line[i] {
		case '"':
			quoted = !quoted
		case separator:
			if !quoted {
				n++
			}
		}
	}
	if quoted {
		return -1
	}
	return n
}
