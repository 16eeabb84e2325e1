# Test targets. A unit test is tests/unit/NAME.c (cmocka, one main); a program-level test is
# tests/cli/NAME.{sh,py} or tests/tui/NAME.py: exit status 0 pass, 77 skip, else fail.
# tests/run runs them all and ends with "N passed, N failed, N skipped".
TESTS ?=

.PHONY: units print-loops snapshot check check-only check-engines kill-test check-programs deps test-deps lint-deps demo clean help install uninstall \
  sanitize tsan fuzz fuzz-smoke fuzzers units-of tidy lint format coverage bench bench-big bench-inventory

units: $(UNIT)

deps:
	@tests/install-packages build $(BUILD_PKGS)
test-deps:
	@tests/install-packages test $(BUILD_PKGS) $(TEST_PKGS)
lint-deps:
	@tests/install-packages lint $(LINT_PKGS)

# A second make, so that pkg-config is asked again after the packages are there.
check: test-deps
	@$(MAKE) --no-print-directory WERROR=-Werror check-only

check-only: gputier $(UNIT) $(NO_GPU)
	@O=$(O) tests/run $(TESTS)

# Queries of `inventory sql` in PostgreSQL, ClickHouse and DuckDB, the last two from npm (600 MB, a network): not part of check,
# which runs those that are installed.
check-engines: gputier
	@tests/install-packages engine $(ENGINE_PKGS) $(shell command -v npm >/dev/null || echo nodejs npm)
	@test -d $(O)/engines/node_modules/chdb || npm install --silent --no-save --prefix $(O)/engines @duckdb/node-api chdb
	@NODE_PATH=$(CURDIR)/$(O)/engines/node_modules O=$(O) tests/run inventory_sql

# Kills fetch and import at every call that changes a file and at 300 moments more (an hour or less).
KILL_ROUNDS ?= 300
kill-test: test-deps
	@$(MAKE) --no-print-directory gputier
	@KILL_ROUNDS=$(KILL_ROUNDS) KILL_SIZE=4M VENDOR_SECONDS=7000 TEST_LIMIT=7000 O=$(O) tests/run fetch_kill

demo: deps
	@$(MAKE) --no-print-directory gputier
	@tests/demo

# AddressSanitizer and UndefinedBehaviorSanitizer over the same tests, in a folder of their own, but
# those that read the sources and data alone, and the memory of imports, which would be the sanitizer's.
NOT_SANITIZED = architecture.py snapshot_check.py trap_coverage.py import_memory.py
sanitize: test-deps
	@$(MAKE) --no-print-directory O=build/asan CFLAGS="-O1 -g" \
	  SAN="-fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer -Wno-format-truncation" build/asan/gputier units-of
	@O=build/asan ASAN_OPTIONS=detect_leaks=1 LSAN_OPTIONS=suppressions=$(CURDIR)/tests/lsan.supp:print_suppressions=0 \
	  TESTS_EXCEPT="$(NOT_SANITIZED)" tests/run $(TESTS)

tsan: test-deps
	@$(MAKE) --no-print-directory O=build/tsan CFLAGS="-O1 -g" SAN="-fsanitize=thread -Wno-format-truncation -Wno-tsan" build/tsan/gputier units-of
	@O=build/tsan tests/run $(TESTS)

units-of: $(UNIT)

lint: lint-deps
	@tests/lint

# Slow (minutes): not part of CI.
tidy: lint-deps
	@git ls-files 'planner/*.c' 'pricing/*.c' 'tui/*.c' | xargs -P2 -n4 sh -c 'clang-tidy --quiet "$$@" -- $(GT_CFLAGS) -I$(O) 2>/dev/null' tidy

format: lint-deps
	clang-format -i $$(git ls-files '*.c' '*.h')

coverage: test-deps
	@$(MAKE) --no-print-directory O=build/cov CFLAGS="-O0 -g --coverage" LDFLAGS=--coverage build/cov/gputier units-of
	@O=build/cov tests/run $(TESTS)
	gcovr -r . --object-directory build/cov --exclude 'tests/.*' --print-summary

bench: deps
	@tests/install-packages bench $(BENCH_PKGS)
	@$(MAKE) --no-print-directory gputier
	@tests/bench/run

# The flags that the loops of the CPU fallback are built with, for their peer (bench/cpu_loops.sh).
print-loops:
	@echo $(LOOPS)

# 10^8 rows of an inventory, part of bench too: about 2 minutes.
bench-inventory: deps
	@tests/install-packages bench $(BENCH_PKGS)
	@$(MAKE) --no-print-directory gputier
	@tests/bench/inventory.sh

# The price list of 4 GB: needs 15 GB of disk and some minutes.
bench-big: deps
	@tests/install-packages bench $(BENCH_PKGS)
	@$(MAKE) --no-print-directory gputier
	@tests/bench/import_offer.sh 4.1G

# data/snapshot and data/traces anew, by the importers, from ../shared (check: tests/cli/snapshot_rebuild.py).
snapshot: deps gputier
	data/tools/build_snapshot.py --gputier $(abspath $(O)/gputier)
	data/tools/check_snapshot.py

install: $(O)/gputier
	install -D -m 755 $(O)/gputier $(DESTDIR)$(PREFIX)/bin/gputier
	@for f in $$(cd data && find . -type f ! -path './tools/*' ! -name README.md); do \
	  install -D -m 644 data/$$f $(DESTDIR)$(PREFIX)/share/gputier/$$f || exit 1; done

uninstall:
	rm -f $(DESTDIR)$(PREFIX)/bin/gputier
	rm -rf $(DESTDIR)$(PREFIX)/share/gputier

clean:
	rm -rf build gputier

help:
	@echo "all demo check check-engines kill-test sanitize tsan fuzz bench bench-big bench-inventory snapshot lint format coverage install uninstall clean deps"

# Fuzzing: tests/fuzz/NAME.c is a libFuzzer target, seeds in tests/fuzz/corpus/NAME/. fuzz-smoke runs
# 5 s each, FUZZ_SECONDS sets another time.
FUZZ_SRC := $(sort $(wildcard tests/fuzz/*.c))
FUZZ := $(FUZZ_SRC:%.c=$(O)/%)
FUZZ_SECONDS ?= 600
fuzzers: $(FUZZ)
-include $(FUZZ:=.d)
$(O)/tests/fuzz/%: $(O)/tests/fuzz/%.o $(O)/libgputier.a
	$(Q)$(CC) $(GT_LDFLAGS) -fsanitize=fuzzer -o $@ $^ $(PEERS) $(PKG_LIBS)
$(O)/tests/fuzz/json_peer $(O)/tests/fuzz/csv_peer: PEERS = -lyajl -lcsv
$(O)/tests/fuzz/inflate: PEERS = -lz
FUZZ_MAKE = $(MAKE) --no-print-directory O=build/fuzz CC=clang CFLAGS="-O1 -g" \
  SAN="-fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=undefined"
fuzz-smoke: lint-deps test-deps
	@$(FUZZ_MAKE) fuzzers
	@tests/fuzz/run 5
fuzz: lint-deps test-deps
	@$(FUZZ_MAKE) fuzzers
	@tests/fuzz/run $(FUZZ_SECONDS)
