package office

// pageBreaks returns the elements of a document that tell where its pages begin:
// what Word noted when it last laid the pages out, else the breaks that its
// author made, if the program did not count more pages than these make. nil
// where nothing tells.
func (p *pack) pageBreaks(part string, counted int) (map[string]bool, error) {
	rendered, made := 0, 0
	err := p.walk(part, func(s *scanner, t token) error {
		if t.kind != start {
			return nil
		}
		switch t.name {
		case "lastRenderedPageBreak":
			rendered++
		case "br":
			if t.attr("type") == "page" {
				made++
			}
		case "pageBreakBefore":
			if val := t.attr("val"); val != "0" && val != "false" {
				made++
			}
		case "del", "moveFrom":
			return s.skipElement()
		}
		return nil
	})
	switch {
	case err != nil:
		return nil, err
	case rendered > 0:
		return map[string]bool{"lastRenderedPageBreak": true}, nil
	case made > 0 && (counted <= 1 || counted == made+1):
		return map[string]bool{"br": true, "pageBreakBefore": true}, nil
	}
	return nil, nil
}

// turn begins a page if the element says so.
func (d *docx) turn(t token) {
	switch t.name {
	case "br":
		if t.attr("type") != "page" {
			return
		}
	case "pageBreakBefore":
		if val := t.attr("val"); val == "0" || val == "false" {
			return
		}
	}
	d.page++
}
