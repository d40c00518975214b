package draft

import (
	"fmt"
	"math"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"ragagent/retrieval/analysis"
)

// minTerms is what a sentence needs to ask for something in particular.
const minTerms = 5

// headingEvery is how often a heading is asked about where there is one.
const headingEvery = 4

// make drafts without a model: what a sentence tells is asked for by leaving it
// out, or a heading is asked about. n is the number of the question.
func (d *Drafter) make(p Passage, words map[string]float64, n int) (Question, bool) {
	if n%headingEvery == headingEvery-1 {
		if q, ok := aboutHeading(p); ok {
			return q, true
		}
	}
	if q, ok := d.fromSentence(p, words); ok {
		return q, true
	}
	return aboutHeading(p)
}

// aboutHeading asks what a document says under a heading.
func aboutHeading(p Passage) (Question, bool) {
	if len(p.Headings) == 0 {
		return Question{}, false
	}
	heading := oneLine(p.Headings[len(p.Headings)-1])
	subject := oneLine(p.Title)
	if subject == "" || strings.EqualFold(subject, heading) {
		subject = oneLine(p.DocumentName)
	}
	text := subject + ": " + heading
	if english(p.Text) {
		text = fmt.Sprintf("What does %s say about %s?", subject, heading)
	}
	ok := len(heading) > 2 && len(text) <= maxQuestion
	return Question{Passage: p, Text: text, From: FromHeading}, ok
}

// fromSentence asks about the sentence that says most, in rare words for its
// length, and that can be understood alone.
func (d *Drafter) fromSentence(p Passage, words map[string]float64) (best Question, ok bool) {
	score := 0.0
	capitals := strings.ContainsFunc(p.Text, unicode.IsUpper)
	for _, span := range analysis.Sentences(p.Text) {
		sentence := oneLine(p.Text[span.Start:span.End])
		if len(sentence) > maxQuestion || leansOnOthers(sentence) || capitals && startsSmall(sentence) {
			continue
		}
		terms := d.cfg.Analyzer.Terms(sentence)
		if len(terms) < minTerms {
			continue
		}
		sum := 0.0
		for _, term := range terms {
			sum += words[term]
		}
		if sum /= math.Sqrt(float64(len(terms))); sum <= score {
			continue
		}
		if text, answer, can := leaveOut(sentence); can {
			best, ok, score = Question{Passage: p, Text: text, Answer: answer, From: FromSentence}, true, sum
		}
	}
	return best, ok
}

var (
	// leaning are words at the start of a sentence that point to another one.
	leaning = regexp.MustCompile(`(?i)^["'(]*(it|its|this|that|these|those|they|their|them|he|his|she|her|such|however|therefore|thus|hence|moreover|also|then|there|here|and|but|or|see|note)\b`)
	year    = regexp.MustCompile(`\b(1[5-9]\d\d|20\d\d)\b`)
	// number is one that counts something: what follows is a word of some
	// length, and neither "and" nor "to".
	number = regexp.MustCompile(`(^|\s)(\d+(?:[.,]\d+)*)(\s\p{L}{4,})`)
	// name is a run of words with capitals within a sentence.
	name = regexp.MustCompile(`([\p{Ll}\d],?\s)(\p{Lu}[\p{L}\d.'-]+(?:\s\p{Lu}[\p{L}\d.'-]+)*)`)
)

// startsSmall says that a sentence begins with a small letter: it is the rest of
// one.
func startsSmall(sentence string) bool {
	first, _ := utf8.DecodeRuneInString(sentence)
	return unicode.IsLower(first)
}

func leansOnOthers(sentence string) bool { return leaning.MatchString(sentence) }

// leaveOut puts a question word, or a gap where the language is another than
// English, in the place of a year, a name or a number.
func leaveOut(sentence string) (question, answer string, ok bool) {
	what := func(word string) string {
		if english(sentence) {
			return word
		}
		return "…"
	}
	var at []int // the answer's bytes
	var word string
	if m := year.FindStringIndex(sentence); m != nil {
		at, word = m, what("what year")
	} else if m := name.FindStringSubmatchIndex(sentence); m != nil {
		at, word = m[4:6], what("who or what")
	} else if m := number.FindStringSubmatchIndex(sentence); m != nil {
		at, word = m[4:6], what("how many")
	} else {
		return "", "", false
	}
	answer = strings.Trim(sentence[at[0]:at[1]], ".,'-")
	end := at[0] + strings.Index(sentence[at[0]:], answer) + len(answer)
	rest := strings.TrimRight(sentence[end:], ".!?。！？ ")
	return sentence[:at[0]] + word + rest + "?", answer, answer != ""
}

// english says whether little English words make up a fifth of a text.
func english(text string) bool {
	fields := strings.Fields(text)
	little := 0
	for _, w := range fields {
		if analysis.IsStopWord(strings.ToLower(strings.Trim(w, ".,;:!?()\"'"))) {
			little++
		}
	}
	return little > 0 && little*5 >= len(fields)
}

// oneLine is text without line breaks, control characters and bytes that are
// no text.
func oneLine(text string) string {
	clean := strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r == utf8.RuneError {
			return ' '
		}
		return r
	}, text)
	return strings.Join(strings.Fields(clean), " ")
}
