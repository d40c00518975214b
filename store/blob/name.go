package blob

import (
	"encoding/hex"
	"strings"

	"ragagent/store"
)

// hexLen is the length of a SHA-256 in hex digits.
const hexLen = 64

// place is where a blob lies below the folder. What is not a hash in lower-case
// hex is ErrInvalid: it cannot become part of a path.
func place(sha256 string) (string, error) {
	if !isHash(sha256) {
		return "", store.Invalid("sha256", "%.80q is not %d lower-case hex digits", sha256, hexLen)
	}
	return sha256[:2] + "/" + sha256[2:], nil
}

// hashAt is the inverse of place.
func hashAt(name string) (hash string, ok bool) {
	shard, rest, found := strings.Cut(name, "/")
	hash = shard + rest
	return hash, found && len(shard) == 2 && isHash(hash)
}

func isHash(s string) bool {
	if len(s) != hexLen || strings.ToLower(s) != s {
		return false
	}
	_, err := hex.DecodeString(s)
	return err == nil
}
