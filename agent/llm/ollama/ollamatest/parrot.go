package ollamatest

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// Rule is what a parrot says in one situation. Of the rules that fit, the
// first counts; a model needs one that always fits at the end.
type Rule struct {
	User    string // the last user message, word for word; "" means any
	Results int    // tool results since that message; Any means any number
	Tools   Option // tools are offered
	Think   Option // thinking is asked for
	Say     string
	Loop    bool // say it again and again
}

// Any number of results.
const Any = -1

// Option is a condition on a request.
type Option int

// Options: the zero value does not care.
const (
	Either Option = iota
	Yes
	No
)

// Parrot is a model for the server.
type Parrot struct {
	Weights  []byte // a GGUF file
	Template string // its chat template
}

// NewParrot makes a model that follows the rules. The routing happens in the
// template, which sees the messages and ends the prompt with a token for the
// rule; from there on every token determines the next. With thinking the
// template shows thoughts, which gives the model that capability. What rules
// say must differ from piece to piece (see vocabulary.cut).
func NewParrot(thinking bool, rules ...Rule) (Parrot, error) {
	v := newVocabulary()
	next := map[int]int{} // what follows a token; nothing means the end
	for i, rule := range rules {
		at := v.add(fmt.Sprintf("<|rule%03d|>", i), controlToken)
		pieces, err := v.cut(rule.Say)
		if err != nil {
			return Parrot{}, fmt.Errorf("rule %d: %w", i, err)
		}
		for _, piece := range pieces {
			next[at] = piece
			at = piece
		}
		if rule.Loop && len(pieces) > 0 {
			next[at] = pieces[0]
		}
	}
	return Parrot{Weights: parrotWeights(v, next), Template: chatTemplate(thinking, rules)}, nil
}

// Token types of the format.
const (
	normalToken  int32 = 1
	controlToken int32 = 3
)

// vocabulary is a byte-level BPE vocabulary: every byte, a few merges for the
// looks of it, and pieces of what the rules say.
type vocabulary struct {
	tokens []string
	types  []int32
	ids    map[string]int
}

const (
	endToken   = "<|im_end|>"
	startToken = "<|im_start|>"
)

// merges are the most frequent pairs of English, so that a prompt has about
// half as many tokens as bytes.
var merges = func() []string {
	const pairs = `Ġ t|Ġ a|Ġ s|Ġ c|Ġ o|Ġ w|Ġ i|Ġ p|t h|h e|i n|e r|a n|r e|o n|a t|e n|n d|t i|e s|o r|t e|o f|e d|i s|i t|a l|a r|s t|` +
		`t o|n t|n g|s e|h a|a s|o u|i o|l e|v e|c o|m e|d e|h i|r i|r o|i c|n e|e a|r a|c e|l i|c h|l l|b e|m a|s i|o m|u r`
	return strings.Split(pairs, "|")
}()

func newVocabulary() *vocabulary {
	v := &vocabulary{ids: map[string]int{}}
	for b := range 256 {
		v.add(string(byteRunes[b]), normalToken)
	}
	for _, m := range merges {
		v.add(strings.ReplaceAll(m, " ", ""), normalToken)
	}
	v.add(startToken, controlToken)
	v.add(endToken, controlToken)
	return v
}

func (v *vocabulary) add(token string, kind int32) int {
	v.ids[token] = len(v.tokens)
	v.tokens = append(v.tokens, token)
	v.types = append(v.types, kind)
	return len(v.tokens) - 1
}

// cut adds a text in pieces of three characters or more, each a new token, so
// that a token determines its successor. A text whose end repeats what was
// said before cannot be cut.
func (v *vocabulary) cut(text string) ([]int, error) {
	const least = 3
	var ids []int
	for runes := []rune(text); len(runes) > 0; {
		n := min(least, len(runes))
		for n < len(runes) && (v.has(string(runes[:n])) || len(runes)-n < least) {
			n++
		}
		piece := string(runes[:n])
		if v.has(piece) {
			return nil, fmt.Errorf("%q is said already: change the end of %q", piece, text)
		}
		ids = append(ids, v.add(byteLevel(piece), normalToken))
		runes = runes[n:]
	}
	return ids, nil
}

func (v *vocabulary) has(text string) bool {
	_, there := v.ids[byteLevel(text)]
	return there
}

