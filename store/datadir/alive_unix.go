//go:build unix

package datadir

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"syscall"
)

// gone says that a process has ended: nobody has its number, or it is a zombie,
// which has closed its files.
func gone(pid int) bool {
	if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
		return true
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)) // PID (NAME) STATE ...; Linux has it
	after := bytes.LastIndexByte(stat, ')') + 2
	return err == nil && after < len(stat) && (stat[after] == 'Z' || stat[after] == 'X')
}
