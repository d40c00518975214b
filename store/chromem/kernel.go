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
	// add adds to each row's sum what its half bytes choose from table, 16
	// entries for each: len(bits) = len(sums)·len(table)/32, whole blocks of
	// rows, an even number of pairs of half bytes. The bytes that come ahead
	// bytes later are fetched meanwhile.
	add func(sums []uint16, bits, table []byte, ahead int)
	// pick writes a bit for each row whose sum reaches the threshold of its
	// weight, blockRows rows a mask.
	pick func(masks []uint32, sums, weights []uint16, t threshold)
	// hadamard is the Walsh-Hadamard transform, not normalised, of a vector
	// whose length is a power of two.
	hadamard func(v []float32)
	// scale multiplies each component of v with that of by.
	scale func(v, by []float32)
	// prefetch begins to fetch n bytes, 1 or more, into the cache.
	prefetch func(p unsafe.Pointer, n int)
}

// portable are the kernels in Go.
func portable() kernels {
	return kernels{
		dots: dotsGo, dot: dotGo, add: addGo, pick: pickGo,
		hadamard: hadamardGo, scale: scaleGo, prefetch: func(unsafe.Pointer, int) {},
	}
}

// fetch begins to fetch what will be read soon.
func fetch[T int8 | byte | float32 | uint16 | uint64](k *kernels, s []T) {
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

func addGo(sums []uint16, bits, table []byte, _ int) {
	pairs := len(table) / 32
	for block := range len(sums) / blockRows {
		to := (*[blockRows]uint16)(sums[block*blockRows:])
		for pair := range pairs {
			low, high := (*[16]byte)(table[32*pair:]), (*[16]byte)(table[32*pair+16:])
			for i, b := range (*[blockRows]byte)(bits[(block*pairs+pair)*blockRows:]) {
				to[i/2+i%2*16] += uint16(low[b&15]) + uint16(high[b>>4])
			}
		}
	}
}

func pickGo(masks []uint32, sums, weights []uint16, t threshold) {
	for block := range masks {
		rows, of := (*[blockRows]uint16)(sums[block*blockRows:]), (*[blockRows]uint16)(weights[block*blockRows:])
		var mask uint32
		for i, sum := range rows {
			if sum >= t.of(of[i]) {
				mask |= 1 << i
			}
		}
		masks[block] = mask
	}
}

func hadamardGo(v []float32) {
	h := 1
	for ; 4*h <= len(v); h *= 4 { // two steps at once: half the passes
		for i := 0; i < len(v); i += 4 * h {
			a, b, c, d := v[i:i+h], v[i+h:i+2*h], v[i+2*h:i+3*h], v[i+3*h:i+4*h]
			b, c, d = b[:len(a)], c[:len(a)], d[:len(a)]
			for j := range a {
				ab, cd := a[j]+b[j], c[j]+d[j]
				ba, dc := a[j]-b[j], c[j]-d[j]
				a[j], b[j], c[j], d[j] = ab+cd, ba+dc, ab-cd, ba-dc
			}
		}
	}
	if 2*h == len(v) {
		a, b := v[:h], v[h:]
		for j := range a {
			a[j], b[j] = a[j]+b[j], a[j]-b[j]
		}
	}
}

func scaleGo(v, by []float32) {
	for i := range v {
		v[i] *= by[i]
	}
}