// byteRunes is GPT-2's table of printable characters for the 256 bytes.
var byteRunes = func() (table [256]rune) {
	spare := rune(256)
	for b := range table {
		if b >= '!' && b <= '~' || b >= 0xA1 && b <= 0xAC || b >= 0xAE {
			table[b] = rune(b)
			continue
		}
		table[b] = spare
		spare++
	}
	return table
}()

func byteLevel(text string) string {
	var b strings.Builder
	for i := range len(text) {
		b.WriteRune(byteRunes[text[i]])
	}
	return b.String()
}

// Sizes of the model.
const (
	width, inner, heads, window = 256, 64, 4, 32768
)

// parrotWeights makes a llama of one layer whose attention and MLP are zero,
// so the logits are output x embedding of the last token. An embedding is all
// +1 and -1, which RMSNorm leaves alone: dimension 0 is always +1, dimension 1
// says whether nothing follows, the others are a random code. A token's output
// row holds the code of the token it follows, twice: that one gets a logit of
// 2 x 254 - 400 = 108, all others about -400 (standard deviation 32), and the
// end token ±250 by dimension 1.
func parrotWeights(v *vocabulary, next map[int]int) []byte {
	random := rand.New(rand.NewPCG(1, 2))
	n := len(v.tokens)
	embedding, output := make([]float32, n*width), make([]float32, n*width)
	for i := range embedding {
		embedding[i] = float32(2*random.IntN(2) - 1)
	}
	for t := range n {
		embedding[t*width], embedding[t*width+1] = 1, 1
		if _, goesOn := next[t]; goesOn {
			embedding[t*width+1] = -1
		}
		output[t*width] = -400
	}
	for t, u := range next {
		for d := 2; d < width; d++ {
			output[u*width+d] += 2 * embedding[t*width+d]
		}
	}
	end := v.ids[endToken]
	output[end*width], output[end*width+1] = 0, 250

	g := llama(v)
	g.add("token_embd.weight", width, n, embedding)
	g.add("blk.0.attn_norm.weight", width, 0, ones(width))
	for _, name := range []string{"attn_q", "attn_k", "attn_v", "attn_output"} {
		g.add("blk.0."+name+".weight", width, width, make([]float32, width*width))
	}
	g.add("blk.0.ffn_norm.weight", width, 0, ones(width))
	g.add("blk.0.ffn_gate.weight", width, inner, make([]float32, width*inner))
	g.add("blk.0.ffn_up.weight", width, inner, make([]float32, width*inner))
	g.add("blk.0.ffn_down.weight", inner, width, make([]float32, inner*width))
	g.add("output_norm.weight", width, 0, ones(width))
	g.add("output.weight", width, n, output)
	return g.encode()
}

func ones(n int) []float32 {
	v := make([]float32, n)
	for i := range v {
		v[i] = 1
	}
	return v
}

// llama is the head of the file.
func llama(v *vocabulary) *gguf {
	g := &gguf{}
	g.set("general.architecture", "llama")
	g.set("general.name", "parrot")
	g.set("general.type", "model")
	g.set("general.file_type", uint32(0))
	g.set("llama.block_count", uint32(1))
	g.set("llama.context_length", uint32(window))
	g.set("llama.embedding_length", uint32(width))
	g.set("llama.feed_forward_length", uint32(inner))
	g.set("llama.attention.head_count", uint32(heads))
	g.set("llama.attention.head_count_kv", uint32(heads))
	g.set("llama.attention.layer_norm_rms_epsilon", float32(1e-5))
	g.set("llama.rope.dimension_count", uint32(width/heads))
	g.set("llama.rope.freq_base", float32(10000))
	g.set("llama.vocab_size", uint32(len(v.tokens)))
	g.set("tokenizer.ggml.model", "gpt2")
	g.set("tokenizer.ggml.pre", "qwen2")
	g.set("tokenizer.ggml.tokens", v.tokens)
	g.set("tokenizer.ggml.token_type", v.types)
	g.set("tokenizer.ggml.merges", merges)
	g.set("tokenizer.ggml.bos_token_id", uint32(v.ids[startToken]))
	g.set("tokenizer.ggml.eos_token_id", uint32(v.ids[endToken]))
	g.set("tokenizer.ggml.add_bos_token", false)
	g.set("tokenizer.ggml.add_eos_token", false)
	return g
}
