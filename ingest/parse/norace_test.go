//go:build !race

package parse

const raced = false
