package fetch

import (
	"bytes"
	"compress/gzip"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func mustURL(t testing.TB, raw string) *url.URL {
	t.Helper()
	u, err := parseURL(raw)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// The examples of RFC 9309: 2.2.1, 2.2.2, 2.2.3, 5.1, 5.2, and those of Google's
// description of the same rules.
func TestRobotsRules(t *testing.T) {
	const simple = "User-Agent: *\nDisallow: *.gif$\nDisallow: /example/\nAllow: /publications/\n\n" +
		"User-Agent: foobot\nDisallow:/\nAllow:/example/page.html\nAllow:/example/allowed.gif\n\n" +
		"User-Agent: barbot\nUser-Agent: bazbot\nDisallow: /example/page.html\n\n" +
		"User-Agent: quxbot\n"
	const longest = "User-Agent: foobot\nAllow: /example/page/\nDisallow: /example/page/disallowed.gif\n"
	const merged = "user-agent: a\ndisallow: /c\n\nuser-agent: b\ndisallow: /d\n\nuser-agent: A/2.0\ndisallow: /e\n"
	for _, c := range []struct {
		name, text, product, path string
		allowed                   bool
	}{
		{"5.1", simple, "foobot", "/example/page.html", true},
		{"5.1", simple, "foobot", "/example/allowed.gif", true},
		{"5.1", simple, "foobot", "/publications/", false},
		{"5.1", simple, "barbot", "/example/page.html", false},
		{"5.1", simple, "bazbot", "/example/page.html", false},
		{"5.1", simple, "BAZBOT", "/example/page.html", false},
		{"5.1", simple, "barbot", "/example/other.gif", true},
		{"5.1", simple, "quxbot", "/example/page.html", true},
		{"5.1", simple, "other", "/example/x", false},
		{"5.1", simple, "other", "/a/b.gif", false},
		{"5.1", simple, "other", "/a/b.gif?size=1", true},
		{"5.1", simple, "other", "/publications/x.html", true},
		{"5.2", longest, "foobot", "/example/page/a.gif", true},
		{"5.2", longest, "foobot", "/example/page/disallowed.gif", false},
		{"2.2.1 merged", merged, "a", "/c", false},
		{"2.2.1 merged", merged, "a", "/d", true},
		{"2.2.1 merged", merged, "a", "/e", false},
		{"no group", merged, "z", "/c", true},
		{"empty", "", "a", "/", true},
		{"rules without a group", "Disallow: /\n", "a", "/", true},
		{"an empty rule", "User-agent: *\nDisallow:\n", "a", "/", true},
		{"equal lengths", "User-agent: *\nDisallow: /page\nAllow: /page\n", "a", "/page", true},
		{"robots.txt itself", "User-agent: *\nDisallow: /\n", "a", "/robots.txt", true},
		{"comments, CR, mark", "\xef\xbb\xbfUser-agent: * # all\r\rDisallow: /x # y\r", "a", "/xy", false},
		{"other lines in a group", "User-agent: *\nSitemap: /s.xml\nDisallow: /x\n", "a", "/x", false},
		{"2.2.2 escapes", "User-agent: *\nDisallow: /foo/bar?baz=http://foo.bar\n", "a", "/foo/bar?baz=http://foo.bar", false},
		{"2.2.2 escapes", "User-agent: *\nDisallow: /foo/bar/\xe3\x83\x84\n", "a", "/foo/bar/%E3%83%84", false},
		{"2.2.2 escapes", "User-agent: *\nDisallow: /foo/bar/%E3%83%84\n", "a", "/foo/bar/ツ", false},
		{"2.2.2 escapes", "User-agent: *\nDisallow: /foo/bar/%62%61%7A\n", "a", "/foo/bar/baz", false},
		{"2.2.2 escapes", "User-agent: *\nDisallow: /a%2fb\n", "a", "/a%2Fb", false},
		{"2.2.2 escapes", "User-agent: *\nDisallow: /a%2fb\n", "a", "/a/b", true},
		{"2.2.3 stars", "User-agent: *\nDisallow: /fish*.php\n", "a", "/fishheads/catfish.php?id=1", false},
		{"2.2.3 stars", "User-agent: *\nDisallow: /fish*.php\n", "a", "/Fish.PHP", true},
		{"2.2.3 end", "User-agent: *\nDisallow: /*.php$\n", "a", "/a.php", false},
		{"2.2.3 end", "User-agent: *\nDisallow: /*.php$\n", "a", "/a.php5", true},
		{"2.2.3 end", "User-agent: *\nDisallow: /x$\n", "a", "/xx", true},
		{"only the end", "User-agent: *\nAllow: /$\nDisallow: /\n", "a", "/", true},
		{"only the end", "User-agent: *\nAllow: /$\nDisallow: /\n", "a", "/page", false},
	} {
		err := parseRobots([]byte(c.text), c.product).check(mustURL(t, "http://example.com"+c.path))
		if (err == nil) != c.allowed {
			t.Errorf("%s: %s for %s: %v", c.name, c.path, c.product, err)
		}
	}
}

func TestRobotsOtherLines(t *testing.T) {
	r := parseRobots([]byte("Sitemap: https://a/1.xml\nUser-agent: *\nCrawl-delay: 2.5\nSITEMAP:https://a/2.xml\n"), "x")
	if diff := cmp.Diff([]string{"https://a/1.xml", "https://a/2.xml"}, r.sitemaps); diff != "" || r.delay != 2500*time.Millisecond {
		t.Error(diff, r.delay)
	}
	for value, want := range map[string]time.Duration{"1e9": maxCrawlDelay, "-1": 0, "NaN": 0, "Inf": 0, "soon": 0} {
		if r := parseRobots([]byte("User-agent: *\nCrawl-delay: "+value), "x"); r.delay != want {
			t.Errorf("%s: %v", value, r.delay)
		}
	}
}

// matches agrees with the definition of its two signs.
func TestPatternsMatchAsDefined(t *testing.T) {
	var slow func(pattern, path string) bool
	slow = func(pattern, path string) bool {
		switch {
		case pattern == "":
			return true
		case pattern == "$":
			return path == ""
		case pattern[0] == '*':
			for i := range len(path) + 1 {
				if slow(pattern[1:], path[i:]) {
					return true
				}
			}
			return false
		}
		return path != "" && path[0] == pattern[0] && slow(pattern[1:], path[1:])
	}
	rapid.Check(t, func(t *rapid.T) {
		pattern := rapid.StringMatching(`[ab*]{0,6}\$?`).Draw(t, "pattern")
		path := rapid.StringMatching(`[ab]{0,8}`).Draw(t, "path")
		if got, want := matches(pattern, path), slow(pattern, path); got != want {
			t.Fatalf("%q in %q: %v", pattern, path, got)
		}
	})
}

func TestRobotsCacheIsBounded(t *testing.T) {
	now := time.Unix(0, 0)
	c := newRobotsCache(func() time.Time { return now })
	many := &robots{rules: make([]robotsRule, robotsRules/4)}
	for i := range 10 {
		c.put(string(rune('a'+i)), many, time.Hour)
		now = now.Add(time.Minute)
	}
	for i := range 10 {
		if _, kept := c.get(string(rune('a' + i))); kept != (i >= 6) {
			t.Errorf("site %d: %v", i, kept)
		}
	}
	for i := range 1000 {
		c.put(string(rune(i)), &robots{}, time.Hour)
	}
	if len(c.sites) > robotsKept || c.rules > robotsRules {
		t.Errorf("%d sites, %d rules", len(c.sites), c.rules)
	}
	now = now.Add(time.Hour)
	if _, kept := c.get(string(rune(999))); kept {
		t.Error("kept past its time")
	}
}

func TestSitemapFormats(t *testing.T) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, _ = z.Write([]byte("http://a/packed\n"))
	_ = z.Close()
	for text, want := range map[string]sitemap{
		`<?xml version="1.0" encoding="UTF-8"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
			<url><loc> http://a/1?x=1&amp;y=2 </loc><lastmod>2024-01-01</lastmod></url>
			<url><image:image><image:loc>http://a/i.png</image:loc></image:image><loc><![CDATA[http://a/2]]></loc></url></urlset>`: {pages: []string{"http://a/1?x=1&y=2", "http://a/2"}},
		`<sitemapindex><sitemap><loc>http://a/s.xml.gz</loc></sitemap></sitemapindex>`: {maps: []string{"http://a/s.xml.gz"}},
		"\ufeffhttp://a/1\r\nhttp://a/2\nno URL\n":                                     {pages: []string{"http://a/1", "http://a/2"}},
		packed.String(): {pages: []string{"http://a/packed"}},
		"":              {},
	} {
		got, err := readSitemap(strings.NewReader(text))
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(sitemap{})); diff != "" || err != nil {
			t.Error(diff, err)
		}
	}
	got, err := readSitemap(strings.NewReader(`<urlset><url><loc>http://a/1</loc></url><url><loc>http://a/2</l`))
	if err == nil || len(got.pages) != 1 {
		t.Errorf("cut off: %v, %v", got, err)
	}
	deep := "<a>" + strings.Repeat("<b>", 1_000_000)
	if _, err := readSitemap(strings.NewReader(deep)); err == nil {
		t.Error("a million levels were read")
	}
	many := "<urlset>" + strings.Repeat("<url><loc>http://a/</loc></url>", maxSitemapURLs+10)
	if got, err := readSitemap(strings.NewReader(many)); err != nil || len(got.pages) != maxSitemapURLs {
		t.Errorf("%d pages, %v", len(got.pages), err)
	}
}

