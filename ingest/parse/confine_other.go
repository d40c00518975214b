//go:build !linux

package parse

import (
	"os"
	"os/exec"

	"ragagent/store"
)

// confine does nothing here: the collector's memory goal, the wall clock and
// the end of the pipe are all that holds a child back on this system.
func confine(task) error { return nil }

// ownGroup leaves cmd as it is: a child starts no processes.
func ownGroup(*exec.Cmd) {}

// share has no way here: the file is copied.
func share(store.Blob) (*os.File, bool) { return nil, false }

func killedBySystem(*os.ProcessState) bool { return false }
