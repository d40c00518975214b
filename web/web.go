// Package web holds the page that people see: a Svelte application in app,
// built by Vite into dist and embedded into the binary. No Go code runs here.
package web

import (
	"embed"
	"io/fs"
)

// dist holds at least placeholder.txt, so the package compiles on a machine
// without Node; only a built page adds index.html and assets beside it.
//
//go:embed all:dist
var dist embed.FS

// FS returns the files of the built page: index.html at the root, and under
// assets files whose names carry a hash of their content, so that they may be
// cached for ever. Without a build there is no index.html, and opening it is
// fs.ErrNotExist.
func FS() fs.FS {
	sub, err := fs.Sub(dist, "dist")
	if err != nil { // only for an invalid path, and this one is a constant
		panic(err)
	}
	return sub
}
