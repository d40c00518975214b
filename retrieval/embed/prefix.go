package embed

import "strings"

// Prefixes are what an asymmetric model wants before a question and before a
// passage. They are part of the vector space: the same model with others gives
// vectors that must not be mixed.
type Prefixes struct {
	Query    string
	Document string
}

// Instructions of models that take one before the question.
const (
	bgeQuery       = "Represent this sentence for searching relevant passages: "
	webSearchQuery = "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery: "
)

// knownPrefixes are what the authors of the common models ask for, on their
// model cards. The first whose parts are all in the name decides: special
// names come before the families they belong to.
var knownPrefixes = []struct {
	parts []string
	Prefixes
}{
	{[]string{"nomic-embed-code"}, Prefixes{Query: "Represent this query for searching relevant code: "}},
	{[]string{"nomic-embed"}, Prefixes{Query: "search_query: ", Document: "search_document: "}},
	{[]string{"modernbert-embed"}, Prefixes{Query: "search_query: ", Document: "search_document: "}},
	{[]string{"e5", "instruct"}, Prefixes{Query: webSearchQuery}},
	{[]string{"e5-mistral"}, Prefixes{Query: webSearchQuery}},
	{[]string{"multilingual-e5"}, Prefixes{Query: "query: ", Document: "passage: "}},
	{[]string{"e5-small"}, Prefixes{Query: "query: ", Document: "passage: "}},
	{[]string{"e5-base"}, Prefixes{Query: "query: ", Document: "passage: "}},
	{[]string{"e5-large"}, Prefixes{Query: "query: ", Document: "passage: "}},
	{[]string{"bge-m3"}, Prefixes{}},
	{[]string{"bge", "-zh"}, Prefixes{Query: "为这个句子生成表示以用于检索相关文章："}},
	{[]string{"bge-small"}, Prefixes{Query: bgeQuery}},
	{[]string{"bge-base"}, Prefixes{Query: bgeQuery}},
	{[]string{"bge-large"}, Prefixes{Query: bgeQuery}},
	{[]string{"mxbai-embed"}, Prefixes{Query: bgeQuery}},
	{[]string{"snowflake-arctic-embed", "v2"}, Prefixes{Query: "query: "}},
	{[]string{"snowflake-arctic-embed2"}, Prefixes{Query: "query: "}},
	{[]string{"snowflake-arctic-embed"}, Prefixes{Query: bgeQuery}},
	{[]string{"jina-embeddings-v3"}, Prefixes{
		Query:    "Represent the query for retrieving evidence documents: ",
		Document: "Represent the document for retrieval: ",
	}},
	{[]string{"jina-embeddings-v4"}, Prefixes{Query: "Query: ", Document: "Passage: "}},
	{[]string{"qwen3-embedding"}, Prefixes{Query: webSearchQuery}},
	{[]string{"embeddinggemma"}, Prefixes{Query: "task: search result | query: ", Document: "title: none | text: "}},
}

// PrefixesOf returns the prefixes of a model by its name, as it is written by
// any provider ("nomic-embed-text:v1.5", "intfloat/multilingual-e5-small");
// none for a model that is not known.
func PrefixesOf(model string) Prefixes {
	name := strings.ReplaceAll(strings.ToLower(model), "_", "-")
	for _, known := range knownPrefixes {
		if holdsAll(name, known.parts) {
			return known.Prefixes
		}
	}
	return Prefixes{}
}

func holdsAll(name string, parts []string) bool {
	for _, part := range parts {
		if !strings.Contains(name, part) {
			return false
		}
	}
	return true
}
