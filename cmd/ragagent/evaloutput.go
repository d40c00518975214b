package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
)

func writeFile(path string, write func(io.Writer) error) (err error) {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return write(f)
}

// printFigures prints an object, as JSON on one line or as a table in the
// object's own order. Lists are left out of the table.
func printFigures(w io.Writer, figures any, asJSON bool) error {
	raw, err := json.Marshal(figures)
	if err != nil {
		return err
	}
	if asJSON {
		_, err = fmt.Fprintln(w, string(raw))
		return err
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	if _, err := dec.Token(); err != nil {
		return err
	}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return err
		}
		var value any
		if err := dec.Decode(&value); err != nil {
			return err
		}
		printFigure(w, fmt.Sprint(key), value)
	}
	return nil
}

// printFigure prints a value, or those of an object under its name.
func printFigure(w io.Writer, name string, value any) {
	switch value := value.(type) {
	case []any:
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(value)) {
			printFigure(w, name+" "+key, value[key])
		}
	default:
		fmt.Fprintf(w, "%-22s %s\n", name, plain(fmt.Sprint(value)))
	}
}
