package store

import (
	"context"
	"encoding/hex"
	"io"
	"strings"
)

// IsSHA256 says whether s is the name of a blob: 64 lower-case hex digits. What
// is not must never become part of a path.
func IsSHA256(s string) bool {
	raw, err := hex.DecodeString(s)
	return err == nil && len(raw) == 32 && strings.ToLower(s) == s
}

// ContextReader returns a reader that reads from r until ctx is done, and from
// then on gives ctx's error: what was copied so far is not taken for the whole.
func ContextReader(ctx context.Context, r io.Reader) io.Reader {
	return contextReader{ctx, r}
}

type contextReader struct {
	ctx context.Context
	r   io.Reader
}

func (c contextReader) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.r.Read(p)
}
