package api

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"

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
	ID          string       `json:"id,omitempty"`
	Name        string       `json:"name"`
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
	for _, file := range f.files {
		done, err := s.submitSpooled(ctx, kb, file, f.metadata)
		if err != nil {
			first = errors.Join(first, err)
			out.Documents = append(out.Documents, submittedAnswer{Name: file.name, Status: store.StatusFailed, Error: problemOf(err).Detail})
			continue
		}
		accepted++
		out.Documents = append(out.Documents, submittedOf(done))
	}
	if accepted == 0 {
		return out, first
	}
	return out, nil
}

func (s *Server) submitSpooled(ctx context.Context, kb store.KnowledgeBase, file spooled, metadata store.Metadata) (ingest.Submitted, error) {
	body, err := file.open()
	if err != nil {
		return ingest.Submitted{}, fmt.Errorf("open the upload: %w", err)
	}
	defer body.Close()
	return s.submit(ctx, kb, ingest.Upload{Name: file.name, MIME: file.mime, Body: body, Metadata: metadata})
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
	default:
		return invalidField(name, "is not a part of an upload: the parts are file and metadata")
	}
}

func (s *Server) readFile(part *multipart.Part, f *form, sum io.Writer) error {
	name := part.FileName()
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

// metadataFrom reads a JSON object of strings, numbers, booleans and lists of
// strings. Which of them a document may have is ingest's to say: values of
// other kinds are handed on as they are and refused there by name.
func metadataFrom(raw []byte) (store.Metadata, error) {
	var m store.Metadata
	if err := json.Unmarshal(raw, &m); err != nil || m == nil {
		return nil, invalidField("metadata", "must be a JSON object")
	}
	for key, value := range m {
		items, ok := value.([]any)
		if !ok {
			continue
		}
		words := make([]string, 0, len(items))
		for _, item := range items {
			if word, ok := item.(string); ok {
				words = append(words, word)
			}
		}
		if len(words) == len(items) {
			m[key] = words
		}
	}
	return m, nil
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
