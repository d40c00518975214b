package ingest

import (
	"path"
	"strings"
	"unicode"
)

// titleOf names a document for search: by the title found in it, or, where that
// is missing or says nothing (an accession number, "untitled"), by the words of
// its file name. Reports are often told apart by their file names alone.
func titleOf(found, name string) string {
	if found = strings.TrimSpace(found); telling(found) {
		return found
	}
	stem := strings.TrimSuffix(name, path.Ext(name))
	words := strings.FieldsFunc(stem, func(r rune) bool {
		return r == '_' || r == '-' || r == '.' || unicode.IsSpace(r)
	})
	return strings.Join(words, " ")
}

// telling says whether a title has a word in it, beside what programs put
// there when nobody wrote one.
func telling(title string) bool {
	switch strings.ToLower(title) {
	case "untitled", "document", "title", "microsoft word":
		return false
	}
	return strings.ContainsFunc(title, unicode.IsLetter)
}
