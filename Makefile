# Everything here runs from the root of the repository. `make help` lists the targets.

GO      ?= go
PKG     ?= ./...
FUZZTIME ?= 5s
BENCH   ?= .
BENCHTIME ?= 1s
BENCHCOUNT ?= 1
BENCHOUT ?= bench.out
SUITES  ?= all
PROFILES ?= bench/results/speed/profiles
PROFILE_LEVELS ?= amx
PROFILE_PRESETS ?= rotmnist-se2-8-partial rotmnist-se2-8-full mnist6-180-se2-8-partial mnist6-180-se2-8-partial-perelement cifar10-se2-16-partial cifar10-se2-4-full-13layer rotmnist-sim2-8-partial mnist6-m-mirror-2-partial
ROUNDS  ?= 0
PYTHON  ?= python3
TESTFLAGS ?=
LEVELS  ?= $$($(GO) run ./internal/levels)

# Linters and benchstat have a module of their own, so that users of the engine do not inherit their dependencies.
TOOL := $(GO) tool -modfile=tools/go.mod

# An arm64 test binary runs as it is on arm64, and under qemu elsewhere.
ifeq ($(shell $(GO) env GOHOSTARCH),arm64)
ARM64_EXEC :=
else
ARM64_EXEC := -exec qemu-aarch64
endif

# The packages whose results can depend on the level of the kernels: asm and what is built on it.
ASM_PKGS = $(shell $(GO) list -f '{{.ImportPath}} {{join .Deps " "}} {{join .TestImports " "}} {{join .XTestImports " "}}' $(PKG) | awk '/noether-go\/noether\/asm/ {print $$1}')

.DEFAULT_GOAL := help
.PHONY: help build test test-levels test-noasm test-race test-arm64 test-pytorch fuzz lint bench bench-peers bench-profiles bench-report asm generate-check clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / {printf "%-15s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: ## compile every package
	$(GO) build $(PKG)

test: ## run all tests at the level that the CPU has
	$(GO) test $(TESTFLAGS) $(PKG)

# -count=1: the level is read while packages initialise, which go test's cache does not see.
test-levels: ## run the tests of all that uses asm once for each of LEVELS (all of this CPU's)
	@set -e; levels="$(LEVELS)"; for level in $$levels; do \
		echo "level $$level"; \
		NOETHER_SIMD=$$level $(GO) test -count=1 -short $(TESTFLAGS) $(ASM_PKGS); \
	done

test-noasm: ## run the tests without any assembly (-tags noasm)
	$(GO) test -short -tags noasm $(TESTFLAGS) $(ASM_PKGS)

test-race: ## run the tests under the race detector
	CGO_ENABLED=1 $(GO) test -short -timeout 40m -race $(TESTFLAGS) $(PKG)

test-arm64: ## run the tests of arm64 (under qemu-aarch64 on other machines)
	GOARCH=arm64 $(GO) test -short -timeout 40m $(ARM64_EXEC) $(TESTFLAGS) $(PKG)

test-pytorch: ## compare exported networks with PyTorch and ONNX Runtime, see docs/export.md; PYTHON has them
	NOETHER_PYTHON='$(PYTHON)' $(GO) test -count=1 -v -run TestPyTorch ./model

fuzz: ## run every fuzz target for FUZZTIME (5s)
	@set -e; for pkg in $$($(GO) list $(PKG)); do \
		for target in $$($(GO) test -list '^Fuzz' $$pkg | grep '^Fuzz' || true); do \
			echo "$$pkg $$target"; \
			$(GO) test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 10x $$pkg; \
		done; \
	done

lint: ## gofmt, vet (amd64, arm64, 386, noasm), staticcheck, asmfmt
	@files=$$(gofmt -l .); test -z "$$files" || { echo "gofmt would change:"; echo "$$files"; exit 1; }
	GOARCH=amd64 $(GO) vet $(PKG)
	GOARCH=arm64 $(GO) vet $(PKG)
	GOARCH=386 $(GO) vet $(PKG)
	$(GO) vet -tags noasm $(PKG)
	$(TOOL) staticcheck $(PKG)
	@files=$$($(TOOL) asmfmt -l $$(git ls-files '*.s' 'asm/*.h')); test -z "$$files" || { echo "asmfmt would change:"; echo "$$files"; exit 1; }

bench: ## run the benchmarks matching BENCH into BENCHOUT (bench.out)
	$(GO) test -run '^$$' -bench '$(BENCH)' -benchtime $(BENCHTIME) -count $(BENCHCOUNT) $(PKG) | tee $(BENCHOUT)

bench-peers: ## measure SUITES (all) against other software, see bench/README.md; PYTHON has PyTorch and NumPy
	$(GO) run ./bench/compare -suites '$(SUITES)' -rounds $(ROUNDS) -python '$(PYTHON)'
	$(GO) run ./bench/report

# Some seconds of steps each. Shares, unlike times, bear other work on the machine.
bench-profiles: ## profile training steps at each of PROFILE_LEVELS into PROFILES, for BENCHMARKS.md
	@set -e; dir=$$(mktemp -d); mkdir -p '$(PROFILES)'; for level in $(PROFILE_LEVELS); do for preset in $(PROFILE_PRESETS); do \
		echo "$$preset at $$level"; \
		NOETHER_SIMD=$$level $(GO) test ./bench -run '^$$' -bench "TrainStep/preset=$$preset\$$/batch=[0-9]+/threads=1\$$" -benchtime 4s -o $$dir/bench.test -cpuprofile $$dir/cpu.prof >/dev/null; \
		$(GO) tool pprof -top -nodecount=1000 -nodefraction=0 $$dir/bench.test $$dir/cpu.prof 2>/dev/null | sed '/^File:/d;/^Build ID:/d' >'$(PROFILES)'/$$preset@$$level.txt; \
	done; done; rm -r $$dir

bench-report: ## make BENCHMARKS.md, the pages of other machines, and their plots of the raw files in bench/results
	$(GO) run ./bench/report

asm: ## assemble the instructions that Go's arm64 assembler lacks
	tools/neon.sh asm/*_arm64.s

generate-check: asm ## fail when a committed file is not what its generator produces
	git diff --exit-code -- 'asm/*_arm64.s'

clean: ## remove what the other targets leave behind
	rm -f $(BENCHOUT) *.test *.prof
	$(GO) clean -testcache
