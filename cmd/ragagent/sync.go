package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"ragagent/ingest/archive"
)

type syncFlags struct {
	Sync       string `help:"Make the knowledge base follow this folder: new and changed files are added, and documents of files that have gone are removed, only of this folder." type:"existingdir" placeholder:"DIR"`
	Label      string `help:"With --sync: what the folder is called in the knowledge base, instead of its path." placeholder:"NAME"`
	DryRun     bool   `help:"With --sync: only say what would be done."`
	AllowEmpty bool   `help:"With --sync: remove everything if the folder is empty."`
}

// syncSummary says what --sync did, or would do.
type syncSummary struct {
	Added     []string `json:"added"`
	Changed   []string `json:"changed"`
	Removed   []string `json:"removed"`
	Unchanged int      `json:"unchanged"`
	// Empty are files with nothing in them: they are left out, and what came of
	// one before has gone.
	Empty  []string `json:"empty,omitempty"`
	DryRun bool     `json:"dry_run,omitempty"`
}

func (s *syncSummary) String() string {
	text := fmt.Sprintf("%d added, %d changed, %d removed, %d unchanged", len(s.Added), len(s.Changed), len(s.Removed), s.Unchanged)
	if len(s.Empty) > 0 {
		text += fmt.Sprintf(", %d empty", len(s.Empty))
	}
	if s.DryRun {
		text += " (nothing was done)"
	}
	return text
}

// namedEmpty is how many empty files are told by name.
const namedEmpty = 5

// told says on one line which files are left out; "" for none.
func (s *syncSummary) told() string {
	if len(s.Empty) == 0 {
		return ""
	}
	names := strings.Join(s.Empty[:min(len(s.Empty), namedEmpty)], ", ")
	if more := len(s.Empty) - namedEmpty; more > 0 {
		names += fmt.Sprintf(" and %d more", more)
	}
	return "skipped, as there is nothing in them: " + names
}

// emptied are the files that were known, and have nothing in them any more.
func (s *syncSummary) emptied() (paths []string) {
	for _, gone := range s.Removed {
		for _, path := range s.Empty {
			if gone == path || strings.HasPrefix(gone, path+"/") {
				paths = append(paths, gone)
				break
			}
		}
	}
	return paths
}

func (c *ingestCmd) runSync(e *env) error {
	if c.Sync == "" || len(c.Paths) > 0 {
		return usagef("--sync DIR stands alone: no other paths, and --label, --dry-run and --allow-empty only with it")
	}
	label := c.Label
	if label == "" {
		label = c.Sync // kong made it absolute and clean
	}
	files, unread, err := filesBelow(c.Sync)
	if err != nil {
		return fmt.Errorf("read %s: %w", c.Sync, err)
	}
	return withClient(e, c.reachFlags, c.modelFlags, true, func(api *client) error {
		s := folderSync{api: api, kb: c.KB, origin: "sync:" + label, sum: syncSummary{Added: []string{}, Changed: []string{}, Removed: []string{}, DryRun: c.DryRun}}
		sum, err := s.run(e, c.Sync, files, unread, c.AllowEmpty)
		if err != nil {
			return err
		}
		return c.print(e, sum)
	})
}

// folderSync makes what a knowledge base has of one origin equal to a folder.
type folderSync struct {
	api    *client
	kb     string
	origin string
	sum    syncSummary

	mu   sync.Mutex
	kept map[string]bool // paths that are there now
	// lost are paths of files and folders that could not be read, or not be
	// taken: what is known of them, and below them, has not gone.
	lost []string
}

func (s *folderSync) run(e *env, dir string, files []upload, unread []unreadFile, allowEmpty bool) (ingestSummary, error) {
	there, err := s.sources(e.ctx)
	if err != nil {
		return ingestSummary{}, err
	}
	s.kept = map[string]bool{}
	todo, more, err := s.compare(e.ctx, files, there)
	if err != nil {
		return ingestSummary{}, err
	}
	if len(files)-len(s.sum.Empty)+len(unread) == 0 && len(there) > 0 && !allowEmpty {
		return ingestSummary{}, fmt.Errorf("%s has no files with anything in them, and the knowledge base has %d of it: if they are to be removed, say --allow-empty", dir, len(there))
	}
	unread = append(unread, more...)
	for _, f := range unread {
		s.lost = append(s.lost, f.path)
	}
	if s.sum.DryRun {
		todo = nil
	} else if err := s.api.ensureKnowledgeBase(e.ctx, s.kb); err != nil {
		return ingestSummary{}, err
	}
	sum, err := ingestAll(e, s.api, s.kb, todo, unread, s)
	if err != nil {
		return sum, err
	}
	s.remove(e.ctx, there, &sum)
	if err := e.ctx.Err(); err != nil {
		return sum, err
	}
	for _, list := range [][]string{s.sum.Added, s.sum.Changed, s.sum.Removed, s.sum.Empty} {
		slices.Sort(list)
	}
	sum.Sync = &s.sum
	return sum, nil
}

// source is what the server knows of a path.
type source struct {
	Path       string `json:"path"`
	DocumentID string `json:"document_id"`
	SHA256     string `json:"sha256"`
	Status     string `json:"status"` // of the document
}

// unfinished says that what the server has of it did not become readable: it is
// sent again, so that its failure is told each time, and not only the first.
func (s source) unfinished() bool { return s.Status == "failed" || s.Status == "cancelled" }

