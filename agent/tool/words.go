package tool

import "strings"

// numberWords are the English words that numbers are made of.
var numberWords = map[string]int64{
	"zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10,
	"eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16, "seventeen": 17, "eighteen": 18,
	"nineteen": 19, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90,
	"hundred": 100, "thousand": 1000, "million": 1_000_000,
}

// numberInWords reads "twenty-five" or "two hundred and one".
func numberInWords(text string) (int64, bool) {
	text = strings.ToLower(strings.TrimSpace(text))
	negative := strings.HasPrefix(text, "minus ")
	words := strings.FieldsFunc(strings.TrimPrefix(text, "minus "), func(r rune) bool { return r == ' ' || r == '-' })
	const most = 12
	if len(words) == 0 || len(words) > most {
		return 0, false
	}
	var total, group, last int64 = 0, 0, 100
	for i, w := range words {
		n, known := numberWords[w]
		switch {
		case w == "and" && i > 0 && i < len(words)-1:
			continue
		case !known:
			return 0, false
		case n == 100:
			group = max(group, 1) * n
		case n >= 1000:
			total, group = total+max(group, 1)*n, 0
		case n < 10 && last >= 20, n >= 10 && last >= 100: // twenty one, hundred twenty
			group += n
		default: // two three
			return 0, false
		}
		last = n
	}
	if total += group; negative {
		total = -total
	}
	return total, true
}
