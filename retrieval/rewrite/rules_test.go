package rewrite_test

import (
	"testing"

	"ragagent/retrieval"
	"ragagent/retrieval/rewrite"
)

func TestRewrite(t *testing.T) {
	user := func(texts ...string) []retrieval.Turn {
		var turns []retrieval.Turn
		for _, text := range texts {
			turns = append(turns, retrieval.Turn{Role: "user", Text: text}, retrieval.Turn{Role: "assistant", Text: "An answer."})
		}
		return turns
	}
	boeing := "How much did Boeing spend on research in 2022?"
	for _, test := range []struct {
		name, text string
		history    []retrieval.Turn
		want       string
	}{
		{"a question that stands alone", boeing, user("Who founded Intel?"), boeing},
		{"nothing before", "What about it?", nil, "What about it?"},
		{"courtesy", "Hi, could you please tell me who founded Intel, please?", nil, "who founded Intel"},
		{"courtesy that is the question", "Please explain", nil, "Please explain"},
		{"a title that begins like one", "Hello Dolly premiere date", nil, "Hello Dolly premiere date"},
		{"ellipsis", "And in 2021?", user(boeing), "And in 2021? much Boeing spend research 2022"},
		{"pronoun", "Where is its headquarters located?", user("Who founded Intel?"), "Where is its headquarters located? founded Intel"},
		{"pronoun beside a name", "Who sold it to Nokia?", user("Who founded Intel?"), "Who sold it to Nokia?"},
		{"two steps back", "Why?", user("Who founded Intel?", "When was that?"), "Why? founded Intel"},
		{"the assistant's words are not the topic", "Why?", []retrieval.Turn{{Role: "assistant", Text: "Ask me about cats."}}, "Why?"},
		{"Chinese", "为什么？", user("战国史模式"), "为什么？"},
	} {
		got, err := rewrite.New(rewrite.Config{}).Rewrite(t.Context(), test.text, test.history)
		if err != nil || got != test.want {
			t.Errorf("%s:\n got %q, %v\nwant %q", test.name, got, err, test.want)
		}
	}
}
