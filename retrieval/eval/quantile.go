package eval

import (
	"cmp"
	"math"
	"slices"
)

// Quantile returns the smallest of values that at least the share p (0..1) of
// them does not exceed: the nearest-rank rule, element ceil(p n) of n in
// ascending order. It is always one of the values; zero if there are none.
func Quantile[T cmp.Ordered](values []T, p float64) T {
	var zero T
	if len(values) == 0 {
		return zero
	}
	sorted := slices.Sorted(slices.Values(values))
	rank := int(math.Ceil(p * float64(len(sorted))))
	return sorted[min(max(rank, 1), len(sorted))-1]
}
