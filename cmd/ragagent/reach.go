package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"ragagent/store"
	"ragagent/store/datadir"
)

// withClient runs a command against a server: the one given with --server, the
// one that has the data folder open, or one in this process. create says that
// the command may begin a data folder; else it has to be there.
func withClient(e *env, reach reachFlags, models modelFlags, create bool, do func(*client) error) (err error) {
	if reach.Server != "" {
		base, err := url.Parse(reach.Server)
		if err != nil || base.Host == "" || (base.Scheme != "http" && base.Scheme != "https") {
			return usagef("--server: %q is no address like http://127.0.0.1:8080", reach.Server)
		}
		return do(&client{http: http.DefaultClient, base: strings.TrimRight(reach.Server, "/")})
	}
	app, err := openApp(e.ctx, appConfig{data: reach.Data, mustExist: !create, models: models, fetch: reach.fetch, maxMemory: reach.MaxMemory, log: warnings(e.stderr)})
	if errors.Is(err, store.ErrInUse) {
		info := holderOf(reach.Data)
		if info.Addr == "" {
			return err
		}
		fmt.Fprintf(e.stderr, "using the server on http://%s, which has %s open\n", info.Addr, reach.Data)
		return do(&client{http: http.DefaultClient, base: "http://" + info.Addr})
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, app.Close()) }()
	if err := app.start(e.ctx); err != nil {
		return err
	}
	app.evaluations.Start()
	ln := newInProcess()
	ctx, stop := context.WithCancel(e.ctx)
	served := make(chan error, 1)
	go func() { served <- app.server.Serve(ctx, ln) }()
	err = do(&client{http: ln.client(), base: "http://localhost"})
	stop()
	return errors.Join(err, <-served)
}

// holderOf says who has a data folder; the zero value if that is not known.
func holderOf(dir string) (h holder) {
	raw, held, err := datadir.Holder(dir)
	if err == nil && held {
		_ = json.Unmarshal(raw, &h) // what cannot be read is not known
	}
	return h
}
