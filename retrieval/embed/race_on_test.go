//go:build race

package embed

// Under the race detector sync.Pool drops things at random.
const raceEnabled = true
