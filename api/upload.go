package api

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"ragagent/ingest"
	"ragagent/store"
)

// Bounds of what comes with a document, in bytes.
const (
	maxMetadataBytes = 64 << 10 // of the metadata part
	maxTitle         = 1000
	maxMIME          = 200
)

// addDocuments takes files (multipart/form-data) or one text (JSON).
func (s *Server) addDocuments(c echo.Context) error {
	kb, err := s.knowledgeBase(c) // before a byte of the body is read
	if err != nil {
		return err
	}
	switch mediaType, _, _ := mime.ParseMediaType(c.Request().Header.Get("Content-Type")); mediaType {
	case "multipart/form-data":
		return s.addFiles(c, kb)
	case "application/json":
		return s.addText(c, kb)
	}
	return newProblem(http.StatusUnsupportedMediaType, CodeMediaType,
		"send files as multipart/form-data or a text as application/json, not %q", c.Request().Header.Get("Content-Type"))
}

type submittedAnswer struct {
	ID     string `json:"id,omitempty"`
	Name   string `json:"name"`
	Path   string `json:"path,omitempty"`
	Origin string `json:"origin,omitempty"`
	// Revision is the one that the job makes, or has made.
	Revision    int          `json:"revision,omitempty"`
	Status      store.Status `json:"status"`
	JobID       string       `json:"job_id,omitempty"`
	DuplicateOf string       `json:"duplicate_of,omitempty"`
	// Error says why this file was not taken while others were.
	Error string `json:"error,omitempty"`
}

type submittedListing struct {
	Documents []submittedAnswer `json:"documents"`
}

// form is an upload that was read to its end.
type form struct {
	files    []spooled
	paths    []string // of the files, in their order; none, or one each
	origin   string
	metadata store.Metadata
	print    fingerprint
}

func (f *form) remove() {
	for _, file := range f.files {
		file.remove()
	}
}

func (s *Server) addFiles(c echo.Context, kb store.KnowledgeBase) error {
	var f form
	defer f.remove()
	if err := s.readForm(c.Request(), &f); err != nil {
		return err
	}
	return s.once(c, f.print, func() (int, any, error) {
		out, err := s.submitAll(c.Request().Context(), kb, f)
		return http.StatusAccepted, out, err
	})
}

// submitAll adds each file. What was accepted is told even if others were not;
// if none was, the first failure is the answer.
func (s *Server) submitAll(ctx context.Context, kb store.KnowledgeBase, f form) (submittedListing, error) {
	var (
		out      submittedListing
		accepted int
		first    error
	)
	for i, file := range f.files {
		up := ingest.Upload{Name: file.name, Origin: f.origin, MIME: file.mime, Metadata: f.metadata}
		if f.paths != nil {
			up.Path = f.paths[i]
		}
		done, err := s.submitSpooled(ctx, kb, file, up)
		if err != nil {
			first = errors.Join(first, err)
			out.Documents = append(out.Documents, submittedAnswer{Name: file.name, Status: store.StatusFailed, Error: problemOf(err).Detail})
			continue
		}
		for _, one := range done {
			if one.ID != "" {
				accepted++
			}
		}
		out.Documents = append(out.Documents, done...)
	}
	if accepted == 0 && first == nil { // archives of which nothing was taken
		return out, emptyArchive(out.Documents)
	}
	if accepted == 0 {
		return out, first
	}
	return out, nil
}

// submitSpooled adds a file, or the files in it if it is an archive.
func (s *Server) submitSpooled(ctx context.Context, kb store.KnowledgeBase, file spooled, up ingest.Upload) ([]submittedAnswer, error) {
	body, err := file.open()
	if err != nil {
		return nil, fmt.Errorf("open the upload: %w", err)
	}
	defer body.Close()
	if entries, isArchive, err := s.cfg.Ingest.Unpack(ctx, kb.ID, up, body, file.size); isArchive {
		if errors.Is(err, store.ErrNotFound) {
			err = unknownKnowledgeBase("", kb.Name, err)
		}
		return unpackedOf(entries, up.Origin), err
	}
	up.Body = body
	done, err := s.submit(ctx, kb, up)
	if err != nil {
		return nil, err
	}
	return []submittedAnswer{submittedOf(done)}, nil
}

