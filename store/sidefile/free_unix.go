//go:build linux || darwin

package sidefile

import "syscall"

// Free is how many bytes others may still write where path is; where the
// system does not tell, as many as one likes.
func Free(path string) int64 {
	var s syscall.Statfs_t
	if err := syscall.Statfs(path, &s); err != nil {
		return plenty
	}
	return int64(min(s.Bavail, uint64(plenty)/uint64(s.Bsize)) * uint64(s.Bsize))
}
