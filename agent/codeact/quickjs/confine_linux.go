package quickjs

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// confine takes from this process what running code does not need: memory and
// processor time above the task's limits, the right to open any file or socket,
// to write files, to dump core and to gain privileges.
func confine(t task) error {
	_ = os.WriteFile("/proc/self/oom_score_adj", []byte("1000"), 0) // best effort: if memory runs out, this process goes first
	statm, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return err
	}
	var pages uint64
	if _, err := fmt.Sscan(string(statm), &pages); err != nil {
		return fmt.Errorf("address space: %w", err)
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("no_new_privs: %w", err)
	}
	const spare = 128 << 20 // for Go's own heap beside the interpreter's
	for _, l := range []struct {
		name     string
		resource int
		value    uint64
	}{
		{"core", unix.RLIMIT_CORE, 0},
		{"fsize", unix.RLIMIT_FSIZE, 0},
		{"nofile", unix.RLIMIT_NOFILE, 0}, // descriptors that are open stay usable
		{"as", unix.RLIMIT_AS, pages*uint64(os.Getpagesize()) + uint64(t.Memory) + spare},
		{"cpu", unix.RLIMIT_CPU, uint64(2*t.Seconds + 2)}, // what the interpreter cannot interrupt
	} {
		if err := unix.Setrlimit(l.resource, &unix.Rlimit{Cur: l.value, Max: l.value}); err != nil {
			return fmt.Errorf("rlimit %s: %w", l.name, err)
		}
	}
	return nil
}
