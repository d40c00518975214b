//go:build !linux

package parse

import (
	"os"
	"os/exec"

	"ragagent/store"
)

// cage is nothing here: the collector's memory goal, the wall clock and the end
// of the pipe are all that holds a child back on this system.
type cage struct{}

func confine(task) (*cage, error) { return &cage{}, nil }

func (*cage) limit(task) error { return nil }

// pooling says that children can be handed several files: a second descriptor
// cannot be inherited everywhere.
const pooling = false

func (c Config) scratch() (*os.File, error) { return c.temporary() }

// ownGroup leaves cmd as it is: a child starts no processes.
func ownGroup(*exec.Cmd) {}

// share has no way here: the file is copied.
func share(store.Blob) (*os.File, bool) { return nil, false }

func killedBySystem(*os.ProcessState) bool { return false }
