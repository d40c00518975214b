package main

import (
	"context"

	"ragagent/ingest"
)

// warm reads texts into memory in the background, until the room for them is
// full or the server ends.
func (a *app) warm() {
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		ingest.GiveWay()
		if err := a.index.Warm(ctx, a.records); err != nil && ctx.Err() == nil {
			a.log.Warn("the first questions will read their texts from the disk", "cause", err)
		}
	}()
	a.onClose(func() error {
		stop()
		<-done
		return nil
	})
}
