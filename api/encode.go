package api

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// encode is json.Marshal that leaves <, > and & as they are: nothing here is
// ever read as HTML, and people read it in terminals.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, fmt.Errorf("encode the answer: %w", err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
