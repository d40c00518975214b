package sidefile

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"ragagent/store"
)

// Read returns the body of a side file, in memory of the caller's. It is what
// was written, or an error: store.ErrNotFound, ErrStale if it was made under
// another stamp, store.ErrDamaged if it is not what was written under this name.
//
// The body is read and not mapped: a file that is cut while it is mapped would
// kill the process, and what was checked could change afterwards. Reading costs
// one allocation, which an index can live in.
func (f *Folder) Read(ctx context.Context, kind, key, stamp string) ([]byte, error) {
	name := Name{kind, key}
	if err := name.check(); err != nil {
		return nil, err
	}
	body, err := f.read(ctx, name, &stamp)
	if err != nil {
		return nil, fmt.Errorf("side file %s: %w", name.File(), err)
	}
	return body, nil
}

// Check reads a side file as Read does, whatever its stamp.
func (f *Folder) Check(ctx context.Context, n Name) error {
	if err := n.check(); err != nil {
		return err
	}
	if _, err := f.read(ctx, n, nil); err != nil {
		return fmt.Errorf("side file %s: %w", n.File(), err)
	}
	return nil
}

func (f *Folder) read(ctx context.Context, want Name, stamp *string) ([]byte, error) {
	file, size, err := f.open(want)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	l, err := layoutOf(file, size, f.max)
	if err != nil {
		return nil, err
	}
	switch {
	case l.name != want:
		return nil, damaged("it is the file " + l.name.File())
	case stamp != nil && l.stamp != *stamp:
		return nil, ErrStale
	}
	return l.body(ctx, file)
}

// open opens a regular file and nothing else: a named pipe would never answer,
// and a link leads to what is not ours.
func (f *Folder) open(n Name) (*os.File, int64, error) {
	if err := f.real(); err != nil {
		return nil, 0, err
	}
	path := filepath.Join(f.dir, n.File())
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, 0, store.ErrNotFound
	case err != nil:
		return nil, 0, err
	case !info.Mode().IsRegular():
		return nil, 0, damaged("it is no file")
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, 0, err
	}
	opened, err := file.Stat()
	if err == nil && !os.SameFile(info, opened) {
		err = damaged("it changed while it was opened")
	}
	if err != nil {
		return nil, 0, errors.Join(err, file.Close())
	}
	return file, opened.Size(), nil
}

// layout is what a file says of itself, checked.
type layout struct {
	name  Name
	stamp string
	start int64 // of the body
	size  int64 // of the body
	sums  []uint32
}

// layoutOf reads all of a file but its body.
func layoutOf(file io.ReaderAt, size, most int64) (l layout, err error) {
	head := make([]byte, min(size, int64(maxHeader)))
	if err := readAt(file, head, 0); err != nil {
		return l, err
	}
	var headSize int
	if l.name, l.stamp, headSize, err = parseHeader(head); err != nil {
		return l, err
	}
	head, l.start = head[:headSize], int64(headSize)
	if size < l.start+int64(tailSize) {
		return l, damaged("it is cut")
	}
	tail := make([]byte, tailSize)
	if err := readAt(file, tail, size-int64(tailSize)); err != nil {
		return l, err
	}
	if string(tail[12:]) != endMagic {
		return l, damaged("it does not end as a side file")
	}
	l.size = int64(binary.LittleEndian.Uint64(tail))
	// The length is bounded by that of the file before anything is made of it.
	if l.size < 0 || l.size > min(size, most) || l.start+l.size+4*blocks(l.size)+int64(tailSize) != size {
		return l, damaged(fmt.Sprintf("its %d bytes do not hold what it says", size))
	}
	table := make([]byte, 4*blocks(l.size), 4*blocks(l.size)+8)
	if err := readAt(file, table, l.start+l.size); err != nil {
		return l, err
	}
	if sumOf(head, append(slices.Clone(table), tail[:8]...)) != binary.LittleEndian.Uint32(tail[8:]) {
		return l, damaged("its header and its table are not what was written")
	}
	l.sums = make([]uint32, blocks(l.size))
	for i := range l.sums {
		l.sums[i] = binary.LittleEndian.Uint32(table[4*i:])
	}
	return l, nil
}

// body reads and checks the body, on all cores.
func (l layout) body(ctx context.Context, file io.ReaderAt) ([]byte, error) {
	body := make([]byte, l.size)
	var next atomic.Int64
	var workers sync.WaitGroup
	errs := make([]error, min(runtime.GOMAXPROCS(0), len(l.sums)))
	for w := range errs {
		workers.Go(func() {
			for errs[w] == nil {
				i := next.Add(1) - 1
				if i >= int64(len(l.sums)) {
					return
				}
				if errs[w] = ctx.Err(); errs[w] == nil {
					errs[w] = l.block(file, body, i)
				}
			}
		})
	}
	workers.Wait()
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return body, nil
}

// block reads and checks the i-th block.
func (l layout) block(file io.ReaderAt, body []byte, i int64) error {
	part := body[i*block : min((i+1)*block, l.size)]
	if err := readAt(file, part, l.start+i*block); err != nil {
		return err
	}
	if crc32.Checksum(part, castagnoli) != l.sums[i] {
		return damaged(fmt.Sprintf("between byte %d and %d it is not what was written", l.start+i*block, l.start+i*block+int64(len(part))))
	}
	return nil
}

// readAt fills p; a file that has become shorter is damaged.
func readAt(file io.ReaderAt, p []byte, at int64) error {
	n, err := file.ReadAt(p, at)
	if n == len(p) {
		return nil
	}
	if errors.Is(err, io.EOF) {
		return damaged("it was cut while it was read")
	}
	return err
}
