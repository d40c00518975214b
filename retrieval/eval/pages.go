package eval

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"ragagent/store"
)

const pageMark = "#p"

// PageID names a page of a PDF as the qrels do: FILE#pN, FILE being the file's
// name without folder and .pdf, page counted from 1.
func PageID(file string, page int) string {
	return stem(file) + pageMark + strconv.Itoa(page)
}

// ParsePageID cuts FILE#pN at its last mark.
func ParsePageID(id string) (file string, page int, ok bool) {
	i := strings.LastIndex(id, pageMark)
	if i <= 0 {
		return "", 0, false
	}
	page, err := strconv.Atoi(id[i+len(pageMark):])
	if err != nil || page < 1 || PageID(id[:i], page) != id {
		return "", 0, false
	}
	return id[:i], page, true
}

// File returns the file of a page id, or id itself if it is none. Folding by
// it asks whether the right file was found rather than the right page.
func File(id string) string {
	if file, _, ok := ParsePageID(id); ok {
		return file
	}
	return id
}

// stem is the base name without the extension .pdf in any case.
func stem(file string) string {
	base := filepath.Base(file)
	if ext := filepath.Ext(base); strings.EqualFold(ext, ".pdf") {
		return strings.TrimSuffix(base, ext)
	}
	return base
}

// Files returns the paths of the PDFs of a dataset that is ByPage, in
// ascending order. Two files that pages would be named alike for, and none at
// all, are store.ErrInvalid.
func (d *Dataset) Files() ([]string, error) {
	dir := filepath.Join(d.Dir, pdfsFolder)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("list the PDFs: %w", err)
	}
	var paths []string
	names := map[string]string{}
	for _, e := range entries {
		if e.IsDir() || !strings.EqualFold(filepath.Ext(e.Name()), ".pdf") {
			continue
		}
		if other, ok := names[stem(e.Name())]; ok {
			return nil, store.Invalid(dir, "the pages of %s and %s would have the same names", other, e.Name())
		}
		names[stem(e.Name())] = e.Name()
		paths = append(paths, filepath.Join(dir, e.Name()))
	}
	if len(paths) == 0 {
		return nil, store.Invalid(dir, "no PDF in it")
	}
	return paths, nil
}

// MissingFiles returns the names, as in page ids, of files that relevant pages
// are in and that are not among paths, in ascending order.
func (d *Dataset) MissingFiles(paths []string) []string {
	there := map[string]bool{}
	for _, p := range paths {
		there[stem(p)] = true
	}
	var missing []string
	for query := range d.Qrels {
		for _, id := range d.Qrels.Relevant(query) {
			if f := File(id); !there[f] {
				there[f] = true // tell it once
				missing = append(missing, f)
			}
		}
	}
	slices.Sort(missing)
	return missing
}