// emptyArchive is why nothing of an upload was taken.
func emptyArchive(refused []submittedAnswer) error {
	for _, one := range refused {
		if one.Error != "" {
			return invalidField("file", "nothing in it was taken, %s: %s", one.Path, one.Error)
		}
	}
	return invalidField("file", "there is no file in it")
}

func unpackedOf(entries []ingest.Unpacked, origin string) []submittedAnswer {
	out := make([]submittedAnswer, len(entries))
	for i, e := range entries {
		out[i] = submittedAnswer{
			ID: e.DocumentID, Name: e.Name, Path: e.Path, Origin: origin, Revision: e.Revision,
			Status: e.Status, JobID: e.JobID, DuplicateOf: e.DuplicateOf,
		}
		if e.Err != nil {
			out[i].Error = refusalOf(e.Err)
		}
	}
	return out
}

// refusalOf says why a file in an archive was not taken. Their errors are
// written for users, but for those that are the server's own.
func refusalOf(err error) string {
	if p := problemOf(err); p.Code != CodeInternal {
		return p.Detail
	}
	if ingest.IsRefusal(err) {
		return err.Error()
	}
	return problemOf(err).Detail
}

// submit adds one document. A body that was refused before its end was too
// long in itself; after that the store has no room.
func (s *Server) submit(ctx context.Context, kb store.KnowledgeBase, up ingest.Upload) (ingest.Submitted, error) {
	body := &endWatcher{Reader: up.Body}
	up.Body = body
	done, err := s.cfg.Ingest.Submit(ctx, kb.ID, up)
	switch {
	case errors.Is(err, store.ErrTooLarge) && !body.ended:
		return done, s.fileTooLarge(up.Name)
	case errors.Is(err, store.ErrNotFound):
		return done, unknownKnowledgeBase("", kb.Name, err) // deleted meanwhile
	}
	return done, err
}

type endWatcher struct {
	io.Reader
	ended bool
}

func (w *endWatcher) Read(p []byte) (int, error) {
	n, err := w.Reader.Read(p)
	w.ended = w.ended || errors.Is(err, io.EOF)
	return n, err
}

func submittedOf(s ingest.Submitted) submittedAnswer {
	return submittedAnswer{
		ID:          s.Document.ID,
		Name:        s.Document.Name,
		Path:        s.Source.Path,
		Origin:      s.Source.Origin,
		Revision:    s.Job.Revision,
		Status:      s.Document.Status,
		JobID:       s.Job.ID,
		DuplicateOf: s.DuplicateOf,
	}
}

// maxFormOverhead is what boundaries and part headers may add to the files.
const maxFormOverhead = 1 << 20

// readForm reads a whole multipart body part by part. The form's files are the
// caller's to remove, also after an error.
func (s *Server) readForm(r *http.Request, f *form) error {
	sum := sha256.New()
	err := s.eachPart(r, s.cfg.MaxUploadBytes, func(part *multipart.Part) error { return s.readPart(part, f, sum) })
	if err != nil {
		return err
	}
	if len(f.files) == 0 {
		return invalidField("file", "is missing: send at least one part named file")
	}
	if f.paths != nil && len(f.paths) != len(f.files) {
		return invalidField("path", "stands here %d times for %d files: send one for each, in their order, or none", len(f.paths), len(f.files))
	}
	sum.Sum(f.print[:0])
	return nil
}

// eachPart hands over the parts of a multipart body, whose files have at most
// limit bytes together.
func (s *Server) eachPart(r *http.Request, limit int64, do func(*multipart.Part) error) error {
	limit += maxFormOverhead
	if r.ContentLength > limit {
		return &http.MaxBytesError{Limit: limit}
	}
	r.Body = http.MaxBytesReader(nil, r.Body, limit)
	parts, err := r.MultipartReader()
	if err != nil {
		return newProblem(http.StatusBadRequest, CodeInvalid, "not a multipart body: %v", err)
	}
	for {
		part, err := parts.NextPart()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return bodyError(err)
		}
		if err := do(part); err != nil {
			return err
		}
	}
}

// partReader tells errors of the body from those of the disk it is kept on.
type partReader struct{ part *multipart.Part }

func (r partReader) Read(p []byte) (int, error) {
	n, err := r.part.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = bodyError(err)
	}
	return n, err
}

