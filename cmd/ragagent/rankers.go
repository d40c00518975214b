package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"ragagent/agent/llm"
	"ragagent/rerank/crossencoder"
	"ragagent/rerank/listwise"
	"ragagent/rerank/mmr"
	"ragagent/retrieval"
	"ragagent/retrieval/analysis"
	"ragagent/retrieval/rewrite"
	"ragagent/store"
)

// rerankerKey is the variable with the key for the reranker's server.
const rerankerKey = "RAGAGENT_RERANKER_KEY"

// rankFlags say how questions are rewritten and hits reranked.
type rankFlags struct {
	Rewrite string `help:"How questions are rewritten where neither they nor the knowledge base say: none, rules, condense, multi_query, hyde, decompose or auto; ${default} if not given." default:"rules" enum:"none,rules,condense,multi_query,hyde,decompose,auto" env:"RAGAGENT_REWRITE" placeholder:"KIND"`
	Rerank  string `help:"How hits are reranked where neither questions nor the knowledge base say: none, lexical, mmr, crossencoder or listwise; ${default} if not given." default:"lexical" enum:"none,lexical,mmr,crossencoder,listwise" env:"RAGAGENT_RERANK" placeholder:"KIND"`

	RerankerURL     string        `help:"Server of the cross-encoder, up to /rerank, as Cohere, Jina, vLLM or TEI have it; its key comes from RAGAGENT_RERANKER_KEY." env:"RAGAGENT_RERANKER_URL" placeholder:"URL"`
	RerankerModel   string        `help:"The cross-encoder's name at its server, where that has several." env:"RAGAGENT_RERANKER_MODEL" placeholder:"NAME"`
	RerankerDepth   int           `help:"Number of hits that the cross-encoder reads; ${default} if not given." default:"100" env:"RAGAGENT_RERANKER_DEPTH" placeholder:"N"`
	RerankerTimeout time.Duration `help:"Longest wait for the cross-encoder, after which its order is left out; ${default} if not given." default:"5s" env:"RAGAGENT_RERANKER_TIMEOUT" placeholder:"TIME"`
}

// The longest that rewriting and a reranker may take. What asks a model has
// shorter bounds of its own.
const (
	rewriteTimeout = 20 * time.Second
	rerankTimeout  = 40 * time.Second
)

// rank sets up in cfg what rewrites and reranks with models, or on request.
func (m modelFlags) rank(cfg *retrieval.PipelineConfig, analyzer *analysis.Analyzer) error {
	complete, err := m.completer()
	if err != nil {
		return err
	}
	rules := rewrite.New(rewrite.Config{Analyzer: analyzer})
	cfg.Rewriter = rules
	if cfg.Expander, err = rewrite.NewExpander(rewrite.ExpanderConfig{Rules: rules, Complete: complete}); err != nil {
		return err
	}
	cfg.Diversify = func(lambda float64) retrieval.Reranker {
		r, err := mmr.New(mmr.Config{Lambda: lambda, Analyzer: analyzer})
		if err != nil { // a lambda that a query may not have
			return nil
		}
		return r
	}
	cfg.FinalRerankers = make(map[store.RerankKind]retrieval.Reranker)
	if m.RerankerURL != "" {
		cfg.FinalRerankers[store.RerankCrossEncoder], err = crossencoder.New(crossencoder.Config{
			URL: m.RerankerURL, Model: m.RerankerModel, Key: os.Getenv(rerankerKey), Depth: m.RerankerDepth, Timeout: m.RerankerTimeout,
		})
		if err != nil {
			return usageError{fmt.Errorf("--reranker-url: %w", err)}
		}
	}
	if complete != nil {
		if cfg.FinalRerankers[store.RerankListwise], err = listwise.New(listwise.Config{Complete: complete}); err != nil {
			return err
		}
	}
	cfg.DefaultRewrite, cfg.DefaultRerank = store.RewriteKind(m.Rewrite), store.RerankKind(m.Rerank)
	cfg.RewriteTimeout, cfg.RerankTimeout = rewriteTimeout, rerankTimeout
	return nil
}

// completer asks the model that answers, nil if that is the built-in one, which
// cannot write.
func (m modelFlags) completer() (retrieval.Completer, error) {
	if m.LLM == "" || m.LLM == "extractive" {
		return nil, nil
	}
	model, err := newModel(m)
	if err != nil {
		return nil, err
	}
	return completerOf(model), nil
}

// maxReply bounds what is read of a reply, in bytes.
const maxReply = 64 << 10

var errLongReply = errors.New("the model's reply is too long")

// completerOf asks a model for one reply, as sure as it can be.
func completerOf(model llm.Model) retrieval.Completer {
	return func(ctx context.Context, p retrieval.Prompt) (string, error) {
		cold := 0.
		request := llm.Request{
			Messages:    []llm.Message{{Role: llm.System, Content: p.System}, {Role: llm.User, Content: p.User}},
			Temperature: &cold, MaxTokens: p.MaxTokens,
		}
		var reply strings.Builder
		for delta, err := range model.Stream(ctx, request) {
			if err != nil {
				return "", err
			}
			if reply.Len()+len(delta.Text) > maxReply {
				return "", errLongReply
			}
			reply.WriteString(delta.Text)
		}
		return reply.String(), nil
	}
}
