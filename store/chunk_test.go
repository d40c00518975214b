package store_test

import (
	"regexp"
	"testing"

	"pgregory.net/rapid"

	"ragagent/store"
)

func TestChunkIDIsOfItsPlaceAndText(t *testing.T) {
	form := regexp.MustCompile(`^chk_[0-9a-f]{32}$`)
	type chunk struct {
		document          string
		revision, ordinal int
		text              string
	}
	chunks := rapid.Custom(func(t *rapid.T) chunk {
		return chunk{
			document: rapid.SampledFrom([]string{"doc_1", "doc_2", "doc_1\x00"}).Draw(t, "document"),
			revision: rapid.IntRange(1, 12).Draw(t, "revision"),
			ordinal:  rapid.IntRange(0, 1<<24-1).Draw(t, "ordinal"),
			text:     rapid.String().Draw(t, "text"),
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		a, b := chunks.Draw(t, "a"), chunks.Draw(t, "b")
		idA := store.ChunkID(a.document, a.revision, a.ordinal, a.text)
		idB := store.ChunkID(b.document, b.revision, b.ordinal, b.text)
		if !form.MatchString(idA) {
			t.Fatalf("%q does not look like an id", idA)
		}
		if (idA == idB) != (a == b) {
			t.Fatalf("%+v is %s and %+v is %s", a, idA, b, idB)
		}
		if later := store.ChunkID(a.document, a.revision, a.ordinal+1, b.text); a.ordinal < 1<<24-1 && later <= idA {
			t.Fatalf("%s of the next chunk does not sort behind %s", later, idA)
		}
	})
}
