package sqlite

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"ragagent/store"
)

// A process that was killed leaves a write-ahead log, and SQLite takes from it
// every transaction up to the first frame whose checksum is wrong: that is how
// it leaves out a transaction that was cut off. A frame that was damaged later
// looks the same to it, and everything behind is lost without a word. The two
// can be told apart: transactions are synced one after the other, so behind a
// cut there is never more than the rest of one. The format is that of
// https://www.sqlite.org/walformat.html.

const (
	logHeader   = 32
	frameHeader = 24
	logMagic    = 0x377f0682 // the lowest bit says how checksums read their words
)

// checkLog is ErrDamaged if the log beside a database has lost transactions
// that were committed.
func checkLog(path string) error {
	f, err := os.Open(path + "-wal")
	if errors.Is(err, fs.ErrNotExist) {
		return lostLog(path, [8]byte{}, 0)
	}
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // it was read only
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if info.Size() <= logHeader { // nothing was ever committed to it
		return lostLog(path, [8]byte{}, 0)
	}
	l := &logReader{r: f, size: info.Size()}
	if err := l.open(); err != nil {
		return damagedLog(path, 0, err.Error())
	}
	committed, err := l.valid()
	if err != nil {
		return err
	}
	more, err := l.committedBehind()
	if err != nil {
		return err
	}
	if more {
		return damagedLog(path, committed, "it is damaged and goes on behind")
	}
	return lostLog(path, l.salts, committed)
}

func damagedLog(path string, frames int64, what string) error {
	return fmt.Errorf("the write-ahead log %s-wal: %w: behind its first %d frames %s: what was stored last would be lost. "+
		"Keep a copy of the folder and restore the latest backup; or, to go on without it, remove %s-shm and %s-wal",
		path, store.ErrDamaged, frames, what, path, path)
}

type logReader struct {
	r     io.ReaderAt
	size  int64
	order binary.ByteOrder // of the words under a checksum
	page  int64
	salts [8]byte
	sum   [2]uint32
	at    int64 // frame that is read next, from 0
}

// open reads the header. It is synced before the first frame is written.
func (l *logReader) open() error {
	var h [logHeader]byte
	if _, err := l.r.ReadAt(h[:], 0); err != nil {
		return err
	}
	magic := binary.BigEndian.Uint32(h[:])
	l.order = binary.LittleEndian
	if magic&1 != 0 {
		l.order = binary.BigEndian
	}
	l.page = int64(binary.BigEndian.Uint32(h[8:]))
	copy(l.salts[:], h[16:24])
	l.add(h[:24])
	if magic&^1 != logMagic || l.page < 512 || l.page > 1<<16 || !l.sumIs(h[24:]) {
		return errors.New("its header is damaged")
	}
	return nil
}

// add extends the checksum; len(p) is a multiple of 8.
func (l *logReader) add(p []byte) {
	for ; len(p) > 0; p = p[8:] {
		l.sum[0] += l.order.Uint32(p) + l.sum[1]
		l.sum[1] += l.order.Uint32(p[4:]) + l.sum[0]
	}
}

func (l *logReader) sumIs(want []byte) bool {
	return l.sum[0] == binary.BigEndian.Uint32(want) && l.sum[1] == binary.BigEndian.Uint32(want[4:])
}

// frame reads the n-th one; false if the file ends before its end.
func (l *logReader) frame(n int64, into []byte) (bool, error) {
	at := logHeader + n*int64(len(into))
	if at+int64(len(into)) > l.size {
		return false, nil
	}
	_, err := l.r.ReadAt(into, at)
	return err == nil, err
}

// mine tells a frame of this log from what an earlier one left in the file.
func (l *logReader) mine(frame []byte) bool { return [8]byte(frame[8:16]) == l.salts }

func commits(frame []byte) bool { return binary.BigEndian.Uint32(frame[4:]) != 0 }

// valid reads frames while they are right, and returns how many there are up
// to the last commit.
func (l *logReader) valid() (committed int64, err error) {
	frame := make([]byte, frameHeader+l.page)
	for ; ; l.at++ {
		ok, err := l.frame(l.at, frame)
		if err != nil || !ok || !l.mine(frame) {
			return committed, err
		}
		l.add(frame[:8])
		l.add(frame[frameHeader:])
		if !l.sumIs(frame[16:24]) {
			return committed, nil
		}
		if commits(frame) {
			committed = l.at + 1
		}
	}
}

// committedBehind says whether behind the valid frames a transaction was
// committed and another one begun: the first was on the disk then.
func (l *logReader) committedBehind() (bool, error) {
	frame := make([]byte, frameHeader+l.page)
	committed := false
	for n := l.at; ; n++ {
		ok, err := l.frame(n, frame)
		if err != nil || !ok {
			return false, err
		}
		if !l.mine(frame) {
			continue
		}
		if committed {
			return true, nil
		}
		committed = commits(frame)
	}
}

// lostLog compares the log with the index of it that other processes share:
// that counts the frames that were committed, and how many of them are in the
// database already. After a power cut it may be older than the log, never newer.
func lostLog(path string, salts [8]byte, committed int64) error {
	raw, err := os.ReadFile(path + "-shm")
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(raw) < 136 {
		return nil
	}
	if err != nil {
		return err
	}
	h := raw[:48]
	sum := logReader{order: binary.NativeEndian}
	sum.add(h[:40])
	if raw[12] == 0 || string(h) != string(raw[48:96]) ||
		sum.sum[0] != binary.NativeEndian.Uint32(h[40:]) || sum.sum[1] != binary.NativeEndian.Uint32(h[44:]) {
		return nil // it is rebuilt
	}
	frames, done := int64(binary.NativeEndian.Uint32(h[16:])), int64(binary.NativeEndian.Uint32(raw[96:]))
	same := [8]byte(h[32:40]) == salts || committed == 0 && salts == [8]byte{}
	if same && frames > committed && done < frames {
		return damagedLog(path, committed, fmt.Sprintf("it ends, of %d", frames))
	}
	return nil
}
