package fetch

import (
	"net/netip"
	"testing"
)

// Addresses that a test cannot dial.
func TestPublicAddressesAreNotRefused(t *testing.T) {
	f, err := New(Config{Allow: []netip.Prefix{netip.MustParsePrefix("10.1.0.0/16"), netip.MustParsePrefix("fd00:1::/32")}})
	if err != nil {
		t.Fatal(err)
	}
	for addr, allowed := range map[string]bool{
		"1.1.1.1": true, "93.184.216.34": true, "172.32.0.1": true, "100.128.0.1": true, "2606:4700::1111": true,
		"::ffff:1.1.1.1": true, "64:ff9b::1.1.1.1": true, "2002:101:101::1": true, "2a00:1450::5efe:1.1.1.1": true,
		"10.1.2.3": true, "::ffff:10.1.2.3": true, "64:ff9b::10.1.2.3": true, "fd00:1::5": true, "fd00:1::5%eth0": true,
		"10.2.0.1": false, "64:ff9b::10.2.0.1": false, "fd00:2::5": false,
	} {
		if err := f.checkAddress(netip.MustParseAddr(addr)); (err == nil) != allowed {
			t.Errorf("%s: %v", addr, err)
		}
	}
}
