package analysis

import "strings"

// IsStopWord says whether a normalised word is one that Analyze leaves out.
func IsStopWord(word string) bool { return stopWords[word] }

// stopWords are English words that say nothing about what a text is about, in
// their normalised spelling. Words of place, order and amount (above, before,
// first, more) are not among them: with them texts rank a little better in
// every collection tried. Other languages have no stop words here: their
// little words would collide with English ones ("die", "son"), and their
// weight is next to nothing in a collection of that language anyway.
var stopWords = func() map[string]bool {
	m := make(map[string]bool, 200)
	for w := range strings.FieldsSeq(`
a again all also am an and any are arent as at be because been being both but by can cannot cant could couldnt
did didnt do does doesnt doing dont each for from had hadnt has hasnt have havent having he hed her here hers
herself hes him himself his how hows i if im in into is isnt it its itself ive just let lets me might must my
myself no nor not of on once only or other ought our ours ourselves own shall shant she shes should shouldnt so
some such than that thats the their theirs them themselves then there theres these they theyd theyll theyre
theyve this those to too until upon very was wasnt we were werent weve what whats when whens where wheres which
while who whom whos whose why whys will with would wouldnt you youd youll your youre yours yourself yourselves
youve
`) {
		m[w] = true
	}
	return m
}()
