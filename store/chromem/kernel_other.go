//go:build !amd64 || purego

package chromem

func fastest() kernels { return portable() }