// sources lists what the knowledge base has of the origin; nothing, if it is
// not there yet.
func (s *folderSync) sources(ctx context.Context) (map[string]source, error) {
	all := map[string]source{}
	for cursor := ""; ; {
		var page struct {
			Data []source `json:"data"`
			Next string   `json:"next_cursor"`
		}
		query := url.Values{"origin": {s.origin}, "limit": {"1000"}, "cursor": {cursor}}
		err := s.api.get(ctx, "/api/v1/knowledge-bases/"+url.PathEscape(s.kb)+"/sources?"+query.Encode(), &page)
		if isStatus(err, http.StatusNotFound) {
			return all, nil
		}
		if err != nil {
			return nil, err
		}
		for _, one := range page.Data {
			all[one.Path] = one
		}
		if cursor = page.Next; cursor == "" {
			return all, nil
		}
	}
}

// compare returns the files that have to be sent, and those that cannot be
// read. Empty ones are as good as not there. Archives always are sent: the server knows what is in them, and not what
// they were.
func (s *folderSync) compare(ctx context.Context, files []upload, there map[string]source) (todo []upload, unread []unreadFile, err error) {
	for _, f := range files {
		f.origin = s.origin
		hash, packed, err := look(ctx, f.file)
		if errors.Is(err, errEmpty) {
			s.sum.Empty = append(s.sum.Empty, f.path)
			continue
		}
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		if err != nil {
			unread = append(unread, unreadFile{file: f.file, path: f.path, err: err})
			continue
		}
		known, ok := there[f.path]
		switch {
		case packed:
			// Until the server has said what is in it, all of it is there.
			for path := range there {
				s.kept[path] = s.kept[path] || strings.HasPrefix(path, f.path+"/")
			}
		case !ok:
			s.sum.Added = append(s.sum.Added, f.path)
		case known.SHA256 != hash:
			s.sum.Changed = append(s.sum.Changed, f.path)
		case known.unfinished():
			s.sum.Unchanged++
		default:
			s.kept[f.path] = true
			s.sum.Unchanged++
			continue
		}
		s.kept[f.path] = !packed
		todo = append(todo, f)
	}
	return todo, unread, nil
}

// errEmpty is that of a file with nothing in it.
var errEmpty = errors.New("the file is empty")

// look reads a file to tell its hash and whether it is an archive. errEmpty.
func look(ctx context.Context, name string) (hash string, packed bool, err error) {
	f, err := os.Open(name)
	if err != nil {
		return "", false, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", false, err
	}
	if info.Size() == 0 {
		return "", false, errEmpty
	}
	if _, packed = archive.IsArchive(f, info.Size()); packed {
		return "", true, nil
	}
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", false, fmt.Errorf("read %s: %w", filepath.Base(name), err)
	}
	return hex.EncodeToString(h.Sum(nil)), false, ctx.Err()
}

// answered notes what is in an archive, and what has gone from it.
func (s *folderSync) answered(file upload, docs []submitted) {
	s.mu.Lock()
	defer s.mu.Unlock()
	packed := false
	whole := true // the archive was read to its end
	for _, d := range docs {
		packed = packed || strings.HasPrefix(d.Path, file.path+"/")
		whole = whole && d.Path != file.path
	}
	if !packed {
		return
	}
	if whole {
		for path := range s.kept {
			if strings.HasPrefix(path, file.path+"/") {
				s.kept[path] = false
			}
		}
	}
	for _, d := range docs {
		s.kept[d.Path] = true
		switch {
		case d.ID == "":
		case d.DuplicateOf != "":
			s.sum.Unchanged++
		case d.Revision > 1:
			s.sum.Changed = append(s.sum.Changed, d.Path)
		default:
			s.sum.Added = append(s.sum.Added, d.Path)
		}
	}
}

// failed notes a file that was not taken.
func (s *folderSync) failed(path string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lost = append(s.lost, path)
}

// isLost says that nobody knows whether the file of a path has gone.
func (s *folderSync) isLost(path string) bool {
	return slices.ContainsFunc(s.lost, func(lost string) bool {
		return lost != "" && (path == lost || strings.HasPrefix(path, lost+"/"))
	})
}

// remove takes away the sources whose files have gone. One that cannot be
// removed does not keep the others.
func (s *folderSync) remove(ctx context.Context, there map[string]source, sum *ingestSummary) {
	for _, path := range slices.Sorted(maps.Keys(there)) {
		if s.kept[path] || s.isLost(path) || ctx.Err() != nil {
			continue
		}
		if err := s.removeOne(ctx, there[path]); err != nil {
			sum.Failed = append(sum.Failed, ingestFailure{File: path, Error: fmt.Sprintf("not removed: %v", err)})
			continue
		}
		s.sum.Removed = append(s.sum.Removed, path)
	}
}

func (s *folderSync) removeOne(ctx context.Context, known source) error {
	if s.sum.DryRun {
		return nil
	}
	query := url.Values{"origin": {s.origin}, "path": {known.Path}}
	err := s.api.do(ctx, http.MethodDelete, "/api/v1/knowledge-bases/"+url.PathEscape(s.kb)+"/documents/"+url.PathEscape(known.DocumentID)+"?"+query.Encode(), nil, "", nil)
	if isStatus(err, http.StatusNotFound) {
		return nil
	}
	return err
}
