package react

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// dialects are replies as models write them, with what they mean. Said is
// compared where it is given.
var dialects = map[string]struct {
	text string
	want Reply
}{
	"labels": {"Thought: look it up\nAction: search\nAction Input: {\"query\": \"tides\"}\n",
		Reply{Thought: "look it up", Action: "search", Input: `{"query": "tides"}`}},
	"final answer": {"Thought: I know\nFinal Answer: Twelve metres [1].", Reply{Thought: "I know", Answer: "Twelve metres [1]."}},
	"one word":     {"FinalAnswer: 42", Reply{Answer: "42"}},
	"any case":     {"THOUGHT: hm\nACTION: search\nACTION INPUT: tides", Reply{Thought: "hm", Action: "search", Input: "tides"}},
	"bold": {"**Thought:** hm\n**Action**: `search`\n**Action Input:** **tides**",
		Reply{Thought: "hm", Action: "search", Input: "**tides**"}},
	"bold answer":  {"**Final Answer:** **Paris** it is", Reply{Answer: "**Paris** it is"}},
	"headings":     {"### Thought: hm\n### Final Answer: 42", Reply{Thought: "hm", Answer: "42"}},
	"numbered":     {"Thought 1: hm\nAction 1: Search[Milhouse]\nObservation 1: He is a boy.", Reply{Thought: "hm", Action: "Search", Input: "Milhouse"}},
	"finish":       {"Thought 2: done\nAction 2: Finish[Richard Nixon]", Reply{Thought: "done", Answer: "Richard Nixon"}},
	"wide colons":  {"Thought：想一想\nAction：search\nAction Input：潮汐", Reply{Thought: "想一想", Action: "search", Input: "潮汐"}},
	"Chinese":      {"Thought: 我知道了。Final Answer: 十二米。", Reply{Thought: "我知道了。", Answer: "十二米。"}},
	"in one line":  {"Thought: I know it. Final Answer: 42", Reply{Thought: "I know it.", Answer: "42"}},
	"all one line": {`Thought: I look. Action: search Action Input: {"query": "x"} Observation: y`, Reply{Thought: "I look.", Action: "search", Input: `{"query": "x"}`}},
	"label in a sentence": {"Thought: I will write Final Answer: when done\nFinal Answer: 42",
		Reply{Thought: "I will write Final Answer: when done", Answer: "42"}},
	"LlamaIndex":      {"Thought: I can answer without using any more tools.\nAnswer: 42", Reply{Thought: "I can answer without using any more tools.", Answer: "42"}},
	"no label":        {"The range is 12 metres.", Reply{Answer: "The range is 12 metres."}},
	"no label, Q & A": {"Question: how?\nAnswer: so", Reply{Answer: "Question: how?\nAnswer: so"}},
	"nothing":         {" \n", Reply{}},
	"preface": {"I will look that up.\nAction: search\nAction Input: x",
		Reply{Thought: "I will look that up.", Action: "search", Input: "x"}},
	"no input":              {"Action: clock", Reply{Action: "clock"}},
	"no input, later":       {"Action: clock\n\nObservation: noon", Reply{Action: "clock"}},
	"input unlabelled":      {"Action: search\n{\"query\": \"x\"}", Reply{Action: "search", Input: `{"query": "x"}`}},
	"name below":            {"Action:\nsearch\nAction Input:\n```json\n{\"query\": \"x\"}\n```", Reply{Action: "search", Input: `{"query": "x"}`}},
	"plain text in a fence": {"Action: run\nAction Input:\n```python\nprint(1)\n```\n", Reply{Action: "run", Input: "print(1)"}},
	"plain text of lines":   {"Action: note\nAction Input: one\ntwo: 2\n\nObservation: x", Reply{Action: "note", Input: "one\ntwo: 2"}},
	"call":                  {`Action: search("tides")`, Reply{Action: "search", Input: `"tides"`}},
	"keywords":              {`Action: search(query="a=b", top_k=3)`, Reply{Action: "search", Input: `{query:"a=b", top_k:3}`}},
	"call and input":        {"Action: add (two numbers)\nAction Input: {\"a\": 1}", Reply{Action: "add", Input: `{"a": 1}`}},
	"call of an object":     {`Action: search({"query": "x"})`, Reply{Action: "search", Input: `{"query": "x"}`}},
	"brackets":              {"Action: [search]\nAction Input: x", Reply{Action: "search", Input: "x"}},

	"blob": {`Thought: hm` + "\n" + `Action: {"action": "search", "action_input": {"query": "x"}}`, Reply{Thought: "hm", Action: "search", Input: `{"query":"x"}`}},
	"blob in a fence": {"Thought: hm\nAction:\n```json\n{\n  \"action\": \"search\",\n  \"action_input\": \"x\"\n}\n```",
		Reply{Thought: "hm", Action: "search", Input: `"x"`}},
	"blob behind a fence": {"Through abc\nAction: ```{\"action\": \"Final Answer\", \"action_input\": \"```echarts\n {}\n```\"}```",
		Reply{Thought: "Through abc", Answer: "```echarts\n {}\n```"}},
	"blob in a list":       {"Action: ```[{\"action\": \"search\", \"action_input\": \"x\"}]```", Reply{Action: "search", Input: `"x"`}},
	"bare blob":            {"{\"action\": \"search\", \"action_input\": {\"query\": \"x\"}}", Reply{Action: "search", Input: `{"query":"x"}`}},
	"bare blob in a fence": {"I look.\n```json\n{\n\"action\": \"search\", \"action_input\": {}}\n```\n", Reply{Thought: "I look.", Action: "search", Input: `{}`}},
	"Python's blob":        {"{'action': 'search', 'action_input': {'query': None,}}", Reply{Action: "search", Input: `{"query":null}`}},
	"several blobs": {"Thought: a\n{\"action\": \"one\", \"action_input\": \"1\"}\n{\"action\": \"two\", \"action_input\": \"2\"}\nFinal Answer: 3",
		Reply{Thought: "a", Action: "one", Input: `"1"`}},
	"blob with a final answer": {"{\"action\": \"Final Answer\", \"action_input\": \"It is {42} [1].\"}", Reply{Answer: "It is {42} [1]."}},
	"blob of another kind":     {`Action: {"tool": "search", "arguments": {"query": "x"}}`, Reply{Action: "search", Input: `{"query":"x"}`}},
	"blob behind Final Answer": {"Final Answer: ```json\n{\"action\": \"Final Answer\", \"action_input\": \"42\"}\n```", Reply{Answer: "42"}},
	"braces in strings":        {`Action: {"action": "search", "action_input": "}{ \"}{"}`, Reply{Action: "search", Input: `"}{ \"}{"`}},

	"JSON in a thought": {"Thought: the form is {\"action\": \"x\", \"action_input\": \"y\"} I think\nFinal Answer: 42",
		Reply{Thought: "the form is {\"action\": \"x\", \"action_input\": \"y\"} I think", Answer: "42"}},
	"other JSON in a thought":  {"Thought: it is\n{\"name\": \"Bob\"}\nso\nFinal Answer: 42", Reply{Thought: "it is\n{\"name\": \"Bob\"}\nso", Answer: "42"}},
	"JSON as the answer":       {"Final Answer: {\"a\": [1, {\"b\": 2}]}", Reply{Answer: "{\"a\": [1, {\"b\": 2}]}"}},
	"code as the answer":       {"Final Answer:\n```json\n{\"a\": 1}\n```", Reply{Answer: "```json\n{\"a\": 1}\n```"}},
	"unlabelled JSON":          {"{\"name\": \"Bob\"}", Reply{Answer: "{\"name\": \"Bob\"}"}},
	"open braces":              {"Final Answer: a { b [ c\nd", Reply{Answer: "a { b [ c\nd"}},
	"open braces in a thought": {"Thought: {\n{\nhm\nFinal Answer: 42", Reply{Thought: "{\n{\nhm", Answer: "42"}},

	"runs on": {"Action: search\nAction Input: x\nObservation: It is sunny.\nThought: I know\nFinal Answer: sunny",
		Reply{Action: "search", Input: "x", Said: "Action: search\nAction Input: x"}},
	"runs on after the answer":        {"Final Answer: 42\n\nObservation: ok\nThought: more", Reply{Answer: "42", Said: "Final Answer: 42"}},
	"goes on thinking":                {"Final Answer: 42\nThought: or 43?", Reply{Answer: "42"}},
	"answers, then acts":              {"Final Answer: 42\n\nAction: search\nAction Input: {}", Reply{Answer: "42"}},
	"answers, then acts in JSON":      {"Final Answer: 42\nAction:\n```json\n{\"action\": \"search\"}\n```", Reply{Answer: "42"}},
	"answers, then acts in bare JSON": {"Final Answer: 42\n```json\n{\n\"action\": \"search\", \"action_input\": 1}\n```", Reply{Answer: "42"}},
	"an answer of actions in JSON":    {"Final Answer: so:\n{\"action\": \"buy\"}\nor\n```\n{\"a\": 1}\n```", Reply{Answer: "so:\n{\"action\": \"buy\"}\nor\n```\n{\"a\": 1}\n```"}},
	"acts, then answers":              {"Action: search\nAction Input: {\"q\": 1}\nFinal Answer: 42", Reply{Action: "search", Input: `{"q": 1}`}},
	"an answer about actions":         {"Final Answer: Minutes\nAction: call Bob\nAction: call Eve\nDone", Reply{Answer: "Minutes\nAction: call Bob\nAction: call Eve\nDone"}},
	"answers twice":                   {"Final Answer: 42\nFinal Answer: 43", Reply{Answer: "42\n43"}},
	"reply in a fence":                {"```\nThought: hm\nFinal Answer: 42\n```", Reply{Thought: "hm", Answer: "42"}},
	"no action":                       {"Thought: hm\nAction: None\nFinal Answer: 42", Reply{Thought: "hm", Answer: "42"}},
	"no action, no input":             {"Thought: hm\nAction: None\nAction Input: N/A\nFinal Answer: 42", Reply{Thought: "hm\n N/A", Answer: "42"}},
	"tool call":                       {"<tool_call>\n{\"name\": \"search\", \"arguments\": {\"query\": 1}}\n</tool_call>", Reply{Action: "search", Input: `{"query":1}`}},
	"answer as an action":             {"Action: Final Answer\nAction Input: 42 [1]", Reply{Answer: "42 [1]"}},

	"thinking without its tag": {"I could write\nAction: x\n</think>\nFinal Answer: 42", Reply{Thought: "I could write", Answer: "42"}},

	"thought only": {"Thought: I should search", Reply{Thought: "I should search",
		Problem: "Your reply has a Thought, but neither an Action nor a Final Answer. " + howToGoOn}},
	"observation only": {"Observation: sunny", Reply{Problem: "Observations are written by the server, after an Action. " + howToGoOn}},
	"empty answer":     {"Final Answer: ", Reply{Problem: "Your Final Answer was empty. " + howToGoOn}},
	"empty action":     {"Thought: a\nAction:", Reply{Thought: "a", Problem: "Your Action names no tool. " + howToGoOn}},
	"input only": {"Action Input: {\"query\": 1}",
		Reply{Problem: `Your reply has an Action Input, but no Action. Write "Action:" with the name of a tool before it.`}},
	"broken blob": {"Action: {\"action\": search \"x\"}\n", Reply{
		Problem: `Your Action is not JSON of the form {"action": the name of a tool, "action_input": its arguments}. Write it again.`}},
	"muddle":        {"{\n{\"action\": \"search\", \"action_input\": \"x\"}", Reply{Problem: "Your reply could not be understood. " + howToGoOn}},
	"blob cut off":  {"{\"action\": \"search\", \"action_inp", Reply{Problem: "Your action's JSON is cut off. Write it again, whole and shorter."}},
	"input cut off": {"Action: search\nAction Input: {\"query\": \"x\nObservation: y", Reply{Action: "search", Input: "{\"query\": \"x\nObservation: y"}},
	"brace missing": {"Action: search\nAction Input: {\"query\": \"x\"\nObservation: y", Reply{Action: "search", Input: "{\"query\": \"x\"\nObservation:"}},
}

