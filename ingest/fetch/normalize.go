package fetch

import "fmt"

// Normalize checks a URL as users write it, without asking anybody, and returns
// the one form of it that stands for the page: host in lower case, no default
// port, no fragment. name is a file name for what it leads to, as in Response.
// ErrInvalid.
func Normalize(raw string) (page, name string, err error) {
	u, err := parseURL(raw)
	if err != nil {
		return "", "", err
	}
	switch {
	case u.Scheme != "http" && u.Scheme != "https":
		return "", "", fmt.Errorf("%w: the scheme %q cannot be fetched, a URL begins with https://", ErrInvalid, u.Scheme)
	case u.User != nil:
		return "", "", fmt.Errorf("%w: it has a user or a password in it, which would be kept: leave them out", ErrInvalid)
	}
	return u.String(), fileName("", u), nil
}
