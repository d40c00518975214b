package archive

import (
	"testing"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/simplifiedchinese"
)

func TestNamesInZips(t *testing.T) {
	for want, with := range map[string]encoding.Encoding{
		"議事録/2024年度.txt":     japanese.ShiftJIS,
		"データ一覧.csv":          japanese.ShiftJIS,
		"テスト (最終版).md":       japanese.ShiftJIS,
		"中文文档/年度报告2023.pdf":  simplifiedchinese.GBK,
		"会议记录.docx":          simplifiedchinese.GBK,
		"Größe und Höhe.txt": charmap.CodePage437,
		"höher/früher.txt":   charmap.CodePage437,
		"Übergröße.txt":      charmap.CodePage437,
		"résumé.doc":         charmap.CodePage437,
		"mañana está.txt":    charmap.CodePage437,
		"plain.txt":          charmap.CodePage437,
	} {
		raw, err := with.NewEncoder().String(want)
		if err != nil {
			t.Fatal(err)
		}
		if got := decodeZip(raw, false); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if got := decodeZip("\x81", false); got != "ü" {
		t.Errorf("got %q", got)
	}
}
