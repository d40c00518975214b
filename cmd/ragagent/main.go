// Command ragagent is the server and the command line in one binary. This
// package reads flags and the environment, wires the rooms together and knows
// no business rule of its own.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"syscall"

	"github.com/alecthomas/kong"

	"ragagent/agent/codeact/quickjs"
	"ragagent/ingest/parse"
)

// version is set by the linker.
var version = "dev"

// Exit statuses.
const (
	exitOK     = 0
	exitFailed = 1
	exitUsage  = 2
)

func main() {
	quickjs.ChildMain() // returns, unless this process is to run a model's code
	if parse.IsChild() {
		// A sandboxed parser: nothing else of the program is set up.
		parse.ChildMain()
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// commands is the command line as kong reads it.
type commands struct {
	Config kong.ConfigFlag `help:"YAML file with the same settings as the flags; flags and RAGAGENT_* variables win." placeholder:"FILE" env:"RAGAGENT_CONFIG"`

	Serve   serveCmd   `cmd:"" help:"Run the server."`
	Ingest  ingestCmd  `cmd:"" help:"Add files and folders to a knowledge base."`
	Search  searchCmd  `cmd:"" help:"Find passages in a knowledge base."`
	Ask     askCmd     `cmd:"" help:"Answer a question from a knowledge base, with citations."`
	Eval    evalCmd    `cmd:"" help:"Measure retrieval on a test collection."`
	Jobs    jobsCmd    `cmd:"" help:"List jobs, or let those that failed be tried again."`
	Reindex reindexCmd `cmd:"" help:"Read, cut and embed every document of a knowledge base again, by its present settings."`
	Verify  verifyCmd  `cmd:"" help:"Compare every index and file with the records."`
	Rebuild rebuildCmd `cmd:"" help:"Make every index anew from the records."`
	Backup  backupCmd  `cmd:"" help:"Write everything to one file, also while a server is running."`
	Restore restoreCmd `cmd:"" help:"Restore a backup into an empty folder and verify it."`
	Version versionCmd `cmd:"" help:"Print the version."`
}

// env is what a command needs of the outside world.
type env struct {
	ctx    context.Context
	stdout io.Writer // results
	stderr io.Writer // messages
}

// run is main without the process: it returns the exit status.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	var cli commands
	exit := -1
	parser, err := kong.New(&cli,
		kong.Name("ragagent"),
		kong.Description("Ask your documents. Answers come with citations that are checked against the source."),
		kong.Configuration(yamlSettings),
		kong.UsageOnError(),
		kong.Writers(stdout, stderr),
		kong.Exit(func(code int) { exit = code }),
	)
	if err != nil {
		fmt.Fprintln(stderr, "ragagent:", err)
		return exitFailed
	}
	kctx, err := parser.Parse(args)
	if exit >= 0 { // --help has been answered
		return exit
	}
	if err != nil {
		fmt.Fprintln(stderr, "ragagent:", err)
		fmt.Fprintln(stderr, "Try 'ragagent --help'.")
		return exitUsage
	}
	err = kctx.Run(&env{ctx: ctx, stdout: stdout, stderr: stderr})
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, errSilent):
		return exitFailed
	}
	fmt.Fprintln(stderr, "ragagent:", err)
	if isUsage(err) {
		return exitUsage
	}
	return exitFailed
}

// usageError is a command line that cannot be served as it was written.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

// usagef makes a usageError.
func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// isUsage says whether the user asked for something that cannot be: here, or in
// the server's words.
func isUsage(err error) bool {
	var u usageError
	var p *problem
	return errors.As(err, &u) ||
		errors.As(err, &p) && (p.Status == http.StatusBadRequest || p.Status == http.StatusUnprocessableEntity)
}

// errSilent fails a command that has said why already.
var errSilent = errors.New("failed")

type versionCmd struct{}

// Run prints the version.
func (versionCmd) Run(e *env) error {
	_, err := fmt.Fprintln(e.stdout, "ragagent", version)
	return err
}