func TestLinksOfAPage(t *testing.T) {
	const text = `<!doctype html><base href="/docs/"><link rel="Canonical" href="index.html#top">
		<meta name="robots" content="NoArchive, noindex"><meta name="otherbot" content="nofollow">
		<a href="a.html#x">a</a><A HREF='../b?x=1&amp;y=2'>b</A><area href=//other.test/c>
		<a rel="external nofollow" href="no1">n</a><a href="mailto:x@y">m</a><a href="javascript:alert(1)">j</a>
		<a href="#top">t</a><a>none</a><!-- <a href="no2"> --><script>"<a href=no3>"</script>
		<img src="` + "data:image/png;base64," + "%s" + `"><a href="http://EXAMPLE.com:80/d">d</a>`
	data := strings.Replace(text, "%s", strings.Repeat("A", 1<<20), 1)
	p := readPage([]byte(data), mustURL(t, "http://example.com/x/"), http.Header{}, "ragagent")
	var got []string
	for _, u := range p.links {
		got = append(got, u.String())
	}
	want := []string{"http://example.com/docs/a.html", "http://example.com/b?x=1&y=2", "http://other.test/c", "http://example.com/d"}
	if diff := cmp.Diff(want, got); diff != "" || !p.noIndex || p.noFollow || p.canonical.String() != "http://example.com/docs/index.html" {
		t.Error(diff, p.noIndex, p.noFollow, p.canonical)
	}
	for line, want := range map[string][2]bool{
		"noindex": {true, false}, "none": {true, true}, "ragagent: nofollow": {false, true}, "otherbot: none": {}, "all": {},
	} {
		p := readPage(nil, mustURL(t, "http://a/"), http.Header{"X-Robots-Tag": {line}}, "ragagent")
		if got := [2]bool{p.noIndex, p.noFollow}; got != want {
			t.Errorf("%s: %v", line, got)
		}
	}
}

