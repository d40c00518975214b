package rtf

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestPrograms holds files in the manner of programs that write RTF.
func TestPrograms(t *testing.T) {
	tests := []struct {
		name, text string
		want       []string
	}{
		{"Word", `{\rtf1\adeflang1025\ansi\ansicpg1252\uc1\adeff0\deff0\stshfdbch31505\deflang1033{\fonttbl{\f0\fbidi \froman\fcharset0\fprq2{\*\panose 02020603050405020304}Times New Roman;}{\f3\fbidi \froman\fcharset2\fprq2{\*\panose 05050102010706020507}Symbol;}
{\flominor\f31500\fbidi \froman\fcharset0\fprq2 Times New Roman;}}{\colortbl;\red0\green0\blue0;}{\*\defchp \fs22}{\*\defpap \ql }\noqfpromote
{\stylesheet{\ql \li0\ri0\widctlpar \rtlch\fcs1 \af0 \ltrch\fcs0 \fs22 \snext0 \sqformat \spriority0 Normal;}{\s1\ql \keep\keepn\outlinelevel0 \rtlch\fcs1 \ltrch\fcs0 \b \sbasedon0 \snext0 \slink15 \sqformat heading 1;}{\*\cs10 \additive \ssemihidden Default Paragraph Font;}
{\*\ts11\tsrowd\trftsWidthB3 \snext11 Normal Table;}}{\*\listtable{\list\listtemplateid1{\listlevel\levelnfc23{\leveltext\leveltemplateid1\'01\u-3913 ?;}{\levelnumbers;}}\listid1}}{\*\rsidtbl \rsid1}{\mmathPr\mmathFont34}{\info{\author Ann}{\nofpages1}}
{\*\xmlnstbl {\xmlns1 http://x}}\paperw12240\wgrffmtfilter2450{\*\pnseclvl1\pnucrm{\pntxta .}}\pard\plain \ltrpar\s1\ql \keep\outlinelevel0 \rtlch\fcs1 \af0 \ltrch\fcs0 \b\fs32 {\rtlch\fcs1 \af0 \ltrch\fcs0 \insrsid1 Heading\par }
\pard\plain \ltrpar\ql {\insrsid1 It\rquote s a }{\b\insrsid1 bold}{\insrsid1  word.
\par {\listtext\pard\plain\ltrpar \loch\af3\hich\f3 \loch\f3\u-3913\'b7\tab}}\pard \ltrpar\ql \fi-360\li720{\*\pn \pnlvlblt\ilvl0\ls1\pnrnot0\pnf3 {\pntxtb \'B7}}\ls1 {\insrsid1 An item\par }
\ltrrow\trowd \irow0\irowband0\ltrrow\ts11 \clvertalt\cellx100\cellx200\pard\plain \ltrpar\ql \intbl\yts11 {\insrsid1 A\cell B\cell }\pard\plain \intbl {\insrsid1 \trowd \irow0\irowband0 \cellx100\cellx200\row }
{\*\themedata 504b0304}{\*\latentstyles\lsdstimax376{\lsdlockedexcept \lsdqformat1 Normal;\lsdqformat1 heading 1;}}{\*\datastore 0105}}`,
			[]string{"h1: Heading", "paragraph: It’s a bold word.", "list: - An item", "table: A | B"}},
		{"TextEdit", "{\\rtf1\\ansi\\ansicpg1252\\cocoartf2639\n{\\fonttbl\\f0\\fswiss\\fcharset0 Helvetica;}\n{\\*\\expandedcolortbl;;}\n\\pard\\tx720\\pardirnatural\n\n\\f0\\fs24 \\cf0 First \\'84x\\'93 line\\\n\\\nSecond {\\field{\\*\\fldinst{HYPERLINK \"http://x/\"}}{\\fldrslt link}}\\uc0\\u8232 below}",
			[]string{"paragraph: First „x“ line", "paragraph: Second link\u2028below"}},
		{"WordPad", "{\\rtf1\\ansi\\ansicpg1251\\deff0\\nouicompat\\deflang1049{\\fonttbl{\\f0\\fnil\\fcharset204 Calibri;}}\r\n{\\*\\generator Riched20 10.0}\\viewkind4\\uc1 \r\n\\pard\\sl240\\f0\\fs22\\lang1049\\'cf\\'f0\\'e8\\'e2\\'e5\\'f2\\par\r\n}\r\n\x00",
			[]string{"paragraph: Привет"}},
		{"LibreOffice", "{\\rtf1\\ansi\\deff3\\adeflang1025\n{\\fonttbl{\\f3\\froman\\fprq2\\fcharset0 Liberation Serif;}}\n{\\stylesheet{\\s0\\snext0\\rtlch\\af8 Normal;}\n{\\s2\\sbasedon15\\snext16\\ilvl1\\outlinelevel1 Heading 2;}}\n{\\*\\generator LibreOffice}{\\info{\\creatim\\yr2021\\mo1\\dy1}}\\pgndec\\pard\\plain \\s2\\outlinelevel1{\\loch\nTitel}\n\\par \\pard\\plain \\s0{\\loch\nText mit Umlaut: \\u252\\'fc}\n\\par }",
			[]string{"h2: Titel", "paragraph: Text mit Umlaut: ü"}},
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
