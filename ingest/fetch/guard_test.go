package fetch_test

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/net/dns/dnsmessage"

	"ragagent/ingest/fetch"
)

// names is a resolver that answers from a function; no answer is NXDOMAIN.
func names(answer func(name string) []netip.Addr) *net.Resolver {
	return &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		client, server := net.Pipe()
		go func() {
			defer func() { _ = server.Close() }()
			for {
				var length [2]byte
				if _, err := io.ReadFull(server, length[:]); err != nil {
					return
				}
				query := make([]byte, binary.BigEndian.Uint16(length[:]))
				if _, err := io.ReadFull(server, query); err != nil {
					return
				}
				reply := answerQuery(query, answer)
				if _, err := server.Write(binary.BigEndian.AppendUint16(nil, uint16(len(reply)))); err != nil {
					return
				}
				if _, err := server.Write(reply); err != nil {
					return
				}
			}
		}()
		return client, nil
	}}
}

func answerQuery(query []byte, answer func(string) []netip.Addr) []byte {
	var m dnsmessage.Message
	if err := m.Unpack(query); err != nil {
		return nil
	}
	q := m.Questions[0]
	out := dnsmessage.Message{Header: dnsmessage.Header{ID: m.ID, Response: true, RecursionAvailable: true}, Questions: m.Questions[:1]}
	addrs := answer(strings.TrimSuffix(q.Name.String(), "."))
	if addrs == nil {
		out.RCode = dnsmessage.RCodeNameError
	}
	for _, addr := range addrs {
		h := dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: q.Class}
		switch {
		case addr.Is4() && q.Type == dnsmessage.TypeA:
			out.Answers = append(out.Answers, dnsmessage.Resource{Header: h, Body: &dnsmessage.AResource{A: addr.As4()}})
		case addr.Is6() && q.Type == dnsmessage.TypeAAAA:
			out.Answers = append(out.Answers, dnsmessage.Resource{Header: h, Body: &dnsmessage.AAAAResource{AAAA: addr.As16()}})
		}
	}
	packed, err := out.Pack()
	if err != nil {
		panic(err)
	}
	return packed
}

// What a name resolves to decides, in whatever way it is written.
func TestNamesOfAddressesThatAreNotPublic(t *testing.T) {
	var at netip.Addr
	f, err := fetch.New(fetch.Config{Resolver: names(func(string) []netip.Addr { return []netip.Addr{at} })})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for addr := range strings.FieldsSeq(`0.0.0.0 0.1.2.3 10.0.0.1 10.255.255.255 100.64.0.1 100.100.100.200 100.127.255.255
		127.0.0.1 127.255.255.254 168.63.129.16 169.254.169.254 169.254.0.1 172.16.0.1 172.31.255.255 192.0.0.192
		192.0.2.1 192.168.0.1 198.18.0.1 198.51.100.1 203.0.113.1 224.0.0.1 239.255.255.255 240.0.0.1 255.255.255.255
		:: ::1 ::7f00:1 ::ffff:0:127.0.0.1 64:ff9b::127.0.0.1 64:ff9b::10.0.0.1 64:ff9b:1::1
		2002:7f00:1:: 2002:c0a8:101::1 2001::1 2001:db8::1 2606:4700::5efe:10.0.0.1 3fff::1 100::1 5f00::1
		fc00::1 fd00:ec2::254 fd20:ce::254 fe80::1 fec0::1 ff02::1 4000::1`) {
		at = netip.MustParseAddr(addr)
		_, _, err := get(t, f, "http://host.test/")
		var refused *fetch.RefusedError
		if !errors.As(err, &refused) || refused.Rule != fetch.RuleAddress {
			t.Errorf("%s: %v", addr, err)
		}
	}
}

// A name that was good once is looked at again with every connection.
func TestRebindingIsHarmless(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Connection", "close")
	})
	at := "127.0.0.1"
	f := fetcher(t, s, func(c *fetch.Config) {
		c.Allow = []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}
		c.Resolver = names(func(string) []netip.Addr { return []netip.Addr{netip.MustParseAddr(at)} })
	})
	address := "http://rebind.test:" + strconv.Itoa(int(s.port(t))) + "/"
	if _, _, err := get(t, f, address); err != nil {
		t.Fatal(err)
	}
	asked := len(s.requests())
	at = "127.0.0.2"
	var refused *fetch.RefusedError
	if _, _, err := get(t, f, address); !errors.As(err, &refused) || refused.Rule != fetch.RuleAddress {
		t.Errorf("%v", err)
	}
	if len(s.requests()) != asked {
		t.Error("the server was asked")
	}
}

func TestNumbersForAddressesLeadNowhere(t *testing.T) {
	s := serve(t, pages(nil))
	f := fetcher(t, s, func(c *fetch.Config) {
		c.Allow = nil
		c.Resolver = names(func(string) []netip.Addr { return nil })
	})
	for _, host := range []string{"2130706433", "0x7f.1", "0177.0.0.1", "127.1", "127.0.0.1.", "①②⑦.⓪.⓪.①"} {
		if _, _, err := get(t, f, "http://"+host+":"+strconv.Itoa(int(s.port(t)))+"/"); err == nil {
			t.Errorf("%s was fetched", host)
		}
	}
	if asked := s.requests(); len(asked) != 0 {
		t.Errorf("the server was asked for %q", asked)
	}
}

func TestProxiesAreThoseOfTheConfigurationAlone(t *testing.T) {
	s := serve(t, pages(map[string]string{"/": "direct"}))
	proxy := serve(t, func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, "by proxy: "+r.URL.String()) })
	t.Setenv("HTTP_PROXY", proxy.URL)
	t.Setenv("ALL_PROXY", proxy.URL)
	if _, text, err := get(t, fetcher(t, s), s.URL); err != nil || text != "direct" || len(proxy.requests()) != 0 {
		t.Errorf("%q, %v, %q", text, err, proxy.requests())
	}
	f := fetcher(t, s, func(c *fetch.Config) {
		c.Allow = nil
		c.Proxy, _ = url.Parse(proxy.URL)
		c.IgnoreRobots = []string{"*"}
		c.Resolver = names(func(name string) []netip.Addr {
			if name == "inside.test" {
				return []netip.Addr{netip.MustParseAddr("10.1.2.3")}
			}
			return nil
		})
	})
	if _, text, err := get(t, f, "http://only-the-proxy-knows.test/"); err != nil || text != "by proxy: http://only-the-proxy-knows.test/" {
		t.Errorf("%q, %v", text, err)
	}
	for _, address := range []string{"http://10.0.0.1/", "http://inside.test/"} {
		var refused *fetch.RefusedError
		if _, _, err := get(t, f, address); !errors.As(err, &refused) || refused.Rule != fetch.RuleAddress {
			t.Errorf("%s: %v", address, err)
		}
	}
}
