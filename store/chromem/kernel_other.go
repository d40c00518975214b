//go:build (!amd64 && !arm64) || purego

package chromem

func fastest() kernels { return portable() }
