//go:build unix

package quickjs

import (
	"os/exec"
	"syscall"
)

// leashes says that a child can inherit the pipe that ends it with its parent.
const leashes = true

// ownGroup gives cmd a process group of its own: an interrupt at the terminal
// is for the parent, which ends it.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }
