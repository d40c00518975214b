package fetch

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"syscall"
)

// control is asked by the dialer with the address of every connection, before
// it is made: after the name was resolved, so that no name, redirect or change
// of DNS gets around it.
func (f *Fetcher) control(_ context.Context, _, address string, _ syscall.RawConn) error {
	target, err := netip.ParseAddrPort(address)
	if err != nil {
		return &RefusedError{Rule: RuleAddress, What: "the address " + address + " cannot be understood"}
	}
	return f.checkAddress(target.Addr())
}

// checkAddress refuses addresses outside the public internet that are not
// allowed.
func (f *Fetcher) checkAddress(addr netip.Addr) error {
	addr = addr.WithZone("").Unmap()
	within := func(p netip.Prefix) bool { return p.Contains(addr) }
	if slices.ContainsFunc(f.cfg.Allow, within) {
		return nil
	}
	if inner, how, ok := embedded(addr); ok {
		if err := f.checkAddress(inner); err != nil {
			return &RefusedError{Rule: RuleAddress, What: fmt.Sprintf("%v leads to %v by %s", addr, inner, how)}
		}
		return nil
	}
	if kind := special(addr); kind != "" {
		return &RefusedError{Rule: RuleAddress, What: fmt.Sprintf("%v is %s", addr, kind)}
	}
	return nil
}

// checkURL refuses what can be refused before a connection is made.
func (f *Fetcher) checkURL(u *url.URL) error {
	if u.Scheme != "http" && u.Scheme != "https" {
		return &RefusedError{Rule: RuleScheme, What: fmt.Sprintf("%q is neither http nor https", u.Scheme)}
	}
	if u.User != nil {
		return &RefusedError{Rule: RuleCredentials, What: "the URL has a user or a password in it, which are not sent: take them out"}
	}
	if port, err := strconv.ParseUint(portOf(u), 10, 16); err != nil || !slices.Contains(f.cfg.Ports, uint16(port)) {
		return &RefusedError{Rule: RulePort, What: "port " + portOf(u) + " is not one that is fetched from"}
	}
	if addr, err := netip.ParseAddr(u.Hostname()); err == nil {
		return f.checkAddress(addr)
	}
	return nil
}

func portOf(u *url.URL) string {
	if port := u.Port(); port != "" {
		return port
	}
	if u.Scheme == "http" {
		return "80"
	}
	return "443"
}

// embedded returns the IPv4 address that an IPv6 address stands for.
func embedded(addr netip.Addr) (inner netip.Addr, how string, ok bool) {
	if !addr.Is6() {
		return addr, "", false
	}
	b := addr.As16()
	at := func(i int) netip.Addr { return netip.AddrFrom4([4]byte(b[i : i+4])) }
	switch {
	case prefix("64:ff9b::/96").Contains(addr): // RFC 6052
		return at(12), "NAT64", true
	case prefix("2002::/16").Contains(addr): // RFC 3056
		return at(2), "6to4", true
	case prefix("::ffff:0:0:0/96").Contains(addr): // RFC 7915, written ::ffff:0:a.b.c.d
		return at(12), "translation", true
	case [4]byte(b[8:12]) == [4]byte{0, 0, 0x5e, 0xfe}, [4]byte(b[8:12]) == [4]byte{2, 0, 0x5e, 0xfe}: // RFC 5214
		return at(12), "ISATAP", special(addr) == ""
	}
	return addr, "", false
}

func prefix(s string) netip.Prefix { return netip.MustParsePrefix(s) }

// special says what an address is that is not of the public internet; "" for
// one that is. Source: IANA IPv4 and IPv6 Special-Purpose Address Registries,
// RFC 6890, and the addresses at which clouds tell machines their secrets.
func special(addr netip.Addr) string {
	for _, s := range specials {
		if s.prefix.Contains(addr) {
			return s.kind
		}
	}
	if addr.Is6() && !global.Contains(addr) {
		return "not an address of the public internet"
	}
	return ""
}

// global is all of IPv6 that is handed out.
var global = prefix("2000::/3")

var specials = []struct {
	prefix netip.Prefix
	kind   string
}{
	{prefix("169.254.169.254/32"), "where clouds keep a machine's secrets"},
	{prefix("168.63.129.16/32"), "where a cloud keeps a machine's secrets"},
	{prefix("100.100.100.200/32"), "where a cloud keeps a machine's secrets"},
	{prefix("192.0.0.192/32"), "where a cloud keeps a machine's secrets"},
	{prefix("fd00:ec2::/32"), "where clouds keep a machine's secrets"},
	{prefix("fd20:ce::254/128"), "where a cloud keeps a machine's secrets"},
	{prefix("0.0.0.0/8"), "an unspecified address"},
	{prefix("10.0.0.0/8"), "a private address"},
	{prefix("100.64.0.0/10"), "an address of a carrier's own network"},
	{prefix("127.0.0.0/8"), "this machine"},
	{prefix("169.254.0.0/16"), "a link-local address"},
	{prefix("172.16.0.0/12"), "a private address"},
	{prefix("192.0.0.0/24"), "an address of a protocol"},
	{prefix("192.0.2.0/24"), "an address for examples"},
	{prefix("192.88.99.0/24"), "a relay of 6to4"},
	{prefix("192.168.0.0/16"), "a private address"},
	{prefix("198.18.0.0/15"), "an address for measurements"},
	{prefix("198.51.100.0/24"), "an address for examples"},
	{prefix("203.0.113.0/24"), "an address for examples"},
	{prefix("224.0.0.0/4"), "a multicast address"},
	{prefix("240.0.0.0/4"), "a reserved address"},
	{prefix("::/128"), "an unspecified address"},
	{prefix("::1/128"), "this machine"},
	{prefix("fc00::/7"), "a private address"},
	{prefix("fe80::/10"), "a link-local address"},
	{prefix("fec0::/10"), "a private address"},
	{prefix("ff00::/8"), "a multicast address"},
	{prefix("2001::/23"), "an address of a protocol"},
	{prefix("2001:db8::/32"), "an address for examples"},
	{prefix("3fff::/20"), "an address for examples"},
}

// checkProxied checks the host of a URL that a proxy is asked for, as far as it
// can be seen from here: names that only the proxy knows are left to it.
func (f *Fetcher) checkProxied(ctx context.Context, u *url.URL) error {
	addrs, err := f.cfg.Resolver.LookupNetIP(ctx, "ip", u.Hostname())
	if err != nil {
		return nil //nolint:nilerr // the proxy resolves names
	}
	for _, addr := range addrs {
		if err := f.checkAddress(addr); err != nil {
			return err
		}
	}
	return nil
}

func (f *Fetcher) dialer() *net.Dialer {
	d := &net.Dialer{Timeout: f.cfg.HeaderTimeout, Resolver: f.cfg.Resolver}
	if f.cfg.Proxy == nil {
		d.ControlContext = f.control
	}
	return d
}
