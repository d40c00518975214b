package calibrate

import "context"

// Round is one look at every knowledge base.
func (c *Calibrator) Round(ctx context.Context) { c.round(ctx) }
