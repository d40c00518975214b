package mail

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ragagent/ingest/parse/doc"
)

// recorder is a doc.Sink that writes down what it is given.
type recorder struct {
	blocks     []string
	title      string
	properties map[string]any
	warnings   []string
}

func (r *recorder) Add(b doc.Block) {
	if strings.TrimSpace(b.Text) == "" {
		return
	}
	kind := string(b.Kind)
	if b.Kind == doc.Heading {
		kind = fmt.Sprintf("h%d", b.Level)
	}
	r.blocks = append(r.blocks, kind+": "+strings.TrimSpace(b.Text))
}
func (r *recorder) Full() bool                      { return false }
func (r *recorder) Title(title string)              { r.title = title }
func (r *recorder) Property(name string, value any) { r.properties[name] = value }
func (r *recorder) Warn(text string)                { r.warnings = append(r.warnings, text) }
func (r *recorder) Embedded(name string, file io.ReaderAt, size int64) error {
	data, err := io.ReadAll(io.NewSectionReader(file, 0, size))
	if err != nil {
		return err
	}
	if strings.HasSuffix(name, ".exe") {
		return fmt.Errorf("%w: a program", doc.ErrUnsupported)
	}
	r.blocks = append(r.blocks, name+": "+strings.TrimSpace(strings.TrimPrefix(string(data), "\ufeff")))
	return nil
}

// read reads a message whose lines end with LF here, as they do on disks and
// not on the way.
func read(text string) (*recorder, error) {
	r := &recorder{properties: map[string]any{}}
	return r, Read(strings.NewReader(text), int64(len(text)), r)
}

const head = "From: Ann <ann@example.org>\nTo: Bob <bob@example.org>\nSubject: Hello\nDate: Tue, 3 Mar 2020 04:05:06 +0100\nMIME-Version: 1.0\n"

var headBlocks = []string{"h1: Hello", "paragraph: From: Ann <ann@example.org>\nTo: Bob <bob@example.org>\nDate: Tuesday, 3 March 2020, 04:05 +0100"}

// multi makes a multipart of parts, each with its header.
func multi(kind, boundary string, parts ...string) string {
	var out strings.Builder
	fmt.Fprintf(&out, "Content-Type: multipart/%s;\n boundary=\"%s\"\n\nThis is a multi-part message in MIME format.\n", kind, boundary)
	for _, p := range parts {
		fmt.Fprintf(&out, "--%s\n%s\n", boundary, p)
	}
	fmt.Fprintf(&out, "--%s--\n", boundary)
	return out.String()
}

