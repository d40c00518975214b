package fetch

import (
	"bufio"
	"bytes"
	"math"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// robots is what a robots.txt says to us. Source: RFC 9309.
type robots struct {
	rules    []robotsRule
	delay    time.Duration // Crawl-delay, which is no part of the RFC
	sitemaps []string
	verdict  *RefusedError // of a file that could not be read: nothing is allowed
}

type robotsRule struct {
	pattern string // normalised path with * and $
	allow   bool
}

const (
	maxSitemapLines = 100
	maxCrawlDelay   = 30 * time.Second
)

// parseRobots reads the groups for product, or those for everybody if there
// are none; several groups for one product are one.
func parseRobots(data []byte, product string) *robots {
	var ours, all robots
	var found, toUs, toAll, inAgents bool
	var sitemaps []string
	lines := bufio.NewScanner(bytes.NewReader(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))))
	lines.Buffer(nil, len(data)+1)
	lines.Split(splitLines)
	for lines.Scan() {
		line, _, _ := strings.Cut(lines.Text(), "#")
		key, value, ok := strings.Cut(line, ":")
		if !ok {
			continue
		}
		key, value = strings.ToLower(strings.TrimSpace(key)), strings.TrimSpace(value)
		switch key {
		case "user-agent":
			if !inAgents {
				toUs, toAll, inAgents = false, false, true
			}
			toAll = toAll || value == "*"
			if strings.EqualFold(productToken(value), product) {
				toUs, found = true, true
			}
		case "allow", "disallow", "crawl-delay":
			inAgents = false
			if toUs {
				ours.add(key, value)
			}
			if toAll {
				all.add(key, value)
			}
		case "sitemap":
			if len(sitemaps) < maxSitemapLines && len(value) <= maxURL {
				sitemaps = append(sitemaps, value)
			}
		}
	}
	out := &all
	if found {
		out = &ours
	}
	out.sitemaps = sitemaps
	return out
}

// add takes a line of a group.
func (r *robots) add(key, value string) {
	if key == "crawl-delay" {
		if s, err := strconv.ParseFloat(value, 64); err == nil && s > 0 && !math.IsInf(s, 0) {
			r.delay = time.Duration(min(s, maxCrawlDelay.Seconds()) * float64(time.Second))
		}
		return
	}
	if value != "" { // an empty one matches nothing
		r.rules = append(r.rules, robotsRule{pattern: normalPath(value), allow: key == "allow"})
	}
}

// splitLines ends lines at CR, LF or both.
func splitLines(data []byte, atEOF bool) (int, []byte, error) {
	if i := bytes.IndexAny(data, "\r\n"); i >= 0 {
		return i + 1, data[:i], nil
	}
	if atEOF && len(data) > 0 {
		return len(data), data, nil
	}
	return 0, nil, nil
}

// productToken is the name at the start of a user agent.
func productToken(agent string) string {
	end := strings.IndexFunc(agent, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && r != '_' && r != '-'
	})
	if end < 0 {
		return agent
	}
	return agent[:end]
}

// check says whether a URL may be fetched: the longest pattern that matches
// decides, Allow among equals; what no pattern matches is allowed.
func (r *robots) check(u *url.URL) error {
	if r.verdict != nil {
		return r.verdict
	}
	target := u.EscapedPath()
	if u.RawQuery != "" {
		target += "?" + u.RawQuery
	}
	if target = normalPath(target); target == "/robots.txt" {
		return nil
	}
	best := robotsRule{allow: true}
	for _, rule := range r.rules {
		n, m := len(rule.pattern), len(best.pattern)
		if (n > m || n == m && rule.allow) && matches(rule.pattern, target) {
			best = rule
		}
	}
	if best.allow {
		return nil
	}
	return &RefusedError{Rule: RuleRobots, What: "robots.txt of " + u.Host + " does not allow it (Disallow: " + shortened(best.pattern) + ")"}
}

func shortened(s string) string {
	if len(s) > 100 {
		return s[:100] + "..."
	}
	return s
}

// matches finds pattern at the start of path; * stands for anything, $ at the
// end for the end. The leftmost place of each part is the best one.
func matches(pattern, path string) bool {
	pattern, anchored := strings.CutSuffix(pattern, "$")
	first, rest, stars := strings.Cut(pattern, "*")
	if !strings.HasPrefix(path, first) {
		return false
	}
	path = path[len(first):]
	for stars {
		var part string
		part, rest, stars = strings.Cut(rest, "*")
		if !stars && anchored {
			return strings.HasSuffix(path, part)
		}
		i := strings.Index(path, part)
		if i < 0 {
			return false
		}
		path = path[i+len(part):]
	}
	return !anchored || path == ""
}

// normalPath brings paths and patterns to one way of escaping: RFC 9309 2.2.2.
func normalPath(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c == '%' && i+2 < len(s) && isHex(s[i+1]) && isHex(s[i+2]):
			v, _ := strconv.ParseUint(s[i+1:i+3], 16, 8)
			if unreserved(byte(v)) {
				b.WriteByte(byte(v))
			} else {
				b.WriteString(strings.ToUpper(s[i : i+3]))
			}
			i += 2
		case c <= ' ' || c >= 0x7f:
			const digits = "0123456789ABCDEF"
			b.Write([]byte{'%', digits[c>>4], digits[c&15]})
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}

func unreserved(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || strings.IndexByte("-._~", c) >= 0
}
