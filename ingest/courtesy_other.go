//go:build !linux

package ingest

// giveWay does nothing where threads have no priority of their own.
func giveWay() {}
