package ingest

// NudgeFetch lets fetchers look at the time now.
func (s *Service) NudgeFetch() { s.nudgeFetch() }

// Awaiting is how many hold or await the lock of a document or a knowledge base.
func (s *Service) Awaiting(id string) int {
	s.order.mu.Lock()
	defer s.order.mu.Unlock()
	if l := s.order.locks[id]; l != nil {
		return l.users
	}
	return 0
}
