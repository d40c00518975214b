package main

import (
	"bufio"
	"os"
	"strconv"
	"strings"
)

// fallbackMemory is taken for the machine's memory where it does not tell.
const fallbackMemory = 8 << 30

// indexMemory is the ceiling of the search indexes in bytes: what the setting
// says in MiB, else half of the memory that the machine or the container has.
func indexMemory(mib int64) int64 {
	if mib > 0 {
		return mib << 20
	}
	return machineMemory("/proc/meminfo", "/sys/fs/cgroup/memory.max") / 2
}

// machineMemory reads Linux's files; elsewhere there are none.
func machineMemory(meminfo, cgroup string) int64 {
	total := int64(fallbackMemory)
	if f, err := os.Open(meminfo); err == nil {
		defer func() { _ = f.Close() }() // it was read only
		for lines := bufio.NewScanner(f); lines.Scan(); {
			rest, ok := strings.CutPrefix(lines.Text(), "MemTotal:")
			if !ok {
				continue
			}
			if kb, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64); err == nil && kb > 0 {
				total = kb << 10
			}
		}
	}
	if raw, err := os.ReadFile(cgroup); err == nil { // "max" where there is no limit
		if limit, err := strconv.ParseInt(strings.TrimSpace(string(raw)), 10, 64); err == nil && limit > 0 {
			total = min(total, limit)
		}
	}
	return total
}