func TestRead(t *testing.T) {
	const (
		plain  = "Content-Type: text/plain; charset=\"utf-8\"\n\nPlain words that say it all.\n"
		stub   = "Content-Type: text/plain\n\nPlease use HTML.\n"
		rich   = "Content-Type: text/html; charset=iso-8859-1\nContent-Transfer-Encoding: quoted-printable\n\n<html><meta charset=3Dutf-8><p>caf=E9</p></html>\n"
		inline = "Content-Type: image/png; name=\"logo.png\"\nContent-ID: <x>\nContent-Disposition: inline\nContent-Transfer-Encoding: base64\n\niVBORw0KGgo=\n"
	)
	long := "Content-Type: text/html\n\n<p>" + strings.Repeat("All that the other form leaves out. ", 10) + "</p>\n"
	file := "Content-Type: application/pdf; name=\"=?utf-8?Q?r=C3=A9sum=C3=A9.pdf?=\"\nContent-Disposition: attachment; filename*=utf-8''r%C3%A9sum%C3%A9.pdf\nContent-Transfer-Encoding: base64\n\n" + base64.StdEncoding.EncodeToString([]byte("%PDF-1.4 x")) + "\n"
	tests := []struct {
		name, text string
		want       []string
	}{
		{"plain", "\nOne\ntwo.\n\n- a\n- b\n\nAnn\n", []string{"paragraph: One\ntwo.", "list: - a\n- b", "paragraph: Ann"}},
		{"quoted-printable", "Content-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: quoted-printable\n\nna=C3=AFve and =\nlong =3D =zz\n", []string{"paragraph: naïve and long = =zz"}},
		{"base64", "Content-Type: text/plain; charset=koi8-r\nContent-Transfer-Encoding: base64\n\n8NLJ\n18XU\n", []string{"paragraph: Привет"}},
		{"said to be base64", "Content-Type: text/plain\nContent-Transfer-Encoding: base64\n\nThis is no base64, as anyone can see at a glance.\n", []string{"paragraph: This is no base64, as anyone can see at a glance."}},
		{"unknown charset", "Content-Type: text/plain; charset=x-none\n\ncaf\xe9\n", []string{"paragraph: café"}},
		{"alternative", multi("alternative", "b1", plain, rich), []string{"paragraph: Plain words that say it all."}},
		{"a stub", multi("alternative", "b1", stub, long), []string{"message.html: <!DOCTYPE html>\n<p>" + strings.Repeat("All that the other form leaves out. ", 10) + "</p>"}},
		{"an empty stub", multi("alternative", "b1", "Content-Type: text/plain\n\n \n", rich), []string{"message.html: <html><meta charset=utf-8><p>café</p></html>"}},
		{"HTML alone", rich, []string{"message.html: <html><meta charset=utf-8><p>café</p></html>"}},
		{"a stub beside related parts", multi("alternative", "b1", stub, multi("related", "b2", long, inline)), []string{"message.html: <!DOCTYPE html>\n<p>" + strings.Repeat("All that the other form leaves out. ", 10) + "</p>"}},
		{"attachments", multi("mixed", "b1", multi("alternative", "b1-2", plain, rich), inline, file), []string{"paragraph: Plain words that say it all.", "h2: Attachment: résumé.pdf", "résumé.pdf: %PDF-1.4 x"}},
		{"an attached text", multi("mixed", "b1", plain, "Content-Type: text/plain; name=\"C:\\\\x\\\\notes.txt\"\nContent-Disposition: inline\n\nNotes.\n"), []string{"paragraph: Plain words that say it all.", "h2: Attachment: notes.txt", "notes.txt: Notes."}},
		{"a name in parts", multi("mixed", "b1", "Content-Type: text/csv\nContent-Disposition: attachment; filename*0*=iso-8859-1'de'gr%FC; filename*1=n.csv\n\na,b\n"), []string{"h2: Attachment: grün.csv", "grün.csv: a,b"}},
		{"an attached message", multi("mixed", "b1", plain, "Content-Type: message/rfc822\n\nSubject: Inner\nFrom: eve@example.org\n\nInner text.\n"), []string{"paragraph: Plain words that say it all.", "h2: Inner", "paragraph: From: eve@example.org", "paragraph: Inner text."}},
		{"a digest", multi("digest", "b1", "\nSubject: First\n\nA.\n", "\nSubject: Second\n\nB.\n"), []string{"h2: First", "paragraph: A.", "h2: Second", "paragraph: B."}},
		{"a delivery report", multi("report", "b1", plain, "Content-Type: message/delivery-status\n\nAction: failed\n"), []string{"paragraph: Plain words that say it all.", "paragraph: Action: failed"}},
		{"the last boundary is missing", strings.TrimSuffix(multi("mixed", "b1", plain, plain), "--b1--\n"), []string{"paragraph: Plain words that say it all.", "paragraph: Plain words that say it all."}},
		{"another boundary", strings.Replace(multi("mixed", "b1", plain), "\"b1\"", "\"b2\"", 1), []string{"paragraph: Plain words that say it all."}},
		{"no boundary", "Content-Type: multipart/mixed\n\nJust text.\n", []string{"paragraph: Just text."}},
		{"a reply", "\nYes.\n\nOn Monday, Bob wrote:\n> Really?\n>\n> > Deep.\n> So.\nNo.\n\n-- \nAnn\n", []string{"paragraph: Yes.", "paragraph: On Monday, Bob wrote:", "quote: Really?", "quote: > Deep.\nSo.", "paragraph: No.", "paragraph: Ann"}},
		{"flowed", "Content-Type: text/plain; format=flowed\n\nOne \ntwo \nthree.\n> quoted \n> on.\n -- stuffed\n\n-- \nAnn\n", []string{"paragraph: One two three.", "quote: quoted on.", "paragraph: -- stuffed", "paragraph: Ann"}},
		{"flowed, blanks deleted", "Content-Type: text/plain; format=flowed; delsp=yes\n\n日本 \n語。\n", []string{"paragraph: 日本語。"}},
		{"encrypted", multi("encrypted", "b1", "Content-Type: application/pgp-encrypted\n\nVersion: 1\n", "Content-Type: application/octet-stream\n\nxxx\n"), nil},
	}
	for _, tt := range tests {
		for _, end := range []string{"\n", "\r\n"} {
			t.Run(fmt.Sprintf("%s, %q", tt.name, end), func(t *testing.T) {
				got, err := read(strings.ReplaceAll(head+tt.text, "\n", end))
				if err != nil {
					t.Fatal(err)
				}
				for i := range got.blocks {
					got.blocks[i] = strings.ReplaceAll(got.blocks[i], "\r\n", "\n")
				}
				if diff := cmp.Diff(append(headBlocks[:2:2], tt.want...), got.blocks); diff != "" {
					t.Error(diff)
				}
			})
		}
	}
}

