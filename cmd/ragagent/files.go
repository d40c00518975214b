package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"ragagent/ingest"
)

// upload is a file on its way.
type upload struct {
	file   string     // where it lies
	path   string     // under which it is stored
	origin string     // "" by hand
	order  *urlUpload // of a URL, which is not a file
}

// unreadFile is a file or folder that could not be looked at, and why.
type unreadFile struct {
	file string
	path string // as that of upload; "" for one that cannot be stored
	err  error
}

// filesOf lists the regular files below the paths, in order, with their paths
// from the folder on that was given: its name is kept.
func filesOf(paths []string) (files []upload, unread []unreadFile, err error) {
	for _, p := range paths {
		if isURL(p) {
			files = append(files, upload{file: p})
			continue
		}
		p, err := filepath.Abs(p)
		if err != nil {
			return nil, nil, err
		}
		info, err := os.Stat(p)
		if err != nil {
			return nil, nil, err
		}
		if !info.IsDir() {
			files = append(files, upload{file: p, path: filepath.Base(p)})
			continue
		}
		below, lost, err := filesBelow(p)
		if err != nil {
			return nil, nil, err
		}
		unread = append(unread, lost...)
		for _, f := range below {
			f.path = filepath.Base(p) + "/" + f.path
			files = append(files, f)
		}
	}
	return files, unread, nil
}

// filesBelow lists the regular files in a folder, in order, with their paths
// in it. The error is about the folder itself; what else cannot be looked at is
// unread, and the rest goes on.
func filesBelow(dir string) (files []upload, unread []unreadFile, err error) {
	err = filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		inside, outside := filepath.Rel(dir, name)
		clean, unclean := ingest.CleanPath(filepath.ToSlash(inside))
		switch {
		case name == dir:
			return err
		case outside != nil:
			return outside
		case strings.HasPrefix(d.Name(), "."):
			if d.IsDir() {
				return fs.SkipDir
			}
		case err != nil:
			unread = append(unread, unreadFile{file: name, path: clean, err: err})
		case !d.Type().IsRegular():
		case unclean != nil:
			unread = append(unread, unreadFile{file: name, err: fmt.Errorf("its name cannot be stored: %w", unclean)})
		default:
			files = append(files, upload{file: name, path: clean})
		}
		return nil
	})
	return files, unread, err
}
