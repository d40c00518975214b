package ingest

import (
	"errors"
	"math"
	"strings"
	"testing"

	"ragagent/store"
)

func TestMetadataThatCannotBeKept(t *testing.T) {
	tests := []struct {
		name string
		meta store.Metadata
		ok   bool
	}{
		{"all kinds", store.Metadata{"a": "x", "b": 1.5, "c": true, "d": []string{"x", ""}}, true},
		{"as many bytes as are allowed", store.Metadata{"a": strings.Repeat("x", maxMetadataBytes-1)}, true},
		{"a byte more", store.Metadata{"a": strings.Repeat("x", maxMetadataBytes)}, false},
		{"no number", store.Metadata{"a": math.NaN()}, false},
		{"infinite", store.Metadata{"a": math.Inf(1)}, false},
		{"less than any number", store.Metadata{"a": math.Inf(-1)}, false},
		{"a list of nothing", store.Metadata{"a": make([]string, maxMetadataBytes)}, false},
		{"a short list of nothing", store.Metadata{"a": make([]string, 1000)}, true},
		{"an integer", store.Metadata{"a": 1}, false},
		{"an empty key", store.Metadata{"": "x"}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := validMetadata(tt.meta)
			if tt.ok && err != nil || !tt.ok && !errors.Is(err, store.ErrInvalid) {
				t.Errorf("got %v", err)
			}
		})
	}
}
