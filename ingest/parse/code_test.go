package parse

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCode(t *testing.T) {
	lines := strings.Repeat("    x += 1\n", denseLines)
	tests := []struct {
		name, source, language string
		want                   []string
	}{
		{"a.go", "package a\n\nfunc f() {\n\n\tx()\n}\n\n// g does.\nfunc g() {}\n", "go", []string{"code package a", "code func f() {\n\n\tx()\n}", "code // g does.\nfunc g() {}"}},
		{"dense.py", "import os\n" + lines + "# h does.\n@cached\ndef h():\n" + lines + "class K:\n    pass\n", "python",
			[]string{"code import os\n" + strings.TrimSuffix(lines, "\n"), "code # h does.\n@cached\ndef h():\n" + strings.TrimSuffix(lines, "\n"), "code class K:\n    pass"}},
		{"few.py", "def a():\n    pass\ndef b():\n    pass\n", "python", []string{"code def a():\n    pass\ndef b():\n    pass"}},
		{"Makefile", "all:\n\tgo build\n", "make", []string{"code all:\n\tgo build"}},
		{"run", "#!/usr/bin/env python3\nprint(1)\n", "python", []string{"code #!/usr/bin/env python3\nprint(1)"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			text, err := parseBytes(t, tt.name, []byte(tt.source))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, shown(text)); diff != "" {
				t.Error(diff)
			}
			if got := text.Properties["code_language"]; got != tt.language {
				t.Errorf("the language is %v, want %s", got, tt.language)
			}
		})
	}
}
