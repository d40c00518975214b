package tool

import "errors"

// retryable marks an error that may pass.
type retryableError struct{ error }

// Unwrap returns the cause.
func (e retryableError) Unwrap() error { return e.error }

// Retryable marks the failure of a call that may succeed when it is made again
// as it is: the service was busy, the connection was lost. The agent tries such
// a call again, a few times and later each time. nil stays nil.
func Retryable(err error) error {
	if err == nil {
		return nil
	}
	return retryableError{err}
}

// IsRetryable says whether an error, or one that it wraps, is marked so.
func IsRetryable(err error) bool {
	var marked retryableError
	return errors.As(err, &marked)
}
