package ingest

// NudgeFetch lets fetchers look at the time now.
func (s *Service) NudgeFetch() { s.nudgeFetch() }
