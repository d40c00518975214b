package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf16"
)

// withApp runs do against the whole product in this process.
func withApp(t *testing.T, do func(*client)) {
	t.Helper()
	e := &env{ctx: t.Context(), stdout: t.Output(), stderr: t.Output()}
	err := withClient(e, reachFlags{dataFlags: dataFlags{Data: t.TempDir()}}, modelFlags{}, true, func(api *client) error {
		do(api)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// ended uploads a file and follows its job to the end.
func ended(t *testing.T, api *client, name string, content []byte) (jobState, submitted) {
	t.Helper()
	doc, err := api.upload(t.Context(), "kb", name, bytes.NewReader(content))
	if err != nil {
		t.Fatalf("upload %q: %v", name, err)
	}
	run := &ingestRun{api: api, kb: "kb", bar: newProgress(t.Output(), 1)}
	state, err := run.lastState(t.Context(), name, doc)
	if err != nil {
		t.Fatalf("follow %q: %v", name, err)
	}
	return state, doc
}

// pdf makes a file of the given objects, numbered from 1, with a right
// cross-reference table.
func pdf(trailer string, objects ...string) []byte {
	var b bytes.Buffer
	b.WriteString("%PDF-1.4\n")
	at := make([]int, len(objects))
	for i, o := range objects {
		at[i] = b.Len()
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", i+1, o)
	}
	xref := b.Len()
	fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n", len(objects)+1)
	for _, n := range at {
		fmt.Fprintf(&b, "%010d 00000 n \n", n)
	}
	fmt.Fprintf(&b, "trailer\n<< /Size %d /Root 1 0 R %s >>\nstartxref\n%d\n%%%%EOF\n", len(objects)+1, trailer, xref)
	return b.Bytes()
}

// page is a PDF of one page with one line of text.
func page(line string) []byte {
	content := "BT /F1 12 Tf 72 720 Td (" + line + ") Tj ET"
	return pdf("",
		"<< /Type /Catalog /Pages 2 0 R >>",
		"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
		"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>",
		fmt.Sprintf("<< /Length %d >>\nstream\n%s\nendstream", len(content), content),
		"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>")
}

func utf16LE(s string) []byte {
	out := []byte{0xff, 0xfe}
	for _, u := range utf16.Encode([]rune(s)) {
		out = append(out, byte(u), byte(u>>8))
	}
	return out
}

// TestOddFiles gives the product what users give it: each file ends ready or
// failed with its cause, and none harms another.
func TestOddFiles(t *testing.T) {
	password := pdf("/Encrypt 3 0 R /ID [<00112233445566778899aabbccddeeff> <00112233445566778899aabbccddeeff>]",
		"<< /Type /Catalog /Pages 2 0 R >>",
		"<< /Type /Pages /Kids [] /Count 0 >>",
		"<< /Filter /Standard /V 2 /R 3 /Length 128 /P -1 /O <"+strings.Repeat("41", 32)+"> /U <"+strings.Repeat("42", 32)+"> >>")
	whole := page("The lighthouse keeper counts 4711 steps.")
	for _, c := range []struct {
		name    string
		content []byte
		status  string
		cause   string // part of the error; "" for ready files
		find    string // what a search then has to find
	}{
		{"blank.md", []byte(" \n\n\t"), "failed", "no text found", ""},
		{"password.pdf", password, "failed", "password", ""},
		{"truncated.pdf", whole[:120], "failed", "damaged", ""},
		{"nopages.pdf", pdf("", "<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Kids [] /Count 0 >>"), "failed", "no text found", ""},
		{"binary.md", append([]byte("\x7fELF\x02\x01\x01\x00"), bytes.Repeat([]byte{0, 1, 2, 0xfe, 0x90}, 500)...), "failed", "unsupported", ""},
		{"latin1.txt", []byte("Der K\xf6nig von M\xfcnchen tr\xe4gt gr\xfcne Str\xfcmpfe und hei\xdft Ludwig."), "ready", "", "grüne Strümpfe"},
		{"utf16.txt", utf16LE("Die Prüfung findet am Donnerstag in Zürich statt."), "ready", "", "Prüfung Donnerstag"},
		{"whole.pdf", whole, "ready", "", "lighthouse keeper steps"},
		{"renamed.txt", []byte("<!DOCTYPE html><html><body><p>The <b>blue</b> gate is locked at noon.</p></body></html>"), "ready", "", "blue gate"},
	} {
		t.Run(c.name, func(t *testing.T) {
			withApp(t, func(api *client) {
				if err := api.ensureKnowledgeBase(t.Context(), "kb"); err != nil {
					t.Fatal(err)
				}
				good, _ := ended(t, api, "good.txt", []byte("A good file beside the odd one mentions zebras."))
				state, doc := ended(t, api, c.name, c.content)
				if state.Status != c.status || !strings.Contains(state.Error, c.cause) {
					t.Errorf("%s: %+v, want %s with %q", c.name, state, c.status, c.cause)
				}
				if good.Status != "ready" || first(t, api, "zebras") != "good.txt" {
					t.Errorf("the good file suffered: %+v", good)
				}
				if c.find != "" {
					if got := first(t, api, c.find); got != c.name {
						t.Errorf("search %q: %q first, want %q", c.find, got, c.name)
					}
				}
				if again, _ := ended(t, api, c.name, c.content); again.ID != doc.JobID {
					t.Errorf("the same file again is job %s, was %s", again.ID, doc.JobID)
				}
			})
		})
	}
}

// first returns the name of the best hit's document.
func first(t *testing.T, api *client, query string) string {
	t.Helper()
	var r retrieved
	if err := api.post(t.Context(), "/api/v1/retrieve", map[string]any{"query": query, "knowledge_bases": []string{"kb"}}, &r); err != nil {
		t.Fatal(err)
	}
	if len(r.Hits) == 0 {
		return ""
	}
	return r.Hits[0].DocumentName
}

// TestBadRequests: each is a clear error that names the field.
func TestBadRequests(t *testing.T) {
	withApp(t, func(api *client) {
		if err := api.ensureKnowledgeBase(t.Context(), "kb"); err != nil {
			t.Fatal(err)
		}
		longName := strings.Repeat("../", 20) + strings.Repeat("n", 240) + ".txt"
		for _, c := range []struct {
			name, path, body string
			status           int
			detail           string
		}{
			{"unknown field", "/retrieve", `{"query": "x", "knowledge_bases": ["kb"], "topk": 3}`, 400, "topk"},
			{"unknown knowledge base", "/retrieve", `{"query": "x", "knowledge_bases": ["nope"]}`, 404, "nope"},
			{"top_k 0", "/retrieve", `{"query": "x", "knowledge_bases": ["kb"], "top_k": 0}`, 400, "top_k"},
			{"top_k a million", "/retrieve", `{"query": "x", "knowledge_bases": ["kb"], "top_k": 1000000}`, 400, "top_k"},
			{"no query", "/retrieve", `{"knowledge_bases": ["kb"]}`, 400, "query"},
			{"bad mode", "/retrieve", `{"query": "x", "knowledge_bases": ["kb"], "mode": "magic"}`, 400, "mode"},
			{"ask unknown", "/ask", `{"question": "x", "knowledge_bases": ["nope"]}`, 404, "nope"},
			{"ask iterations", "/ask", `{"question": "x", "knowledge_bases": ["kb"], "max_iterations": 100}`, 400, "max_iterations"},
			{"not JSON", "/ask", `{"question": `, 400, ""},
			{"text of no knowledge base", "/knowledge-bases/nope/documents", `{"name": "a", "text": "b"}`, 404, "nope"},
			{"document without a name", "/knowledge-bases/kb/documents", `{"name": "..", "text": "b"}`, 400, "name"},
			{"name taken", "/knowledge-bases", `{"name": "kb"}`, 409, "kb"},
		} {
			t.Run(c.name, func(t *testing.T) {
				err := api.do(t.Context(), "POST", "/api/v1"+c.path, strings.NewReader(c.body), "application/json", nil)
				var p *problem
				if !errors.As(err, &p) || p.Status != c.status || !strings.Contains(p.Detail, c.detail) {
					t.Errorf("got %+v (%v), want %d about %q", p, err, c.status, c.detail)
				}
			})
		}
		t.Run("a 300-byte name with ../ in it", func(t *testing.T) {
			doc, err := api.upload(t.Context(), "kb", longName, strings.NewReader("text"))
			if err != nil || strings.Contains(doc.Name, "/") || len(doc.Name) > 255 {
				t.Errorf("got %+v, %v", doc, err)
			}
		})
	})
}

// TestCommandLine goes through the commands as a user types them.
func TestCommandLine(t *testing.T) {
	data, files := t.TempDir(), t.TempDir()
	for name, text := range map[string]string{
		"garden.md":        "# Garden\n\nThe tomatoes are watered every second evening.\n\n## Tools\n\nThe spade is kept in the shed.\n",
		"sub/attic.txt":    "In the attic stands a trunk with letters from 1911.",
		".hidden/note.txt": "not for you",
		"empty.txt":        "",
	} {
		path := filepath.Join(files, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	code, out, msg := command(t, "ingest", "--data", data, "--kb", "house", files)
	if code != exitFailed || out != "2 of 3 files ready\n" || !strings.Contains(msg, "failed: "+filepath.Join(files, "empty.txt")+": file: \"empty.txt\" is empty") {
		t.Errorf("ingest: %d\n%s%s", code, out, msg)
	}
	code, out, msg = command(t, "ask", "--data", data, "--kb", "house", "--json", "How often are the tomatoes watered?")
	var a struct {
		Answer         string `json:"answer"`
		Answerable     bool   `json:"answerable"`
		FinishedReason string `json:"finished_reason"`
		TotalToolCalls int    `json:"total_tool_calls"`
		Citations      []struct {
			ID       int    `json:"id"`
			Quote    string `json:"quote"`
			Verified bool   `json:"verified"`
			Name     string `json:"document_name"`
		} `json:"citations"`
	}
	if err := json.Unmarshal([]byte(out), &a); code != exitOK || err != nil {
		t.Fatalf("ask: %d %v\n%s%s", code, err, out, msg)
	}
	if a.Answer != "The tomatoes are watered every second evening. [1]" || !a.Answerable || a.FinishedReason != "complete" || a.TotalToolCalls != 1 {
		t.Errorf("ask: %+v", a)
	}
	if len(a.Citations) != 1 || !a.Citations[0].Verified || a.Citations[0].Name != "garden.md" ||
		a.Citations[0].Quote != "The tomatoes are watered every second evening." {
		t.Errorf("citations: %+v", a.Citations)
	}
	if code, out, msg = command(t, "verify", "--data", data); code != exitOK {
		t.Errorf("verify: %d\n%s%s", code, out, msg)
	}
	for _, c := range []struct {
		args []string
		code int
		say  string
	}{
		{[]string{"ask", "--data", data, "--kb", "nope", "why?"}, exitFailed, "nope"},
		{[]string{"search", "--data", data, "--kb", "house", "--top-k", "0", "x"}, exitUsage, "top_k"},
		{[]string{"search", "--data", data, "--kb", "house", "--mode", "magic", "x"}, exitUsage, "mode"},
		{[]string{"frobnicate"}, exitUsage, "frobnicate"},
		{[]string{"ingest", "--data", data, "--kb", "house", "/does/not/exist"}, exitFailed, "/does/not/exist"},
		{[]string{"serve", "--data", data, "--addr", "0.0.0.0:0"}, exitUsage, "no API keys"},
		{[]string{"serve", "--data", data, "--addr", "127.0.0.1:0", "--llm", "magic/x"}, exitUsage, "--llm"},
		{[]string{"verify", "--data", filepath.Join(data, "nothing")}, exitFailed, "holds no data"},
		{[]string{"search", "--data", filepath.Join(data, "mistyped"), "--kb", "house", "x"}, exitFailed, "holds no data"},
		{[]string{"eval", "--dataset", files}, exitFailed, "corpus.jsonl"},
		{[]string{"eval", "--dataset", files, "--fail-under", "ndcg@10"}, exitUsage, "ndcg@10=0.41"},
	} {
		t.Run(strings.Join(c.args[:1], " ")+" "+c.say, func(t *testing.T) {
			if code, _, msg := command(t, c.args...); code != c.code || !strings.Contains(msg, c.say) {
				t.Errorf("exit %d, want %d\n%s", code, c.code, msg)
			}
		})
	}
	if code, out, _ := command(t, "version"); code != exitOK || !strings.HasPrefix(out, "ragagent ") {
		t.Errorf("version: %d %q", code, out)
	}
}

// TestSettings: flags win over variables, which win over the file.
func TestSettings(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "ragagent.yaml")
	write := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	fromFile, fromEnv := filepath.Join(dir, "from-file"), filepath.Join(dir, "from-env")
	write("data: " + fromFile + "\nverify:\n  json: true\n")
	if _, _, msg := command(t, "--config", file, "verify"); !strings.Contains(msg, fromFile) {
		t.Errorf("file: %s", msg)
	}
	t.Setenv("RAGAGENT_DATA", fromEnv)
	if _, _, msg := command(t, "--config", file, "verify"); !strings.Contains(msg, fromEnv) {
		t.Errorf("variable: %s", msg)
	}
	if _, _, msg := command(t, "--config", file, "verify", "--data", filepath.Join(dir, "flag")); !strings.Contains(msg, filepath.Join(dir, "flag")) {
		t.Errorf("flag: %s", msg)
	}
	write("dtaa: x\n")
	if code, _, msg := command(t, "--config", file, "verify"); code != exitUsage || !strings.Contains(msg, `"dtaa" is no setting`) {
		t.Errorf("mistyped key: %d %s", code, msg)
	}
}
