// Package ollamatest runs a real Ollama server for tests, on models that are
// made on the spot: a parrot is a language model without training whose weights
// are a table of what to say next, so that it says exactly what a test wants,
// tool calls included, through the server's own template, parser and stream.
package ollamatest
