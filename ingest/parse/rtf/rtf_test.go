package rtf

import (
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
	r.blocks = append(r.blocks, kind+": "+b.Text)
}
func (r *recorder) Full() bool         { return false }
func (r *recorder) Title(title string) { r.title = title }
func (r *recorder) Property(name string, value any) {
	r.properties[name] = value
}
func (r *recorder) Warn(text string)                          { r.warnings = append(r.warnings, text) }
func (r *recorder) Embedded(string, io.ReaderAt, int64) error { return nil }

func read(text string) (*recorder, error) {
	r := &recorder{properties: map[string]any{}}
	return r, Read(strings.NewReader(text), int64(len(text)), r)
}

func TestRead(t *testing.T) {
	const head = `{\rtf1\ansi\ansicpg1252\deff0{\fonttbl{\f0\fswiss Arial;}{\f1\fnil\fcharset204 Arial Cyr{\*\falt Helvetica};}{\f2\fcharset128 MS Mincho;}{\f3\fcharset2 Symbol;}}` +
		`{\colortbl;\red0\green0\blue0;}{\stylesheet{\ql Normal;}{\s1\sb240\snext0 heading 1;}{\s2\outlinelevel1 Section;}{\*\cs10 \additive Default Paragraph Font;}}` + "\r\n"
	tests := []struct {
		name, text string
		want       []string
	}{
		{"paragraphs", `One \b two\b0  three.\par Four\line five.\par}`, []string{"paragraph: One two three.", "paragraph: Four\nfive."}},
		{"no last \\par", `One}`, []string{"paragraph: One"}},
		{"characters", `caf\'e9 \{a\\b\} \ldblquote x\rdblquote\~\emdash\u8364?5 \u-10179?\u-8638? \u945\'61b\par}`, []string{"paragraph: café {a\\b} “x”\u00a0—€5 🙂 αb"}},
		{"\\uc", `{\uc2 \u945 ab\'63}{\uc0 \u946 x}\u947?y\par}`, []string{"paragraph: αcβxγy"}},
		{"code pages", `\f1\'cf\'f0\'e8\'e2\'e5\'f2\f0  \'fc {\f2\'93\'fa\'96{}\'7b\'8c\'ea}\par}`, []string{"paragraph: Привет ü 日" + "\uFFFD{語"}},
		{"double bytes", `\f2\'93\'fa\'96\'7b\'8c\'ea \'83\\\par}`, []string{"paragraph: 日本語 ソ"}},
		{"headings", `\pard\s1 Title\par\pard Text.\par\pard\s2 Part\par\pard\outlinelevel2{\b Deep}\par}`, []string{"h1: Title", "paragraph: Text.", "h2: Part", "h3: Deep"}},
		{"lists", `{\listtext\f3\'b7\tab}\pard\ls1 one\par{\listtext\f3\'b7\tab}\pard\ls1\ilvl1 two\par\pard after\par{\pntext 1.\tab}first\par{\pntext 2.\tab}second\par}`,
			[]string{"list: - one\n  - two", "paragraph: after", "list: 1. first\n2. second"}},
		{"tables", `before\par\trowd\cellx1\cellx2\pard\intbl Name\cell Born\cell\row\trowd\pard\intbl Ada\par Lovelace\cell 1815\cell\row\pard after\par}`,
			[]string{"paragraph: before", "table: Name | Born\nAda Lovelace | 1815", "paragraph: after"}},
		{"what is no text", `a{\pict\pngblip 89504e47}{\*\shppict{\pict 00ff}}{\header Head\par}{\v hidden}{\*\unknown x{y}}{\deleted gone}{\*\bkmkstart b}b\v hidden\v0 c\par}`, []string{"paragraph: abc"}},
		{"fields", `see {\field{\*\fldinst{HYPERLINK "http://x"}}{\fldrslt{\ul the page}}}.\par}`, []string{"paragraph: see the page."}},
		{"binary data", `a{\pict\bin6 {{}{{\}b\par}`, []string{"paragraph: ab"}},
		{"notes", `Text{\super\chftn{\footnote\pard\plain {\super\chftn} The note.\par}} goes on.\par Next.\par}`, []string{"paragraph: Text goes on.", "paragraph: The note.", "paragraph: Next."}},
		{"a text box", `a{\shp{\*\shpinst\shpleft0{\sp{\sn x}{\sv 1}}{\shptxt\pard In the box.\par}}{\shprslt other}}b\par}`, []string{"paragraph: ab", "paragraph: In the box."}},
		{"two readings", `{\upr{ansi}{\*\ud{\u945?}}}\par}`, []string{"paragraph: α"}},
		{"UTF-8 as it is", "na\xc3\xafve\\par}", []string{"paragraph: naïve"}},
		{"breaks off", `One\par Two {\b thr`, []string{"paragraph: One", "paragraph: Two thr"}},
		{"braces too many", `One}}}\par Two`, []string{"paragraph: One"}},
		{"a backslash at a line's end", "One\\\nTwo}", []string{"paragraph: One", "paragraph: Two"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := read(head + tt.text)
			if err != nil {
				t.Fatal(err)
			}
			for i := range got.blocks { // the sink would tidy them
				if strings.HasPrefix(got.blocks[i], "table") {
					got.blocks[i] = strings.ReplaceAll(got.blocks[i], "  ", " ")
				}
			}
			if diff := cmp.Diff(tt.want, got.blocks); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestInfo(t *testing.T) {
	got, err := read(`{\rtf1\ansi{\info{\title The \'dcber title}{\author Ann}{\keywords a, b;c}{\creatim\yr2020\mo3\dy4\hr5\min6}{\revtim\yr0}{\*\company Acme}{\nofpages3}}x\par}`)
	if err != nil {
		t.Fatal(err)
	}
	if got.title != "The Über title" {
		t.Errorf("the title is %q", got.title)
	}
	want := map[string]any{"author": "Ann", "keywords": []string{"a", "b", "c"}, "created": "2020-03-04T05:06:00Z", "modified": "", "company": "Acme"}
	if diff := cmp.Diff(want, got.properties); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"paragraph: x"}, got.blocks); diff != "" {
		t.Error(diff)
	}
}

func TestNoRTF(t *testing.T) {
	for _, text := range []string{"", "x", "{rtf", "{\\rt", "hello {\\rtf1 x}"} {
		if _, err := read(text); !errors.Is(err, doc.ErrDamaged) {
			t.Errorf("%q: got %v", text, err)
		}
	}
}

// TestHostile holds what makes readers recurse, loop or swell.
func TestHostile(t *testing.T) {
	const size = 1 << 20
	for _, unit := range []string{"{", "}", `{\b `, `\u-10179?`, `\cell`, `\row`, `{\footnote `, `{\listtext x`, `\intbl\cell a`, `{\fonttbl{\f99`, `\'`, `\bin99999999999 `, `{\info{\title `, `{\upr{`, `\par x`, "\\"} {
		got, err := read(`{\rtf1 needle\par ` + strings.Repeat(unit, size/len(unit)))
		if err != nil {
			t.Errorf("%q: %v", unit, err)
		}
		if len(got.blocks) == 0 || got.blocks[0] != "paragraph: needle" {
			t.Errorf("%q: got %.80q", unit, got.blocks)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add(`{\rtf1\ansi{\fonttbl{\f1\fcharset128 x;}}{\stylesheet{\s1 heading 1;}}\s1 T\par\pard\intbl a\cell\row{\footnote n}\u945?\'e9\bin3 abc}`)
	f.Fuzz(func(t *testing.T, text string) {
		if _, err := read(`{\rtf1` + text); err != nil {
			t.Fatal(err)
		}
	})
}
