//go:build !linux

package ingest

import (
	"errors"
	"os"
)

// canMap is false where long texts stay in memory.
const canMap = false

func (m *mapping) mapFile(*os.File, int) (string, error) { return "", errors.ErrUnsupported }

func (m *mapping) evict() {}

func (m *mapping) unmap() {}
