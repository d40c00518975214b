package office

import (
	"slices"
	"strings"

	"ragagent/ingest/parse/doc"
)

// maxPoints bounds the categories of a chart, and maxSeries its series.
const (
	maxPoints = 5_000
	maxSeries = 200
)

// series is one of a chart, with the values it had when the file was written.
type series struct {
	name       string
	categories map[int]string
	values     map[int]string
}

// chart reads a chart as a table: a row for each category, a column for each
// series.
func (s *slide) chart(part string) error {
	if part == "" {
		return nil
	}
	var all []*series
	title, inTitle, path := "", false, ""
	point := 0
	err := s.walk(part, func(sc *scanner, t token) error {
		if t.kind == end {
			inTitle = inTitle && t.name != "title"
			return nil
		}
		if t.kind != start {
			return nil
		}
		switch t.name {
		case "title":
			inTitle = true
		case "ser":
			if len(all) < maxSeries {
				all = append(all, &series{categories: map[int]string{}, values: map[int]string{}})
			}
		case "tx", "cat", "val", "xVal", "yVal", "bubbleSize":
			path = t.name
		case "pt":
			point = t.number("idx", 0)
		case "t", "v":
			name := t.name
			value, err := sc.content()
			switch {
			case name == "t" && inTitle:
				title += value
			case name == "v" && len(all) > 0 && !inTitle:
				all[len(all)-1].take(path, point, value)
			}
			return err
		}
		return nil
	})
	if title = strings.TrimSpace(title); title != "" {
		s.blocks = append(s.blocks, doc.Block{Kind: doc.Paragraph, Text: "Chart: " + title})
	}
	s.blocks = appendTable(s.blocks, chartRows(all))
	return err
}

func (s *series) take(path string, point int, value string) {
	switch path {
	case "tx":
		s.name = value
	case "cat", "xVal":
		if len(s.categories) < maxPoints {
			s.categories[point] = value
		}
	case "val", "yVal":
		if len(s.values) < maxPoints {
			s.values[point] = plainNumber(value)
		}
	}
}

func chartRows(all []*series) [][]string {
	header := []string{"Category"}
	points := map[int]string{}
	for _, s := range all {
		header = append(header, s.name)
		for i := range s.values {
			if points[i] == "" {
				points[i] = s.categories[i]
			}
		}
	}
	if len(points) == 0 {
		return nil
	}
	var order []int
	for i := range points {
		order = append(order, i)
	}
	slices.Sort(order)
	rows := [][]string{header}
	for _, i := range order[:min(len(order), maxPoints)] {
		row := []string{points[i]}
		for _, s := range all {
			row = append(row, s.values[i])
		}
		rows = append(rows, row)
	}
	return rows
}
