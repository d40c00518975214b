package parse

import (
	"errors"

	"ragagent/ingest/parse/doc"
	"ragagent/ingest/parse/epub"
	"ragagent/ingest/parse/mail"
	"ragagent/ingest/parse/office"
	"ragagent/ingest/parse/rtf"
	"ragagent/ingest/parse/tabular"
)

// format is a kind of file that can be read.
type format string

const (
	formatPDF      format = "pdf"
	formatHTML     format = "html"
	formatMarkdown format = "markdown"
	formatCode     format = "code"
	formatPlain    format = "plain"
	formatCSV      format = "csv"
	formatTSV      format = "tsv"
	formatJSON     format = "json"
	formatJSONL    format = "jsonl"
	formatMail     format = "mail"
	formatRTF      format = "rtf"
	formatEPUB     format = "epub"
	formatDOCX     format = "docx"
	formatPPTX     format = "pptx"
	formatXLSX     format = "xlsx"
	formatODT      format = "odt"
	formatODS      format = "ods"
	formatODP      format = "odp"

	// What has to be looked into further, in a child.
	formatZip format = "zip"
	formatOLE format = "ole"
)

// trait is what is known of a format.
type trait struct {
	mime string // Text.MIME
	// here says that small files of it may be read in this process. All others
	// are read in a child.
	here bool
	// characters says that its bytes are a text in some charset. Its reader gets
	// UTF-8 without a byte order mark.
	characters bool
	// read reads the format; nil for those that are read by this package.
	read doc.Reader
}

var traits = map[format]trait{
	formatPDF:      {mime: "application/pdf"},
	formatHTML:     {mime: "text/html", here: true, characters: true},
	formatMarkdown: {mime: "text/markdown", here: true, characters: true},
	formatCode:     {mime: "text/plain", here: true, characters: true},
	formatPlain:    {mime: "text/plain", here: true, characters: true},
	formatCSV:      {mime: "text/csv", characters: true, read: tabular.ReadCSV},
	formatTSV:      {mime: "text/tab-separated-values", characters: true, read: tabular.ReadCSV},
	formatJSON:     {mime: "application/json", characters: true, read: tabular.ReadJSON},
	formatJSONL:    {mime: "application/jsonl", characters: true, read: tabular.ReadJSON},
	formatMail:     {mime: "message/rfc822", read: mail.Read},
	formatRTF:      {mime: "application/rtf", read: rtf.Read},
	formatEPUB:     {mime: "application/epub+zip", read: epub.Read},
	formatDOCX:     {mime: "application/vnd.openxmlformats-officedocument.wordprocessingml.document", read: office.ReadDOCX},
	formatPPTX:     {mime: "application/vnd.openxmlformats-officedocument.presentationml.presentation", read: office.ReadPPTX},
	formatXLSX:     {mime: "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", read: office.ReadXLSX},
	formatODT:      {mime: "application/vnd.oasis.opendocument.text", read: office.ReadODT},
	formatODS:      {mime: "application/vnd.oasis.opendocument.spreadsheet", read: office.ReadODS},
	formatODP:      {mime: "application/vnd.oasis.opendocument.presentation", read: office.ReadODP},
}

// readable says that f is one of the formats that a Text can have.
func (f format) readable() bool { return traits[f].mime != "" }

// asText says that a file which was taken for this format by the look of its
// first lines, and cannot be read as it, may well be text of another kind.
func (f format) asText(err error) bool {
	switch f {
	case formatCSV, formatTSV, formatJSON, formatJSONL, formatMail:
		return errors.Is(err, ErrDamaged) || errors.Is(err, ErrUnsupported)
	}
	return false
}
