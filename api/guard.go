package api

import (
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// guard keeps foreign web pages away from a server that trusts whoever can
// reach it, and sets the headers that hold for every answer.
//
// DNS rebinding: a page makes its own host name resolve to this machine and is
// then of the same origin. Such a request carries that name as its Host, so
// only known names and plain addresses are served.
// Cross-site requests: whatever changes something is refused if a browser says
// that it comes from another origin (http.CrossOriginProtection).
type guard struct {
	hosts   []string
	origins []string
	cross   *http.CrossOriginProtection
}

func newGuard(hosts, origins []string) (*guard, error) {
	g := &guard{hosts: hosts, origins: origins, cross: http.NewCrossOriginProtection()}
	for _, origin := range origins {
		if err := g.cross.AddTrustedOrigin(origin); err != nil {
			return nil, err
		}
	}
	return g, nil
}

func (g *guard) check(r *http.Request) error {
	if !g.knownHost(r.Host) {
		return newProblem(http.StatusMisdirectedRequest, CodeWrongHost,
			"this server does not answer for %q: use localhost or its address, or allow the name in its configuration", r.Host)
	}
	if g.cross.Check(r) != nil {
		return newProblem(http.StatusForbidden, CodeForbidden,
			"a page of another origin (%s) may not change anything here: allow the origin in the configuration", r.Header.Get("Origin"))
	}
	return nil
}

func (g *guard) knownHost(hostport string) bool {
	host := hostport
	if h, _, err := net.SplitHostPort(hostport); err == nil {
		host = h
	}
	host = strings.ToLower(strings.TrimSuffix(strings.Trim(host, "[]"), "."))
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	if _, err := netip.ParseAddr(host); err == nil {
		return true
	}
	return slices.ContainsFunc(g.hosts, func(known string) bool {
		return known == "*" || strings.EqualFold(known, host)
	})
}

// pagePolicy is the content security policy of everything but originals: the
// page's own files only.
const pagePolicy = "default-src 'self'; img-src 'self' data: blob:; " +
	"object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

// headers sets what every answer carries, and lets allowed origins read it.
// It says whether the request was a preflight, which is answered with that.
func (g *guard) headers(h http.Header, r *http.Request) (preflight bool) {
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Security-Policy", pagePolicy)
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	if len(g.origins) == 0 {
		return false
	}
	h.Add("Vary", "Origin")
	origin := r.Header.Get("Origin")
	if !slices.Contains(g.origins, origin) {
		return false
	}
	h.Set("Access-Control-Allow-Origin", origin)
	h.Set("Access-Control-Expose-Headers", "X-Request-Id, Retry-After, Idempotent-Replayed")
	h.Set("Cross-Origin-Resource-Policy", "cross-origin")
	if r.Method != http.MethodOptions || r.Header.Get("Access-Control-Request-Method") == "" {
		return false
	}
	h.Set("Access-Control-Allow-Methods", "GET, HEAD, POST, PUT, PATCH, DELETE")
	h.Set("Access-Control-Allow-Headers", "Authorization, Content-Type, Idempotency-Key, Last-Event-ID, X-API-Key")
	h.Set("Access-Control-Max-Age", "600")
	return true
}
