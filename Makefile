# Targets for people: run, test, check, bench, eval. Everything they need is
# installed from the Go module proxy and npm; nothing is written outside this
# folder but the tools' own caches.
GO            ?= go
NPM           ?= npm
BIN           := bin/ragagent
VERSION       := $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
LDFLAGS       := -s -w -X main.version=$(VERSION)
LINT_VERSION  := v2.8.0
LINT          := $(CURDIR)/.cache/golangci-lint-$(LINT_VERSION)
SHARED        ?= ../shared

.PHONY: check
check: ## format, vet, lint, race tests, tidy diff
	@test -z "$$(gofmt -l $$(git ls-files '*.go'))" || { gofmt -l $$(git ls-files '*.go'); exit 1; }
	$(GO) vet ./...

$(LINT):
	mkdir -p $(@D)
	GOBIN=$(@D)/lint-bin $(GO) install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(LINT_VERSION)
	mv $(@D)/lint-bin/golangci-lint $@
