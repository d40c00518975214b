package catalog

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"ragagent/store"
)

// Put keeps an agent under a name, in the place of the one before; created says
// that there was none. *Error for one that does not fit.
func (c *Catalog) Put(name string, source []byte) (e Entry, created bool, err error) {
	if c.cfg.Folder == "" {
		return e, false, store.Invalid("agent", "this server keeps no agents")
	}
	if !namePattern.MatchString(name) {
		return e, false, store.Invalid("name", "it has to be 1 to 64 letters, digits, '_' or '-'")
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.reload(); err != nil {
		return e, false, err
	}
	d, err := c.parse(name+".yaml", name, source)
	if err != nil {
		return e, false, err
	}
	file := filepath.Join(c.cfg.Folder, name+".yaml")
	fresh := &entry{Entry: Entry{Declaration: d, Source: string(source)}, file: file}
	before, there := c.entries[name]
	if !there && len(c.seen) >= MaxAgents {
		return e, false, fmt.Errorf("%w: %d agents are kept already", store.ErrTooLarge, len(c.seen))
	}
	c.entries[name] = fresh
	if _, err = c.build(fresh); err == nil { // whom it hands off to is there
		err = writeFile(file, source)
	}
	if err != nil {
		delete(c.entries, name)
		if there {
			c.entries[name] = before
		}
		return e, false, err
	}
	if info, err := os.Stat(file); err == nil {
		c.seen[name] = stamp{info.ModTime(), info.Size()}
	}
	return fresh.Entry, !there, nil
}

// Delete removes an agent of the users; a default that it stood in for is back.
// store.ErrNotFound; store.ErrConflict for a default.
func (c *Catalog) Delete(name string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.reload(); err != nil {
		return err
	}
	e, ok := c.entries[name]
	switch {
	case !ok:
		return fmt.Errorf("agent %q: %w", name, store.ErrNotFound)
	case e.file == "":
		return fmt.Errorf("%w: agent %q comes with the server; put another one in its place", store.ErrConflict, name)
	}
	if err := os.Remove(e.file); err != nil {
		return fmt.Errorf("delete agent %q: %w", name, err)
	}
	return c.reload()
}

// writeFile puts a file in place whole, and on the disk.
func writeFile(path string, content []byte) (err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("make the folder of agents: %w", err)
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".agent-*")
	if err != nil {
		return fmt.Errorf("keep the agent: %w", err)
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name()) // it is of no use to anyone
		}
	}()
	_, err = f.Write(content)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("keep the agent: %w", err)
	}
	if err = os.Rename(f.Name(), path); err != nil {
		return fmt.Errorf("keep the agent: %w", err)
	}
	return nil
}

// readFull reads until the end or until into is full.
func readFull(r io.Reader, into []byte) (int, error) {
	n, err := io.ReadFull(r, into)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = nil
	}
	return n, err
}
