package parse

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"golang.org/x/text/encoding/unicode"

	"ragagent/ingest/parse/container"
)

// tell finds out the format of a file by its content; "" for one that is
// written in characters. ErrUnsupported, with what it looks like, for others.
func tell(file *io.SectionReader) (format, error) {
	head := make([]byte, min(file.Size(), headBytes))
	if _, err := file.ReadAt(head, 0); err != nil && !errors.Is(err, io.EOF) {
		return "", err
	}
	f := sniff(head)
	switch f {
	case formatZip:
		return tellContainer(file)
	case formatOLE:
		return "", tellOLE(file)
	case "":
		if kind := binaryKind(head); kind != "" {
			return "", fmt.Errorf("%w: it looks like %s", ErrUnsupported, kind)
		}
		return "", nil
	}
	if !f.readable() {
		return "", fmt.Errorf("%w: it looks like %s", ErrUnsupported, strings.ToUpper(string(f)))
	}
	return f, nil
}

// maxContentTypes bounds the part of a container that says what it is.
const maxContentTypes = 4 << 20

// mainPart is how an Office file names the type of its main part.
var mainPart = regexp.MustCompile(`(?i)application/vnd\.(?:openxmlformats-officedocument\.(wordprocessingml|presentationml|spreadsheetml)\.(?:document|template|presentation|slideshow|sheet)\.main\+xml` +
	`|ms-(word|powerpoint|excel)\.(?:document|template|presentation|slideshow|sheet|addin)\.(binary\.)?macroenabled(?:template)?\.main(?:\+xml)?)`)

var mainParts = map[string]format{
	"wordprocessingml": formatDOCX, "word": formatDOCX,
	"presentationml": formatPPTX, "powerpoint": formatPPTX,
	"spreadsheetml": formatXLSX, "excel": formatXLSX,
}

// mimeParts are what the entry "mimetype" of a container says.
var mimeParts = map[string]format{
	"application/vnd.oasis.opendocument.text":                  formatODT,
	"application/vnd.oasis.opendocument.text-template":         formatODT,
	"application/vnd.oasis.opendocument.spreadsheet":           formatODS,
	"application/vnd.oasis.opendocument.spreadsheet-template":  formatODS,
	"application/vnd.oasis.opendocument.presentation":          formatODP,
	"application/vnd.oasis.opendocument.presentation-template": formatODP,
	"application/epub+zip":                                     formatEPUB,
}

// usualParts tell a container that does not say what it is.
var usualParts = []struct {
	name string
	is   format
}{
	{"word/document.xml", formatDOCX},
	{"ppt/presentation.xml", formatPPTX},
	{"xl/workbook.xml", formatXLSX},
	{"META-INF/container.xml", formatEPUB},
}

// tellContainer finds out what document a zip file holds.
func tellContainer(file *io.SectionReader) (format, error) {
	c, err := container.Open(file, file.Size())
	if err != nil {
		return "", err
	}
	f := containerFormat(c)
	switch {
	case f == "":
		return "", fmt.Errorf("%w: it looks like a ZIP file that holds no document of one kind; unpack it and upload what is inside", ErrUnsupported)
	case f == formatXLSX && c.Has("xl/workbook.bin") && !c.Has("xl/workbook.xml"):
		return "", fmt.Errorf("%w: it is a binary workbook (.xlsb); save it as .xlsx and upload it again", ErrUnsupported)
	case !f.readable():
		return "", fmt.Errorf("%w: it looks like %s", ErrUnsupported, strings.ToUpper(string(f)))
	}
	return f, nil
}

func containerFormat(c *container.Container) format {
	if types, err := c.ReadAll("[Content_Types].xml", maxContentTypes); err == nil {
		if m := mainPart.FindSubmatch(withoutZeros(types)); m != nil {
			return mainParts[strings.ToLower(string(m[1])+string(m[2]))]
		}
	}
	if kind, err := c.ReadAll("mimetype", 1024); err == nil {
		return mimeParts[strings.TrimSpace(string(kind))]
	}
	for _, part := range usualParts {
		if c.Has(part.name) {
			return part.is
		}
	}
	return ""
}

// withoutZeros reads UTF-16 as far as ASCII goes.
func withoutZeros(data []byte) []byte { return bytes.ReplaceAll(data, []byte{0}, nil) }

// oleStreams are names of streams in files of the old Office format.
var oleStreams = []struct {
	name string
	err  error
}{
	{"EncryptedPackage", ErrEncrypted},
	{"WordDocument", fmt.Errorf("%w: it is a document of old Word (.doc); save it as .docx and upload it again", ErrUnsupported)},
	{"Workbook", fmt.Errorf("%w: it is a workbook of old Excel (.xls); save it as .xlsx and upload it again", ErrUnsupported)},
	{"PowerPoint Document", fmt.Errorf("%w: it is a presentation of old PowerPoint (.ppt); save it as .pptx and upload it again", ErrUnsupported)},
	{"__substg1.0_", fmt.Errorf("%w: it is a message of Outlook (.msg); save it as .eml and upload it again", ErrUnsupported)},
}

// tellOLE says what a compound file is, and what can be done with it.
func tellOLE(file io.Reader) error {
	const window, most, overlap = 1 << 20, 64 << 20, 64
	buf := make([]byte, 0, window+overlap)
	found := len(oleStreams)
	for read := 0; read < most; {
		n, err := io.ReadFull(file, buf[len(buf):len(buf)+window])
		buf = buf[:len(buf)+n]
		read += n
		for i, s := range oleStreams[:found] {
			name, encodeErr := unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM).NewEncoder().String(s.name)
			if encodeErr == nil && bytes.Contains(buf, []byte(name)) {
				found = i // one that tells more comes before
				break
			}
		}
		if err != nil {
			break
		}
		buf = append(buf[:0], buf[len(buf)-overlap:]...)
	}
	if found < len(oleStreams) {
		return oleStreams[found].err
	}
	return fmt.Errorf("%w: it is a file of an old Office program; save it in a current format and upload it again", ErrUnsupported)
}
