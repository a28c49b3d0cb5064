package stats

import "math"

// Batches of BatchError: enough to estimate a variance, and each long enough to outlast what neighbours have in common.
const (
	mostBatches  = 20
	leastBatches = 5
	shortBatch   = 4
)

// BatchError is the standard error of a statistic of a series whose neighbours are alike, such as the times of a loop's steps: the
// statistic's spread over consecutive batches (batch means: A. M. Law, Simulation Modeling and Analysis, 9.5.3). effective is how many
// independent values of this variance would leave that error in their mean, at most as many as there are. ok is false of fewer values than
// make the smallest number of batches.
func BatchError(series []float64, of func([]float64) float64) (err, effective float64, ok bool) {
	n := len(series)
	count := min(mostBatches, n/shortBatch)
	if count < leastBatches {
		return 0, 0, false
	}
	values, means := make([]float64, count), make([]float64, count)
	for i := range values {
		batch := series[i*n/count : (i+1)*n/count]
		values[i] = of(batch)
		means[i], _ = MeanVariance(batch)
	}
	_, spread := MeanVariance(values)
	_, meanSpread := MeanVariance(means)
	_, variance := MeanVariance(series)
	effective = float64(n)
	if meanSpread > 0 {
		effective = min(effective, max(variance/(meanSpread/float64(count)), 1))
	}
	return math.Sqrt(spread / float64(count)), effective, true
}
