package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"ragagent/agent"
)

// TestResumeInAnotherServer: a run that asks the user a question survives the
// server; the next one shows it, goes on with it, and does so once.
func TestResumeInAnotherServer(t *testing.T) {
	const question = `{"content":"","tool_calls":[{"id":"c1","type":"function","function":{"name":"ask_user","arguments":"{\"question\":\"Which zebras?\"}"}}]}`
	model := &scriptedServer{replies: []string{question, say("None of them.")}}
	server := httptest.NewServer(model)
	defer server.Close()
	data := reachFlags{dataFlags: dataFlags{Data: t.TempDir()}}
	models := modelFlags{LLM: "openai/tiny", LLMURL: server.URL}
	with := func(do func(*client)) {
		t.Helper()
		e := &env{ctx: t.Context(), stdout: t.Output(), stderr: t.Output()}
		if err := withClient(e, data, models, true, func(api *client) error { do(api); return nil }); err != nil {
			t.Fatal(err)
		}
	}
	var before agent.Result
	with(func(api *client) { before = askAbout(t, api, `"interactive":true,"agent":"rag",`) })
	if before.FinishedReason != agent.Interrupted || len(before.Interrupts) != 1 || before.Interrupts[0].Question != "Which zebras?" {
		t.Fatalf("%s, waits for %+v", before.FinishedReason, before.Interrupts)
	}
	with(func(api *client) {
		path := "/api/v1/runs/" + before.RunID
		var run struct {
			Status     string
			Agent      string
			Interrupts []agent.Interrupt
		}
		if err := api.get(t.Context(), path, &run); err != nil || run.Status != "waiting" || run.Agent != "rag" || len(run.Interrupts) != 1 {
			t.Errorf("%+v, %v", run, err)
		}
		if err := api.post(t.Context(), path+"/resume", map[string]any{}, nil); err == nil || !strings.Contains(err.Error(), "waits for one") {
			t.Errorf("without a decision: %v", err)
		}
		decisions := map[string]any{"decisions": []agent.Decision{{CallID: run.Interrupts[0].CallID, Answer: "The grey ones."}}}
		var after agent.Result
		if err := api.post(t.Context(), path+"/resume", decisions, &after); err != nil || after.Answer != "None of them." || after.RunID != before.RunID {
			t.Errorf("%q of %s, %v", after.Answer, after.RunID, err)
		}
		if err := api.get(t.Context(), path, &run); err != nil || run.Status != "ended" {
			t.Errorf("%+v, %v", run, err)
		}
		if err := api.post(t.Context(), path+"/resume", decisions, nil); err == nil || !strings.Contains(err.Error(), "has ended") {
			t.Errorf("resumed twice: %v", err)
		}
	})
	if last := model.requests[len(model.requests)-1]; !strings.Contains(last, "The grey ones.") {
		t.Errorf("the model was told %s", last)
	}
}

// TestAgentsOverHTTP: an agent is put, used with its own prompt and tools, and
// deleted; a wrong one is refused with its line.
func TestAgentsOverHTTP(t *testing.T) {
	model := &scriptedServer{replies: []string{say("Grey, I say.")}}
	server := httptest.NewServer(model)
	defer server.Close()
	withModel(t, modelFlags{LLM: "openai/tiny", LLMURL: server.URL}, func(api *client) {
		put := func(source string) error {
			return api.do(t.Context(), http.MethodPut, "/api/v1/agents/mine", strings.NewReader(source), "application/yaml", nil)
		}
		if err := put("name: mine\ndescription: x\ntools: [rm]\n"); err == nil || !strings.Contains(err.Error(), `mine.yaml:3: tools: there is no tool "rm"`) {
			t.Errorf("a wrong one: %v", err)
		}
		if err := put("name: mine\ndescription: x\nprompt: Speak as Ada.\ntools: [calculator]\n"); err != nil {
			t.Fatal(err)
		}
		if got := askAbout(t, api, `"agent":"mine",`); got.Answer != "Grey, I say." {
			t.Errorf("answered %q", got.Answer)
		}
		if asked := model.requests[0]; !strings.Contains(asked, "Speak as Ada.") || !strings.Contains(asked, `"calculator"`) || strings.Contains(asked, "dataset_retriever") {
			t.Errorf("asked %s", asked)
		}
		for path, names := range map[string]string{
			"agents": "mine rag research researcher team writer", "strategies": "codeact function_call react",
			"tools": "dataset_retriever list_documents read_document find_in_document calculator current_time",
		} {
			var all struct{ Data []struct{ Name string } }
			if err := api.get(t.Context(), "/api/v1/"+path, &all); err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, one := range all.Data {
				got = append(got, one.Name)
			}
			if strings.Join(got, " ") != names {
				t.Errorf("%s: %v", path, got)
			}
		}
		if err := api.do(t.Context(), http.MethodDelete, "/api/v1/agents/mine", nil, "", nil); err != nil {
			t.Error(err)
		}
	})
}
