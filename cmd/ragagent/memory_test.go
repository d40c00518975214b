package main

import (
	"os"
	"path/filepath"
	"testing"
)

func TestMachineMemory(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	none := filepath.Join(dir, "none")
	info := file("meminfo", "MemFree:  1 kB\nMemTotal:       2048 kB\n")
	for _, c := range []struct {
		meminfo, cgroup string
		want            int64
	}{
		{info, none, 2 << 20},
		{info, file("max", "max\n"), 2 << 20},
		{info, file("less", "1000000\n"), 1000000},
		{info, file("more", "9999999999\n"), 2 << 20},
		{none, none, fallbackMemory},
	} {
		if got := machineMemory(c.meminfo, c.cgroup); got != c.want {
			t.Errorf("%s %s: %d, want %d", c.meminfo, c.cgroup, got, c.want)
		}
	}
	if got := indexMemory(3); got != 3<<20 {
		t.Errorf("3 MiB: %d", got)
	}
}
