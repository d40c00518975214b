package embed

import (
	"context"
	"errors"
	"strconv"
	"time"
)

// Service is a server that embeds; see the rooms below this one. Both methods
// may be called concurrently. Their errors are *ServiceError where more is
// known than that it failed.
type Service interface {
	// Vectors embeds the texts, as they are, in one request: one vector per
	// text, in their order, of any length. Nothing is checked, cut or repeated.
	Vectors(ctx context.Context, texts []string) ([][]float32, error)
	// Digest identifies the weights of the model, "" if the server does not tell.
	Digest(ctx context.Context) (string, error)
}

// ServiceError says what a failure of a Service means for the next try.
type ServiceError struct {
	Err error
	// Unavailable: the server does not answer or has too much to do. Later, the
	// same request may be answered.
	Unavailable bool
	// Failed: the server made a mistake; trying again is worthwhile, waiting is not.
	Failed bool
	// TooLong: a text, or all of them together, is more than the model takes.
	TooLong bool
	// RetryAfter is how long the server asks to wait; 0 if it does not say.
	RetryAfter time.Duration
}

func (e *ServiceError) Error() string { return e.Err.Error() }

// Unwrap returns what the server or the connection said.
func (e *ServiceError) Unwrap() error { return e.Err }

// AnsweredWith returns what an answer of this HTTP status means; retryAfter is
// its header of that name, err what the server said.
func AnsweredWith(status int, retryAfter string, err error) *ServiceError {
	e := &ServiceError{Err: err}
	switch status {
	case 408, 429, 502, 503, 504: // timeout, too many requests, bad gateway, unavailable, gateway timeout
		e.Unavailable = true
	case 413: // content too large
		e.TooLong = true
	default:
		e.Failed = status >= 500
	}
	if s, bad := strconv.Atoi(retryAfter); bad == nil && s > 0 {
		e.RetryAfter = time.Duration(min(s, 3600)) * time.Second
	}
	return e
}

// meaning returns what is known of a failure. An error that is no ServiceError
// is that of a connection, unless ctx has ended.
func meaning(err error) *ServiceError {
	var e *ServiceError
	if errors.As(err, &e) {
		return e
	}
	return &ServiceError{Err: err, Unavailable: true}
}
