package parse

import (
	"bytes"
	"fmt"
	"path"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/gabriel-vasile/mimetype"
)

// headBytes is how much of a file's beginning decides what it is. The PDF
// header may stand anywhere in the first 1024 bytes.
const headBytes = 8 << 10

// isPDF says that head has a PDF header within its first 1024 bytes.
func isPDF(head []byte) bool {
	return bytes.Contains(head[:min(len(head), 1024)], []byte("%PDF-"))
}

// binaryKind says what a file that is no text looks like, in words for the
// user; "" for a file that may be text.
func binaryKind(head []byte) string {
	if _, ok := markedCharset(head); ok {
		return ""
	}
	found := mimetype.Detect(head)
	if !looksLikeText(head) {
		if found.Is("application/octet-stream") || found.Is("text/plain") {
			return "binary data of an unknown kind"
		}
		return describe(found)
	}
	// These are written in characters, but their text is not in them as such.
	for m := found; m != nil; m = m.Parent() {
		if m.Is("application/postscript") || m.Is("application/x-tar") {
			return describe(found)
		}
	}
	return ""
}

func describe(m *mimetype.MIME) string {
	name, _, _ := strings.Cut(m.String(), ";")
	if ext := strings.TrimPrefix(m.Extension(), "."); ext != "" {
		return fmt.Sprintf("a %s file (%s)", strings.ToUpper(ext), name)
	}
	if name == "application/x-elf" || name == "application/x-executable" {
		return "a program (" + name + ")"
	}
	return name
}

// looksLikeText says that head has next to no control characters; escape
// sequences of terminals may be there. Zero bytes count as such, and only UTF-8
// may have them.
func looksLikeText(head []byte) bool {
	controls, zeros := 0, 0
	for _, c := range head {
		switch {
		case c == 0:
			zeros++
		case c < ' ' && c != '\t' && c != '\n' && c != '\r' && c != '\f' && c != '\v' && c != '\b' && c != 0x1b && c != 0x1a:
			controls++
		}
	}
	if zeros == 0 {
		return 50*controls <= len(head)
	}
	return controls+zeros <= max(len(head)/50, strayed(len(head))) && utf8.Valid(wholeRunes(head))
}

// textFormat tells the text formats apart: by the content where it is clear,
// else by the name, else by the look of the content.
func textFormat(name, text string) format {
	head := text[:min(len(text), headBytes)]
	ext := strings.ToLower(path.Ext(name))
	switch {
	case declaresHTML(head):
		return formatHTML
	case markdownExtensions[ext]:
		return formatMarkdown
	case htmlExtensions[ext] && mimetype.Detect([]byte(head)).Is("text/html"):
		return formatHTML
	case tableExtensions[ext] != "":
		return tableExtensions[ext]
	case jsonExtensions[ext] != "" && beginsJSON(head):
		return jsonExtensions[ext]
	case codeExtensions[ext] || codeNames[strings.ToLower(path.Base(name))]:
		return formatCode
	case looksLikeJSON(head):
		return formatJSON
	case looksLikeTable(head, len(head) == len(text)):
		return formatCSV
	case plainExtensions[ext]:
		return formatPlain
	case looksLikeMarkdown(head):
		return formatMarkdown
	case startsWithTag(head) && mimetype.Detect([]byte(head)).Is("text/html"):
		return formatHTML
	case strings.HasPrefix(head, "#!") || jsonExtensions[ext] != "":
		return formatCode
	}
	return formatPlain
}

// declaresHTML says that text begins as only an HTML document does; a README
// may well begin with other tags.
func declaresHTML(text string) bool {
	return htmlStart.MatchString(text)
}

var htmlStart = regexp.MustCompile(`(?is)^\s*(<\?xml[^>]*>\s*)?(<!--.*?-->\s*)*<(!doctype\s+html|html|head|body)[\s>]`)

func startsWithTag(text string) bool {
	return strings.HasPrefix(strings.TrimSpace(text), "<")
}

// looksLikeMarkdown asks for two different marks: one alone is found in plain
// text too.
func looksLikeMarkdown(text string) bool {
	n := 0
	for _, mark := range markdownMarks {
		if mark.MatchString(text) {
			n++
		}
	}
	return n >= 2
}

var markdownMarks = []*regexp.Regexp{
	regexp.MustCompile(`(?m)^#{1,6} \S`),
	regexp.MustCompile("(?m)^(```|~~~)"),
	regexp.MustCompile(`\[[^\]\n]+\]\([^)\s]+\)`),
	regexp.MustCompile(`(?m)^\|?[ :]*-{3,}[ :]*\|`),
	regexp.MustCompile(`\*\*[^*\s][^*\n]*\*\*`),
	regexp.MustCompile(`(?m)^ {0,3}[-*+] \S`),
	regexp.MustCompile("`[^`\n]+`"),
}

func set(names string) map[string]bool {
	out := map[string]bool{}
	for name := range strings.FieldsSeq(names) {
		out[name] = true
	}
	return out
}

var (
	markdownExtensions = set(".md .markdown .mdown .mkd .mkdn .mdx .qmd .rmd")
	htmlExtensions     = set(".html .htm .xhtml .shtml")
	plainExtensions    = set(".txt .text .log")
	tableExtensions    = map[string]format{".csv": formatCSV, ".tsv": formatTSV, ".tab": formatTSV}
	jsonExtensions     = map[string]format{".json": formatJSON, ".jsonl": formatJSONL, ".ndjson": formatJSONL, ".geojson": formatJSON}
	codeExtensions     = set(`.go .py .pyi .js .mjs .cjs .jsx .ts .tsx .java .kt .kts .scala .groovy .c .h .cc .cpp .cxx .hh .hpp
		.cs .fs .vb .swift .m .mm .rs .rb .php .pl .pm .lua .r .jl .dart .ex .exs .erl .hs .ml .mli .clj .cljs .lisp .el .scm
		.sh .bash .zsh .fish .ps1 .bat .cmd .sql .graphql .proto .thrift .css .scss .sass .less .vue .svelte
		.yaml .yml .toml .ini .cfg .conf .properties .env .json5 .xml .xsd .xsl .svg .tf .hcl .nix .cmake .mk .gradle
		.tex .bib .diff .patch .asm .s .v .sv .vhd .vhdl .zig .nim .d .pas .f .f90 .cob .awk .sed .vim`)
	codeNames = set("makefile dockerfile gnumakefile cmakelists.txt jenkinsfile rakefile gemfile vagrantfile")
)