// parse reads pieces and checks what holds for every reply: what was handed on
// is what the reply says.
func parse(t interface{ Errorf(string, ...any) }, pieces ...string) (r Reply, thought, answer string) {
	var thoughts, answers strings.Builder
	p := Parser{OnThought: func(s string) { thoughts.WriteString(s) }, OnAnswer: func(s string) { answers.WriteString(s) }}
	for _, s := range pieces {
		p.Write(s)
	}
	r = p.Close()
	if got := strings.TrimSpace(answers.String()); got != r.Answer {
		t.Errorf("handed on %q of the answer %q", got, r.Answer)
	}
	if got := strings.TrimSpace(thoughts.String()); got != r.Thought {
		t.Errorf("handed on %q of the thought %q", got, r.Thought)
	}
	return r, thoughts.String(), answers.String()
}

func TestDialects(t *testing.T) {
	for name, tt := range dialects {
		t.Run(name, func(t *testing.T) {
			got, _, _ := parse(t, tt.text)
			if tt.want.Said == "" {
				got.Said = ""
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("%s\n(-want +got):\n%s", tt.text, diff)
			}
		})
	}
}

// TestEveryCut: in two pieces at every byte, and in single bytes.
func TestEveryCut(t *testing.T) {
	for name, tt := range dialects {
		t.Run(name, func(t *testing.T) {
			want, thought, answer := parse(t, tt.text)
			check := func(pieces ...string) {
				got, gotThought, gotAnswer := parse(t, pieces...)
				if diff := cmp.Diff(want, got); diff != "" || gotThought != thought || gotAnswer != answer {
					t.Fatalf("%q: %s\nthought %q, want %q; answer %q, want %q", pieces, diff, gotThought, thought, gotAnswer, answer)
				}
			}
			for i := range tt.text {
				check(tt.text[:i], tt.text[i:])
			}
			check(strings.Split(tt.text, "")...)
			var bytes []string
			for i := range len(tt.text) {
				bytes = append(bytes, tt.text[i:i+1])
			}
			check(bytes...)
		})
	}
}

