package eval

import (
	"encoding/json"
	"iter"
	"os"
)

// record is a line of any of the JSON Lines files of a collection.
type record struct {
	ID        string   `json:"_id"`
	Title     string   `json:"title"`
	Text      string   `json:"text"`
	Answers   []string `json:"answers"`
	Type      string   `json:"type"`
	Reasoning string   `json:"reasoning"`
	// Accepted is a person's word on a drafted question: true, false, or null
	// while nobody has looked; nil in collections that were not drafted.
	Accepted json.RawMessage `json:"accepted"`

	at line // where it stands; without its text
}

// records yields the records of the file at path, one line in memory at a
// time, and stops after the first error. A record without an id is one.
func records(path string) iter.Seq2[record, error] {
	return func(yield func(record, error) bool) {
		f, err := os.Open(path)
		if err != nil {
			yield(record{}, opening(path, err))
			return
		}
		defer f.Close()
		for l, err := range lines(f, path) {
			if err != nil {
				yield(record{}, err)
				return
			}
			rec := record{at: line{file: l.file, n: l.n}}
			if err := json.Unmarshal(l.text, &rec); err != nil {
				yield(record{}, l.invalid("not a JSON object with string \"_id\" and text: %v", err))
				return
			}
			if rec.ID == "" {
				yield(record{}, l.invalid("no \"_id\": every line needs one, and it must not be empty"))
				return
			}
			if !yield(rec, nil) {
				return
			}
		}
	}
}
