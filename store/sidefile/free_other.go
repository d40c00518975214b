//go:build !linux && !darwin

package sidefile

// free is not known here.
func free(string) int64 { return plenty }
