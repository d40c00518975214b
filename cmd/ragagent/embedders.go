package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"strings"

	"ragagent/ingest"
	"ragagent/retrieval"
	"ragagent/retrieval/embed"
	ollamaembed "ragagent/retrieval/embed/ollama"
	"ragagent/retrieval/embed/openai"
	"ragagent/store"
)

// Variables with the key for the embedder's server. OpenAI's own is sent to
// OpenAI's own address only.
const (
	embedderKey = "RAGAGENT_EMBEDDER_KEY"
	openAIKey   = "OPENAI_API_KEY"
)

// embedderName is the full name of what a setting or a client calls an embedder.
func embedderName(name string) (string, error) {
	switch provider, model, _ := strings.Cut(name, "/"); {
	case name == "" || name == "builtin" || name == embed.StaticName:
		return embed.StaticName, nil
	case (provider == "ollama" || provider == "openai") && model != "" && len(name) <= store.MaxName:
		return name, nil
	}
	return "", store.Invalid("embedder", "%q is not known: use 'builtin', 'ollama/NAME' or 'openai/NAME'", name)
}

// newEmbedders makes the registry of embedders. Those on servers are opened
// when a knowledge base needs them.
func newEmbedders(models modelFlags, log *slog.Logger) (*embed.Registry, error) {
	if _, err := embedderName(models.Embedder); err != nil {
		return nil, usagef("--embedder: %q is not known: use 'builtin', 'ollama/NAME' or 'openai/NAME'", models.Embedder)
	}
	static, err := embed.NewStatic()
	if err != nil {
		return nil, fmt.Errorf("built-in embedder: %w", err)
	}
	return embed.NewRegistry(embed.RegistryConfig{
		CacheSize: questionVectors,
		Open: func(ctx context.Context, name string) (retrieval.Embedder, error) {
			if name == embed.StaticName {
				return static, nil
			}
			return openRemote(ctx, models, name, log)
		},
	})
}

// openRemote opens an embedder on a server. Prefixes and dimensions of the
// settings are those of the embedder that the settings name.
func openRemote(ctx context.Context, models modelFlags, name string, log *slog.Logger) (retrieval.Embedder, error) {
	provider, model, _ := strings.Cut(name, "/")
	cfg := embed.RemoteConfig{Name: name, Model: model, Log: log}
	dimensions := 0
	if name == models.Embedder {
		dimensions = models.EmbedderDimensions
		cfg.Prefixes = models.prefixes(model)
	}
	var err error
	if provider == "ollama" {
		cfg.Service, err = ollamaembed.New(ollamaembed.Config{BaseURL: models.OllamaHost, Model: model, Dimensions: dimensions})
	} else {
		cfg.Service, err = openai.New(openai.Config{
			BaseURL: models.EmbedderURL, Model: model, Key: models.embedderKey(), Dimensions: dimensions,
		})
	}
	if err != nil {
		return nil, err
	}
	return embed.NewRemote(ctx, cfg)
}

// prefixes are those of the settings, nil if they leave it to what is known.
func (m modelFlags) prefixes(model string) *embed.Prefixes {
	if m.EmbedderQueryPrefix == nil && m.EmbedderTextPrefix == nil {
		return nil
	}
	p := embed.PrefixesOf(model)
	if m.EmbedderQueryPrefix != nil {
		p.Query = *m.EmbedderQueryPrefix
	}
	if m.EmbedderTextPrefix != nil {
		p.Document = *m.EmbedderTextPrefix
	}
	return &p
}

func (m modelFlags) embedderKey() string {
	if key := os.Getenv(embedderKey); key != "" || m.EmbedderURL != "" {
		return key
	}
	return os.Getenv(openAIKey)
}

// embedders gives the registry to ingestion and to retrieval.
type embedders struct{ *embed.Registry }

func (e embedders) forIngest(ctx context.Context, name string) (ingest.Embedder, error) {
	return e.forRetrieval(ctx, name)
}

func (e embedders) forRetrieval(ctx context.Context, name string) (retrieval.Embedder, error) {
	full, err := embedderName(name)
	if err != nil {
		return nil, err
	}
	return e.Embedder(ctx, full)
}
