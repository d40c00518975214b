package calibrate

import "math"

// agreement is how far the cosines of chunks that words think relevant stand
// out, in standard deviations of all cosines.
type agreement struct {
	effect    float64 // Cohen's d
	error     float64 // its standard error
	spread    float64 // standard deviation of the cosines, within a question
	questions int
}

// agree compares cosines with a ranking by words. cosines has a row for each
// question and a column for each chunk of the pool; picked are the columns of
// the chunks that words rank best for it, without the one that the question is
// taken from.
//
// What a row and a column have in common with all others is taken off first: a
// chunk that is near to everything, and that words like too, would look like
// agreement.
func agree(cosines [][]float32, picked [][]int) agreement {
	residuals, spread := centred(cosines)
	a := agreement{spread: spread, questions: len(cosines)}
	if spread == 0 || len(cosines) < 2 {
		return a
	}
	gains := make([]float64, len(cosines))
	for i, columns := range picked {
		for _, j := range columns {
			gains[i] += residuals[i][j] / float64(len(columns))
		}
	}
	mean, deviation := moments(gains)
	a.effect = mean / spread
	a.error = deviation / math.Sqrt(float64(len(gains))) / spread
	return a
}

// centred takes the means of the rows and columns off, and returns the root
// mean square of what is left.
func centred(cosines [][]float32) (residuals [][]float64, spread float64) {
	if len(cosines) == 0 || len(cosines[0]) == 0 {
		return nil, 0
	}
	columns := make([]float64, len(cosines[0]))
	rows := make([]float64, len(cosines))
	all := 0.
	for i, row := range cosines {
		for j, c := range row {
			rows[i] += float64(c) / float64(len(row))
			columns[j] += float64(c) / float64(len(cosines))
		}
		all += rows[i] / float64(len(cosines))
	}
	residuals = make([][]float64, len(cosines))
	sum := 0.
	for i, row := range cosines {
		residuals[i] = make([]float64, len(row))
		for j, c := range row {
			r := float64(c) - rows[i] - columns[j] + all
			residuals[i][j] = r
			sum += r * r
		}
	}
	spread = math.Sqrt(sum / float64(len(cosines)*len(columns)))
	if spread < leastSpread {
		return residuals, 0
	}
	return residuals, spread
}

// leastSpread is what rounding leaves of cosines that are all the same.
const leastSpread = 1e-5

func moments(values []float64) (mean, deviation float64) {
	for _, v := range values {
		mean += v / float64(len(values))
	}
	for _, v := range values {
		deviation += (v - mean) * (v - mean) / float64(len(values)-1)
	}
	return mean, math.Sqrt(deviation)
}
