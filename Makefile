# Two targets for everybody: run and test. The rest is for people who work on
# the code: check, bench, eval and the slower suites. Everything is installed
# from the Go module proxy and npm; nothing is written outside this folder but
# the tools' own caches.
GO           ?= go
NPM          ?= npm
SHARED       ?= ../shared
VERSION      := $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
LDFLAGS      := -s -w -X main.version=$(VERSION)
LINT_VERSION := v2.8.0
LINT         := .cache/golangci-lint-$(LINT_VERSION)
BIN          := bin/ragagent
PAGE         := web/dist/index.html
PAGE_SOURCES := $(shell find web/app -type f -not -path '*/node_modules/*' 2>/dev/null)

.PHONY: run build page test test-web test-go check lint walls bench eval test-race test-ollama test-browser test-kill clean help

help: ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 16

run: build ## build, load the sample knowledge base, serve on 127.0.0.1:8080
	./$(BIN) serve --sample docs

build: page ## the binary with its page: bin/ragagent
	$(GO) build -trimpath -ldflags '$(LDFLAGS)' -o $(BIN) ./cmd/ragagent

page: $(PAGE)

web/app/node_modules/.package-lock.json: web/app/package-lock.json
	$(NPM) --prefix web/app ci --no-audit --no-fund --loglevel=error
	@touch $@

$(PAGE): web/app/node_modules/.package-lock.json $(PAGE_SOURCES)
	$(NPM) --prefix web/app run build

test: test-web test-go ## all tests that need nothing but Go and Node

test-web: $(PAGE)
	$(NPM) --prefix web/app test

test-go: $(PAGE)
	$(GO) test ./...

check: lint walls ## format, vet, lint, race tests, tidy: what every commit passes
	$(GO) vet ./...
	$(GO) mod tidy -diff
	$(GO) test -race -shuffle=on ./...

lint: $(LINT)
	$(LINT) run ./...
	$(LINT) fmt --diff ./...

walls: $(LINT) ## every import the rooms may not have is found by the linter
	.ci/walls $(LINT)

$(LINT):
	mkdir -p .cache/lint
	GOBIN=$(CURDIR)/.cache/lint $(GO) install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(LINT_VERSION)
	mv .cache/lint/golangci-lint $@

# One package after the other, so that none is measured while another one runs.
# A million vectors come in with RAGAGENT_BENCH_MILLION=1.
bench: ## every figure of speed, beside what it is compared with: ten minutes
	$(GO) test -run '^$$' -bench . -benchtime 1s -timeout 20m ./store/... ./retrieval/... ./rerank/... ./agent/...
	$(GO) test -run '^$$' -bench 'Formats|SmallFiles' -benchtime 1s -timeout 20m ./ingest/parse
	$(GO) test -run '^$$' -bench 'Retrieve|Scale|Delete|Courtesy|Filings' -benchtime 1x -timeout 30m ./cmd/ragagent

eval: build ## retrieval quality on the collections in $(SHARED)/data
	@for set in cranfield squad-mix hotpotqa-100 cmrc2018-dev; do \
	  ./$(BIN) eval --dataset $(SHARED)/data/$$set || exit 1; done

test-race: ## the Go tests with the race detector, in random order
	$(GO) test -race -shuffle=on ./...

test-ollama: ## the agent against a real Ollama server with tiny models
	.ci/ollama-server
	RAGAGENT_OLLAMA_BIN="$$(.ci/ollama-server --print)" $(GO) test -count=1 -v -run Ollama ./agent/... ./retrieval/embed/...

test-browser: build ## the page in a real Chromium
	.ci/browser-test ./$(BIN)

test-kill: build ## kill -9 while 300 files are ingested over HTTP
	$(GO) test -count=1 -v -run Kill ./cmd/ragagent

clean: ## remove what the targets made
	rm -rf bin .cache/lint $(LINT) web/app/node_modules
	find web/dist -mindepth 1 -not -name placeholder.txt -delete