func (s *Server) readPart(part *multipart.Part, f *form, sum io.Writer) error {
	switch name := part.FormName(); name {
	case "file":
		return s.readFile(part, f, sum)
	case "metadata":
		if f.metadata != nil {
			return invalidField("metadata", "stands here twice")
		}
		return readMetadata(partReader{part}, f, sum)
	case "path":
		path, err := readField(partReader{part}, "path", store.MaxPath, sum)
		if f.paths = append(f.paths, path); err == nil && len(f.paths) > s.cfg.MaxFiles {
			err = invalidField("path", "stands here more than %d times", s.cfg.MaxFiles)
		}
		return err
	case "origin":
		if f.origin != "" {
			return invalidField("origin", "stands here twice")
		}
		var err error
		if f.origin, err = readField(partReader{part}, "origin", store.MaxOrigin, sum); err != nil {
			return err
		}
		return checkOrigin(f.origin)
	default:
		return invalidField(name, "is not a part of an upload: the parts are file, path, origin and metadata")
	}
}

// readField reads a part that is one line of text.
func readField(r io.Reader, name string, limit int64, sum io.Writer) (string, error) {
	raw, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err != nil {
		return "", err
	}
	if int64(len(raw)) > limit {
		return "", invalidField(name, "has more than %d bytes", limit)
	}
	if len(raw) == 0 {
		return "", invalidField(name, "is empty")
	}
	fmt.Fprintf(sum, "%s %q\n", name, raw)
	return string(raw), nil
}

// syncOrigin begins the origins that clients may give.
const syncOrigin = "sync:"

func checkOrigin(origin string) error {
	if rest, ok := strings.CutPrefix(origin, syncOrigin); origin != "" && (!ok || rest == "") {
		return invalidField("origin", `must be "sync:" and a label`)
	}
	return nil
}

func (s *Server) readFile(part *multipart.Part, f *form, sum io.Writer) error {
	name := fileNameOf(part)
	switch {
	case name == "":
		return invalidField("file", "has no file name: give filename in its Content-Disposition")
	case len(f.files) == s.cfg.MaxFiles:
		p := newProblem(http.StatusRequestEntityTooLarge, CodeTooLarge, "more than %d files in one request: send the others in another", s.cfg.MaxFiles)
		p.Errors = []ProblemField{{Field: "file", Detail: p.Detail}}
		return p
	}
	file, err := spool(s.cfg.SpoolDir, partReader{part}, s.cfg.MaxFileBytes)
	if errors.Is(err, store.ErrTooLarge) {
		return s.fileTooLarge(name)
	}
	if err != nil {
		return err
	}
	file.name, file.mime = name, hintOf(part.Header.Get("Content-Type"))
	f.files = append(f.files, file)
	fmt.Fprintf(sum, "file %q %x\n", name, file.sum)
	return nil
}

// fileNameOf is the file name of a part with the folders before it, which
// multipart.Part.FileName cuts off.
func fileNameOf(part *multipart.Part) string {
	if part.FileName() == "" {
		return ""
	}
	_, params, err := mime.ParseMediaType(part.Header.Get("Content-Disposition"))
	if err != nil {
		return part.FileName()
	}
	return params["filename"]
}

func (s *Server) fileTooLarge(name string) error {
	p := newProblem(http.StatusRequestEntityTooLarge, CodeTooLarge, "%q is larger than %d bytes", name, s.cfg.MaxFileBytes)
	p.Errors = []ProblemField{{Field: "file", Detail: p.Detail}}
	return p
}

func readMetadata(r io.Reader, f *form, sum io.Writer) error {
	raw, err := io.ReadAll(io.LimitReader(r, maxMetadataBytes+1))
	if err != nil {
		return err
	}
	if len(raw) > maxMetadataBytes {
		return invalidField("metadata", "has more than %d bytes", maxMetadataBytes)
	}
	if f.metadata, err = metadataFrom(raw); err != nil {
		return err
	}
	fmt.Fprintf(sum, "metadata %q\n", raw)
	return nil
}

// hintOf is the media type a client gave, "" where it is none: the content
// decides in the end.
func hintOf(given string) string {
	mediaType, params, err := mime.ParseMediaType(given)
	if err != nil || len(given) > maxMIME {
		return ""
	}
	return mime.FormatMediaType(mediaType, params)
}
