# What a developer types. Everything that is downloaded goes outside the checkout (BOTTLENECK_CACHE, see scripts/env.sh),
# except .venv, which `make demo` makes where no Python with torch is found.
# -buildvcs=false: a checkout that belongs to somebody else builds, too, where git refuses to look at it.

GO      ?= go
VERSION := $(shell cat VERSION)
LDFLAGS := -s -w -X bottleneck/internal/cli.version=$(VERSION)
STATICCHECK := $(GO) run honnef.co/go/tools/cmd/staticcheck@v0.8.2
PLATFORMS := linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64
# RUN narrows the tests: make test RUN='-run TestDeps .'
RUN     ?= ./...
# $(call test,PACKAGES,FLAGS) is go test. Where CI runs it, up to three failed tests run once more by themselves when all others are done:
# some thousand of them look at live processes of a machine that others share. What failed first stays in the output with its words,
# and a test that fails twice fails. TIMES is a folder for how long each test takes.
# PACKAGES at once are three where CI runs them, as the agent's tests alone leave a third of two cores idle: they wait for processes and disks.
PACKAGES := $(shell expr $$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2) + 1)
GOTESTSUM := $(GO) run gotest.tools/gotestsum@v1.13.0
test = $(if $(CI),$(GOTESTSUM) --format $(if $(findstring -v,$(2)),standard-verbose,standard-quiet) $(if $(TIMES),--jsonfile-timing-events $(TIMES)/$$$$.json) --rerun-fails=1 --rerun-fails-max-failures=3 --packages='$(1)' -- $(if $(findstring ./...,$(1))$(findstring /web/,$(1)),-p $(PACKAGES)) $(2),$(GO) test $(2) $(1))
export CGO_ENABLED = 0
export GOFLAGS += -buildvcs=false

.DEFAULT_GOAL := build
.PHONY: causes build demo attack test quick test-wide test-proofs test-tools check check-go check-python unit examples test-generation slowest test-generations test-more test-builds test-faults cross bench parity zoo leaks public replay bench-sampler bench-engine bench-export bench-diff bench-isolate bench-page wheel release pgo ui clean

build: ## the static binary ./bottleneck
	$(GO) build -trimpath -ldflags '$(LDFLAGS)' -o bottleneck ./cmd/bottleneck

demo: build ## profiles examples/images.py with a Python that has torch
	scripts/demo.sh

test: check unit examples ## everything that needs the newest PyTorch only

check: check-go check-python

check-go:
	@unformatted=$$(gofmt -l .); if [ -n "$$unformatted" ]; then echo "gofmt -w $$unformatted"; exit 1; fi
	$(GO) vet -pgo=off ./...
	GOOS=darwin $(GO) vet -pgo=off ./...
	GOOS=windows $(GO) vet -pgo=off ./...
	$(STATICCHECK) ./...

check-python:
	$$(scripts/env.sh ruff) check .
	$$(scripts/env.sh ruff) format --check examples scripts testdata/leaks testdata/zoo bench/public/data

# Tests that judge times and run alone; the pages, layouts and packages of e2e run beside the other packages.
ALONE = TestExamples|TestForkServer
unit: build
	scripts/env.sh newest
	BOTTLENECK_SET=narrow BOTTLENECK_E2E=newest $(call test,$(RUN),-timeout 20m -skip '^($(ALONE))$$')

examples: build ## a real program under the real binary, on the newest PyTorch
	BOTTLENECK_SET=narrow BOTTLENECK_E2E=newest $(call test,./e2e/,-count=1 -timeout 30m -v -run '^($(ALONE))$$')

# Tests that repeat on real programs, under further settings, what others show: whole ones, or cases of those in make test.
WIDE_TESTS = TestAblatedWrites TestAblations TestArchives TestCyclesAreTraces TestEveryView TestFunctionsOfActions \
	TestHandlersOfSignals TestHandlersOfSignalsAreNotHeldUp TestInterpreterLayouts TestMemoryDoesNotGrowWithCycles TestMemoryOfEndlessSteps \
	TestMemoryTimelineIsTorchs TestMemoryWithDefaultBudget TestModulesDoNotNotice TestModulesOfEagerOperators TestNoHookCanHarm \
	TestProfilerRefuses TestProgramsDoNotNotice TestRanksRows \
	TestRunProvesFinding TestSlowLine TestSmallSharedMemory \
	TestStartedRanks TestTrainers TestWhatIsMeasured TestWheel TestWorkOfOtherThreads TestWorkersHaveNoSteps
