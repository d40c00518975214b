package eval

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// chart is a plot in the coordinates of its SVG picture, in pixels from the
// top left corner.
type chart struct {
	Title  string
	XLabel string
	YLabel string
	Width  float64
	Height float64
	Plot   rect // the area between the axes
	Bars   []chartBar
	Points string // of a polyline; "" for none
	XTicks []tick
	YTicks []tick
}

type rect struct{ X, Y, W, H float64 }

// Right and Bottom are the far edges.
func (r rect) Right() float64  { return r.X + r.W }
func (r rect) Bottom() float64 { return r.Y + r.H }

type chartBar struct {
	rect
	Hint string
}

type tick struct {
	At    float64
	Label string
}

// newChart makes an empty chart with ticks at five steps from 0 to top.
func newChart(title, x, y string, top float64, format func(float64) string) chart {
	c := chart{Title: title, XLabel: x, YLabel: y, Width: 460, Height: 280, Plot: rect{X: 56, Y: 34, W: 388, H: 194}}
	for i := range 6 {
		v := top * float64(i) / 5
		c.YTicks = append(c.YTicks, tick{c.y(v, top), format(v)})
	}
	return c
}

// x and y turn values from 0 to top into coordinates.
func (c chart) x(v, top float64) float64 { return pixel(c.Plot.X + c.Plot.W*v/top) }
func (c chart) y(v, top float64) float64 { return pixel(c.Plot.Bottom() - c.Plot.H*v/top) }

func pixel(v float64) float64 { return round(v, 1) }

// histogramBins is the number of classes of histogram.
const histogramBins = 10

// histogram counts values in 0..1 in classes of equal width; 1 is in the last.
func histogram(title, label string, values []float64) chart {
	var counts [histogramBins]int
	most := 5 // ticks are whole numbers
	for _, v := range values {
		bin := min(max(int(v*histogramBins), 0), histogramBins-1)
		counts[bin]++
		most = max(most, counts[bin])
	}
	top := niceTop(float64(most))
	c := newChart(title, label, "queries", top, short)
	for i, n := range counts {
		left, right := c.x(float64(i), histogramBins), c.x(float64(i+1), histogramBins)
		y := c.y(float64(n), top)
		c.Bars = append(c.Bars, chartBar{
			rect: rect{X: left + 1, Y: y, W: pixel(right - left - 2), H: pixel(c.Plot.Bottom() - y)},
			Hint: fmt.Sprintf("queries from %.1f to %.1f: %d", float64(i)/histogramBins, float64(i+1)/histogramBins, n),
		})
	}
	for i := 0; i <= histogramBins; i += 2 {
		c.XTicks = append(c.XTicks, tick{c.x(float64(i), histogramBins), short(float64(i) / histogramBins)})
	}
	return c
}

// curve draws ys over xs, both from 0; xs ascend and end above 0.
func curve(title, x, y string, xs, ys []float64, top float64) chart {
	c := newChart(title, x, y, top, short)
	right := xs[len(xs)-1]
	var points strings.Builder
	for i := range xs {
		fmt.Fprintf(&points, "%g,%g ", c.x(xs[i], right), c.y(ys[i], top))
	}
	c.Points = strings.TrimSpace(points.String())
	for i := range 6 {
		v := right * float64(i) / 5
		c.XTicks = append(c.XTicks, tick{c.x(v, right), short(v)})
	}
	return c
}

// niceTop is the smallest 1, 2 or 5 times a power of ten that is not below v.
func niceTop(v float64) float64 {
	if v <= 0 {
		return 1
	}
	power := math.Pow10(int(math.Floor(math.Log10(v))))
	for _, step := range []float64{1, 2, 5} {
		if step*power >= v {
			return step * power
		}
	}
	return 10 * power
}

// short prints a number with up to four digits.
func short(v float64) string { return strconv.FormatFloat(v, 'g', 4, 64) }
