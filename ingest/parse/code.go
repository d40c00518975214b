package parse

import (
	"path"
	"regexp"
	"strings"
)

// denseLines is how many lines of code without a blank one are kept together
// when a declaration follows.
const denseLines = 12

// readCode keeps source code as it is, cut where a function or section usually
// begins: at blank lines before lines that are not indented, and, where there
// are none for long, before declarations.
func readCode(b *body, text string) {
	text = clean(text)
	b.out.Grow(min(len(text), b.maxBytes))
	part := 0 // where it starts
	cut := func(at int) {
		if at > part {
			b.add(Code, 0, 0, text[part:at])
			part = at
		}
	}
	for start, end := range groups(text) {
		if c := text[start]; c != ' ' && c != '\t' && c != '}' && c != ')' {
			cut(start)
		}
		for at := range declarations(text[start:end]) {
			if strings.Count(text[part:start+at], "\n") >= denseLines {
				cut(start + at)
			}
		}
		if b.err != nil {
			return
		}
	}
	b.add(Code, 0, 0, text[part:])
}

// declaration matches the lines that declarations begin with at the margin, in
// the languages that people mostly write.
var declaration = regexp.MustCompile(`^(?:(?:export|public|private|protected|internal|static|abstract|final|sealed|async|default|pub(?:\([a-z]+\))?|unsafe|extern|open|override|virtual|inline)\s+)*` +
	`(?:func|function|def|class|interface|struct|enum|trait|impl|type|fn|mod|module|namespace|record|object|protocol|extension|sub|procedure|fun|macro_rules!|create\s+(?:table|view|function|index)|resource|data|describe|it|test)\b|` +
	`^[A-Za-z_][\w:<>,*&\[\] ]*\s[*&]?[\w:~]+\([^;]*$`)

// declarations yields where in a group of lines a declaration begins, with the
// comments and annotations above it.
func declarations(group string) func(yield func(int) bool) {
	return func(yield func(int) bool) {
		above := -1 // where the comments begin that stand right above
		for at := 0; at < len(group); {
			end := len(group)
			if i := strings.IndexByte(group[at:], '\n'); i >= 0 {
				end = at + i
			}
			switch line := group[at:end]; {
			case isRemark(line):
				if above < 0 {
					above = at
				}
			case len(line) < 500 && declaration.MatchString(line):
				if above < 0 {
					above = at
				}
				if !yield(above) {
					return
				}
				above = -1
			default:
				above = -1
			}
			at = end + 1
		}
	}
}

// isRemark says that a line at the margin is a comment or an annotation.
func isRemark(line string) bool {
	for _, mark := range []string{"//", "#", "--", "/*", " *", "@", ";;", `"""`, "%"} {
		if strings.HasPrefix(line, mark) {
			return true
		}
	}
	return false
}

// codeLanguage tells the language of source code by the name of its file, else
// by the interpreter that its first line names; "" where neither does.
func codeLanguage(name, text string) string {
	base := strings.ToLower(path.Base(name))
	if language, ok := languages[base]; ok {
		return language
	}
	if language, ok := languages[path.Ext(base)]; ok {
		return language
	}
	line, _, _ := strings.Cut(text, "\n")
	if !strings.HasPrefix(line, "#!") {
		return strings.TrimPrefix(path.Ext(base), ".")
	}
	fields := strings.Fields(strings.TrimPrefix(line, "#!"))
	for i := len(fields) - 1; i >= 0; i-- {
		program := strings.TrimRight(path.Base(fields[i]), "0123456789.")
		if language, ok := interpreters[program]; ok {
			return language
		}
	}
	return ""
}

// languages are told by extensions that are not the language's own name.
var languages = map[string]string{
	".py": "python", ".pyi": "python", ".js": "javascript", ".mjs": "javascript", ".cjs": "javascript", ".jsx": "javascript",
	".ts": "typescript", ".tsx": "typescript", ".kt": "kotlin", ".kts": "kotlin", ".h": "c", ".cc": "c++", ".cpp": "c++", ".cxx": "c++",
	".hh": "c++", ".hpp": "c++", ".cs": "c#", ".fs": "f#", ".vb": "visual basic", ".m": "objective-c", ".mm": "objective-c", ".rs": "rust",
	".rb": "ruby", ".pl": "perl", ".pm": "perl", ".jl": "julia", ".ex": "elixir", ".exs": "elixir", ".erl": "erlang", ".hs": "haskell",
	".ml": "ocaml", ".mli": "ocaml", ".clj": "clojure", ".cljs": "clojure", ".el": "lisp", ".scm": "scheme", ".sh": "shell", ".bash": "shell",
	".zsh": "shell", ".fish": "shell", ".ps1": "powershell", ".bat": "batch", ".cmd": "batch", ".proto": "protobuf", ".yml": "yaml", ".tf": "terraform",
	".tex": "latex", ".asm": "assembly", ".s": "assembly", ".v": "verilog", ".sv": "verilog", ".vhd": "vhdl", ".f": "fortran", ".f90": "fortran",
	".pas": "pascal", ".cob": "cobol", ".mk": "make", "makefile": "make", "gnumakefile": "make", "dockerfile": "dockerfile", "cmakelists.txt": "cmake",
	"jenkinsfile": "groovy", "rakefile": "ruby", "gemfile": "ruby", "vagrantfile": "ruby",
}

var interpreters = map[string]string{
	"sh": "shell", "bash": "shell", "zsh": "shell", "dash": "shell", "ksh": "shell", "fish": "shell", "python": "python", "node": "javascript",
	"deno": "typescript", "perl": "perl", "ruby": "ruby", "php": "php", "lua": "lua", "awk": "awk", "Rscript": "r", "julia": "julia", "make": "make",
}
