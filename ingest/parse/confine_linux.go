package parse

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"

	"ragagent/store"
)

// childNice is the priority of children: questions come before parsing.
const childNice = 5

// confine takes from this process what parsing does not need, before it reads
// anything: memory and processor time above the task's limits, the right to
// open any file or socket, to write files, to dump core and to gain privileges.
func confine(t task) error {
	used, err := addressSpace()
	if err != nil {
		return err
	}
	_ = os.WriteFile("/proc/self/oom_score_adj", []byte("1000"), 0) // best effort: if memory runs out, this process goes first
	_ = unix.Setpriority(unix.PRIO_PROCESS, 0, childNice)           // best effort
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("no_new_privs: %w", err)
	}
	// The address space of a Go program is large from the start, so the limit
	// counts from there. Reaching it is a fatal error of the runtime, which
	// the parent reads.
	limits := []struct {
		name     string
		resource int
		value    uint64
	}{
		{"core", unix.RLIMIT_CORE, 0},
		{"fsize", unix.RLIMIT_FSIZE, 0},
		{"cpu", unix.RLIMIT_CPU, uint64(t.Seconds)},
		{"as", unix.RLIMIT_AS, used + uint64(t.Memory)},
		// Descriptors that are open stay usable; new ones, sockets among them,
		// cannot be made.
		{"nofile", unix.RLIMIT_NOFILE, 0},
	}
	for _, l := range limits {
		if err := unix.Setrlimit(l.resource, &unix.Rlimit{Cur: l.value, Max: l.value}); err != nil {
			return fmt.Errorf("rlimit %s: %w", l.name, err)
		}
	}
	return nil
}

// addressSpace returns the bytes of address space in use.
func addressSpace() (uint64, error) {
	statm, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0, err
	}
	pages, _, _ := bytes.Cut(statm, []byte(" "))
	n, err := strconv.ParseUint(string(pages), 10, 64)
	if err != nil {
		return 0, err
	}
	return n * uint64(os.Getpagesize()), nil
}

// ownGroup gives cmd a process group of its own, killed as one when cmd's
// context ends.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}

// share returns another descriptor of an open file, for a child to read with
// pread: the place that Read goes on from is not touched.
func share(blob store.Blob) (*os.File, bool) {
	file, ok := blob.(syscall.Conn)
	if !ok {
		return nil, false
	}
	raw, err := file.SyscallConn()
	if err != nil {
		return nil, false
	}
	dup, dupErr := -1, error(nil)
	err = raw.Control(func(fd uintptr) { dup, dupErr = unix.FcntlInt(fd, unix.F_DUPFD_CLOEXEC, 0) })
	if err != nil || dupErr != nil {
		return nil, false
	}
	return os.NewFile(uintptr(dup), "document"), true
}

// killedBySystem says that a process was killed by a signal: where the parent
// did not send it, the kernel did, for processor time or memory.
func killedBySystem(state *os.ProcessState) bool {
	status, ok := state.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == syscall.SIGKILL
}
