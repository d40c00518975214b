package eval

import (
	"math"
	"strconv"
	"strings"

	"ragagent/store"
)

// Bar is a figure that has to be reached: "ndcg@10=0.41".
type Bar struct {
	Name string
	Min  float64
}

// ParseBar reads NAME=NUMBER.
func ParseBar(text string) (Bar, error) {
	name, number, ok := strings.Cut(text, "=")
	least, err := strconv.ParseFloat(number, 64)
	if !ok || name == "" || err != nil || math.IsNaN(least) {
		return Bar{}, store.Invalid("fail-under", "%q is not like ndcg@10=0.41", text)
	}
	return Bar{Name: name, Min: least}, nil
}