WIDE = $(subst $() ,|,$(strip $(WIDE_TESTS)))
test-wide: build ## the rest of what the newest PyTorch can show: the other examples, and the same programs under many settings
	scripts/env.sh newest
	BOTTLENECK_SET=wide BOTTLENECK_E2E=newest $(call test,./e2e/ ./internal/agent/ ./internal/web/,-count=1 -timeout 30m -run '^($(WIDE))$$')
	BOTTLENECK_SET=wide BOTTLENECK_E2E=newest $(call test,./e2e/,-count=1 -timeout 20m -v -run '^($(ALONE))$$')

test-proofs: build ## run, prove, git apply, run, diff and gate on every program of testdata whose finding has a change that can be made; diffs of planted lines
	scripts/env.sh newest
	BOTTLENECK_E2E=newest $(call test,./e2e/,-count=1 -timeout 30m -v -run '^(TestProveZoo|TestProveBounds|TestProveNoBound|TestProveAsksFirst|TestProofPage|TestABFindsRevision|TestDiffFindsPlantedLines)$$')

test-tools: build ## every command of docs/from-other-tools.md, on real programs
	scripts/env.sh newest
	BOTTLENECK_E2E=newest $(call test,./e2e/,-count=1 -timeout 15m -run '^TestFromOtherToolsRuns$$')

# What the inner loop wants: packages whose tests start no PyTorch and no other processes.
QUICK = . ./internal/analyse/... ./internal/model ./internal/stats ./internal/record ./internal/kineto ./internal/pickle ./internal/sqlite \
	./internal/view ./internal/compare ./internal/page ./internal/export ./internal/ingest ./internal/testkit
# Of them, what starts Python all the same.
NOT_QUICK = TestLightningTableIsWhatLightningPrints|TestCallsTableIsWhatPstatsPrints
quick: ## the tests of a minute: reading, analysing, showing
	$(GO) test -short -skip '^($(NOT_QUICK))$$' $(QUICK)

GENERATION ?= torch-2.4
# Tests, by the beginnings of their names, that older generations need not repeat; the examples run before, alone.
NEWEST_ONLY = TestExamples|TestAB|TestProve|TestRunProves|TestStatesAre|TestProofPage|TestPages|TestForkServer|TestInterpreterLayouts|TestWheel|TestArchives|TestTwins|TestCalls|TestSteps|TestActionsEnd|TestFaultsHaveTests|TestDiffFinds|TestToolIDs|TestNamedFunctionsWhere|TestTracersSee|TestSecrets|TestLinesAre|TestEmitNVTX|TestMatches|TestSamplesAre|TestMemoryOf|TestEnviron|TestExtract|TestFromOtherTools
test-generation: build ## the examples and the agent on one other PyTorch, left out where this machine cannot have it
	@scripts/env.sh $(GENERATION); status=$$?; if [ $$status = 3 ]; then exit 0; elif [ $$status != 0 ]; then exit 1; fi; \
	$(MAKE) examples-on-$(GENERATION) && $(MAKE) agent-on-$(GENERATION)

# Its two halves, for a PyTorch that is there: the examples judge times and run alone, agents of several generations may run at once.
# CI has time for each test on one of the two builds of PyTorch 1.13.
SHARED = $(if $(CI),BOTTLENECK_SET=shared)
examples-on-%:
	$(SHARED) BOTTLENECK_E2E=$* $(call test,./e2e/,-short -count=1 -timeout 20m -v -run TestExamples)
agent-on-%:
	$(SHARED) BOTTLENECK_E2E=$* $(call test,./e2e/ ./internal/agent/,-short -count=1 -timeout 30m -skip '^($(NEWEST_ONLY))')

