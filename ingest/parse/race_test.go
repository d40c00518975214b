//go:build race

package parse

// raced says that the race detector is on, which makes parsing ten times
// slower: tests of endurance then work on less.
const raced = true
