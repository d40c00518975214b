package blob

import (
	"strings"

	"ragagent/store"
)

// place is where a blob lies below the folder. What is not a hash in lower-case
// hex is ErrInvalid: it cannot become part of a path.
func place(sha256 string) (string, error) {
	if !store.IsSHA256(sha256) {
		return "", store.Invalid("sha256", "%.80q is not 64 lower-case hex digits", sha256)
	}
	return sha256[:2] + "/" + sha256[2:], nil
}

// hashAt is the inverse of place.
func hashAt(name string) (hash string, ok bool) {
	shard, rest, found := strings.Cut(name, "/")
	hash = shard + rest
	return hash, found && len(shard) == 2 && store.IsSHA256(hash)
}
