// Package storetest holds the conformance suites of the contracts in store.
// Every backend runs the suite of its contract, so that what one promises all
// keep.
package storetest
