package openai

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"

	"ragagent/agent/llm"
)

// statusError is an answer that is none.
type statusError struct {
	status  int
	message string
	tools   bool // tools were offered
}

func (e *statusError) Error() string {
	if e.message == "" {
		return fmt.Sprintf("the server answered %d", e.status)
	}
	return e.message
}

// Unwrap makes the refusal of tools an llm.ErrNoToolCalls.
func (e *statusError) Unwrap() error {
	if e.noToolCalls() {
		return llm.ErrNoToolCalls
	}
	return nil
}

// refusesTools are the words of servers whose model cannot call tools.
var refusesTools = regexp.MustCompile(`(?i)(?:not support|unsupported|not supported|no support|enable-auto-tool-choice).*\b(?:tools?|functions?)|\b(?:tools?|function calling|functions?)\b.*(?:not support|unsupported|not supported|not available|enable-auto-tool-choice)`)

func (e *statusError) noToolCalls() bool {
	return e.tools && e.status >= 400 && e.status < 500 && refusesTools.MatchString(e.message)
}

// messageOf finds the message in the body of an error, bounded.
func messageOf(body []byte) string {
	var problem struct {
		Error   json.RawMessage `json:"error"`
		Message string          `json:"message"`
		Detail  json.RawMessage `json:"detail"`
	}
	message := ""
	if json.Unmarshal(body, &problem) == nil {
		var inner struct {
			Message string `json:"message"`
		}
		switch {
		case json.Unmarshal(problem.Error, &inner) == nil && inner.Message != "":
			message = inner.Message
		case json.Unmarshal(problem.Error, &message) == nil && message != "":
		case problem.Message != "":
			message = problem.Message
		default:
			_ = json.Unmarshal(problem.Detail, &message) // of another form: there is no message
		}
	} else if !bytes.HasPrefix(bytes.TrimSpace(body), []byte("<")) { // not a page for people
		message = string(body)
	}
	message = strings.TrimSpace(strings.ToValidUTF8(message, ""))
	if len(message) > maxSaid {
		message = strings.ToValidUTF8(message[:maxSaid], "") + "..."
	}
	return message
}

// classify says which failures may pass: a lost connection, a busy or failing
// server. A refused key, request or model does not.
func classify(err error) error {
	out := &llm.Error{Provider: "openai", Retryable: true, Err: err}
	var status *statusError
	switch {
	case errors.As(err, &status):
		out.Retryable = status.status == http.StatusTooManyRequests || status.status == http.StatusRequestTimeout || status.status >= http.StatusInternalServerError
	case errors.Is(err, errFiltered):
		out.Retryable = false
	}
	return out
}
