// Package codeact is the contract with interpreters of code that models write
// to call tools, and reads such code out of their replies. After Wang et al.,
// Executable Code Actions Elicit Better LLM Agents (2024).
package codeact

import (
	"context"
	"encoding/json"
)

// Program is code of a model with the functions it may call.
type Program struct {
	// Code is JavaScript.
	Code string
	// Functions are the tools on offer, under names that are identifiers.
	Functions []Function
	// Call calls one of them and returns its value as JSON. An error is thrown
	// in the code. It is called by one goroutine at a time.
	Call func(ctx context.Context, function string, args json.RawMessage) (json.RawMessage, error)
}

// Function is a tool as code calls it: f({name: value}), or f(value, ...) with
// the values of Parameters in their order.
type Function struct {
	Name       string   `json:"name"`
	Parameters []string `json:"parameters"`
}

// Outcome is what a program came to.
type Outcome struct {
	Printed string // what it printed, bounded
	Value   string // of its last expression: a text, or JSON; "" for undefined
	// Error is what it failed with, with the line, in words for the model; ""
	// if it did not.
	Error string
}

// Interpreter runs programs that nobody trusts: without files, network and
// secrets, within memory and time. It may be used concurrently. What is wrong
// with the program is in the Outcome; an error says that it could not be run.
type Interpreter interface {
	Run(ctx context.Context, p Program) (Outcome, error)
}
