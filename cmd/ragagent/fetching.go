package main

import (
	"log/slog"
	"net/netip"
	"net/url"
	"time"

	"ragagent/ingest/fetch"
)

// fetchFlags say what may be fetched from URLs. Without them that is the public
// internet, as robots.txt allows.
type fetchFlags struct {
	Allow        []netip.Prefix `name:"fetch-allow" help:"Networks outside the public internet that URLs may lead to, as 192.168.1.0/24." env:"RAGAGENT_FETCH_ALLOW" placeholder:"CIDR"`
	Ports        []uint16       `name:"fetch-ports" help:"Ports that URLs may lead to; 80, 443, 8080 and 8443 if not given." env:"RAGAGENT_FETCH_PORTS" placeholder:"PORT"`
	Types        []string       `name:"fetch-types" help:"Media types that are fetched, as application/pdf or text/*; all that can be read if not given." env:"RAGAGENT_FETCH_TYPES" placeholder:"TYPE"`
	IgnoreRobots []string       `name:"fetch-ignore-robots" help:"Hosts whose robots.txt is not asked for, being your own; * for all." env:"RAGAGENT_FETCH_IGNORE_ROBOTS" placeholder:"HOST"`
	MaxBytes     int64          `name:"fetch-max-bytes" help:"Largest file that is fetched, in bytes; 512 MiB if not given." env:"RAGAGENT_FETCH_MAX_BYTES" placeholder:"N"`
	Timeout      time.Duration  `name:"fetch-timeout" help:"Longest time of one fetch; 5 minutes if not given." env:"RAGAGENT_FETCH_TIMEOUT" placeholder:"TIME"`
	Delay        time.Duration  `name:"fetch-delay" help:"Time between two pages of a crawl; half a second if not given, and the Crawl-delay of robots.txt if that is longer." env:"RAGAGENT_FETCH_DELAY" placeholder:"TIME"`
	Proxy        *url.URL       `name:"fetch-proxy" help:"Proxy for all that is fetched; it has to guard its network itself." env:"RAGAGENT_FETCH_PROXY" placeholder:"URL"`
}

func (f fetchFlags) fetcher() (*fetch.Fetcher, error) {
	return fetch.New(fetch.Config{
		UserAgent:    "ragagent/" + version,
		Allow:        f.Allow,
		Ports:        f.Ports,
		Types:        f.Types,
		IgnoreRobots: f.IgnoreRobots,
		MaxBytes:     min(f.MaxBytes, maxFileBytes),
		Timeout:      f.Timeout,
		Delay:        f.Delay,
		Proxy:        f.Proxy,
	})
}

// tell logs what is allowed beyond the default.
func (f fetchFlags) tell(log *slog.Logger) {
	if len(f.Allow)+len(f.Ports)+len(f.Types)+len(f.IgnoreRobots) == 0 && f.Proxy == nil {
		return
	}
	proxy := ""
	if f.Proxy != nil {
		proxy = f.Proxy.Redacted()
	}
	log.Warn("URLs may lead further than the public internet's usual ports", "allow", f.Allow, "ports", f.Ports,
		"types", f.Types, "ignore_robots", f.IgnoreRobots, "proxy", proxy)
}
