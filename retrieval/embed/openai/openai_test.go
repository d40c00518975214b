package openai_test

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ragagent/retrieval/embed"
	"ragagent/retrieval/embed/openai"
	"ragagent/store"
)

const key = "sk-secret-0123456789"

func open(t *testing.T, url string) (*embed.Remote, error) {
	t.Helper()
	s, err := openai.New(openai.Config{BaseURL: url, Model: "e5-base", Key: key, Dimensions: 3})
	if err != nil {
		t.Fatal(err)
	}
	return embed.NewRemote(t.Context(), embed.RemoteConfig{
		Service: s, Name: "openai/e5-base", Model: "e5-base", Attempts: 2, Backoff: time.Microsecond, Timeout: 10 * time.Second,
	})
}

// TestEmbed: the request is what the API wants, and the answer's indexes count,
// not its order.
func TestEmbed(t *testing.T) {
	var last string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		last = r.Method + " " + r.URL.Path + " " + r.Header.Get("Authorization") + " " + string(raw)
		var in struct{ Input []string }
		_ = json.Unmarshal(raw, &in)
		if len(in.Input) == 1 {
			_, _ = io.WriteString(w, `{"data":[{"index":0,"embedding":[0,2,0]}]}`)
			return
		}
		_, _ = io.WriteString(w, `{"data":[{"index":1,"embedding":[0,0,5]},{"index":0,"embedding":[4,0,0]}]}`)
	}))
	defer server.Close()
	e, err := open(t, server.URL)
	if err != nil {
		t.Fatal(err)
	}
	got, err := e.Embed(t.Context(), []string{"a", "b"})
	if diff := cmp.Diff([][]float32{{1, 0, 0}, {0, 0, 1}}, got); diff != "" || err != nil {
		t.Errorf("%s, %v", diff, err)
	}
	want := `POST /v1/embeddings Bearer ` + key +
		` {"model":"e5-base","input":["passage: a","passage: b"],"encoding_format":"float","dimensions":3}`
	if last != want {
		t.Errorf("got  %s\nwant %s", last, want)
	}
}

// TestFaults: what a server does wrong is said, without the key.
func TestFaults(t *testing.T) {
	for name, c := range map[string]struct {
		status      int
		body        string
		unavailable bool
	}{
		"wrong key":     {401, `{"error":{"message":"Incorrect API key provided: ` + key + `"}}`, false},
		"unknown model": {404, `{"error":{"message":"no such model"}}`, false},
		"rate limit":    {429, `{"error":{"message":"slow down","code":"rate_limit_exceeded"}}`, true},
		"no money":      {429, `{"error":{"message":"pay first","code":"insufficient_quota"}}`, false},
		"down":          {503, `upstream is gone`, true},
		"moved":         {302, ``, false},
		"no JSON":       {200, `<html>`, false},
		"count":         {200, `{"data":[]}`, false},
		"index":         {200, `{"data":[{"index":7,"embedding":[1,0,0]}]}`, false},
		"no vector":     {200, `{"data":[{"index":0}]}`, false},
		"zero":          {200, `{"data":[{"index":0,"embedding":[0,0,0]}]}`, false},
		"endless":       {200, `{"data":"` + strings.Repeat("x", 17<<20) + `"}`, false},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Location", "http://127.0.0.1:1/")
				w.WriteHeader(c.status)
				_, _ = io.WriteString(w, c.body)
			}))
			defer server.Close()
			_, err := open(t, server.URL)
			if err == nil || errors.Is(err, store.ErrUnavailable) != c.unavailable {
				t.Fatalf("got %v", err)
			}
			if strings.Contains(err.Error(), key) || len(err.Error()) > 1000 {
				t.Errorf("the error has the key or is too long: %.200s", err)
			}
		})
	}
	t.Run("nobody there", func(t *testing.T) {
		server := httptest.NewServer(nil)
		server.Close()
		if _, err := open(t, server.URL); !errors.Is(err, store.ErrUnavailable) {
			t.Errorf("got %v", err)
		}
	})
}

func TestBaseURL(t *testing.T) {
	for _, bad := range []string{"ftp://x", "http://", "http://user:pass@host", "://"} {
		if _, err := openai.New(openai.Config{BaseURL: bad, Model: "m"}); err == nil {
			t.Errorf("%q was accepted", bad)
		}
	}
}
