package embed

import (
	"errors"
	"fmt"
	"math"
)

const (
	headerSize = 16
	groupSize  = 64 // dimensions that share a group scale
)

// model is an STE2 file: a vector of 4-bit values per piece. The file is read
// in place, nothing of it is copied.
type model struct {
	rows, dim int
	scales    string // f32 little-endian, one a row
	groups    string // u8, dim/groupSize a row
	values    string // two 4-bit values a byte, dim/2 bytes a row
	// pairs holds the two values of a byte, low nibble first, as -7..7.
	pairs [256][2]float32
}

// parseModel checks the header and the length of an STE2 file.
func parseModel(data string) (*model, error) {
	if len(data) < headerSize || data[:4] != "STE2" {
		return nil, errors.New("not an STE2 file")
	}
	rows, dim := uint64(u32(data[4:])), uint64(u32(data[8:]))
	if g := u32(data[12:]); g != groupSize {
		return nil, fmt.Errorf("group size %d, want %d", g, groupSize)
	}
	if rows == 0 || rows > math.MaxUint16 {
		return nil, fmt.Errorf("%d rows, want 1..%d", rows, math.MaxUint16)
	}
	if dim == 0 || dim > 1<<16 || dim%groupSize != 0 {
		return nil, fmt.Errorf("%d dimensions, want a multiple of %d", dim, groupSize)
	}
	groupsAt := headerSize + 4*rows
	valuesAt := groupsAt + rows*dim/groupSize
	if want := valuesAt + rows*dim/2; uint64(len(data)) != want {
		return nil, fmt.Errorf("%d bytes, want %d", len(data), want)
	}
	m := &model{
		rows: int(rows), dim: int(dim),
		scales: data[headerSize:groupsAt],
		groups: data[groupsAt:valuesAt],
		values: data[valuesAt:],
	}
	for b := range m.pairs {
		m.pairs[b] = [2]float32{float32(b&15 - 8), float32(b>>4 - 8)}
	}
	return m, nil
}

// vector returns the normalised sum of (1 + ln tf) · row over the ids; nil if
// that is zero. tf is indexed by id.
func (m *model) vector(ids []uint16, tf []uint32) []float32 {
	if len(ids) == 0 {
		return nil
	}
	x := make([]float32, m.dim)
	for _, id := range ids {
		weight := float32(1)
		if n := tf[id]; n > 1 {
			weight += float32(math.Log(float64(n)))
		}
		m.addRow(x, int(id), weight)
	}
	if !normalise(x) {
		return nil
	}
	return x
}

// addRow adds weight · row(id) to x.
func (m *model) addRow(x []float32, id int, weight float32) {
	weight *= math.Float32frombits(u32(m.scales[4*id:])) / (255 * 7)
	perRow := m.dim / groupSize
	groups := m.groups[id*perRow:][:perRow]
	values := m.values[id*m.dim/2:][:m.dim/2]
	for g := range perRow {
		w := weight * float32(groups[g])
		in := values[g*groupSize/2:][:groupSize/2]
		out := (*[groupSize]float32)(x[g*groupSize:])
		for k := range groupSize / 2 {
			p := &m.pairs[in[k]]
			// The conversions keep compilers from fusing: every machine
			// computes the same vector.
			out[2*k] += float32(w * p[0])
			out[2*k+1] += float32(w * p[1])
		}
	}
}

// normalise scales x to L2 norm 1; false if it is zero or not finite.
func normalise(x []float32) bool {
	var sum float64
	for _, c := range x {
		sum += float64(float64(c) * float64(c))
	}
	if sum == 0 || math.IsInf(sum, 0) || math.IsNaN(sum) {
		return false
	}
	f := 1 / math.Sqrt(sum)
	for i, c := range x {
		x[i] = float32(float64(c) * f)
	}
	return true
}

// u32 reads a little-endian number from the start of s.
func u32(s string) uint32 {
	_ = s[3]
	return uint32(s[0]) | uint32(s[1])<<8 | uint32(s[2])<<16 | uint32(s[3])<<24
}