slowest: ## the tests that take longest, of a folder TIMES that such runs have filled
	@cat $(TIMES)/*.json | $(GOTESTSUM) tool slowest --threshold 12s

test-generations: ## the same on every older PyTorch
	@set -e; for name in torch-2.4 torch-1.13 torch-debian; do $(MAKE) test-generation GENERATION=$$name; done

test-more: build test-builds ## the same on PyTorch 2.14 with Python 3.14: Debian sid in a folder; and trainers that are no part of PyTorch
	@$(MAKE) test-generation GENERATION=torch-sid
	scripts/env.sh trainers
	BOTTLENECK_E2E=trainers $(GO) test -count=1 -timeout 20m -v -run 'TestTrainers|TestAcceleratedRanks|TestFromOtherToolsRuns' ./internal/agent/ ./e2e/

test-builds: ## Python from outside on free-threaded and musl builds of CPython, made from source where they are not there
	@for name in python-3.13t python-3.14t python-3.15t python-3.13-musl; do scripts/env.sh $$name || [ $$? = 3 ] || exit 1; done
	$(GO) test -count=1 -timeout 10m -v -run '/3[.]1(3t|4t|5t|3-musl)$$' ./internal/cpython/ ./internal/collect/

test-faults: ## every hook of the agent made to raise, one by one, on the newest PyTorch
	BOTTLENECK_FAULTS=all $(GO) test -count=1 -timeout 30m -run TestNoHookCanHarm ./internal/agent/

attack: build ## hostile use of the real binary: MINUTES=60 (2), SEED, FAMILIES="traces kills", CASE=17 of one family, KEEP=DIR for the files of bad cases
	$(GO) run ./bench/attack

cross: ## compiles for every system; make check vets the same for the other processor
	@set -e; for platform in $(filter %/arm64,$(PLATFORMS)); do echo $$platform; \
	  GOOS=$${platform%/*} GOARCH=$${platform#*/} $(GO) build -pgo=off -o /dev/null ./cmd/bottleneck; done

bench: build ## what measuring, sampling, reading and exporting cost, every number beside its goal and the peers'; PARTS="wall tail …" runs only those of bench/run/doc.go
	@status=0; $(GO) run ./bench/run || status=1; [ -n "$(PARTS)" ] || { bench/parity/run.sh --tables || status=1; \
	  for part in sampler engine export diff; do $(MAKE) --no-print-directory bench-$$part PROOFS=$(or $(PROOFS),0) || status=1; done; }; exit $$status

parity: build ## our numbers against torch's own tables and Holistic Trace Analysis
	bench/parity/run.sh

zoo: build ## how often verdicts are right; SEEDS="1 2 3", CASES="input-* gil-thread", GENERATIONS="newest torch-2.4", REPEATS=8, PEERS=1, PROVE=0, KEEP=DIR, and REPRICE=DIR of what that kept
	$(GO) run ./bench/zoo

leaks: build ## which programs that keep more at each step are named with their line, and which that only warm up are called; ONLY="leak_graph warm_cache", KEEP=DIR
	$(GO) run ./bench/leaks $(if $(ONLY),-only "$(ONLY)") $(if $(KEEP),-keep $(KEEP)) ./bottleneck testdata/leaks $$(scripts/env.sh newest)

public: build ## how often first findings hold on public programs; HALF=build or held, ONLY="nanogpt-* pyg-gcn", PAIRS=6, ARGS=-resume, -check, -table, … (-help lists them)
	$(GO) run ./bench/public -pairs $(or $(PAIRS),6) $(if $(HALF),-half $(HALF)) $(if $(ONLY),-only "$(ONLY)") $(ARGS)

causes: build ## the reports in docs/causes made anew: those of real traces, with PYTHON=… those of programs, whose sessions KEEP=DIR keeps
	$(GO) run ./bench/causes -python "$(PYTHON)" -sessions "$(KEEP)"