func TestHeader(t *testing.T) {
	got, err := read("Received: from a by b;\n\tMon, 1 Jan 2001 00:00:00 +0000\nSubject: =?utf-8?B?R3LDvMOfZSBhdXMgTcO8?=\n =?UTF-8?B?bmNoZW4=?= und =?iso-8859-1?Q?Z=FCrich?=\n" +
		"From: =?utf-8?Q?Andr=C3=A9?= <a@example.org>\nTo: b@example.org,\n \"C, D\" <c@example.org>\nCC: undisclosed recipients\nDate: Tue, 3 Mar 2020 04:05:06 +0100 (CET)\nMessage-ID: <1@example.org>\n\nText.\n")
	if err != nil {
		t.Fatal(err)
	}
	if got.title != "Grüße aus München und Zürich" {
		t.Errorf("the title is %q", got.title)
	}
	want := map[string]any{
		"subject": "Grüße aus München und Zürich", "author": "André <a@example.org>", "from": "André <a@example.org>",
		"to": []string{"b@example.org", "C, D <c@example.org>"}, "cc": []string{"undisclosed recipients"},
		"created": "2020-03-03T03:05:06Z", "message_id": "1@example.org",
	}
	if diff := cmp.Diff(want, got.properties); diff != "" {
		t.Error(diff)
	}
}

func TestDecodeWords(t *testing.T) {
	for in, want := range map[string]string{
		"plain":                              "plain",
		"=?utf-8?Q?a_b?=":                    "a b",
		"=?utf-8?Q?=C3?= =?utf-8?Q?=BC?=":    "ü", // cut within a character
		"=?utf-8*de?Q?=C3=BC?= x":            "ü x",
		"=?ISO-2022-JP?B?GyRCRnxLXBsoQg==?=": "日本",
		"=?gb2312?B?1tDOxA==?=":              "中文",
		"caf\xe9":                            "café",
		"=?utf-8?X?a?=":                      "=?utf-8?X?a?=",
	} {
		if got := decodeWords(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

func TestMbox(t *testing.T) {
	got, err := read("From ann@example.org Tue Mar  3 04:05:06 2020\nSubject: One\nFrom: ann@example.org\n\nFirst.\nFrom here on it is text.\n\nFrom here, too.\n\nFrom MAILER-DAEMON Tue Mar  3 04:05:06 2020\nSubject: Two\n\nSecond.\n")
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"h1: One", "paragraph: From: ann@example.org", "paragraph: First.\nFrom here on it is text.", "paragraph: From here, too.", "h1: Two", "paragraph: Second."}
	if diff := cmp.Diff(want, got.blocks); diff != "" {
		t.Error(diff)
	}
	if got.title != "" || len(got.properties) > 0 {
		t.Errorf("got the title %q and %v", got.title, got.properties)
	}
}

func TestWarnings(t *testing.T) {
	got, err := read(head + multi("mixed", "b", "Content-Type: application/x-msdownload; name=a.exe\n\nMZ\n"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"the attachment a.exe was not read: unsupported format: a program"}, got.warnings); diff != "" {
		t.Error(diff)
	}
}

func TestNoMessage(t *testing.T) {
	for _, text := range []string{"", "\n\n", "Just text.\n", "Note: this\n\nis none.\n"} {
		if _, err := read(text); !errors.Is(err, doc.ErrDamaged) {
			t.Errorf("%q: got %v", text, err)
		}
	}
}

// TestDeepParts nests parts and messages deeper than anyone does.
func TestDeepParts(t *testing.T) {
	var parts, messages strings.Builder
	parts.WriteString("Subject: deep\n")
	for i := range 500 {
		fmt.Fprintf(&parts, "Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n", i, i)
		messages.WriteString("Subject: deep\nContent-Type: message/rfc822\n\n")
	}
	for _, text := range []string{parts.String(), messages.String()} {
		got, err := read(text)
		if err != nil {
			t.Fatal(err)
		}
		if len(got.warnings) != 1 || !strings.Contains(got.warnings[0], "nested more than 12 deep") {
			t.Errorf("warnings %q", got.warnings)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add(head + multi("mixed", "b", "Content-Type: text/plain; format=flowed\n\nx \ny\n", "Content-Type: message/rfc822\n\nSubject: =?utf-8?B?eA==?=\n\ny\n"))
	f.Add("From a Tue Mar  3 04:05:06 2020\nSubject: x\n\ny\n")
	f.Fuzz(func(t *testing.T, text string) {
		if _, err := read(text); err != nil && !errors.Is(err, doc.ErrDamaged) {
			t.Fatal(err)
		}
	})
}

// TestHugeHeader: fields behind the bound of a header are passed over, and what
// follows is the text.
func TestHugeHeader(t *testing.T) {
	var fields strings.Builder
	for i := 0; fields.Len() < 2*maxHeader; i++ {
		fmt.Fprintf(&fields, "X-Trace-%d: %s\n\tcontinued\n", i, strings.Repeat("x", 60))
	}
	got, err := read(head + fields.String() + "\nThe text.\n")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(append(headBlocks[:len(headBlocks):len(headBlocks)], "paragraph: The text."), got.blocks); diff != "" {
		t.Error(diff)
	}
}
