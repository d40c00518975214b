package archive

import (
	"fmt"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// cleanPath brings an entry's name to the form Entry.Path promises. Backslashes
// are separators: some programs write them. With ErrPath, the result is only to
// be shown.
func cleanPath(name string) (string, error) {
	if strings.ContainsRune(name, 0) {
		return shown(name), fmt.Errorf("%w: it has a zero byte", ErrPath)
	}
	slashed := strings.ReplaceAll(name, `\`, "/")
	if strings.HasPrefix(slashed, "/") {
		return shown(name), fmt.Errorf("%w: it is absolute", ErrPath)
	}
	var kept []string
	for element := range strings.SplitSeq(slashed, "/") {
		switch clean := shown(element); clean {
		case "", ".":
		case "..":
			return shown(name), fmt.Errorf("%w: it leads out", ErrPath)
		default:
			kept = append(kept, clean)
		}
	}
	if len(kept) == 0 {
		return shown(name), fmt.Errorf("%w: it is empty", ErrPath)
	}
	if isDrive(kept[0]) {
		return shown(name), fmt.Errorf("%w: it names a drive", ErrPath)
	}
	return strings.Join(kept, "/"), nil
}

// isDrive says that a path beginning with element may mean a drive of Windows.
func isDrive(element string) bool {
	return len(element) >= 2 && element[1] == ':' && unicode.IsLetter(rune(element[0]))
}

// shown makes a name fit to be shown: NFC, without control characters and
// those that turn the direction of writing, or blanks around it.
func shown(name string) string {
	name = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(name, "\uFFFD"))
	return strings.TrimSpace(norm.NFC.String(name))
}

// cut shortens a name to at most n bytes.
func cut(name string, n int) string {
	for n > 0 && !utf8.RuneStart(name[n]) {
		n--
	}
	return name[:n]
}

func elements(path string) int { return strings.Count(path, "/") + 1 }

// isJunk says that a path lies in a folder of version control or belongs to a
// file manager.
func isJunk(name string) bool {
	for element := range strings.SplitSeq(name, "/") {
		switch element {
		case "__MACOSX", ".git", ".hg", ".svn", ".bzr", ".jj":
			return true
		}
	}
	base := path.Base(name)
	switch strings.ToLower(base) {
	case ".ds_store", "thumbs.db", "desktop.ini":
		return true
	}
	return strings.HasPrefix(base, "._") // AppleDouble: the other half of a file
}
