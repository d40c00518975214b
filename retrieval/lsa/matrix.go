package lsa

import "math"

// matrix has rows of Dim values.
type matrix struct {
	rows   int
	values []float32
}

func newMatrix(rows int) matrix { return matrix{rows, make([]float32, rows*Dim)} }

func (m matrix) row(i int) []float32 { return m.values[i*Dim : i*Dim+Dim] }

// orthonormalise makes the columns orthonormal in the span that they have:
// Cholesky QR, twice, because once is not exact enough in single precision. Of
// columns that depend on others the rest is noise or 0.
func (m matrix) orthonormalise() {
	for range 2 {
		l := m.gram().cholesky()
		for i := range m.rows {
			l.solve(m.row(i))
		}
	}
}

// square is a symmetric or lower triangular matrix.
type square [Dim][Dim]float64

// gram returns the products of all pairs of columns.
func (m matrix) gram() *square {
	var g square
	for r := range m.rows {
		row := m.row(r)
		for i, v := range row {
			if v == 0 {
				continue
			}
			for j, w := range row[:i+1] {
				g[i][j] += float64(v * w)
			}
		}
	}
	return &g
}

// cholesky returns the lower triangular L with L L' = g, g's diagonal being
// raised a little so that it exists.
func (g *square) cholesky() *square {
	trace := 0.
	for i := range Dim {
		trace += g[i][i]
	}
	var l square
	for i := range Dim {
		for j := range i + 1 {
			sum := g[i][j]
			if i == j {
				sum += 1e-9 * trace
			}
			for k := range j {
				sum -= l[i][k] * l[j][k]
			}
			if i == j {
				l[i][i] = math.Sqrt(max(sum, math.SmallestNonzeroFloat32))
			} else {
				l[i][j] = sum / l[j][j]
			}
		}
	}
	return &l
}

// solve replaces row by z with L z = row.
func (l *square) solve(row []float32) {
	var z [Dim]float64
	for i := range Dim {
		sum := float64(row[i])
		for k := range i {
			sum -= l[i][k] * z[k]
		}
		z[i] = sum / l[i][i]
	}
	for i, v := range z {
		row[i] = float32(v)
	}
}
