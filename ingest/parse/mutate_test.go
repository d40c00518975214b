package parse

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// mutator damages files in the ways that disks, transfers, broken programs and
// attackers do. It is a function of its random numbers.
type mutator struct {
	*rand.Rand
	others []fixture // whose bytes get mixed in
}

// damaged returns a fixture's file with damage to its parts, to the file, or to
// both.
func (m mutator) damaged(f fixture) []byte {
	parts := make([]fixturePart, len(f.parts))
	for i, p := range f.parts {
		parts[i] = fixturePart{p.name, bytes.Clone(p.data)}
	}
	inside := len(parts) > 1 && m.IntN(3) > 0
	if inside {
		m.parts(parts)
	}
	data := bytes.Clone(f.pack(parts))
	if !inside || m.IntN(4) == 0 {
		for range 1 + m.IntN(4) {
			data = m.bytes(data)
		}
	}
	if len(data) == 0 {
		return []byte(" ")
	}
	return data
}

// parts damages the parts of a file before they are packed.
func (m mutator) parts(parts []fixturePart) {
	for range 1 + m.IntN(3) {
		i := m.IntN(len(parts))
		switch m.IntN(10) {
		case 0: // two parts change places
			j := m.IntN(len(parts))
			parts[i].data, parts[j].data = parts[j].data, parts[i].data
		case 1: // a part is missing
			parts[i].name = "missing"
		case 2: // two have one name
			parts[i].name = parts[m.IntN(len(parts))].name
		case 3: // it leads out of the file
			parts[i].name = "../../" + parts[i].name
		case 4: // it unpacks to far more than it takes
			parts[i].data = m.bomb(parts[i].data)
		default:
			for range 1 + m.IntN(3) {
				parts[i].data = m.bytes(parts[i].data)
			}
		}
	}
}

// bomb puts something long and monotonous into data.
func (m mutator) bomb(data []byte) []byte {
	units := []string{" ", "<a>", "<p>x</p>", "<w:p><w:r><w:t>x</w:t></w:r></w:p>", "<row r=\"1\"/>", "&amp;", "<w:tbl><w:tr><w:tc>", "<text:s text:c=\"999999999\"/>", "<!-- -->", "\x00"}
	unit := units[m.IntN(len(units))]
	at := m.IntN(len(data) + 1)
	return slices.Concat(data[:at], bytes.Repeat([]byte(unit), (1<<(10+m.IntN(14)))/len(unit)), data[at:])
}

// nests are what parsers recurse or loop on.
var nests = []string{"<<[(", "<a>", "<div><table><tr><td>", "{", "[", `{"a":`, `{\b `, `\u-10179`, "> ", "(((", "\"", ",", "=?utf-8?B?", "--outer\r\n", "Content-Type: multipart/mixed; boundary=x\r\n\r\n--x\r\n",
	"<!DOCTYPE a [<!ENTITY b \"&b;&b;\">]>", "&b;", "\xff\xfe", "\x00", "PK\x03\x04", "%PDF-1.7\n", "\\bin99999999 ", "1 0 R ", "/Kids [2 0 R]", "-", "\r", "\ud7ff"}

// bytes damages data once.
func (m mutator) bytes(data []byte) []byte {
	if len(data) == 0 {
		return data
	}
	at := m.IntN(len(data))
	end := min(len(data), at+1+m.IntN(200))
	switch m.IntN(12) {
	case 0: // a bit
		data[at] ^= 1 << m.IntN(8)
	case 1: // some bytes
		for i := at; i < min(end, at+16); i++ {
			data[i] = byte(m.Uint32())
		}
	case 2: // the end is missing
		data = data[:at]
	case 3: // the beginning is missing
		data = data[at:]
	case 4: // a hole
		data = slices.Concat(data[:at], data[end:])
	case 5: // a block twice, or often
		data = slices.Concat(data[:end], bytes.Repeat(data[at:end], 1+m.IntN(50)), data[end:])
	case 6: // zeros, as of a file that was not written to its end
		clear(data[at:end])
	case 7: // two blocks change places
		middle := at + (end-at)/2
		data = slices.Concat(data[:at], data[middle:end], data[at:middle], data[end:])
	case 8: // a number that lies
		data = m.lie(data)
	case 9: // a length in binary that lies
		if at+4 <= len(data) {
			binary.LittleEndian.PutUint32(data[at:], m.Uint32()>>m.IntN(32))
		}
	case 10: // nesting
		data = slices.Concat(data[:at], []byte(strings.Repeat(nests[m.IntN(len(nests))], 1+m.IntN(2000))), data[at:])
	case 11: // a piece of another file
		other := m.others[m.IntN(len(m.others))].bytes()
		from := m.IntN(len(other))
		data = slices.Concat(data[:at], other[from:min(len(other), from+m.IntN(500))], data[at:])
	}
	return data
}

var number = regexp.MustCompile(`[0-9]+`)

// lie changes one number written in digits.
func (m mutator) lie(data []byte) []byte {
	found := number.FindAllIndex(data, 1000)
	if len(found) == 0 {
		return data
	}
	span := found[m.IntN(len(found))]
	lies := []string{"0", "-1", "1", "2147483647", "4294967296", "99999999999999999999", "1e308", strconv.FormatUint(m.Uint64()>>m.IntN(64), 10), fmt.Sprint(m.IntN(30))}
	return slices.Concat(data[:span[0]], []byte(lies[m.IntN(len(lies))]), data[span[1]:])
}
