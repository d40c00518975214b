package chromem

import "unsafe"

const (
	// codeStep divides every stride: the bytes a kernel takes at once.
	codeStep = 32
	// lanes is how many partial sums a dot product of floats has.
	lanes = 32
)

// kernels are the inner loops. Every implementation gives the same bits.
type kernels struct {
	// dots writes the dot product of the query's codes with each row of codes;
	// len(codes) = len(dst)·len(query), len(query) a multiple of codeStep.
	dots func(dst []int32, codes []int8, query []int16)
	// dot is the dot product of two vectors of the same length that is a
	// multiple of lanes.
	dot func(a, b []float32) float32
	// sift writes a bit for each row whose raised estimate by its bits is at
	// least least, blockRows rows a mask. The bytes that come ahead bytes later
	// are fetched meanwhile.
	sift func(masks []uint32, bits []byte, rows *estimators, q *tables, least float32, ahead int)
	// prefetch begins to fetch n bytes, 1 or more, into the cache.
	prefetch func(p unsafe.Pointer, n int)
}

// portable are the kernels in Go.
func portable() kernels {
	return kernels{dots: dotsGo, dot: dotGo, sift: siftGo, prefetch: func(unsafe.Pointer, int) {}}
}

// fetch begins to fetch what will be read soon.
func fetch[T int8 | byte | float32](k *kernels, s []T) {
	if len(s) > 0 {
		k.prefetch(unsafe.Pointer(&s[0]), len(s)*int(unsafe.Sizeof(s[0])))
	}
}

// cosine returns the dot product of unit vectors, within -1..1.
func (k *kernels) cosine(a, b []float32) float32 {
	whole := len(a) &^ (lanes - 1)
	sum := k.dot(a[:whole], b[:whole])
	for i := whole; i < len(a); i++ {
		sum += float32(a[i] * b[i])
	}
	return max(-1, min(1, sum))
}

func dotsGo(dst []int32, codes []int8, query []int16) {
	for i := range dst {
		row := codes[i*len(query):][:len(query)]
		var a, b, c, d int32
		for j := 0; j+4 <= len(row) && j+4 <= len(query); j += 4 {
			r, q := row[j:j+4:j+4], query[j:j+4:j+4]
			a += int32(r[0]) * int32(q[0])
			b += int32(r[1]) * int32(q[1])
			c += int32(r[2]) * int32(q[2])
			d += int32(r[3]) * int32(q[3])
		}
		dst[i] = a + b + c + d
	}
}

// dotGo adds in the order of four registers of eight lanes. The conversions
// keep compilers from fusing, which would round otherwise.
func dotGo(a, b []float32) float32 {
	var sum [lanes]float32
	for ; len(a) >= lanes && len(b) >= lanes; a, b = a[lanes:], b[lanes:] {
		x, y := (*[lanes]float32)(a), (*[lanes]float32)(b)
		for i := range sum {
			sum[i] += float32(x[i] * y[i])
		}
	}
	var eight [8]float32
	for i := range eight {
		eight[i] = (sum[i] + sum[i+8]) + (sum[i+16] + sum[i+24])
	}
	for i := range 4 {
		eight[i] += eight[i+4]
	}
	return (eight[0] + eight[2]) + (eight[1] + eight[3])
}

func siftGo(masks []uint32, bits []byte, rows *estimators, q *tables, least float32, _ int) {
	pairs := len(q.sums) / 32
	for block := range masks {
		var sums [blockRows]uint16
		for pair := range pairs {
			low, high := q.sums[32*pair:][:16], q.sums[32*pair+16:][:16]
			for i, b := range bits[(block*pairs+pair)*blockRows:][:blockRows] {
				sums[i/2+i%2*16] += uint16(low[b&15]) + uint16(high[b>>4])
			}
		}
		factors, slacks := rows.factors[block*blockRows:], rows.slacks[block*blockRows:]
		var mask uint32
		for row, sum := range sums {
			estimate := float32(float32(float32(sum)*q.step) + q.shift)
			if float32(estimate*factors[row])+slacks[row] >= least {
				mask |= 1 << row
			}
		}
		masks[block] = mask
	}
}