// TestAnyReply: replies of any pieces of the scaffold, in any order and cut
// anywhere, mean the same as whole, and their answers hold no label.
func TestAnyReply(t *testing.T) {
	words := []string{
		"Thought:", "Action:", "Action Input:", "Observation:", "Final Answer:", "FinalAnswer:", "**Thought**:", "Answer:", "</think>",
		"\n", "\n\n", " ", ". ", "search", "tides", "潮", "[1]", "{", "}", "[", "]", "\"", "'", "`", "```", "```json\n", ":", "：", "None", "*",
		`{"action": "search", "action_input": {"query": "x"}}`, `{"action": "Final Answer", "action_input": "12 m"}`, `{"a": 1}`, "\\", "\xff",
	}
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(words), 0, 25).Draw(t, "words"), "")
		want, thought, answer := parse(t, text)
		var pieces []string
		for rest := text; rest != ""; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "piece")
			pieces, rest = append(pieces, rest[:n]), rest[n:]
		}
		got, gotThought, gotAnswer := parse(t, pieces...)
		if diff := cmp.Diff(want, got); diff != "" || gotThought != thought || gotAnswer != answer {
			t.Fatalf("%q\nfrom %q:\n%s", text, pieces, diff)
		}
		set := 0
		for _, s := range []string{got.Answer, got.Action, got.Problem} {
			if s != "" {
				set++
			}
		}
		if set > 1 || set == 0 && got.Said != "" {
			t.Errorf("%q is %+v", text, got)
		}
	})
}

// TestLongReplies of the kinds that cost most: quadratic time would be minutes.
func TestLongReplies(t *testing.T) {
	for _, begin := range []string{"", "Thought: ", "Action: ", "Action: x\nAction Input: ", "Action: x\nAction Input: {", "Final Answer: "} {
		for _, s := range []string{":", "{", "Thought", "a:", " ", "\n", "`", "</think>", "\nAction:", "Final Answer: ", "{\"action\":", "潮：", "[\n"} {
			p := Parser{}
			p.Write(begin + strings.Repeat(s, (64<<10)/len(s)))
			p.Close()
		}
	}
}
