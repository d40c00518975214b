package pdf

import (
	"testing"
)

func TestLexer(t *testing.T) {
	l := lexer{data: []byte("/Na#6de -1.5 .5 --3 1.2.3 (a\\(b\\)(c)\\101\\\n\\r) <4 1 4> [1 [2] (x)] <</A 1>> BT% rest\n' \" T*")}
	want := []struct {
		kind kind
		num  float64
		text string
		n    int
	}{
		{kindName, 0, "Name", 0}, {kindNumber, -1.5, "", 0}, {kindNumber, .5, "", 0}, {kindNumber, -3, "", 0}, {kindNumber, 1.2, "", 0},
		{kindString, 0, "a(b)(c)A\r", 0}, {kindString, 0, "A@", 0}, {kindArray, 0, "", 3}, {kindDict, 0, "", 2},
		{kindOperator, 0, "BT", 0}, {kindOperator, 0, "'", 0}, {kindOperator, 0, `"`, 0}, {kindOperator, 0, "T*", 0}, {kindEOF, 0, "", 0},
	}
	for i, w := range want {
		got := l.next()
		if got.kind != w.kind || got.num != w.num || string(got.text) != w.text || len(got.items) != w.n {
			t.Errorf("token %d: got %v %v %q with %d items, want %+v", i, got.kind, got.num, got.text, len(got.items), w)
		}
	}
}

func TestInlineImageIsSkipped(t *testing.T) {
	l := lexer{data: []byte(" \x00\xffEI\xfe EI \x9c\nEI Q")}
	l.skipInlineImage()
	if got := l.next(); string(got.text) != "Q" {
		t.Errorf("got %q", got.text)
	}
}

func TestCMap(t *testing.T) {
	m := parseCMap([]byte(`begincmap 1 begincodespacerange <0000> <FFFF> endcodespacerange
2 beginbfchar <0003> <0020> <0004> <D83DDE00> endbfchar
3 beginbfrange <0010> <0012> <0041> <0020> <0021> [<0066> <00660069>] <0030> <002F> <0041> endbfrange endcmap`))
	for code, want := range map[uint32]string{3: " ", 4: "😀", 0x10: "A", 0x12: "C", 0x20: "f", 0x21: "fi"} {
		if got, ok := m.lookup(code); !ok || got != want {
			t.Errorf("code %#x: got %q, %v, want %q", code, got, ok, want)
		}
	}
	if got, ok := m.lookup(0x30); ok {
		t.Errorf("a range that ends before it begins maps to %q", got)
	}
	if c, n := m.split([]byte{0, 3, 0, 4}); c != 3 || n != 2 {
		t.Errorf("split: %d, %d", c, n)
	}
}

// FuzzContent runs any bytes as a page's content and as a character map.
func FuzzContent(f *testing.F) {
	f.Add([]byte("BT /F1 12 Tf 1 0 0 1 72 700 Tm [(A) -200 (B)] TJ T* (x) ' ET"))
	f.Add([]byte("q 1 0 0 -1 0 0 cm BI /W 1 ID \x00 EI Q /X Do"))
	f.Add([]byte("1 begincodespacerange <00> <ff> endcodespacerange 1 beginbfrange <00> <ff> <0041> endbfrange"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 1<<16 {
			return
		}
		parseCMap(data).lookup(0x41)
		m := &machine{doc: &Document{fonts: map[string]*font{}}}
		r := run{m: m}
		s := state{ctm: identity, scale: 1, font: r.m.doc.font(r.resources), size: 10}
		m.draw(data, r.resources, s, 0)
		lines := layout(onPage(m.glyphs, letter), letter)
		Structure([]Page{{Number: 1, Width: 612, Height: 792, Lines: lines}})
	})
}
