package api

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"
)

func FuzzReadForm(f *testing.F) {
	for _, parts := range [][][3]string{
		{{"file", "a.txt", "x"}, {"metadata", "", `{"a":[1,"b"]}`}},
		{{"file", "", "x"}},
		{{"metadata", "", "null"}, {"other", "b", ""}},
	} {
		body, _ := multipartBody(parts...)
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		s := &Server{cfg: Config{MaxFileBytes: 300, MaxFiles: 2, MaxUploadBytes: 400, SpoolDir: t.TempDir()}}
		r := httptest.NewRequest(http.MethodPost, "/", bytes.NewReader(body))
		r.Header.Set("Content-Type", "multipart/form-data; boundary=frontier")
		var got form
		err := s.readForm(r, &got)
		if err != nil {
			if status := problemOf(err).Status; status < 400 || status > 499 {
				t.Errorf("%q: %v", body, err)
			}
		} else if len(got.files) == 0 || len(got.files) > 2 {
			t.Errorf("%q: %d files", body, len(got.files))
		}
		got.remove()
		if left, _ := os.ReadDir(s.cfg.SpoolDir); len(left) > 0 {
			t.Errorf("%q: %d files left", body, len(left))
		}
	})
}
