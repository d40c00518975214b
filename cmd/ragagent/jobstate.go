package main

import (
	"fmt"
	"time"
)

// state says how far a job is, what it waits for, or why it failed.
func (j jobState) state() string {
	switch {
	case j.Error != "":
		return j.Error
	case j.ended():
		return ""
	}
	text := j.Stage
	if j.Total > 0 {
		text += fmt.Sprintf(" %d/%d", j.Done, j.Total)
	}
	if j.ETAMS != nil {
		text += fmt.Sprintf(", about %s left", (time.Duration(*j.ETAMS) * time.Millisecond).Round(time.Second))
	}
	if j.Waiting != "" {
		text += ", waiting: " + j.Waiting
	}
	return text
}
