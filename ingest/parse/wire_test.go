package parse

import (
	"bytes"
	"errors"
	"io"
	"math"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"ragagent/ingest/parse/pdf"
)

// pages of any lines; every field of a line is drawn, so that one that is new
// and forgotten on the way to the parent is missed.
func drawPage(t *rapid.T) pdf.Page {
	page := pdf.Page{Number: rapid.IntRange(1, 9).Draw(t, "number"), Width: 612, Height: 792, Glyphs: 7, Problem: "none"}
	for range rapid.IntRange(0, 20).Draw(t, "lines") {
		var line pdf.Line
		v := reflect.ValueOf(&line).Elem()
		for i := range v.NumField() {
			switch f := v.Field(i); f.Kind() {
			case reflect.String:
				f.SetString(rapid.String().Draw(t, "text"))
			case reflect.Float64:
				f.SetFloat(rapid.Float64Range(-1e300, 1e300).Draw(t, "float"))
			case reflect.Int:
				f.SetInt(rapid.Int64Range(0, math.MaxInt32/4).Draw(t, "int"))
			case reflect.Bool:
				f.SetBool(rapid.Bool().Draw(t, "bool"))
			default:
				t.Fatalf("fields of kind %s do not travel", f.Kind())
			}
		}
		page.Lines = append(page.Lines, line)
	}
	return page
}

// overWire writes a frame and reads it.
func overWire(t *rapid.T, f frame) frame {
	var wire bytes.Buffer
	if err := writeFrame(&wire, f); err != nil {
		t.Fatal(err)
	}
	left := int64(wire.Len())
	got, err := (&listener{from: &wire, left: &left}).next()
	if err != nil || left != 0 || wire.Len() != 0 {
		t.Fatalf("%d bytes are left to say, %d to read: %v", left, wire.Len(), err)
	}
	return got
}

func TestPagesTravel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := drawPage(t)
		got, err := overWire(t, packPage(want)).page()
		if err != nil {
			t.Fatal(err)
		}
		if want.Lines == nil {
			want.Lines = []pdf.Line{}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatal(diff)
		}
	})
}

func TestReadingsTravel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := newReading(formatPlain, 10<<20, 50_000)
		for range rapid.IntRange(0, 4).Draw(t, "groups") {
			text := rapid.StringN(1, 50, -1).Draw(t, "text")
			if rapid.IntRange(0, 9).Draw(t, "long") == 0 {
				text = text + string(bytes.Repeat([]byte("x"), batchBytes))
			}
			for range rapid.SampledFrom([]int{1, 3, batchBlocks}).Draw(t, "times") {
				want.body.add(Heading, 2, 0, text)
				want.body.add(Table, 0, 0, text)
			}
		}
		got := newReading(formatPlain, 10<<20, 50_000)
		err := want.body.send(func(f frame) error { return got.take(overWire(t, f)) })
		if err != nil {
			t.Fatal(err)
		}
		if got.body.out.String() != want.body.out.String() {
			t.Fatalf("got %d bytes, want %d", got.body.out.Len(), want.body.out.Len())
		}
		if diff := cmp.Diff(want.body.blocks, got.body.blocks); diff != "" {
			t.Fatal(diff)
		}
	})
}

// someBlocks is a frame of two blocks.
func someBlocks(t interface{ Fatal(...any) }) (f frame) {
	b := newReading("", 1<<20, 10).body
	b.add(List, 0, 0, "- a")
	b.add(Heading, 1, 2, "a")
	if err := b.send(func(sent frame) error { f = sent; return nil }); err != nil {
		t.Fatal(err)
	}
	return f
}

// TestBrokenFrames changes a frame at random: what comes of it is another
// frame or an error.
func TestBrokenFrames(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := packPage(drawPage(t))
		if rapid.Bool().Draw(t, "blocks") {
			f = someBlocks(t)
		}
		var wire bytes.Buffer
		if err := writeFrame(&wire, f); err != nil {
			t.Fatal(err)
		}
		data := wire.Bytes()
		for range rapid.IntRange(1, 5).Draw(t, "changes") {
			data[rapid.IntRange(0, len(data)-1).Draw(t, "at")] = rapid.Byte().Draw(t, "to")
		}
		left := int64(1 << 20)
		got, err := (&listener{from: bytes.NewReader(data), left: &left}).next()
		if err == nil {
			read := pdfRead{maxText: 1 << 20, maxLines: 1000}
			text := newReading("", 1<<20, 1000)
			err = errors.Join(text.take(got), read.take(got))
		}
		switch {
		case err == nil, errors.Is(err, errBadFrame), errors.Is(err, errTalk), errors.Is(err, ErrLimit),
			errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		default:
			t.Fatal(err)
		}
	})
}

func TestChildrenOfAFileShareWhatTheyMaySay(t *testing.T) {
	var wire bytes.Buffer
	for range 3 {
		if err := writeFrame(&wire, someBlocks(t)); err != nil {
			t.Fatal(err)
		}
	}
	left := int64(wire.Len() - 1)
	l := listener{from: &wire, left: &left}
	for i := range 3 {
		_, err := l.next()
		if want := i == 2; errors.Is(err, errTalk) != want || errors.Is(err, ErrLimit) != want {
			t.Errorf("frame %d: %v", i, err)
		}
	}
}
