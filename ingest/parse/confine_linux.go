package parse

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"

	"ragagent/store"
)

// childNice is the priority of children: questions come before parsing.
const childNice = 10

// confine takes from this process what parsing does not need, before it reads
// anything: memory and processor time above the task's limits, the right to
// open any file or socket, to write files, to dump core and to gain privileges.
func confine(t task) (*cage, error) {
	statm, err := os.Open("/proc/self/statm") // it stays open: later nothing can be opened
	if err != nil {
		return nil, err
	}
	c := &cage{statm: statm}
	_ = os.WriteFile("/proc/self/oom_score_adj", []byte("1000"), 0) // best effort: if memory runs out, this process goes first
	_ = unix.Setpriority(unix.PRIO_PROCESS, 0, childNice)           // best effort
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return nil, fmt.Errorf("no_new_privs: %w", err)
	}
	limits := []struct {
		name     string
		resource int
	}{
		{"core", unix.RLIMIT_CORE},
		{"fsize", unix.RLIMIT_FSIZE},
		// Descriptors that are open stay usable; new ones, sockets among them,
		// cannot be made.
		{"nofile", unix.RLIMIT_NOFILE},
	}
	for _, l := range limits {
		if err := unix.Setrlimit(l.resource, &unix.Rlimit{}); err != nil {
			return nil, fmt.Errorf("rlimit %s: %w", l.name, err)
		}
	}
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, unix.SIGXCPU)
	go func() {
		<-ended
		fmt.Fprintln(os.Stderr, outOfTime)
		os.Exit(1)
	}()
	return c, c.limit(t)
}

// cage is what holds this process.
type cage struct {
	statm *os.File // /proc/self/statm
}

// limit bounds what this process may take from here on, for one file.
func (c *cage) limit(t task) error {
	used, err := c.addressSpace()
	if err != nil {
		return err
	}
	var spent unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &spent); err != nil {
		return fmt.Errorf("processor time: %w", err)
	}
	seconds := uint64(spent.Utime.Sec + spent.Stime.Sec + 1)
	// The address space of a Go program is large from the start, so the limit
	// counts from there. Reaching it is a fatal error of the runtime, which
	// the parent reads.
	if err := soft(unix.RLIMIT_AS, used+uint64(t.Memory)); err != nil {
		return fmt.Errorf("rlimit as: %w", err)
	}
	if err := soft(unix.RLIMIT_CPU, seconds+uint64(t.Seconds)); err != nil {
		return fmt.Errorf("rlimit cpu: %w", err)
	}
	return nil
}

// soft sets a limit that this process may raise again, for the next file.
func soft(resource int, value uint64) error {
	var l unix.Rlimit
	if err := unix.Getrlimit(resource, &l); err != nil {
		return err
	}
	l.Cur = min(value, l.Max)
	return unix.Setrlimit(resource, &l)
}

// addressSpace returns the bytes of address space in use.
func (c *cage) addressSpace() (uint64, error) {
	var buf [64]byte
	n, err := c.statm.ReadAt(buf[:], 0)
	if n == 0 {
		return 0, err
	}
	pages, _, _ := bytes.Cut(buf[:n], []byte(" "))
	count, err := strconv.ParseUint(string(pages), 10, 64)
	if err != nil {
		return 0, err
	}
	return count * uint64(os.Getpagesize()), nil
}

// pooling says that children can be handed several files.
const pooling = true

// scratch makes a file in memory for the files of a pooled child.
func (c Config) scratch() (*os.File, error) {
	fd, err := unix.MemfdCreate("document", unix.MFD_CLOEXEC)
	if err != nil {
		return c.temporary()
	}
	return os.NewFile(uintptr(fd), "document"), nil
}

// ownGroup gives cmd a process group of its own: an interrupt at the terminal
// is for the parent, which ends it.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
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
