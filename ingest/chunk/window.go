package chunk

// window fills groups with units, one after the other, whatever the structure:
// a group ends where the next unit does not fit, and the next group begins with
// the last units of it, as many as the overlap and the new unit leave room for.
func (s *splitter) window(f *feed, units func(atom, func(atom))) {
	var cur []atom
	weight := 0
	add := func(a atom) {
		if len(cur) > 0 && (weight+a.weight > s.size || a.span.End-cur[0].span.Start > s.maxBytes) {
			s.emit(cur)
			n := s.repeat(cur, a)
			cur = append(cur[:0], cur[n:]...)
			weight = weightOf(cur)
		}
		cur = append(cur, a)
		weight += a.weight
	}
	for a, ok := f.pop(); ok; a, ok = f.pop() {
		units(a, add)
	}
	if len(cur) > 0 {
		s.emit(cur)
	}
}

// repeat returns from which atom on a group is repeated before next.
func (s *splitter) repeat(group []atom, next atom) int {
	room := min(s.overlap, s.size-next.weight)
	n := len(group)
	for n > 1 && group[n-1].weight <= room && next.span.End-group[n-1].span.Start <= s.maxBytes {
		n--
		room -= group[n].weight
	}
	return n
}

func weightOf(atoms []atom) int {
	n := 0
	for _, a := range atoms {
		n += a.weight
	}
	return n
}
