package ingest

import (
	"os"
	"syscall"
	"unsafe"
)

const canMap = true

func (m *mapping) mapFile(file *os.File, size int) (string, error) {
	data, err := syscall.Mmap(int(file.Fd()), 0, size, syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		return "", err
	}
	m.data = data
	return unsafe.String(&data[0], size), nil
}

// evict takes the pages of the file out of this process's memory. They come
// back when they are read.
func (m *mapping) evict() { _ = syscall.Madvise(m.data, syscall.MADV_DONTNEED) }

func (m *mapping) unmap() { _ = syscall.Munmap(m.data) }
