//go:build unix

package quickjs

import (
	"os/exec"
	"syscall"
)

// ownGroup gives cmd a process group of its own: an interrupt at the terminal
// is for the parent, which ends it.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }
