package api

import (
	"bytes"
	"encoding/json"
	"math/big"
	"strings"

	"ragagent/store"
)

// metadataFrom reads a JSON object of strings, numbers, booleans and lists of
// strings. Which of them a document may have is ingest's to say: values of
// other kinds are handed on as they are and refused there by name.
func metadataFrom(raw []byte) (store.Metadata, error) {
	var m store.Metadata
	if err := json.Unmarshal(raw, &m); err != nil || m == nil {
		return nil, invalidField("metadata", "must be a JSON object")
	}
	if err := checkMembers(raw); err != nil {
		return nil, err
	}
	for key, value := range m {
		items, ok := value.([]any)
		if !ok {
			continue
		}
		words := make([]string, 0, len(items))
		for _, item := range items {
			if word, ok := item.(string); ok {
				words = append(words, word)
			}
		}
		if len(words) == len(items) {
			m[key] = words
		}
	}
	return m, nil
}

// checkMembers refuses what would silently become another value: of a key that
// stands there twice the last, and of a whole number beyond 2^53 the next one
// that a float64 can be. raw is a JSON object.
func checkMembers(raw []byte) error {
	members := json.NewDecoder(bytes.NewReader(raw))
	if _, err := members.Token(); err != nil { // the brace
		return invalidField("metadata", "must be a JSON object")
	}
	seen := map[string]bool{}
	for members.More() {
		name, err := members.Token()
		var value json.RawMessage
		if err == nil {
			err = members.Decode(&value)
		}
		key, ok := name.(string)
		switch {
		case err != nil || !ok:
			return invalidField("metadata", "must be a JSON object")
		case seen[key]:
			return invalidField("metadata."+key, "stands here twice")
		case rounded(string(value)):
			return invalidField("metadata."+key, "is a whole number that cannot be kept exactly: send it as a string")
		}
		seen[key] = true
	}
	return nil
}

// exactDigits is how many digits a whole number may have that is below 2^53
// whatever they are.
const exactDigits = 15

// rounded says that a JSON value is a whole number which no float64 is.
func rounded(value string) bool {
	digits := strings.TrimPrefix(value, "-")
	if len(digits) <= exactDigits || strings.Trim(digits, "0123456789") != "" {
		return false
	}
	exact, ok := new(big.Int).SetString(digits, 10)
	if !ok {
		return true
	}
	_, accuracy := new(big.Float).SetInt(exact).Float64()
	return accuracy != big.Exact
}
