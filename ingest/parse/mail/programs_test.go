package mail

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestPrograms holds messages in the manner of programs that write them.
func TestPrograms(t *testing.T) {
	const outlookHTML = "<html xmlns:o=3D\"urn:schemas-microsoft-com:office:office\"><head><meta http-equiv=3D\"Content-Type\" content=3D\"text/html; charset=3Diso-8859-1\"></head><body><p class=3D\"MsoNormal\">Gr=FC=DFe<o:p></o:p></p></body></html>\n"
	tests := []struct {
		name, text string
		want       []string
	}{
		{"Outlook", "From: \"M=?iso-8859-1?Q?=FC?=ller, Hans\" <hans@example.org>\nTo: \"Ann\" <ann@example.org>\nSubject: =?iso-8859-1?Q?Angebot_f=FCr_?=\n =?iso-8859-1?Q?M=F6bel?=\nThread-Topic: x\nDate: Wed, 4 Mar 2020 08:00:00 +0000\nContent-Language: de-DE\nX-MS-Has-Attach: yes\n" +
			"Content-Type: multipart/related;\n\tboundary=\"_004_AM0_\";\n\ttype=\"multipart/alternative\"\nMIME-Version: 1.0\n\n" +
			"--_004_AM0_\nContent-Type: multipart/alternative;\n\tboundary=\"_000_AM0_\"\n\n--_000_AM0_\nContent-Type: text/plain; charset=\"iso-8859-1\"\nContent-Transfer-Encoding: quoted-printable\n\nGr=FC=DFe aus Ulm, und alles andere auch.\n\n" +
			"________________________________\nVon: Ann\nGesendet: Dienstag\n\n--_000_AM0_\nContent-Type: text/html; charset=\"iso-8859-1\"\nContent-Transfer-Encoding: quoted-printable\n\n" + outlookHTML + "\n--_000_AM0_--\n\n" +
			"--_004_AM0_\nContent-Type: image/png; name=\"image001.png\"\nContent-Description: image001.png\nContent-Disposition: inline; filename=\"image001.png\"; size=10\nContent-ID: <image001.png@01>\nContent-Transfer-Encoding: base64\n\niVBORw0KGgo=\n\n--_004_AM0_--\n",
			[]string{"h1: Angebot für Möbel", "paragraph: From: Müller, Hans <hans@example.org>\nTo: Ann <ann@example.org>\nDate: Wednesday, 4 March 2020, 08:00 +0000", "paragraph: Grüße aus Ulm, und alles andere auch.", "paragraph: ________________________________\nVon: Ann\nGesendet: Dienstag"}},
		{"Gmail", "MIME-Version: 1.0\nDate: Wed, 4 Mar 2020 09:00:00 +0100\nSubject: Re: Plan\nFrom: Bob <bob@example.org>\nTo: Ann <ann@example.org>\nContent-Type: multipart/alternative; boundary=\"000000000000abc\"\n\n" +
			"--000000000000abc\nContent-Type: text/plain; charset=\"UTF-8\"\nContent-Transfer-Encoding: quoted-printable\n\nSounds good =F0=9F=91=8D\n\nOn Tue, Mar 3, 2020 at 4:05 PM Ann <ann@example.org> wrote:\n\n> Shall we?\n>\n> Ann\n>\n\n--000000000000abc\nContent-Type: text/html; charset=\"UTF-8\"\n\n<div dir=\"ltr\">Sounds good</div>\n--000000000000abc--\n",
			[]string{"h1: Re: Plan", "paragraph: From: Bob <bob@example.org>\nTo: Ann <ann@example.org>\nDate: Wednesday, 4 March 2020, 09:00 +0100", "paragraph: Sounds good 👍", "paragraph: On Tue, Mar 3, 2020 at 4:05 PM Ann <ann@example.org> wrote:", "quote: Shall we?", "quote: Ann"}},
		{"a newsletter", "From: News <n@example.org>\nSubject: Offers\nMIME-Version: 1.0\nContent-Type: multipart/alternative; boundary=x\n\n--x\nContent-Type: text/plain\n\nView this email in your browser: https://example.org/1\n--x\nContent-Type: text/html\n\n<html><style>p{color:red}</style><p>" + strings.Repeat("All the offers of the week. ", 20) + "</p></html>\n--x--\n",
			[]string{"h1: Offers", "paragraph: From: News <n@example.org>", "message.html: <html><style>p{color:red}</style><p>" + strings.Repeat("All the offers of the week. ", 20) + "</p></html>"}},
		{"Apple Mail, a file between two texts", "From: a@example.org\nSubject: Files\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=\"Apple-Mail=_1\"\n\n--Apple-Mail=_1\nContent-Transfer-Encoding: 7bit\nContent-Type: text/plain;\n\tcharset=us-ascii\n\nBefore.\n\n" +
			"--Apple-Mail=_1\nContent-Disposition: attachment;\n\tfilename=notes.txt\nContent-Type: text/plain;\n\tx-unix-mode=0644;\n\tname=\"notes.txt\"\nContent-Transfer-Encoding: 7bit\n\nThe notes.\n\n--Apple-Mail=_1\nContent-Type: text/plain\n\nAfter.\n\n--Apple-Mail=_1--\n",
			[]string{"h1: Files", "paragraph: From: a@example.org", "paragraph: Before.", "paragraph: After.", "h2: Attachment: notes.txt", "notes.txt: The notes."}},
		{"a script", "to: ops@example.org\nsubject: backup\n\nDone.\n", []string{"h1: backup", "paragraph: To: ops@example.org", "paragraph: Done."}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := read(tt.text)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got.blocks); diff != "" {
				t.Error(diff)
			}
			if len(got.warnings) > 0 {
				t.Errorf("warnings %q", got.warnings)
			}
		})
	}
}
