package parse

import (
	"fmt"
	"math"
	"sort"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"ragagent/store"
)

// Bounds of what is taken from a document as properties.
const (
	maxFrontMatter   = 64 << 10
	maxProperties    = 100
	maxPropertyBytes = 4096
)

// frontMatter splits YAML front matter, between lines of three dashes at the
// very beginning, from the text. What is no mapping is left in the text.
func frontMatter(source string) (meta store.Metadata, rest string, warnings []string) {
	meta = store.Metadata{}
	block, rest, ok := cutFrontMatter(source)
	if !ok {
		return meta, source, nil
	}
	var fields map[string]any
	if err := yaml.Unmarshal([]byte(block), &fields); err != nil {
		return meta, source, []string{"the front matter is not valid YAML; it was read as text"}
	}
	keys := make([]string, 0, len(fields))
	for key := range fields {
		keys = append(keys, key)
	}
	sort.Strings(keys)
	for _, key := range keys {
		if len(meta) == maxProperties {
			warnings = append(warnings, fmt.Sprintf("only the first %d properties of the front matter were kept", maxProperties))
			break
		}
		if value := property(fields[key]); value != nil && key != "" {
			meta[key] = value
		}
	}
	return meta, rest, warnings
}

func cutFrontMatter(source string) (block, rest string, ok bool) {
	source, found := strings.CutPrefix(source, "---\n")
	if !found {
		return "", "", false
	}
	end := strings.Index("\n"+source, "\n---\n")
	if end < 0 && strings.HasSuffix(source, "\n---") {
		end = len(source) - len("---")
		return source[:end], "", true
	}
	if end < 0 || end > maxFrontMatter {
		return "", "", false
	}
	return source[:end], source[end+len("---\n"):], true
}

// property turns a YAML value into one of store.Metadata's types; nil for one
// that has none.
func property(v any) any {
	switch v := v.(type) {
	case string:
		if v = strings.TrimSpace(v); v == "" || len(v) > maxPropertyBytes {
			return nil
		}
		return normalise(v)
	case []string:
		var list []any
		for _, s := range v[:min(len(v), maxProperties)] {
			list = append(list, s)
		}
		return stringList(list)
	case bool:
		return v
	case int:
		return float64(v)
	case int64:
		return float64(v)
	case uint64:
		return float64(v)
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil // YAML has them, JSON does not
		}
		return v
	case time.Time:
		if v.Equal(v.Truncate(24 * time.Hour)) {
			return v.Format(time.DateOnly)
		}
		return v.Format(time.RFC3339)
	case []any:
		return stringList(v)
	}
	return nil
}

func stringList(values []any) any {
	var list []string
	for _, v := range values {
		if len(list) == maxProperties {
			break
		}
		switch v := property(v).(type) {
		case string:
			list = append(list, v)
		case float64, bool:
			list = append(list, fmt.Sprint(v))
		}
	}
	if list == nil {
		return nil
	}
	return list
}
