package crossencoder

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
)

// judgement is one line of an answer, whichever name the score goes by.
type judgement struct {
	Index          *int     `json:"index"`
	RelevanceScore *float64 `json:"relevance_score"`
	Score          *float64 `json:"score"`
}

// parse reads an answer about n texts: a list of judgements, or an object with
// one under "results" or "data". What names no text, or one twice, is passed
// over. Where there are no scores, the order of the list is what counts.
func parse(answer []byte, n int) ([]scored, error) {
	var list []judgement
	if bytes.HasPrefix(bytes.TrimSpace(answer), []byte("[")) {
		if err := json.Unmarshal(answer, &list); err != nil {
			return nil, fmt.Errorf("not a list of judgements: %w", err)
		}
	} else {
		var object struct {
			Results []judgement `json:"results"`
			Data    []judgement `json:"data"`
		}
		if err := json.Unmarshal(answer, &object); err != nil {
			return nil, fmt.Errorf("not an object with results: %w", err)
		}
		if list = object.Results; list == nil {
			list = object.Data
		}
	}
	out := make([]scored, 0, len(list))
	seen := make([]bool, n)
	for place, j := range list {
		if j.Index == nil || *j.Index < 0 || *j.Index >= n || seen[*j.Index] {
			continue
		}
		seen[*j.Index] = true
		out = append(out, scored{*j.Index, j.score(place)})
	}
	if len(out) == 0 {
		return nil, errors.New("it judges none of the texts")
	}
	return out, nil
}

// score is what the server gave, else one that falls with the place.
func (j judgement) score(place int) float64 {
	for _, s := range []*float64{j.RelevanceScore, j.Score} {
		if s != nil && !math.IsNaN(*s) && !math.IsInf(*s, 0) {
			return *s
		}
	}
	return 1 / float64(place+1)
}
