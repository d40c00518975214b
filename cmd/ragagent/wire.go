package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"ragagent/agent"
	"ragagent/agent/catalog"
	"ragagent/agent/codeact/quickjs"
	"ragagent/agent/llm"
	"ragagent/agent/llm/extractive"
	"ragagent/agent/llm/ollama"
	"ragagent/agent/llm/openai"
	"ragagent/api"
	"ragagent/ingest"
	"ragagent/ingest/parse"
	"ragagent/rerank/lexical"
	"ragagent/retrieval"
	"ragagent/retrieval/analysis"
	"ragagent/retrieval/bm25"
	"ragagent/retrieval/embed"
	"ragagent/retrieval/eval/queue"
	"ragagent/retrieval/lsa"
	"ragagent/retrieval/route"
	"ragagent/store"
	"ragagent/store/chromem"
	"ragagent/store/datadir"
	"ragagent/web"
)

// maxFileBytes of one upload: what the parser takes, so that nothing is
// accepted that then fails for its size.
const maxFileBytes = 512 << 20

// questionVectors is how many embedded questions are remembered.
const questionVectors = 1024

// newModel makes the model that a setting names.
func newModel(models modelFlags) (llm.Model, error) {
	provider, name, _ := strings.Cut(models.LLM, "/")
	switch {
	case models.LLM == "" || models.LLM == "extractive":
		static, err := embed.NewStatic()
		if err != nil {
			return nil, fmt.Errorf("built-in embedder: %w", err)
		}
		return extractive.New(extractive.Config{Embedder: static, RefuseAt: models.RefuseAt})
	case provider == "ollama" && name != "":
		return ollama.New(ollama.Config{BaseURL: models.OllamaHost, Model: name})
	case provider == "openai" && name != "":
		return openai.New(openai.Config{BaseURL: models.LLMURL, Model: name, Key: models.llmKey()})
	}
	return nil, usagef("--llm: %q is not known: use 'extractive', 'ollama/NAME' or 'openai/NAME'", models.LLM)
}

// llmKey is the key for the model's server. OpenAI's own is sent to OpenAI's own
// address only.
func (m modelFlags) llmKey() string {
	if key := os.Getenv("RAGAGENT_LLM_KEY"); key != "" || m.LLMURL != "" {
		return key
	}
	return os.Getenv(openAIKey)
}

// wireRetrieval sets up the indexes and the one path that searches them.
func (a *app) wireRetrieval(cfg appConfig, known embedders) (*retrieval.Index, error) {
	analyzer := analysis.New()
	words, err := bm25.New(bm25.Config{Analyzer: analyzer})
	if err != nil {
		return nil, err
	}
	second, err := lexical.New(lexical.Config{Analyzer: analyzer, Statistics: words})
	if err != nil {
		return nil, err
	}
	router, err := route.New(route.Config{Analyzer: analyzer, Statistics: words})
	if err != nil {
		return nil, err
	}
	if a.topics, err = lsa.New(lsa.Config{Words: words, Worker: ingest.GiveWay}); err != nil {
		return nil, err
	}
	a.onClose(a.topics.Close)
	index, err := a.wireIndex(cfg, words, chromem.New(chromem.Config{MaxBytes: indexMemory(cfg.maxMemory)}))
	if err != nil {
		return nil, err
	}
	config := retrieval.PipelineConfig{
		Index:        index,
		Records:      a.records,
		OpenEmbedder: known.forRetrieval,
		DenseWeight:  func(kb store.KnowledgeBase) float64 { return a.weights.Weight(kb).Weight },
		Router:       router,
		Rerankers:    []retrieval.Reranker{second},
		Texts:        texts{a},
	}
	if err := cfg.models.rank(&config, analyzer); err != nil {
		return nil, err
	}
	if a.pipeline, err = retrieval.NewPipeline(config); err != nil {
		return nil, err
	}
	a.traffic = queue.NewTraffic(a.pipeline)
	a.retriever = a.traffic
	return index, a.wireWeights(cfg, index)
}

// compareSpaces says how the answers of a knowledge base differ with two sets of
// vectors.
func (a *app) compareSpaces(ctx context.Context, now, then store.KnowledgeBase, questions []store.JudgedQuestion) (store.Comparison, error) {
	if err := a.weights.Ensure(ctx, then); err != nil {
		return store.Comparison{}, err
	}
	return retrieval.CompareSpaces(ctx, a.pipeline.As(now), a.pipeline.As(then), now.ID, questions)
}

// texts reads documents for retrieval, which is wired before what keeps them.
type texts struct{ *app }

func (t texts) ReadText(ctx context.Context, documentID string, span store.Span) (string, error) {
	return t.service.ReadText(ctx, documentID, span)
}

func (a *app) wireIngest(cfg appConfig, known embedders, index *retrieval.Index) error {
	parser, err := parse.New(parse.Config{MaxBytes: maxFileBytes})
	if err != nil {
		return err
	}
	a.onClose(parser.Close)
	fetcher, err := cfg.fetch.fetcher()
	if err != nil {
		return err
	}
	a.onClose(func() error { fetcher.Close(); return nil })
	a.service, err = ingest.New(ingest.Config{
		Fetcher:         fetcher,
		Records:         a.records,
		Blobs:           a.blobs,
		Indexer:         index,
		Parser:          parser,
		OpenEmbedder:    known.forIngest,
		DefaultEmbedder: cfg.models.Embedder,
		Compare:         a.compareSpaces,
		Reserve:         datadir.NewReserve(cfg.data, 0),
		TempDir:         a.spool,
		Log:             cfg.log,

		MaxIndexBytes: indexMemory(cfg.maxMemory),
		MaxFileBytes:  maxFileBytes,
	})
	if err != nil {
		return err
	}
	a.onClose(a.service.Close)
	return nil
}

func (a *app) wireServer(cfg appConfig) error {
	model, err := newModel(cfg.models)
	if err != nil {
		return err
	}
	base := agent.Config{Model: model, Texts: a.service, Conversations: a.records, Checkpoints: a.records, Log: cfg.log}
	answerer, err := agent.New(base)
	if err != nil {
		return err
	}
	interpreter, err := quickjs.New(quickjs.Config{})
	if err != nil {
		return err
	}
	strategies := map[string]agent.Strategy{
		"function_call": agent.FunctionCalling{}, "react": agent.ReAct{}, "codeact": agent.CodeAct{Interpreter: interpreter},
	}
	agents, err := catalog.New(catalog.Config{
		Folder: filepath.Join(cfg.data, agentsFolder), Base: base, Strategies: strategies, Tools: toolNames,
		OpenModel: func(name string) (llm.Model, error) {
			models := cfg.models
			models.LLM = name
			return newModel(models)
		},
	})
	if err != nil {
		return err
	}
	a.server, err = api.New(api.Config{
		Records:     a.records,
		Blobs:       a.blobs,
		Ingest:      a.service,
		Addresses:   a.service,
		Retriever:   a.retriever,
		Agent:       answerer,
		Tools:       a.tools,
		Agents:      agents,
		Strategies:  strategies,
		Fields:      a.index.Fields,
		Evaluations: a.evaluations,
		DenseWeight: a.weights.Weight,
		Page:        web.FS(),
		Ready:       a.readiness,
		Quarantined: a.service.Quarantined,
		Backup:      a.writeBackup,
		Verify:      a.verify,
		Hosts:       cfg.hosts,
		Origins:     cfg.origins,
		SpoolDir:    a.spool,
		Log:         cfg.log,

		MaxFileBytes: maxFileBytes,
	})
	return err
}
