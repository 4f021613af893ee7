# make help lists what there is. Two commands are enough for most days: make demo and make test.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := all

GO          ?= go
STATICCHECK := $(GO) run honnef.co/go/tools/cmd/staticcheck@v0.8.2
WORK        := .build
MCPKILN     := $(WORK)/mcpkiln
REPORTS     := $(WORK)/reports
FUZZTIME    ?= 30s
BENCHTIME   ?= 1s
COUNT       ?= 1

.PHONY: all help build demo test unit race fuzz bench golden interop official traceability check lint clean

all: build lint ## build the command and lint everything

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## /{printf "%-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: ## build the command into .build/mcpkiln
	@mkdir -p $(WORK)
	$(GO) build -o $(MCPKILN) ./cmd/mcpkiln

demo: build ## scaffold a server, generate, build, and drive it over stdio: the main job in under a minute
	@$(GO) run ./testdata/demo -mcpkiln $(MCPKILN) -replace $(CURDIR)

test: unit lint check interop traceability ## everything that must pass, from a clean clone

unit: ## unit, golden, behaviour and stress tests under the race detector
	$(GO) test -race -timeout 15m ./...

race: ## the runtime's tests again and again under the race detector
	$(GO) test -race -timeout 30m -count=5 ./runtime/...

fuzz: ## every fuzz target for FUZZTIME (30s)
	@for pkg in $$($(GO) list ./...); do \
		for target in $$($(GO) test -list '^Fuzz' $$pkg | grep '^Fuzz' || true); do \
			echo "== $$pkg $$target"; $(GO) test -run '^$$' -fuzz "^$$target$$" -fuzztime $(FUZZTIME) $$pkg; \
		done; \
	done

bench: ## benchmarks of this module and of the peers beside it, ready for benchstat
	$(GO) test -run '^$$' -bench . -benchmem -benchtime $(BENCHTIME) -count $(COUNT) ./...
	cd testdata/bench && $(GO) test -run '^$$' -bench . -benchmem -benchtime $(BENCHTIME) -count $(COUNT) ./...

golden: ## rewrite the outputs of all golden tests; read the difference before you commit it
	$(GO) test ./schema/... ./generator/... ./cmd/... -update

interop: build ## drive a scaffolded server with the clients of others
	@rm -rf $(REPORTS)
	$(MCPKILN) init --module example.com/reports --replace $(CURDIR) $(REPORTS) >/dev/null
	cd $(REPORTS) && $(GO) mod tidy && $(GO) test ./... && $(GO) build -o server .
	cd testdata/interop/node && npm ci --silent && node stdio-2025-11-25.mjs $(CURDIR)/$(REPORTS)/server
	cd testdata/interop/gosdk && $(GO) run . $(CURDIR)/$(REPORTS)/server

official: ## hold schemas, corpus and ledger against the official documents: make official SHARED=../shared
	@test -d "$(SHARED)" || { echo 'usage: make official SHARED=DIR, the folder with schema/, corpus/ and requirements.md' >&2; exit 2; }
	$(GO) test -tags official -run Official -timeout 15m ./schema/revision ./generator -args -shared $(abspath $(SHARED))
	$(GO) run ./testdata/traceability -against $(SHARED)/requirements.md

traceability: ## list the rules of the ledger that no test names yet
	$(GO) run ./testdata/traceability

check: build ## regenerate the checked-in projects in memory; fail on a difference
	@for manifest in testdata/project/*/mcpkiln.yaml; do echo "check $$manifest"; $(MCPKILN) check $$manifest; done

lint: ## gofmt, vet and staticcheck
	@test -z "$$(gofmt -l . | tee /dev/stderr)"
	$(GO) vet ./...
	$(STATICCHECK) ./...

clean: ## remove what make made
	rm -rf $(WORK)
