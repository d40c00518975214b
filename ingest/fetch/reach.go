package fetch

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"syscall"
)

// UnreachableError says that there was no connection to a server: nothing was
// asked of it yet.
type UnreachableError struct {
	Host  string // with the port, if the URL has one
	cause error
}

func (e *UnreachableError) Unwrap() error { return e.cause }

// Error is in words for users: the resolver's address and the like, of which
// net's errors tell, are left out.
func (e *UnreachableError) Error() string {
	var name *net.DNSError
	var number syscall.Errno
	switch {
	case errors.As(e.cause, &name) && name.IsNotFound:
		return fmt.Sprintf("there is no host %q: look at the spelling", name.Name)
	case errors.As(e.cause, &name):
		return fmt.Sprintf("the name of %s could not be resolved: %s", e.Host, name.Err)
	case errors.As(e.cause, &number):
		return fmt.Sprintf("%s cannot be reached: %v", e.Host, number)
	}
	return fmt.Sprintf("%s cannot be reached: %v", e.Host, e.cause)
}

// unreached makes an error of a request that never had a connection an
// UnreachableError; others stay what they are.
func unreached(ctx context.Context, u *url.URL, err error) error {
	var dial *net.OpError
	var name *net.DNSError
	var certificate *tls.CertificateVerificationError
	dialled := errors.As(err, &dial) && dial.Op == "dial"
	if ctx.Err() == nil && (dialled || errors.As(err, &name) || errors.As(err, &certificate)) {
		return &UnreachableError{Host: u.Host, cause: err}
	}
	return err
}
