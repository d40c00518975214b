package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"runtime"
	"runtime/debug"
	"time"
)

type serveCmd struct {
	dataFlags
	modelFlags
	fetchFlags
	Addr    string   `help:"Address to listen on, ${default} if not given; only loopback addresses are allowed." default:"127.0.0.1:8080" env:"RAGAGENT_ADDR" placeholder:"HOST:PORT"`
	Sample  string   `help:"Load the Markdown files of this folder as a first knowledge base if there is none." placeholder:"DIR"`
	Hosts   []string `help:"Names the server may be addressed by, beside localhost and IP addresses; a proxy in front needs its own here." env:"RAGAGENT_HOSTS" placeholder:"NAME"`
	Origins []string `help:"Web origins whose pages may call the server from a browser." env:"RAGAGENT_ORIGINS" placeholder:"URL"`
	// SaveEvery is for those who restart often, and for tests that kill.
	SaveEvery time.Duration `name:"save-indexes-every" help:"Least time between two writings of a changed index to the disk, which make the next start quick; ${default} if not given." default:"30s" env:"RAGAGENT_SAVE_INDEXES_EVERY" placeholder:"TIME"`
	LogJSON   bool          `name:"log-json" help:"Write the log as JSON." env:"RAGAGENT_LOG_JSON"`
}

// Run serves until a signal comes, then lets running requests end and gives
// running jobs back to the queue.
func (c *serveCmd) Run(e *env) (err error) {
	if err := loopbackOnly(c.Addr); err != nil {
		return err
	}
	logger := c.log(e.stderr)
	c.tell(logger)
	var lc net.ListenConfig
	ln, err := lc.Listen(e.ctx, "tcp", c.Addr)
	if err != nil {
		return err
	}
	defer func() { _ = ln.Close() }() // Serve has closed it, if it came to that
	app, err := openApp(e.ctx, appConfig{
		data:      c.Data,
		models:    c.modelFlags,
		fetch:     c.fetchFlags,
		maxMemory: c.MaxMemory,
		addr:      ln.Addr().String(),
		hosts:     c.Hosts,
		origins:   c.Origins,
		saveEvery: c.SaveEvery,
		log:       logger,
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, app.Close()) }()

	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0)) // start changes it
	if os.Getenv("GOGC") == "" {
		defer debug.SetGCPercent(debug.SetGCPercent(serverGC))
	}

	ctx, stop := context.WithCancel(e.ctx)
	defer stop()
	served := make(chan error, 1)
	go func() { served <- app.server.Serve(ctx, ln) }()

	if err := c.start(ctx, e, app, ln.Addr().String()); err != nil {
		stop()
		return errors.Join(err, <-served)
	}
	return <-served
}

// serverGC is how much garbage a server may have beside what it uses, per cent.
// Most of that are indexes without pointers, which cost the collector nothing to
// look through: at Go's own 100, they would be held in memory twice over.
const serverGC = 40

// start loads the indexes while the server answers that it is not ready yet.
func (c *serveCmd) start(ctx context.Context, e *env, app *app, addr string) error {
	if err := app.start(ctx); err != nil {
		return unlessStopped(ctx, err)
	}
	app.evaluations.Start()
	// Workers run at a low priority, each on a thread of its own. With places
	// for them beside those of the cores, it is the system that decides who runs:
	// a question does not wait until Go's scheduler takes a core from a worker.
	runtime.GOMAXPROCS(2 * runtime.GOMAXPROCS(0))
	sample := false
	if c.Sample != "" {
		var err error
		if sample, err = loadSample(ctx, app, c.Sample); err != nil {
			return unlessStopped(ctx, err)
		}
	}
	fmt.Fprintf(e.stderr, "ragagent %s is ready on http://%s (data in %s)\n", version, addr, c.Data)
	if sample {
		fmt.Fprintf(e.stderr, "Try it:\n  curl -s http://%s/api/v1/ask -H 'Content-Type: application/json' \\\n"+
			"    -d '{\"question\": \"In which folder are original files kept?\", \"knowledge_bases\": [\"%s\"]}'\n", addr, sampleKB)
	}
	return nil
}

// unlessStopped drops an error that only says that we were told to stop.
func unlessStopped(ctx context.Context, err error) error {
	select {
	case <-ctx.Done():
		return nil
	default:
		return err
	}
}

func (c *serveCmd) log(w io.Writer) *slog.Logger {
	opts := &slog.HandlerOptions{Level: slog.LevelInfo}
	if c.LogJSON {
		return slog.New(slog.NewJSONHandler(w, opts))
	}
	return slog.New(slog.NewTextHandler(w, opts))
}

// warnings is the log of a command: only what goes wrong.
func warnings(w io.Writer) *slog.Logger {
	return slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: slog.LevelError}))
}

// loopbackOnly refuses addresses that others can reach: there are no keys yet.
func loopbackOnly(addr string) error {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return usagef("--addr: %w", err)
	}
	if host == "localhost" {
		return nil
	}
	if ip := net.ParseIP(host); ip == nil || !ip.IsLoopback() {
		return usagef("--addr: %q can be reached from outside, and this version has no API keys: use 127.0.0.1 and put a proxy with authentication before it", host)
	}
	return nil
}
