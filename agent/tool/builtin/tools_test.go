package builtin_test

import (
	"encoding/json"
	"testing"
	"time"

	"ragagent/agent/tool"
	"ragagent/agent/tool/builtin"
)

// use calls a tool as the agent does: arguments cast to its schema.
func use(t *testing.T, tl tool.Tool, args string) (string, error) {
	t.Helper()
	r, err := tool.NewRegistry(tl)
	if err != nil {
		t.Fatal(err)
	}
	e, _ := r.Lookup(tl.Spec().Name)
	in, err := e.Schema.Cast(json.RawMessage(args))
	if err != nil {
		return "", err
	}
	got, err := e.Tool.Call(t.Context(), in)
	return got.Text, err
}

func TestCalculator(t *testing.T) {
	c, err := builtin.NewCalculator()
	if err != nil {
		t.Fatal(err)
	}
	for in, want := range map[string]string{
		"1 + 2 * 3":                     "7",
		"(1510 - 1140) / 1140 * 100":    "32.4561403508772",
		"2 ^ 3 ^ 2":                     "512",
		"-2 ^ 2":                        "-4",
		"2 ** -1":                       "0.5",
		"10 % 4":                        "2",
		"1,234,567 + 1":                 "1234568",
		"max(1, 2,3) + min(4,5)":        "7",
		"max(1,234)":                    "1234", // reads as one number with thousands
		"round(2.345, 2) * sqrt(16)":    "9.4",
		"round(-2.5)":                   "-3",
		"1e3 + 1E-3":                    "1000.001",
		"2 × 3 ÷ 4 − 1":                 "0.5",
		"ln(e) + log10(1000) + abs(-1)": "5",
		"2π":                            "",
		"1 / 0":                         "",
		"sqrt(-1)":                      "",
		"1 +":                           "",
		"(1":                            "",
		"1 2":                           "",
		"system(1)":                     "",
		"9 ^ 999":                       "",
		"":                              "",
	} {
		raw, err := json.Marshal(map[string]string{"expression": in})
		if err != nil {
			t.Fatal(err)
		}
		got, err := use(t, c, string(raw))
		if got != want || (want == "") != (err != nil) {
			t.Errorf("%q = %q, %v; want %q", in, got, err, want)
		}
	}
}

func TestCalculatorIsBounded(t *testing.T) {
	c, err := builtin.NewCalculator()
	if err != nil {
		t.Fatal(err)
	}
	for _, piece := range []string{"(", "-", "2^", "sqrt("} {
		long := ""
		for len(long) < 1900 {
			long += piece
		}
		if got, err := use(t, c, `{"expression":"`+long+`1"}`); err == nil {
			t.Errorf("%.20s... = %s", long, got)
		}
	}
}

func TestClock(t *testing.T) {
	c, err := builtin.NewClock(builtin.ClockConfig{Now: func() time.Time { return time.Date(2026, 1, 2, 23, 4, 5, 0, time.UTC) }})
	if err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string]string{
		`{}`:                          "2026-01-02T23:04:05Z (Friday, UTC)",
		`{"timezone":"Asia/Tokyo"}`:   "2026-01-03T08:04:05+09:00 (Saturday, Asia/Tokyo)",
		`{"timezone":"Middle/Earth"}`: "",
	} {
		got, err := use(t, c, args)
		if got != want || (want == "") != (err != nil) {
			t.Errorf("%s: %q, %v", args, got, err)
		}
	}
}
