package mail

import (
	"bytes"
	"errors"
	"fmt"
	"path"
	"strings"

	"ragagent/ingest/parse/doc"
)

// reader reads the messages of a file.
type reader struct {
	out    doc.Sink
	parts  int // so far
	locked int // messages that are encrypted
	err    error
}

// part is a part of a message, or the whole of it.
type part struct {
	mediaType string            // lower case
	params    map[string]string // of the media type
	attached  bool              // it says that it is an attachment
	name      string            // of its file
	encoding  string            // of its transfer
	body      section
}

// newPart reads the header of a part. standard is its type if it tells none.
func newPart(h header, body section, standard string) part {
	p := part{body: body, encoding: strings.ToLower(strings.TrimSpace(h["content-transfer-encoding"]))}
	p.mediaType, p.params = parameters(h["content-type"])
	if !strings.Contains(p.mediaType, "/") {
		switch p.mediaType {
		case "text": // RFC 1049 and programs of its time
			p.mediaType = "text/plain"
		case "html":
			p.mediaType = "text/html"
		default:
			p.mediaType = standard
		}
	}
	disposition, params := parameters(h["content-disposition"])
	p.attached = disposition == "attachment"
	p.name = params["filename"]
	if p.name == "" {
		p.name = p.params["name"]
	}
	p.name = path.Base(strings.ReplaceAll(strings.Join(strings.Fields(p.name), " "), `\`, "/"))
	if p.name == "." || p.name == "/" {
		p.name = ""
	}
	return p
}

// isText says that a part is a text of the message in plain or HTML form.
func (p part) isText() bool {
	return !p.attached && p.name == "" && (p.mediaType == "text/plain" || p.mediaType == "text/html" || p.mediaType == "text/enriched")
}

func (p part) isMultipart() bool { return strings.HasPrefix(p.mediaType, "multipart/") }

func (p part) isMessage() bool {
	return p.mediaType == "message/rfc822" || p.mediaType == "message/global" || p.mediaType == "message/news"
}

// data returns the content of a part, decoded, at most limit bytes.
func (p part) data(limit int64) ([]byte, error) {
	data, err := p.body.bytes(limit)
	if err != nil {
		return nil, err
	}
	switch p.encoding {
	case "base64":
		if looksBase64(data) {
			data = fromBase64(data)
		}
	case "quoted-printable":
		data = fromQuotedPrintable(data)
	}
	return data, nil
}

// looksBase64 says that data can be what it is said to be: no text has so few
// blanks and marks.
func looksBase64(data []byte) bool {
	head := data[:min(len(data), 4096)]
	other := 0
	for _, c := range head {
		switch {
		case c >= 'A' && c <= 'Z', c >= 'a' && c <= 'z', c >= '0' && c <= '9', c == '+', c == '/', c == '=', c == '\r', c == '\n':
		default:
			other++
		}
	}
	return 20*other <= len(head)
}

// message reads a message under a heading of the given level.
func (rd *reader) message(s section, level, depth int) {
	h, body, err := readHeader(s)
	if err != nil {
		rd.err = err
		return
	}
	subject := h.text("subject")
	if subject == "" {
		subject = "(no subject)"
	}
	rd.out.Add(doc.Block{Kind: doc.Heading, Level: min(level, 6), Text: subject})
	rd.out.Add(doc.Block{Kind: doc.Paragraph, Text: h.summary()})
	var attachments []part
	rd.part(newPart(h, body, "text/plain"), depth, true, &attachments)
	for _, a := range attachments {
		if rd.err != nil || rd.out.Full() {
			return
		}
		rd.attachment(a, level+1, depth+1)
	}
}

// part reads the texts of a part and collects what is attached. Without texts,
// only the latter.
func (rd *reader) part(p part, depth int, texts bool, attachments *[]part) {
	rd.parts++
	switch {
	case rd.err != nil || rd.parts > maxParts || rd.out.Full():
	case p.isMultipart():
		rd.multipart(p, depth+1, texts, attachments)
	case p.isText():
		if texts {
			rd.text(p)
		}
	case p.mediaType == "text/plain" && !p.attached && depth == 0: // a message that is one file
		rd.text(p)
	case p.mediaType == "message/delivery-status" || p.mediaType == "text/rfc822-headers":
		if texts {
			rd.text(part{mediaType: "text/plain", encoding: p.encoding, params: p.params, body: p.body})
		}
	case p.mediaType == "application/pkcs7-mime" || p.mediaType == "application/x-pkcs7-mime":
		rd.locked++
	case p.isNoise():
	default:
		*attachments = append(*attachments, p)
	}
}

// isNoise says that a part is nothing to read: pictures within the text,
// signatures, versions of other parts.
func (p part) isNoise() bool {
	switch p.mediaType {
	case "application/pgp-signature", "application/pkcs7-signature", "application/x-pkcs7-signature",
		"application/pgp-encrypted", "text/x-amp-html", "text/watch-html":
		return true
	}
	kind, _, _ := strings.Cut(p.mediaType, "/")
	return !p.attached && (kind == "image" || kind == "audio" || kind == "video" || kind == "font")
}

func (rd *reader) multipart(p part, depth int, texts bool, attachments *[]part) {
	if depth > maxDepth {
		rd.out.Warn(fmt.Sprintf("parts that are nested more than %d deep were left out", maxDepth))
		return
	}
	parts, err := p.split()
	switch {
	case err != nil:
		rd.err = err
		return
	case len(parts) == 0: // no boundary anywhere: it is what it looks like
		if texts {
			rd.text(part{mediaType: "text/plain", encoding: p.encoding, params: map[string]string{}, body: p.body})
		}
		return
	}
	switch p.mediaType {
	case "multipart/encrypted":
		rd.locked++
	case "multipart/alternative":
		chosen := rd.choose(parts)
		for i, inner := range parts {
			if i == chosen || inner.isMultipart() {
				rd.part(inner, depth, texts && i == chosen, attachments)
			}
		}
	default:
		for _, inner := range parts {
			rd.part(inner, depth, texts, attachments)
		}
	}
}

// choose returns which of several forms of one text is read: plain text unless
// it is a mere stub of the HTML, else HTML, else the last, which is the richest.
func (rd *reader) choose(parts []part) int {
	plain, rich := -1, -1
	for i, p := range parts {
		switch {
		case plain < 0 && p.mediaType == "text/plain":
			plain = i
		case rich < 0 && (p.mediaType == "text/html" || p.isMultipart()):
			rich = i
		}
	}
	switch {
	case plain < 0 && rich < 0:
		return len(parts) - 1
	case plain < 0:
		return rich
	case rich < 0 || !rd.isStub(parts[plain], parts[rich]):
		return plain
	}
	return rich
}

// isStub says that plain text is empty or says little of what the HTML does:
// "this message needs a program that shows HTML".
func (rd *reader) isStub(plain, rich part) bool {
	const enough = 1000 // bytes of text that are no stub
	data, err := plain.data(maxBody)
	n := len(bytes.Join(bytes.Fields(data), nil))
	if err != nil || n == 0 {
		return true
	}
	return n < enough && rd.htmlText(rich, 0) > 4*n+100
}

// htmlText counts the bytes of text in the first HTML part, without tags and
// white space.
func (rd *reader) htmlText(p part, depth int) int {
	if p.mediaType == "text/html" {
		data, err := p.data(maxBody)
		if err != nil {
			return 0
		}
		return textBytes(data)
	}
	if !p.isMultipart() || depth > maxDepth {
		return 0
	}
	parts, err := p.split()
	if err != nil {
		return 0
	}
	for _, inner := range parts {
		if inner.mediaType == "text/html" || inner.isMultipart() {
			return rd.htmlText(inner, depth+1)
		}
	}
	return 0
}

// textBytes counts what stands outside of tags, style sheets and scripts.
func textBytes(html []byte) int {
	n := 0
	for len(html) > 0 {
		at := bytes.IndexByte(html, '<')
		if at < 0 {
			at = len(html)
		}
		n += len(bytes.Join(bytes.Fields(html[:at]), nil))
		html = html[at:]
		end := []byte(">")
		lower := bytes.ToLower(html[:min(len(html), 10)])
		if bytes.HasPrefix(lower, []byte("<style")) {
			end = []byte("</style>")
		} else if bytes.HasPrefix(lower, []byte("<!--")) {
			end = []byte("-->")
		}
		_, html, _ = bytes.Cut(html, end)
	}
	return n
}

// attachment reads a file that is attached, under a heading with its name.
func (rd *reader) attachment(p part, level, depth int) {
	level = min(level, 6)
	if p.isMessage() {
		if depth > maxDepth {
			rd.out.Warn(fmt.Sprintf("messages that are nested more than %d deep were left out", maxDepth))
			return
		}
		body := p.body
		if p.encoding == "base64" || p.encoding == "quoted-printable" {
			data, err := p.data(maxAttached)
			if err != nil {
				rd.err = err
				return
			}
			body = section{bytes.NewReader(data), 0, int64(len(data))}
		}
		rd.message(body, level, depth)
		return
	}
	if p.name == "" {
		p.name = "attachment" + extension(p.mediaType)
	}
	rd.out.Add(doc.Block{Kind: doc.Heading, Level: level, Text: "Attachment: " + p.name})
	if p.body.size() > 2*maxAttached {
		rd.out.Warn(fmt.Sprintf("the attachment %s was not read: it has more than %d MB", p.name, maxAttached>>20))
		return
	}
	data, err := p.data(2 * maxAttached)
	if err != nil {
		rd.err = err
		return
	}
	if err := rd.out.Embedded(p.name, bytes.NewReader(data), int64(len(data))); err != nil && !errors.Is(err, doc.ErrNoText) {
		rd.out.Warn(fmt.Sprintf("the attachment %s was not read: %v", p.name, err))
	}
}

// extension is that of the files of a media type, where it helps.
func extension(mediaType string) string {
	switch mediaType {
	case "text/html":
		return ".html"
	case "text/plain":
		return ".txt"
	case "text/csv":
		return ".csv"
	case "text/calendar":
		return ".ics"
	case "text/markdown":
		return ".md"
	case "application/json":
		return ".json"
	}
	return ""
}
