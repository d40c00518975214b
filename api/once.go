package api

import (
	"crypto/sha256"
	"strings"

	"github.com/labstack/echo/v4"
)

// once sends what do returns. If the request carries an Idempotency-Key and
// the same request was answered before, that answer is sent instead and do is
// not called. Only successes are remembered: after a failure nothing is known
// to have happened, and the client is right to try again.
func (s *Server) once(c echo.Context, print fingerprint, do func() (status int, body any, err error)) error {
	known, finish, err := s.claim(c, print)
	if err != nil {
		return err
	}
	if known != nil {
		return replay(c, known)
	}
	var made *answer
	defer func() { finish(made) }()
	status, body, err := do()
	if err != nil {
		return err
	}
	encoded, err := encode(body)
	if err != nil {
		return err
	}
	made = &answer{status: status, body: encoded}
	return replyBytes(c, status, encoded)
}

// claim is idempotency.begin for the request's key; without one there is
// nothing to find and nothing to keep.
func (s *Server) claim(c echo.Context, print fingerprint) (known *answer, finish func(*answer), err error) {
	key := c.Request().Header.Get("Idempotency-Key")
	if key == "" {
		return nil, func(*answer) {}, nil
	}
	if len(key) > maxKey || strings.ContainsFunc(key, func(r rune) bool { return r < ' ' || r > '~' }) {
		return nil, nil, invalidField("Idempotency-Key", "must be 1 to %d printable ASCII characters", maxKey)
	}
	return s.answers.begin(c.Request().URL.EscapedPath()+"\x00"+key, print)
}

func replay(c echo.Context, a *answer) error {
	markReplayed(c)
	return replyBytes(c, a.status, a.body)
}

func markReplayed(c echo.Context) { c.Response().Header().Set("Idempotent-Replayed", "true") }

func fingerprintOf(body []byte) fingerprint { return sha256.Sum256(body) }
