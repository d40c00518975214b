package retrieval

import "context"

// Round is one look at what has changed.
func (s *Saver) Round(ctx context.Context) { s.save(ctx, s.due(s.cfg.Index.now())) }
