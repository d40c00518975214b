package store

import (
	"slices"
	"strings"
	"time"
)

// builtinFields are the fields that every document can be filtered by. Metadata
// of the same name wins.
var builtinFields = []string{
	"bytes", "created_at", "document_id", "folder", "mime", "name", "origin", "pages", "path", "title", "updated_at",
}

// IsBuiltinField says whether a field is one that documents have by themselves.
func IsBuiltinField(name string) bool { return slices.Contains(builtinFields, name) }

// FieldNames returns the names of the fields a document has, each once: those
// of its metadata and the built-in ones.
func (d *Document) FieldNames() []string {
	names := make([]string, 0, len(d.Metadata)+len(builtinFields))
	for name := range d.Metadata {
		names = append(names, name)
	}
	for _, name := range builtinFields {
		if _, given := d.Metadata[name]; !given && d.Field(name) != nil {
			names = append(names, name)
		}
	}
	return names
}

// Field returns what a document has under a name, as Filter.Match asks for it:
// its metadata, else a built-in field; nil for neither.
//
//   - name, title, mime, document_id: strings
//   - bytes, pages: numbers
//   - created_at, updated_at: times in UTC
//   - path, origin: of the document's first source
//   - folder: every folder on the paths of its sources, as a list: of "a/b/c.md"
//     they are "a" and "a/b"
func (d *Document) Field(name string) any {
	if v, given := d.Metadata[name]; given {
		return v
	}
	switch name {
	case "name":
		return textField(d.Name)
	case "title":
		return textField(d.Title)
	case "mime":
		return textField(d.MIME)
	case "document_id":
		return textField(d.ID)
	case "bytes":
		return float64(d.Bytes)
	case "pages":
		if d.Pages > 0 {
			return float64(d.Pages)
		}
	case "created_at":
		return timeField(d.CreatedAt)
	case "updated_at":
		return timeField(d.UpdatedAt)
	case "path":
		if len(d.Sources) > 0 {
			return textField(d.Sources[0].Path)
		}
	case "origin":
		if len(d.Sources) > 0 {
			return textField(d.Sources[0].Origin)
		}
	case "folder":
		return d.folders()
	}
	return nil
}

func textField(s string) any {
	if s == "" {
		return nil
	}
	return s
}

func timeField(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UTC().Format(time.RFC3339Nano)
}

// maxFolders bounds the folders a document can be filtered by.
const maxFolders = 64

// folders returns the folders on the paths of the sources, each once, outermost
// first; nil for none. Metadata that has a path stands for them.
func (d *Document) folders() any {
	var folders []string
	add := func(path string) {
		path = strings.Trim(path, "/")
		for i := range len(path) {
			if path[i] == '/' && path[i-1] != '/' && len(folders) < maxFolders && !slices.Contains(folders, path[:i]) {
				folders = append(folders, path[:i])
			}
		}
	}
	if path, given := d.Metadata["path"].(string); given {
		add(path)
	} else {
		for _, source := range d.Sources {
			add(source.Path)
		}
	}
	if folders == nil {
		return nil
	}
	return folders
}
