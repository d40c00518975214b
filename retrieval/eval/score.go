package eval

import (
	"math"

	"ragagent/store"
)

// below returns score in single precision, or the largest number below above
// where score is not below it. Its shortest decimal text, too, is below that
// of above: the intervals that round to two different numbers do not overlap.
func below(above float32, score float64) (float32, error) {
	s := float32(score)
	if s >= above {
		s = math.Nextafter32(above, float32(math.Inf(-1)))
	}
	if math.IsNaN(float64(s)) || math.IsInf(float64(s), 0) {
		return 0, store.Invalid("score", "%v is not a finite single-precision number", score)
	}
	return s, nil
}
