package parse

import (
	"slices"
	"strings"

	"ragagent/store"
)

// Bounds of what a file may say about itself. They leave room in a document's
// metadata for what the uploader says.
const (
	keptProperties    = 40
	keptPropertyBytes = 8 << 10
	maxPropertyName   = 100
	maxWarnings       = 50
	maxWarning        = 400
)

// commonProperties come first where there are too many.
var commonProperties = []string{"author", "created", "modified", "subject", "keywords", "language", "date", "description", "category"}

// bounded returns the properties that are kept: of the types that metadata has,
// the common ones first, the others by their names.
func bounded(meta store.Metadata) store.Metadata {
	names := make([]string, 0, len(meta))
	for name := range meta {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int {
		ra, rb := commonRank(a), commonRank(b)
		if ra != rb {
			return ra - rb
		}
		return strings.Compare(a, b)
	})
	out := store.Metadata{}
	total := 0
	for _, name := range names {
		value := property(meta[name])
		size := propertyBytes(name, value)
		if value == nil || name == "" || len(name) > maxPropertyName || name != normalise(name) || total+size > keptPropertyBytes || len(out) == keptProperties {
			continue
		}
		total += size
		out[name] = value
	}
	return out
}

func commonRank(name string) int {
	if i := slices.Index(commonProperties, name); i >= 0 {
		return i
	}
	return len(commonProperties)
}

// propertyBytes is the room a property takes.
func propertyBytes(name string, value any) int {
	n := len(name) + 8
	switch v := value.(type) {
	case string:
		n += len(v)
	case []string:
		for _, s := range v {
			n += len(s) + 3
		}
	}
	return n
}

// warn keeps a warning, one line of bounded length.
func (r *reading) warn(text string) {
	text = short(text, maxWarning)
	if text == "" || len(r.warnings) > maxWarnings || slices.Contains(r.warnings, text) {
		return
	}
	if len(r.warnings) == maxWarnings {
		text = "there is more of this kind that is not listed"
	}
	r.warnings = append(r.warnings, text)
}

// short makes one normalised line of at most n bytes.
func short(s string, n int) string {
	if len(s) > 4*n {
		s = s[:4*n]
	}
	s = strings.Join(strings.Fields(normalise(s)), " ")
	if len(s) <= n {
		return s
	}
	for n > 0 && s[n]&0xc0 == 0x80 {
		n--
	}
	return strings.TrimSpace(s[:n])
}
