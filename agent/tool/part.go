package tool

import (
	"encoding/json"
	"fmt"
)

// PartKind says what a part of a result is.
type PartKind string

// Kinds of parts.
const (
	TextPart  PartKind = "text"
	JSONPart  PartKind = "json"
	LinkPart  PartKind = "link"
	ImagePart PartKind = "image"
	FilePart  PartKind = "file"
)

// Part is one piece of a result. Text and JSON are for the model; links, images
// and files are for the user, and the model is told that they are there. None
// is ever fetched because a model speaks of it.
type Part struct {
	Kind PartKind `json:"kind"`
	Text string   `json:"text,omitempty"` // of a text
	// JSON of a JSON part.
	JSON json.RawMessage `json:"json,omitempty"`
	// Name of a link, an image or a file, for people.
	Name string `json:"name,omitempty"`
	MIME string `json:"mime,omitempty"`
	URL  string `json:"url,omitempty"`
	// Bytes of an image or a file that has no URL.
	Bytes []byte `json:"bytes,omitempty"`
}

// Text makes a result of a text.
func Text(text string) Result { return Result{Text: text} }

// JSON makes a result of a value, in its JSON form.
func JSON(v any) (Result, error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return Result{}, fmt.Errorf("encode the result: %w", err)
	}
	return Result{Parts: []Part{{Kind: JSONPart, JSON: raw}}, Data: raw}, nil
}

// Link makes a result of a link for the user.
func Link(name, url string) Result {
	return Result{Parts: []Part{{Kind: LinkPart, Name: name, URL: url}}}
}

// Image makes a result of an image for the user.
func Image(name, mime string, bytes []byte) Result {
	return Result{Parts: []Part{{Kind: ImagePart, Name: name, MIME: mime, Bytes: bytes}}}
}

// File makes a result of a file for the user.
func File(name, mime string, bytes []byte) Result {
	return Result{Parts: []Part{{Kind: FilePart, Name: name, MIME: mime, Bytes: bytes}}}
}
