//go:build !linux && !darwin

package sidefile

// Free is not known here.
func Free(string) int64 { return plenty }
