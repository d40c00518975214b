package store

// RewriteKind is what is done to a question before it is searched.
type RewriteKind string

// Kinds of rewriting. All but the first two may ask a model, and do what they
// can without one.
const (
	RewriteNone       RewriteKind = "none"        // it is searched as it is
	RewriteRules      RewriteKind = "rules"       // a follow-up question gets its topic, courtesies go
	RewriteCondense   RewriteKind = "condense"    // a follow-up question is made one that stands alone
	RewriteMultiQuery RewriteKind = "multi_query" // it is searched in other words too
	RewriteHyDE       RewriteKind = "hyde"        // the vector is that of a made-up answer too
	RewriteDecompose  RewriteKind = "decompose"   // its parts are searched too
	RewriteAuto       RewriteKind = "auto"        // what the kind of question asks for
)

// Known says whether it is one of the kinds, or "", which leaves it open.
func (k RewriteKind) Known() bool {
	switch k {
	case "", RewriteNone, RewriteRules, RewriteCondense, RewriteMultiQuery, RewriteHyDE, RewriteDecompose, RewriteAuto:
		return true
	}
	return false
}

// RerankKind is what orders the best candidates anew.
type RerankKind string

// Kinds of reranking. The last three work on what RerankLexical leaves.
const (
	RerankNone         RerankKind = "none"
	RerankLexical      RerankKind = "lexical"      // names, numbers, and links by title
	RerankMMR          RerankKind = "mmr"          // less of what was said already
	RerankCrossEncoder RerankKind = "crossencoder" // a model that reads question and passage together
	RerankListwise     RerankKind = "listwise"     // a language model that orders passages
)

// Known says whether it is one of the kinds, or "", which leaves it open.
func (k RerankKind) Known() bool {
	switch k {
	case "", RerankNone, RerankLexical, RerankMMR, RerankCrossEncoder, RerankListwise:
		return true
	}
	return false
}
