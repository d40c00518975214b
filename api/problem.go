package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"time"

	"github.com/labstack/echo/v4"

	"ragagent/agent"
	"ragagent/agent/llm"
	"ragagent/ingest"
	"ragagent/store"
)

// Problem is the body of every error answer (RFC 9457). It is an error itself,
// so a handler returns one where the mapping of problemOf would say too little.
type Problem struct { //nolint:errname // RFC 9457's word: a body first, an error for convenience
	Type   string `json:"type"` // always "about:blank": Code tells problems apart
	Title  string `json:"title"`
	Status int    `json:"status"`
	Detail string `json:"detail"`
	// Code is stable and meant for programs: one of the Code constants.
	Code   string         `json:"code"`
	Errors []ProblemField `json:"errors,omitempty"`
	// Result is what a run came to before it failed.
	Result *agent.Result `json:"result,omitempty"`

	retryAfter time.Duration // sent as Retry-After if positive
	cause      error
}

// ProblemField names one input that is wrong and what to do about it.
type ProblemField struct {
	Field  string `json:"field"`
	Detail string `json:"detail"`
}

// Codes of problems.
const (
	CodeInvalid          = "invalid"
	CodeNotFound         = "not_found"
	CodeNotSupported     = "not_supported"
	CodeMethodNotAllowed = "method_not_allowed"
	CodeTimeout          = "request_timeout"
	CodeConflict         = "conflict"
	CodeTooLarge         = "too_large"
	CodeMediaType        = "unsupported_media_type"
	CodeForbidden        = "forbidden"
	CodeWrongHost        = "wrong_host"
	CodeKeyReused        = "idempotency_key_reused"
	CodeKeyInUse         = "idempotency_key_in_use"
	CodeCancelled        = "cancelled"
	CodeInternal         = "internal"
	CodeModelFailed      = "model_failed"
	CodeModelUnavailable = "model_unavailable"
	CodeOverloaded       = "overloaded"
	CodeNotReady         = "not_ready"
	CodeDeadline         = "deadline_exceeded"
	CodeStorageFull      = "storage_full"
	CodeQuarantined      = "quarantined"
	CodeDamaged          = "damaged"
)

// statusClientClosed is what logs and metrics show for a client that went away
// before it was answered (as nginx counts it); nobody receives it.
const statusClientClosed = 499

func (p *Problem) Error() string { return fmt.Sprintf("%d %s: %s", p.Status, p.Code, p.Detail) }

// Unwrap returns the error behind the problem, if there is one.
func (p *Problem) Unwrap() error { return p.cause }

func newProblem(status int, code, format string, args ...any) *Problem {
	return &Problem{
		Type:   "about:blank",
		Title:  title(status),
		Status: status,
		Code:   code,
		Detail: fmt.Sprintf(format, args...),
	}
}

func title(status int) string {
	if status == statusClientClosed {
		return "Client Closed Request"
	}
	return http.StatusText(status)
}

// invalidField is a 400 that names one field.
func invalidField(field, format string, args ...any) *Problem {
	reason := fmt.Sprintf(format, args...)
	p := newProblem(http.StatusBadRequest, CodeInvalid, "%s: %s", field, reason)
	p.Errors = []ProblemField{{Field: field, Detail: reason}}
	return p
}

// notSupported is a 400 for a field of the contract that a later version serves.
func notSupported(field, reason string) *Problem {
	p := invalidField(field, "%s", reason)
	p.Code = CodeNotSupported
	return p
}

// problemOf is the one place where errors become HTTP. The texts of errors
// that speak to the client go out; those of internal ones stay in the log.
func problemOf(err error) *Problem {
	var p *Problem
	if errors.As(err, &p) {
		return p
	}
	p = classify(err)
	p.cause = err
	return p
}

