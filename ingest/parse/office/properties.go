package office

import (
	"strconv"
	"strings"
	"time"
)

// coreProperties are the names of elements in docProps/core.xml and meta.xml,
// with ours.
var coreProperties = map[string]string{
	"creator": "author", "initial-creator": "author", "created": "created", "creation-date": "created",
	"modified": "modified", "date": "modified", "subject": "subject", "description": "description",
	"language": "language", "category": "category", "keywords": "keywords", "keyword": "keywords",
}

// properties reads what the file says of itself: title and the common
// properties, and those that its authors added. It returns the number of pages
// that the program counted when it wrote the file, 0 where it says nothing.
func (p *pack) properties() (pages int, err error) {
	if err := p.describe("docProps/core.xml"); err != nil {
		return 0, err
	}
	err = p.walk("docProps/app.xml", func(s *scanner, t token) error {
		if t.kind != start || t.name != "Pages" && t.name != "Company" {
			return nil
		}
		name := t.name
		value, err := s.content()
		if name == "Pages" {
			pages, _ = strconv.Atoi(strings.TrimSpace(value)) // 0 if it is none
		} else {
			p.out.Property("company", value)
		}
		return err
	})
	if err != nil {
		return 0, err
	}
	return pages, p.customProperties()
}

// describe reads a part of Dublin Core elements.
func (p *pack) describe(part string) error {
	var keywords []string
	author := false
	err := p.walk(part, func(s *scanner, t token) error {
		if t.kind != start {
			return nil
		}
		tag := t.name
		name, ok := coreProperties[tag]
		if !ok && tag != "title" && tag != "user-defined" {
			return nil
		}
		custom, kind := t.attr("name"), t.attr("value-type")
		value, err := s.content()
		value = strings.TrimSpace(value)
		switch {
		case value == "":
		case tag == "title":
			p.out.Title(value)
		case tag == "user-defined":
			p.out.Property(custom, typed(kind, value))
		case name == "keywords":
			keywords = append(keywords, strings.FieldsFunc(value, func(r rune) bool { return r == ',' || r == ';' })...)
		case name == "created" || name == "modified":
			if at, ok := instant(value); ok {
				p.out.Property(name, at)
			}
		case name == "author" && author && tag == "creator": // in OpenDocument, who wrote it last
		default:
			author = author || name == "author"
			p.out.Property(name, value)
		}
		return err
	})
	for i := range keywords {
		keywords[i] = strings.TrimSpace(keywords[i])
	}
	if len(keywords) > 0 {
		p.out.Property("keywords", keywords)
	}
	return err
}

// customProperties reads those that the authors of the file added.
func (p *pack) customProperties() error {
	name := ""
	return p.walk("docProps/custom.xml", func(s *scanner, t token) error {
		switch {
		case t.kind != start || t.name == "Properties":
			return nil
		case t.name == "property":
			name = t.attr("name")
			return nil
		}
		kind := t.name
		value, err := s.content()
		if !strings.HasPrefix(name, "_") && kind != "vector" && kind != "blob" {
			p.out.Property(name, typed(kind, strings.TrimSpace(value)))
		}
		return err
	})
}

// typed gives a value the type that its kind names.
func typed(kind, value string) any {
	switch kind {
	case "i1", "i2", "i4", "i8", "int", "ui1", "ui2", "ui4", "ui8", "uint", "r4", "r8", "decimal", "float":
		if n, err := strconv.ParseFloat(value, 64); err == nil {
			return n
		}
	case "bool", "boolean":
		if b, err := strconv.ParseBool(value); err == nil {
			return b
		}
	case "filetime", "date":
		if at, ok := instant(value); ok {
			return at
		}
	}
	return value
}

// instant brings a time to RFC 3339.
func instant(value string) (string, bool) {
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999", "2006-01-02T15:04Z07:00", time.DateOnly} {
		if at, err := time.Parse(layout, value); err == nil && at.Year() > 1 {
			return at.Truncate(time.Second).Format(time.RFC3339), true
		}
	}
	return "", false
}
