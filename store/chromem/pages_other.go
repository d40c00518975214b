//go:build !linux

package chromem

func largePages[T any]([]T) {}
