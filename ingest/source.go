package ingest

import (
	"path"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"ragagent/store"
)

// cleanName takes the last element of whatever path a client sent: a name is
// shown to people, it never leads anywhere.
func cleanName(name string) (string, error) {
	if !utf8.ValidString(name) {
		return "", store.Invalid("name", "is not valid UTF-8: rename the file")
	}
	base := path.Base(strings.ReplaceAll(name, `\`, "/"))
	base = strings.TrimSpace(visibleOnly(base))
	switch {
	case base == "" || base == "." || base == ".." || base == "/":
		return "", store.Invalid("name", "is missing: give the document a file name")
	case len(base) > store.MaxName:
		return "", store.Invalid("name", "has %d bytes, at most %d are allowed: rename the file", len(base), store.MaxName)
	}
	return base, nil
}

// cleanSource is where an upload comes from: the path that was given, else the
// name with the folders that stand before it.
func cleanSource(up Upload) (store.Source, error) {
	if len(up.Origin) > store.MaxOrigin || !utf8.ValidString(up.Origin) || strings.ContainsFunc(up.Origin, unicode.IsControl) {
		return store.Source{}, store.Invalid("origin", "must be one line of at most %d bytes", store.MaxOrigin)
	}
	p := up.Path
	if up.Origin == originURL { // normalised already, in another way
		return store.Source{Origin: up.Origin, Path: p}, nil
	}
	if p == "" {
		p = pathOfName(up.Name)
	}
	p, err := CleanPath(p)
	return store.Source{Origin: up.Origin, Path: p}, err
}

// pathOfName keeps of a name what leads nowhere else: of a path on the machine
// it comes from, the last element.
func pathOfName(name string) string {
	name = strings.ReplaceAll(name, `\`, "/")
	drive := len(name) > 1 && name[1] == ':'
	if drive || strings.HasPrefix(name, "/") || strings.Contains("/"+name+"/", "/../") {
		return path.Base(name)
	}
	return name
}

// CleanPath brings a path into the one form it is stored in: relative, elements
// separated by one slash, none of them "." or "..", in NFC, without control
// characters. store.ErrInvalid for what cannot be brought into it.
func CleanPath(given string) (string, error) {
	if !utf8.ValidString(given) {
		return "", store.Invalid("path", "is not valid UTF-8")
	}
	if strings.HasPrefix(given, "/") {
		return "", store.Invalid("path", "%q is not relative: leave the slash at its beginning out", given)
	}
	var kept []string
	for element := range strings.SplitSeq(norm.NFC.String(visibleOnly(given)), "/") {
		switch element = strings.TrimSpace(element); element {
		case "", ".":
		case "..":
			return "", store.Invalid("path", "%q leads out: leave .. out", given)
		default:
			kept = append(kept, element)
		}
	}
	clean := strings.Join(kept, "/")
	switch {
	case clean == "":
		return "", store.Invalid("path", "is missing: give the document a path or a file name")
	case len(clean) > store.MaxPath:
		return "", store.Invalid("path", "has %d bytes, at most %d are allowed", len(clean), store.MaxPath)
	}
	return clean, nil
}

// visibleOnly leaves out what nobody sees, and what turns the reading direction.
func visibleOnly(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) {
			return -1
		}
		return r
	}, s)
}
