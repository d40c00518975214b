package builtin

import (
	"context"
	"fmt"
	"time"

	"ragagent/agent/tool"
)

// ClockConfig of the tool current_time.
type ClockConfig struct {
	// Now is the clock; nil means time.Now.
	Now func() time.Time
	// Zone is the time zone where the model names none; nil means UTC. Other
	// zones are those the machine, or an import of time/tzdata, knows.
	Zone *time.Location
}

type clockArgs struct {
	Zone string `json:"timezone,omitempty" jsonschema:"IANA name such as Europe/Oslo; leave it out for the default"`
}

// NewClock makes the tool current_time, which tells date, time and weekday.
func NewClock(cfg ClockConfig) (tool.Tool, error) {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Zone == nil {
		cfg.Zone = time.UTC
	}
	spec := tool.Spec{Name: "current_time", Description: "Tells the current date, time and weekday."}
	return tool.NewFunc(spec, func(_ context.Context, a clockArgs) (tool.Result, error) {
		zone := cfg.Zone
		if a.Zone != "" {
			z, err := time.LoadLocation(a.Zone)
			if err != nil {
				return tool.Result{}, fmt.Errorf("there is no time zone %q; use a name such as Europe/Oslo", a.Zone)
			}
			zone = z
		}
		now := cfg.Now().In(zone)
		return tool.Result{Text: now.Format(time.RFC3339) + " (" + now.Weekday().String() + ", " + zone.String() + ")"}, nil
	})
}
