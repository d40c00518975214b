package parse

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// probeArgument makes of the test binary a process that confines itself as a
// child does, and then tries what a parser must not be able to do.
const probeArgument = "-ragagent-parse-probe"

func probe() {
	if _, err := confine(task{Memory: 64 << 20, Seconds: 1}); err != nil {
		fmt.Println("confine:", err)
		return
	}
	report := func(what string, err error) {
		if err == nil {
			fmt.Println("could", what)
		}
	}
	_, err := os.Open("/etc/passwd")
	report("open a file", err)
	report("write a file", os.WriteFile(os.TempDir()+"/ragagent-probe", []byte("x"), 0o600))
	_, err = net.Dial("tcp", "127.0.0.1:9")
	report("make a socket", ignoreRefused(err))
	_, err = net.Listen("tcp", "127.0.0.1:0")
	report("listen", err)
	_, _, err = os.Pipe()
	report("make a pipe", err)
	report("start a program", exec.Command("/bin/true").Run())
	_, err = os.Stdin.WriteAt([]byte("x"), 0)
	report("write to its file", err)
	if env := os.Environ(); len(env) > 1 {
		fmt.Println("has an environment:", env)
	}
	for fd := 5; fd < 32; fd++ { // 3 is the leash, 4 are the orders; the runtime has some of its own
		name, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", fd))
		if err == nil && name != os.DevNull && !strings.HasPrefix(name, "anon_inode:") && name != "/proc/"+fmt.Sprint(os.Getpid())+"/statm" && !strings.HasPrefix(name, "/sys/fs/cgroup/") {
			fmt.Println("has a descriptor of", name)
		}
	}
}

// ignoreRefused takes an attempt that got as far as the network for a success.
func ignoreRefused(err error) error {
	if err != nil && strings.Contains(err.Error(), "refused") {
		return nil
	}
	return err
}

// TestChildIsConfined starts a child the way the pool does and asks it what it
// could do.
func TestChildIsConfined(t *testing.T) {
	t.Setenv("SECRET", "x")
	secret, err := os.Open("/proc/self/status") // a descriptor that must not be inherited
	if err != nil {
		t.Fatal(err)
	}
	defer secret.Close()
	scratch, err := Config{}.scratch()
	if err != nil {
		t.Fatal(err)
	}
	defer scratch.Close()
	if err := scratch.Truncate(100); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], probeArgument)
	cmd.Env = []string{"GOTRACEBACK=none"}
	cmd.Stdin = scratch
	out, err := cmd.CombinedOutput()
	if err != nil || len(out) > 0 {
		t.Errorf("%v: %s", err, out)
	}
}
