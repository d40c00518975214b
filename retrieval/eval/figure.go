package eval

// Figure is a named number.
type Figure struct {
	Name  string // "ndcg@10", "map", "file_success@1"
	Value float64
}

// Figures are numbers under different names, in the order they are printed.
type Figures []Figure

// Figures returns the mean of every measure under its name.
func (s Scores) Figures() Figures { return s.figures("") }

func (s Scores) figures(prefix string) Figures {
	figures := make(Figures, len(s.Measures))
	for i, m := range s.Measures {
		figures[i] = Figure{Name: prefix + s.Name(i), Value: s.Mean(m)}
	}
	return figures
}

// Figure returns the number with that name.
func (f Figures) Figure(name string) (float64, bool) {
	for _, figure := range f {
		if figure.Name == name {
			return figure.Value, true
		}
	}
	return 0, false
}

// Under returns the bars that f does not reach, those of figures it does not
// have among them.
func (f Figures) Under(bars []Bar) []Bar {
	var missed []Bar
	for _, b := range bars {
		if v, ok := f.Figure(b.Name); !ok || v < b.Min {
			missed = append(missed, b)
		}
	}
	return missed
}

// MarshalJSON writes one flat object, numbers rounded to six decimals.
func (f Figures) MarshalJSON() ([]byte, error) {
	o := object{}
	o.figures(f)
	return o.bytes()
}

func (o *object) figures(all Figures) {
	for _, f := range all {
		o.add(f.Name, round(f.Value, 6))
	}
}
