package fetch

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"time"
)

// Errors of a fetch, beside RefusedError and StatusError.
var (
	// ErrInvalid says that a URL or a configuration is not one.
	ErrInvalid = errors.New("invalid")
	// ErrGone says that the server has no such page, or no longer.
	ErrGone = errors.New("the page does not exist any more")
	// ErrTooLarge says that a body passes Config.MaxBytes.
	ErrTooLarge = errors.New("too large")
	// ErrTimeout says that a server was too slow.
	ErrTimeout = errors.New("the server took too long")
)

// Rule is a reason to refuse a URL.
type Rule string

// Rules of refusal.
const (
	RuleScheme      Rule = "scheme"      // neither http nor https
	RuleCredentials Rule = "credentials" // user or password in the URL
	RulePort        Rule = "port"
	RuleAddress     Rule = "address" // not of the public internet
	RuleRedirects   Rule = "redirects"
	RuleRobots      Rule = "robots"
	RuleType        Rule = "type"
	RuleEncoding    Rule = "encoding" // a compression that was not asked for
	RuleSite        Rule = "site"     // a crawl does not leave its site
)

// The settings that allow what a rule refuses, as users know them.
const (
	settingAllow    = "fetch-allow"
	settingPorts    = "fetch-ports"
	settingTypes    = "fetch-types"
	settingRobots   = "fetch-ignore-robots"
	settingMaxBytes = "fetch-max-bytes"
	settingTimeout  = "fetch-timeout"
)

// RefusedError says that a rule of ours forbids a fetch.
type RefusedError struct {
	Rule Rule
	What string // that the rule is about, in words
	// Passing says that the rule may be kept soon: a robots.txt could not be
	// read just now.
	Passing bool
}

// Setting returns the setting that allows it, "" if none does.
func (e *RefusedError) Setting() string {
	switch e.Rule {
	case RuleAddress:
		return settingAllow
	case RulePort:
		return settingPorts
	case RuleRobots:
		return settingRobots
	case RuleType:
		return settingTypes
	}
	return ""
}

func (e *RefusedError) Error() string {
	if s := e.Setting(); s != "" {
		return fmt.Sprintf("refused: %s (setting %s)", e.What, s)
	}
	return "refused: " + e.What
}

// StatusError is a status that is neither success nor ErrGone.
type StatusError struct {
	Status     int
	RetryAfter time.Duration // that the server asks for; 0 if it does not
}

func (e *StatusError) Error() string {
	return fmt.Sprintf("the server answered %d %s", e.Status, http.StatusText(e.Status))
}

// Temporary says that the same fetch may succeed later.
func Temporary(err error) bool {
	var refused *RefusedError
	var status *StatusError
	var name *net.DNSError
	var certificate *tls.CertificateVerificationError
	switch {
	case err == nil, errors.Is(err, ErrInvalid), errors.Is(err, ErrGone), errors.Is(err, ErrTooLarge),
		errors.Is(err, context.Canceled), errors.As(err, &certificate):
		return false
	case errors.As(err, &refused):
		return refused.Passing
	case errors.As(err, &name):
		return !name.IsNotFound
	case errors.As(err, &status):
		return status.Status == http.StatusTooManyRequests || status.Status == http.StatusRequestTimeout || status.Status >= 500
	}
	return true
}

func tooLarge(limit int64) error {
	return fmt.Errorf("%w: more than %d bytes (setting %s)", ErrTooLarge, limit, settingMaxBytes)
}

// retryAfter reads when a server wants to be asked again, at most a day ahead.
func retryAfter(h http.Header, now time.Time) time.Duration {
	const most = 24 * time.Hour
	value := h.Get("Retry-After")
	if seconds, err := strconv.ParseUint(value, 10, 31); err == nil {
		return min(time.Duration(seconds)*time.Second, most)
	}
	if when, err := http.ParseTime(value); err == nil && when.After(now) {
		return min(when.Sub(now), most)
	}
	return 0
}
