// Package cite works on the citations of an answer as text: it filters their
// markers while an answer streams by, says which statement cites what, and
// finds the words of a passage that support a statement. It reads no store:
// whether a quote still stands in the document is checked by its caller.
package cite