func TestURLsAreNormalised(t *testing.T) {
	for raw, want := range map[string]string{
		"HTTP://Example.COM":              "http://example.com/",
		"https://example.com:443/a#b":     "https://example.com/a",
		"http://example.com:443/":         "http://example.com:443/",
		" http://bücher.example/ä?q=ü ":   "http://xn--bcher-kva.example/%C3%A4?q=ü",
		"http://example.com./?":           "http://example.com/",
		"http://[2001:DB8::1]:80/":        "http://[2001:db8::1]/",
		"http://example.com/a?utm_x=1&b=": "http://example.com/a?utm_x=1&b=",
	} {
		u, err := parseURL(raw)
		if err != nil || u.String() != want {
			t.Errorf("%q: %v, %v; want %s", raw, u, err, want)
			continue
		}
		again, err := parseURL(u.String())
		if err != nil || again.String() != want {
			t.Errorf("%q again: %v, %v", raw, again, err)
		}
	}
}

func FuzzReadPage(f *testing.F) {
	f.Add("<a href=x><base href='//y'><link rel=canonical href=z><meta name=robots content=none>")
	f.Fuzz(func(t *testing.T, data string) {
		for _, u := range readPage([]byte(data), mustURL(t, "http://a.test/"), http.Header{}, "ragagent").links {
			if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.Fragment != "" {
				t.Fatalf("%q", u)
			}
		}
		_, _ = readSitemap(strings.NewReader(data))
	})
}

func FuzzRobots(f *testing.F) {
	f.Add("User-agent: *\nDisallow: /a*b$\nAllow: /%61", "/a/b?c=%62")
	f.Fuzz(func(t *testing.T, text, path string) {
		u, err := parseURL("http://a.test/" + path)
		if err != nil {
			t.Skip()
		}
		r := parseRobots([]byte(text), "ragagent")
		first, second := r.check(u), r.check(u)
		if (first == nil) != (second == nil) {
			t.Fatal("two answers")
		}
	})
}
