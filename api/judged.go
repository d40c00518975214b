package api

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"ragagent/retrieval/eval"
)

// sentQuery is a query as clients write it, with what is relevant to it if
// there are no qrels apart.
type sentQuery struct {
	UnderscoreID string          `json:"_id"`
	ID           string          `json:"id"`
	Text         string          `json:"text"`
	Relevant     json.RawMessage `json:"relevant"`
}

// sentJudgement is one line of qrels as clients write it.
type sentJudgement struct {
	QueryID    string `json:"query_id"`
	DocumentID string `json:"document_id"`
	Document   string `json:"document"`
	CorpusID   string `json:"corpus_id"`
	Grade      *int   `json:"grade"`
	Score      *int   `json:"score"`
}

// judgedQueries reads queries and what is relevant to them.
func judgedQueries(queries, qrels json.RawMessage) ([]eval.Question, eval.Qrels, error) {
	questions, judged, err := parseQueries(queries)
	if err != nil {
		return nil, nil, err
	}
	apart, err := parseQrels(qrels)
	if err != nil {
		return nil, nil, err
	}
	for query, grades := range apart {
		if judged[query] == nil {
			judged[query] = map[string]int{}
		}
		maps.Copy(judged[query], grades)
	}
	return questions, judged, nil
}

// parseQueries reads an array of {"_id" or "id", "text", "relevant"} or an
// object id -> text. A query of an array may do without an id: it gets that of
// its place, from 1. "relevant" is an array of documents or an object
// document -> grade.
func parseQueries(raw json.RawMessage) ([]eval.Question, eval.Qrels, error) {
	judged := eval.Qrels{}
	if isJSON(raw, '{') {
		var texts map[string]string
		if err := json.Unmarshal(raw, &texts); err != nil {
			return nil, nil, invalidField("queries", "must be an object of texts by id, or an array: %v", err)
		}
		var questions []eval.Question
		for _, id := range slices.Sorted(maps.Keys(texts)) {
			questions = append(questions, eval.Question{ID: id, Text: strings.TrimSpace(texts[id])})
		}
		return questions, judged, nil
	}
	var sent []sentQuery
	if err := strictArray("queries", raw, &sent); err != nil {
		return nil, nil, err
	}
	questions := make([]eval.Question, len(sent))
	for i, q := range sent {
		id := cmp.Or(q.UnderscoreID, q.ID, fmt.Sprint(i+1))
		questions[i] = eval.Question{ID: id, Text: strings.TrimSpace(q.Text)}
		grades, err := parseGrades(fmt.Sprintf("queries[%d].relevant", i), q.Relevant)
		if err != nil {
			return nil, nil, err
		}
		if grades != nil {
			judged[id] = grades
		}
	}
	return questions, judged, nil
}

// parseGrades reads an array of relevant documents or an object document ->
// grade; nil for nothing.
func parseGrades(field string, raw json.RawMessage) (map[string]int, error) {
	if absent(raw) {
		return nil, nil
	}
	grades := map[string]int{}
	if isJSON(raw, '{') {
		if err := json.Unmarshal(raw, &grades); err != nil {
			return nil, invalidField(field, "must be an object of whole numbers by document: %v", err)
		}
		return grades, nil
	}
	var documents []string
	if err := json.Unmarshal(raw, &documents); err != nil {
		return nil, invalidField(field, "must be an array of documents or an object of grades by document: %v", err)
	}
	for _, d := range documents {
		grades[d] = 1
	}
	return grades, nil
}

// parseQrels reads an array of {"query_id", "document_id" or "document" or
// "corpus_id", "grade" or "score"}, 1 if neither is there; an object query ->
// document -> grade; or the text of a qrels file.
func parseQrels(raw json.RawMessage) (eval.Qrels, error) {
	switch {
	case absent(raw):
		return eval.Qrels{}, nil
	case isJSON(raw, '{'):
		var qrels eval.Qrels
		if err := json.Unmarshal(raw, &qrels); err != nil {
			return nil, invalidField("qrels", "must be an object of objects, query -> document -> grade: %v", err)
		}
		return qrels, nil
	case isJSON(raw, '"'):
		var text string
		if err := json.Unmarshal(raw, &text); err != nil {
			return nil, invalidField("qrels", "%v", err)
		}
		return eval.ReadQrels(strings.NewReader(text), "qrels")
	}
	var sent []sentJudgement
	if err := strictArray("qrels", raw, &sent); err != nil {
		return nil, err
	}
	qrels := eval.Qrels{}
	for i, j := range sent {
		document := cmp.Or(j.DocumentID, j.Document, j.CorpusID)
		if j.QueryID == "" || document == "" {
			return nil, invalidField(fmt.Sprintf("qrels[%d]", i), "needs query_id and document_id")
		}
		grade := 1
		if j.Grade != nil {
			grade = *j.Grade
		} else if j.Score != nil {
			grade = *j.Score
		}
		if qrels[j.QueryID] == nil {
			qrels[j.QueryID] = map[string]int{}
		}
		if old, ok := qrels[j.QueryID][document]; ok && old != grade {
			return nil, invalidField(fmt.Sprintf("qrels[%d]", i), "judges %q for %q a second time, %d after %d", document, j.QueryID, grade, old)
		}
		qrels[j.QueryID][document] = grade
	}
	return qrels, nil
}

// strictArray reads an array of objects without unknown fields.
func strictArray(field string, raw json.RawMessage, into any) error {
	if absent(raw) {
		return invalidField(field, "is missing")
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	if err := dec.Decode(into); err != nil {
		return invalidField(field, "%v", err)
	}
	return nil
}

func absent(raw json.RawMessage) bool { return len(raw) == 0 || string(raw) == "null" }

func isJSON(raw json.RawMessage, first byte) bool {
	return len(bytes.TrimLeft(raw, " \t\r\n")) > 0 && bytes.TrimLeft(raw, " \t\r\n")[0] == first
}
