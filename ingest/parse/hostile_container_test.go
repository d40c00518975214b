package parse

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"
)

// blanks are n bytes of white space.
type blanks struct{ n int64 }

func (b *blanks) Read(p []byte) (int, error) {
	if b.n == 0 {
		return 0, io.EOF
	}
	n := min(int64(len(p)), b.n)
	for i := range p[:n] {
		p[i] = ' '
	}
	b.n -= n
	return int(n), nil
}

// wordBomb is a document whose text part begins with head and goes on with n
// blanks.
func wordBomb(t *testing.T, head string, n int64) []byte {
	t.Helper()
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for name, body := range map[string]io.Reader{
		"[Content_Types].xml": strings.NewReader(typesOf("openxmlformats-officedocument.wordprocessingml.document.main+xml")),
		"word/document.xml":   io.MultiReader(strings.NewReader(head), &blanks{n}),
	} {
		w, err := z.Create(name)
		if err == nil {
			_, err = io.Copy(w, body)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// manyEntries is a zip file whose list has n entries, all of one file.
func manyEntries(t *testing.T, n int) []byte {
	t.Helper()
	one := zipped(t, "a", "x")
	at := bytes.Index(one, []byte("PK\x01\x02"))
	end := bytes.Index(one, []byte("PK\x05\x06"))
	out := append([]byte(nil), one[:at]...)
	out = append(out, bytes.Repeat(one[at:end], n)...)
	tail := append([]byte(nil), one[end:]...)
	binary.LittleEndian.PutUint16(tail[8:], uint16(n))
	binary.LittleEndian.PutUint16(tail[10:], uint16(n))
	binary.LittleEndian.PutUint32(tail[12:], uint32(n*(end-at)))
	return append(out, tail...)
}

// TestHostileContainers are small files that would take all memory or time. Each
// ends with an error that says why.
func TestHostileContainers(t *testing.T) {
	size := int64(64 << 20)
	if os.Getenv("RAGAGENT_LARGE") != "" {
		size = 2 << 30
	}
	deep := strings.Repeat("<w:sdt>", 1_000_000)
	laughs := `<?xml version="1.0"?><!DOCTYPE lolz [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;">]><w:document><w:body><w:p><w:r><w:t>&c;</w:t></w:r></w:p></w:body></w:document>`
	lying := wordFile(t, paragraphs("text"))
	for i := bytes.Index(lying, []byte("PK\x01\x02")); i >= 0 && i < len(lying); {
		binary.LittleEndian.PutUint32(lying[i+24:], 0xfffffff0) // what it says to unpack to
		next := bytes.Index(lying[i+4:], []byte("PK\x01\x02"))
		if next < 0 {
			break
		}
		i += 4 + next
	}
	whole := wordFile(t, paragraphs("text"))
	inItself := zipped(t, "[Content_Types].xml", typesOf("openxmlformats-officedocument.wordprocessingml.document.main+xml"),
		"_rels/.rels", `<Relationships><Relationship Id="r" Type="x/officeDocument" Target="../../../../etc/passwd"/></Relationships>`)
	tests := []struct {
		name string
		data []byte
		want error // nil: it may end with text
		says string
	}{
		{"two gigabytes of blanks", wordBomb(t, `<w:document><w:body><w:p><w:r><w:t>`, size), ErrLimit, "times its size"},
		{"blanks between tags", wordBomb(t, `<w:document><w:body>`, size), ErrLimit, "times its size"},
		{"an endless tag", wordBomb(t, `<w:document a="`, size), ErrDamaged, ""},
		{"an endless comment", wordBomb(t, `<!--`, size), ErrLimit, ""},
		{"a million entries", manyEntries(t, 1_000_000), ErrLimit, "files"},
		{"elements a million deep", wordFile(t, deep), ErrDamaged, ""},
		{"entities of entities", zipped(t, "[Content_Types].xml", typesOf("openxmlformats-officedocument.wordprocessingml.document.main+xml"), "word/document.xml", laughs), ErrDamaged, ""},
		{"sizes that lie", lying, nil, ""},
		{"cut off", whole[:len(whole)*2/3], ErrDamaged, "cut off"},
		{"a part outside", inItself, ErrDamaged, "missing"},
		{"rows without end", workbookFile(t, strings.Repeat(`<row r="1048576"><c r="XFD1"><v>1</v></c></row>`, 20_000)), nil, ""},
		{"cells repeated", odfFile(t, "spreadsheet", `<office:spreadsheet>`+strings.Repeat(`<table:table table:name="S"><table:table-row table:number-rows-repeated="1000000"><table:table-cell table:number-columns-repeated="1000000"><text:p>xxxxxxxxxxxxxxxxxxxx</text:p></table:table-cell></table:table-row></table:table>`, 200)+`</office:spreadsheet>`), nil, ""},
		{"shared strings used over and over", sharedBomb(t), nil, ""},
	}
	p := newParser(t, Config{Timeout: 30 * time.Second})
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			began := time.Now()
			text, err := p.Parse(t.Context(), "x.docx", inMemory(tt.data))
			t.Logf("%d KB, %s: %d bytes, %v", len(tt.data)>>10, time.Since(began).Round(time.Millisecond), len(text.Body), err)
			switch {
			case err == nil && tt.want == nil:
				if why := brokenText(text); why != "" {
					t.Error(why)
				}
			case err == nil || !blamesFile(err):
				t.Errorf("got %.80q, %v", text.Body, err)
			case tt.want != nil && (!errors.Is(err, tt.want) || !strings.Contains(err.Error(), tt.says)):
				t.Errorf("got %v, want %v that says %q", err, tt.want, tt.says)
			}
		})
	}
}

// sharedBomb is a workbook whose cells all show one long text.
func sharedBomb(t *testing.T) []byte {
	var rows strings.Builder
	for i := range 100_000 {
		fmt.Fprintf(&rows, `<row r="%d"><c t="s"><v>0</v></c></row>`, i+1)
	}
	return zipped(t, "[Content_Types].xml", typesOf("openxmlformats-officedocument.spreadsheetml.sheet.main+xml"),
		"xl/workbook.xml", `<workbook><sheets><sheet name="S" r:id="rId1"/></sheets></workbook>`,
		"xl/_rels/workbook.xml.rels", `<Relationships><Relationship Id="rId1" Type="x/worksheet" Target="worksheets/sheet1.xml"/></Relationships>`,
		"xl/sharedStrings.xml", `<sst><si><t>`+strings.Repeat("text ", 20_000)+`</t></si></sst>`,
		"xl/worksheets/sheet1.xml", `<worksheet><sheetData>`+rows.String()+`</sheetData></worksheet>`)
}

// TestDocumentTypeIsTheReason: a part with a document type declaration is not
// read, and that is what the user hears.
func TestDocumentTypeIsTheReason(t *testing.T) {
	part := `<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "b">]><w:document><w:body><w:p><w:r><w:t>&a;</w:t></w:r></w:p></w:body></w:document>`
	file := zipped(t, "[Content_Types].xml", typesOf("openxmlformats-officedocument.wordprocessingml.document.main+xml"), "word/document.xml", part)
	_, err := parseBytes(t, "a.docx", file)
	if !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), "document type declaration") {
		t.Errorf("%v", err)
	}
}
