package pdf

import (
	"strings"

	"github.com/ledongthuc/pdf"
)

// pageNode is a page with what it inherits.
type pageNode struct {
	page      pdf.Value
	resources pdf.Value
	box       [4]float64 // left, bottom, right, top in points
}

// Bounds of the walk through the page tree.
const (
	maxTreeDepth = 50
	maxTreeNodes = 4 * maxPages
)

// treeWalk collects the pages of a page tree. Nodes are visited once; a tree
// that refers to itself ends there.
type treeWalk struct {
	pages []pageNode
	seen  map[string]bool // references, as "12 0 R"
	nodes int
}

func pageTree(root pdf.Value) []pageNode {
	w := treeWalk{seen: map[string]bool{}}
	w.walk(root, pageNode{box: [4]float64{0, 0, 612, 792}}, 0)
	return w.pages
}

func (w *treeWalk) walk(v pdf.Value, inherited pageNode, depth int) {
	w.nodes++
	if w.nodes > maxTreeNodes || depth > maxTreeDepth || len(w.pages) >= maxPages || v.Kind() != pdf.Dict {
		return
	}
	inherited.page = v
	if r := v.Key("Resources"); r.Kind() == pdf.Dict {
		inherited.resources = r
	}
	for _, key := range []string{"MediaBox", "CropBox"} {
		if box, ok := readBox(v.Key(key)); ok {
			inherited.box = box
		}
	}
	kids := v.Key("Kids")
	if kids.Kind() != pdf.Array {
		w.pages = append(w.pages, inherited)
		return
	}
	refs := references(kids)
	for i := range kids.Len() {
		if i < len(refs) {
			if w.seen[refs[i]] {
				continue
			}
			w.seen[refs[i]] = true
		}
		w.kid(kids, i, inherited, depth)
	}
}

// kid walks one child; one that cannot be read stands as an empty page, so
// that the pages after it keep their numbers.
func (w *treeWalk) kid(kids pdf.Value, i int, inherited pageNode, depth int) {
	pages := len(w.pages)
	defer func() {
		if r := recover(); r != nil && len(w.pages) == pages {
			w.pages = append(w.pages, pageNode{box: inherited.box})
		}
	}()
	w.walk(kids.Index(i), inherited, depth+1)
}

// references returns the references that an array holds; nil if it holds
// anything else.
func references(array pdf.Value) []string {
	fields := strings.Fields(strings.Trim(array.String(), "[]"))
	if len(fields) != 3*array.Len() {
		return nil
	}
	refs := make([]string, 0, array.Len())
	for i := 0; i < len(fields); i += 3 {
		if fields[i+2] != "R" {
			return nil
		}
		refs = append(refs, fields[i]+" "+fields[i+1])
	}
	return refs
}

func readBox(v pdf.Value) (box [4]float64, ok bool) {
	if v.Len() != 4 {
		return box, false
	}
	for i := range box {
		box[i] = v.Index(i).Float64()
	}
	if box[0] > box[2] {
		box[0], box[2] = box[2], box[0]
	}
	if box[1] > box[3] {
		box[1], box[3] = box[3], box[1]
	}
	return box, box[2]-box[0] > 1 && box[3]-box[1] > 1
}
