package listwise

import (
	"strconv"
	"strings"
)

// permutation reads an order of n passages from a model's reply, as places from
// 0. It is lenient: brackets may be missing or hold several numbers, numbers
// may be missing, too large or twice; what is missing follows in its old order.
// nil if there is no order in the reply at all.
func permutation(reply string, n int) []int {
	reply = withoutThoughts(reply)
	named := bracketed(reply)
	if !anyOf(named, n) {
		named = listed(reply)
	}
	if !anyOf(named, n) {
		return nil
	}
	places := make([]int, 0, n)
	taken := make([]bool, n)
	for _, number := range named {
		if place := number - 1; place >= 0 && place < n && !taken[place] {
			taken[place] = true
			places = append(places, place)
		}
	}
	for place := range n {
		if !taken[place] {
			places = append(places, place)
		}
	}
	return places
}

// anyOf says whether some number is that of a passage.
func anyOf(numbers []int, n int) bool {
	for _, number := range numbers {
		if number >= 1 && number <= n {
			return true
		}
	}
	return false
}

// withoutThoughts takes off what a model thought aloud before its reply.
func withoutThoughts(reply string) string {
	if at := strings.LastIndex(reply, "</think>"); at >= 0 {
		return reply[at+len("</think>"):]
	}
	return reply
}

// bracketed returns the numbers in square brackets: "[2] > [1]", "[2, 1]".
func bracketed(reply string) (numbers []int) {
	for {
		open := strings.IndexByte(reply, '[')
		if open < 0 {
			return numbers
		}
		reply = reply[open+1:]
		end := strings.IndexByte(reply, ']')
		if end < 0 {
			end = len(reply) // the reply was cut off
		}
		numbers = append(numbers, plain(reply[:end])...)
		reply = reply[end:]
	}
}

// listed returns the numbers of the lines that are nothing but numbers and
// signs between them: "2 > 1 > 3". Numbers within prose are none.
func listed(reply string) (numbers []int) {
	for line := range strings.Lines(reply) {
		if strings.Trim(line, "0123456789 \t\r\n>,;.-=") == "" {
			if found := plain(line); len(found) > 0 {
				numbers = append(numbers, found...)
			}
		}
	}
	return numbers
}

func plain(text string) (numbers []int) {
	for field := range strings.FieldsFuncSeq(text, func(r rune) bool { return r < '0' || r > '9' }) {
		if number, err := strconv.Atoi(field); err == nil {
			numbers = append(numbers, number)
		}
	}
	return numbers
}