func classify(err error) *Problem {
	var (
		tooLong   *http.MaxBytesError
		dimension *store.DimensionError
		provider  *llm.Error
		fromEcho  *echo.HTTPError
		apart     *ingest.QuarantineError
	)
	switch {
	case errors.As(err, &fromEcho):
		return echoProblem(fromEcho)
	case errors.As(err, &apart):
		return newProblem(http.StatusServiceUnavailable, CodeQuarantined, "%v", err)
	case errors.Is(err, context.Canceled):
		return newProblem(statusClientClosed, CodeCancelled, "the request was cancelled")
	case errors.As(err, &provider):
		return modelProblem(provider)
	case errors.Is(err, os.ErrDeadlineExceeded):
		return newProblem(http.StatusRequestTimeout, CodeTimeout, "the request's body came too slowly")
	case errors.Is(err, context.DeadlineExceeded):
		return newProblem(http.StatusGatewayTimeout, CodeDeadline, "the answer took longer than the server allows")
	case errors.As(err, &tooLong):
		return newProblem(http.StatusRequestEntityTooLarge, CodeTooLarge, "the request's body is larger than %d bytes", tooLong.Limit)
	case errors.Is(err, store.ErrDamaged):
		return newProblem(http.StatusInternalServerError, CodeDamaged, "what is stored is damaged: run 'ragagent verify' and restore a backup")
	case errors.Is(err, store.ErrTooLarge), store.IsFull(err):
		return newProblem(http.StatusInsufficientStorage, CodeStorageFull, "no room left for it: delete something first (%v)", err)
	case errors.As(err, &dimension):
		return newProblem(http.StatusInternalServerError, CodeInternal, internalDetail)
	case errors.Is(err, store.ErrInvalid):
		return invalidProblem(err)
	case errors.Is(err, store.ErrNotFound):
		return newProblem(http.StatusNotFound, CodeNotFound, "%v", err)
	case errors.Is(err, store.ErrConflict):
		return newProblem(http.StatusConflict, CodeConflict, "%v", err)
	case errors.Is(err, store.ErrUnavailable):
		return unavailable(CodeModelUnavailable, 5*time.Second, "%v", err)
	case errors.Is(err, store.ErrInUse):
		return unavailable(CodeOverloaded, time.Second, "%v", err)
	}
	return newProblem(http.StatusInternalServerError, CodeInternal, internalDetail)
}

const internalDetail = "something went wrong inside the server; its log says what, under this answer's X-Request-Id"

func unavailable(code string, after time.Duration, format string, args ...any) *Problem {
	p := newProblem(http.StatusServiceUnavailable, code, format, args...)
	p.retryAfter = after
	return p
}

func modelProblem(err *llm.Error) *Problem {
	if err.Retryable {
		return unavailable(CodeModelUnavailable, 5*time.Second, "the language model cannot be reached: %v", err)
	}
	return newProblem(http.StatusBadGateway, CodeModelFailed, "the language model failed: %v", err)
}

func invalidProblem(err error) *Problem {
	p := newProblem(http.StatusBadRequest, CodeInvalid, "%v", err)
	p.Errors = fieldErrors(err, nil)
	return p
}

// fieldErrors collects every FieldError in the tree of err, in order.
func fieldErrors(err error, into []ProblemField) []ProblemField {
	switch e := err.(type) { //nolint:errorlint // walks the tree itself, to find all of them
	case *store.FieldError:
		return append(into, ProblemField{Field: e.Field, Detail: e.Reason})
	case interface{ Unwrap() []error }:
		for _, inner := range e.Unwrap() {
			into = fieldErrors(inner, into)
		}
	case interface{ Unwrap() error }:
		return fieldErrors(e.Unwrap(), into)
	}
	return into
}

// echoProblem translates the few errors echo makes itself.
func echoProblem(err *echo.HTTPError) *Problem {
	switch err.Code {
	case http.StatusNotFound:
		return newProblem(err.Code, CodeNotFound, "there is nothing at this address")
	case http.StatusMethodNotAllowed:
		return newProblem(err.Code, CodeMethodNotAllowed, "this address does not take this method; the Allow header lists those it takes")
	case http.StatusRequestEntityTooLarge:
		return newProblem(err.Code, CodeTooLarge, "the request's body is too large")
	case http.StatusUnsupportedMediaType:
		return newProblem(err.Code, CodeMediaType, "the request's media type is not one this address reads")
	}
	if err.Code >= 400 && err.Code < 500 {
		return newProblem(err.Code, CodeInvalid, "%v", err.Message)
	}
	return newProblem(http.StatusInternalServerError, CodeInternal, internalDetail)
}
