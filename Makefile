# livehost: see README.md. One release configuration serves run, test, bench and package.

SHELL := /bin/bash
JOBS ?= $(shell nproc)
BUILD := swift build -c release -j $(JOBS)
# SwiftPM finds a toolchain's libraries next to the compiler's directory. Another compiler causes a full rebuild.
TOOLCHAIN := .build/toolchain
export SWIFT_EXEC := $(CURDIR)/$(TOOLCHAIN)/bin/swiftc
# No test uses testable imports, so tests link the products of `make run`. `swift test` would rebuild them with
# -enable-testing, even with the option below (Swift 6.3): hence --build-tests, and --skip-build to run them.
TESTS := -c release --disable-testable-imports
BIN := .build/release
ARGS ?=
BENCH ?=
SEEDS ?= 400
SOAK_SECONDS ?= 600
PYTEST := Tests/Support/pytest.sh $(BIN)

.PHONY: help run test vopr bench sanitize soak deb format lint clean build build-tests dependencies test-dependencies

help:
	@echo 'make run            build, start livehostd, play the bundled recording, show the screen'
	@echo '                    ARGS=--once plays at full speed, prints the summary, exits;'
	@echo '                    ARGS=--web shows the page in place of the terminal'
		@echo 'make build-tests    build all programs and tests without running them'
		@echo 'make test           run all tests; prints the skipped tests and the reasons'
		@echo 'make vopr           simulate the daemon, its clients and its disk with the seeds 1 to SEEDS (400)'
	@echo 'make bench          measure; prints a table, writes .build/bench.json; BENCH="name ..." selects cases,'
	@echo '                    BENCH=cluster measures only takeovers of a cluster and needs root'
	@echo 'make sanitize       run all tests under the thread, address and undefined-behaviour sanitizers'
	@echo 'make soak           hostile and heavy input for SOAK_SECONDS (600) while watching memory and'
	@echo '                    hangs; 200 streams of the page for 10 minutes; long fuzzing of the parsers'
	@echo '                    and the state library; sanitizers'
	@echo 'make deb            the Debian packages, in .build/deb'
	@echo 'make format, lint   format the sources; check format, imports, words'
	@echo 'make clean          remove all build products'

dependencies:
	@packaging/dependencies.sh build

test-dependencies:
	@packaging/dependencies.sh build deb test

$(SWIFT_EXEC): packaging/swiftc
	@mkdir -p $(@D)
	@ln -sfn "$$(dirname "$$(dirname "$$(readlink -f "$$(command -v swiftc)")")")/lib" $(TOOLCHAIN)/lib
	@install packaging/swiftc $@

build: dependencies $(SWIFT_EXEC)
	@$(BUILD) --product livehostd
	@$(BUILD) --product livehostctl

build-tests: dependencies $(SWIFT_EXEC)
	@$(BUILD) --build-tests

run: build
	@case " $(ARGS) " in *' --web '*) $(BUILD) --product livehost-web ;; esac
	@$(BIN)/livehostctl demo $(ARGS) || [ $$? -eq 130 ]

test: test-dependencies
	@Tests/run.py

vopr: test-dependencies $(SWIFT_EXEC)
	@$(BUILD) --product livehost-vopr
	@SEEDS=$(SEEDS) $(PYTEST) Tests/test_vopr.py

bench: dependencies $(SWIFT_EXEC)
	@$(BUILD) --product livehostd
	@$(BUILD) --product livehost-bench
	@$(BUILD) --product livehost-gateway
	@[ "$(BENCH)" = cluster ] || BENCH="$(BENCH)" $(BIN)/livehost-bench --json .build/bench.json
	@case "$(BENCH)" in '' | cluster) CLUSTER_SLACK=1 $(PYTEST) Tests/Interop/cluster -m takeover ;; esac

sanitize: test-dependencies
	@Tests/sanitize.sh

soak: test-dependencies build-tests
	@packaging/dependencies.sh soak
	@SOAK_SECONDS=$(SOAK_SECONDS) $(PYTEST) Tests/test_soak.py
	@FILTER=. $(PYTEST) Tests/test_elsewhere.py
	@Tests/Checks/mutations.py
	@Tests/Checks/mutations.py --vopr
	@Tests/Benchmarks/web.py $(BIN) --soak
	@SEEDS=50000 $(PYTEST) Tests/test_vopr.py
	@FUZZ_INPUTS=1000000 $(PYTEST) Tests/Interop/test_fuzz.py
	@CLUSTER_SLACK=1 $(PYTEST) Tests/Interop/cluster -v -k 'not errors' --count 2 --random-order-bucket global
	@LIVEHOST_SOAK=1 $(PYTEST) $(addprefix Tests/Interop/test_,kills.py journal.py dead_disk.py)
	@LIVEHOST_SOAK=1 swift test $(TESTS) --skip-build --no-parallel --filter MemoryTests
	@LIVEHOST_FUZZ=10000000 swift test $(TESTS) --skip-build --no-parallel --filter FuzzTests
	@Tests/sanitize.sh
	@Tests/Fuzzing/fuzz.sh 10000000 100000
	@FUZZ_BUILD=edges Tests/Fuzzing/fuzz.sh 100000000 1000000

deb: build
	@$(BUILD) --product livehost-source
	@$(BUILD) --product livehost-web
	@$(BUILD) --product livehost-gateway
	@packaging/dependencies.sh deb
	@packaging/build-deb.sh $(BIN)

format:
	@swift format --in-place --parallel --recursive Package.swift Sources Tests

lint:
	@Tests/Checks/lint.sh

clean:
	@rm -rf .build
