package fetch

import (
	"fmt"
	"mime"
	"net/url"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/idna"
)

// maxURL bounds a URL, in bytes.
const maxURL = 2048

// parseURL reads an absolute URL as users write it and normalises it: host in
// lower case and punycode, no default port, no fragment, a path. ErrInvalid.
func parseURL(raw string) (*url.URL, error) {
	if len(raw) > maxURL {
		return nil, fmt.Errorf("%w: a URL of more than %d bytes", ErrInvalid, maxURL)
	}
	u, err := url.Parse(strings.TrimSpace(raw))
	if err != nil {
		return nil, fmt.Errorf("%w: not a URL", ErrInvalid) // the cause repeats what may be secret
	}
	return normal(u)
}

// resolve reads a reference on a page.
func resolve(base *url.URL, ref string) (*url.URL, error) {
	if len(ref) > maxURL {
		return nil, fmt.Errorf("%w: a URL of more than %d bytes", ErrInvalid, maxURL)
	}
	u, err := base.Parse(strings.TrimSpace(ref))
	if err != nil {
		return nil, fmt.Errorf("%w: not a URL", ErrInvalid)
	}
	return normal(u)
}

func normal(u *url.URL) (*url.URL, error) {
	u.Scheme = strings.ToLower(u.Scheme)
	if u.Scheme == "" || u.Opaque != "" && (u.Scheme == "http" || u.Scheme == "https") {
		return nil, fmt.Errorf("%w: a URL begins with https://", ErrInvalid)
	}
	u.Fragment, u.RawFragment = "", ""
	if u.Scheme != "http" && u.Scheme != "https" {
		return u, nil // refused by name later
	}
	host := strings.ToLower(strings.TrimSuffix(u.Hostname(), "."))
	if ascii, err := idna.Lookup.ToASCII(host); err == nil {
		host = ascii
	}
	if host == "" || strings.ContainsFunc(host, func(r rune) bool { return r > 0x7e || r <= ' ' }) {
		return nil, fmt.Errorf("%w: the URL has no host name that could be resolved", ErrInvalid)
	}
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	port := portOf(u)
	if u.Host = host; u.Scheme == "http" && port != "80" || u.Scheme == "https" && port != "443" {
		u.Host = host + ":" + port
	}
	if u.Path == "" {
		u.Path, u.RawPath = "/", ""
	}
	u.ForceQuery = false
	return u, nil
}

// shownURL is a URL as errors may have it.
func shownURL(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return "the URL"
	}
	return u.Redacted()
}

const maxName = 200

// fileName names what a URL leads to.
func fileName(disposition string, u *url.URL) string {
	if _, params, err := mime.ParseMediaType(disposition); err == nil {
		if name := cleanName(params["filename"]); name != "" {
			return name
		}
	}
	if name := cleanName(u.Path); name != "" {
		return name
	}
	return u.Hostname()
}

func cleanName(name string) string {
	name = strings.ToValidUTF8(strings.ReplaceAll(name, `\`, "/"), "\uFFFD")
	name = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) {
			return -1
		}
		return r
	}, path.Base(strings.TrimRight(name, "/")))
	name = strings.TrimSpace(name)
	if name == "." || name == ".." || name == "/" {
		return ""
	}
	if len(name) <= maxName {
		return name
	}
	ext := path.Ext(name)
	if len(ext) > 20 {
		ext = ""
	}
	n := maxName - len(ext)
	for n > 0 && !utf8.RuneStart(name[n]) {
		n--
	}
	return name[:n] + ext
}

// readableTypes are the media types of what can be read as documents, and those
// that servers give when they do not know.
func readableTypes() []string {
	return strings.Fields(`text/* message/rfc822 application/pdf application/xhtml+xml application/xml application/rtf
		application/json application/x-ndjson application/jsonl application/ld+json application/javascript
		application/yaml application/x-yaml application/toml application/x-sh application/sql
		application/epub+zip application/vnd.openxmlformats-officedocument.* application/vnd.oasis.opendocument.*
		application/zip application/x-zip-compressed application/gzip application/x-gzip application/x-tar
		application/x-gtar application/x-compressed-tar application/x-bzip2
		application/octet-stream binary/octet-stream application/x-download application/force-download`)
}

func typeAllowed(types []string, media string) bool {
	if media == "" {
		return true
	}
	for _, t := range types {
		t = strings.ToLower(t)
		if stem, all := strings.CutSuffix(t, "*"); t == media || all && strings.HasPrefix(media, stem) {
			return true
		}
	}
	return false
}