replay: build ## traced, replayed and slack of every real trace, and unprofiled, replayed and untraced steps of every example
	@dir=$$(mktemp -d) && trap 'rm -r "$$dir"' EXIT && python=$$(scripts/env.sh newest) && export OMP_NUM_THREADS=1 && for script in examples/*.py; do \
	  launch=; case $$script in */ranks.py) launch='-m torch.distributed.run --standalone --nproc_per_node 2';; esac; \
	  ./bottleneck run --out $$dir/$$(basename $$script .py) -o /dev/null -- $$python $$launch $$script >/dev/null || exit 1; done && \
	BOTTLENECK_SESSIONS=$$dir $(GO) test -count=1 -v -run 'TestUnmodifiedReplay|TestSessions' ./internal/analyse/replay

bench-engine: ## reading and reporting beside Holistic Trace Analysis; TRACES, RUNS, and WORK (a folder for 5 GB of generated traces)
	$(GO) run ./bench/engine -runs $(or $(RUNS),5) $(if $(WORK),-work $(WORK)) $(or $(TRACES),../shared/traces) $$(scripts/env.sh peers)
	$(GO) test -run '^$$' -bench 'SnapshotOfAGigabyte|NsysOf100MB|SpeedscopeOf375MB' -benchtime $(or $(RUNS),5)x ./internal/ingest

bench-diff: build ## what diff and prove promise, every number beside its goal; RUNS of a small program, TORCH_RUNS of one with PyTorch, PAIRS that are compared, PARTS="drawn turns recorded planted moved cost memory"; then the zoo's proofs: PROOFS=DIR that `make zoo KEEP=DIR` kept, PROOFS=0 none, else CASES are run
	@status=0; $(GO) run ./bench/diff -runs $(or $(RUNS),48) -torch $(or $(TORCH_RUNS),24) -pairs $(or $(PAIRS),300) -parts "$(PARTS)" \
	  $(or $(TRACES),../shared/traces) $$(scripts/env.sh newest) || status=1; \
	[ "$(PROOFS)" = 0 ] || $(if $(PROOFS),REPRICE=$(abspath $(PROOFS))) $(GO) run ./bench/zoo || status=1; exit $$status

pgo: ## cmd/bottleneck/default.pgo, by which the compiler inlines: recorded anew from reading traces, after changes to the reader
	@dir=$$(mktemp -d) && trap 'rm -r "$$dir"' EXIT && \
	$(GO) test -o $$dir/test -run '^$$' -bench 'Columns$$' -cpu 1 -benchtime 40x -cpuprofile $$dir/cpu ./internal/ingest && \
	$(GO) run ./bench/pgo $$dir/cpu > $$dir/pgo && cp $$dir/pgo cmd/bottleneck/default.pgo

bench-export: build ## what exporting costs in every form; TRACES is a folder
	bench/export/run.sh ./bottleneck $(addprefix $(or $(TRACES),../shared/traces)/,segment-anything-fast/eager_False.json.gz \
	  tracelens-big-mi300/mi300_owlv2-large.json.gz tracelens-xdit-flux-mi300/profile_trace_rank_0.json.gz)

bench-isolate: build ## how often an operator alone takes its recorded time: the ten heaviest of each example; EXAMPLES="table images"
	bench/isolate/run.sh ./bottleneck $$(scripts/env.sh newest) $(EXAMPLES)

bench-page: build ## the page in a real browser: paint, frames, memory, beside snakeviz and speedscope; TRACES, LARGE=0 leaves the 1 GB trace out
	$(GO) run ./bench/page -large $(or $(LARGE),1000) ./bottleneck $(or $(TRACES),../shared/traces) $$(bench/page/peers.sh)

bench-sampler: build ## what reading stacks costs and how right it is, beside py-spy and austin; ROWS and ROUNDS choose
	$(GO) run ./bench/sampler -rounds $(or $(ROUNDS),3) $(ROWS)

ui: ## internal/ui/dist, the page's files in the binary, of internal/ui/src (needs node and npm)
	GO="$(GO)" scripts/ui.sh

wheel: ## dist/*.whl for every platform
	python3 scripts/package.py wheel $(PLATFORMS)

release: ## dist/*.tar.gz and *.zip for every platform, with man pages and completions
	python3 scripts/package.py archive $(PLATFORMS)

clean:
	rm -rf bottleneck dist
