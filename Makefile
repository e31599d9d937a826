# sprintd - how it is built, tested, measured and installed.
#
# Flavours lie side by side, build/<flavour>/, so that going from one to
# another never rebuilds: debug release asan tsan fuzz cov. Everything but
# main.c is in libsprintd.a; programs and tests are one source and that.
#
# Variables: V=1 shows the commands, WERROR=1 makes warnings errors, CC chooses
# the compiler, FLAVOUR the flavour that `test`, `unit` and `e2e` use, BUILD
# another place than build/; ARGS goes to the program that measures. PREFIX,
# DESTDIR, SYSCONFDIR and UNITDIR say where `install` puts things.

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.SUFFIXES:
SHELL := /bin/sh

MAKEFLAGS += --no-builtin-rules --no-print-directory
ifeq ($(MAKELEVEL)$(filter -j%,$(MAKEFLAGS)),0)
MAKEFLAGS += -j$(shell nproc)
endif
# `make format lint asan` means one after the other; what each of them builds
# is made in parallel by a second make.
ifneq ($(word 2,$(MAKECMDGOALS)),)
ifeq ($(MAKELEVEL),0)
.NOTPARALLEL:
endif
endif

BUILD  ?= build
PREFIX ?= /usr/local
PORT   ?= 8080
V      ?= 0
Q      := $(if $(filter 0,$(V)),@)
say     = $(if $(filter 0,$(V)),@printf '  %-5s %s\n' '$1' '$2')

ifeq ($(origin CC),default)
CC := cc
endif
CLANG ?= clang

# --- what there is -----------------------------------------------------------

MAIN      := src/main.c
# The program beside it that gets certificates: it alone has libcurl.
ACME_MAIN := src/acme_main.c
SOURCES   := $(filter-out $(MAIN),$(sort $(wildcard src/*/*.c src/*/*/*.c)))
HEADERS   := $(sort $(wildcard include/*/*.h include/*/*/*.h \
             src/*/*.h src/*/*/*.h))
UNIT      := $(sort $(wildcard tests/unit/*/test_*.c tests/unit/*/*/test_*.c))
E2E       := $(sort $(wildcard tests/e2e/test_*.c))
E2E_HELP  := $(filter-out $(E2E),$(sort $(wildcard tests/e2e/*.c)))
FIXTURES  := $(filter-out $(UNIT),$(sort $(wildcard tests/unit/*.c \
             tests/unit/*/*.c tests/unit/*/*/*.c)))
SUITE     := tests/suite.c tests/suite_main.c tests/json_check.c \
             tests/make_certificate.c tests/tree.c tests/child.c
FUZZ      := $(sort $(wildcard tests/fuzz/fuzz_*.c))
REPLAY    := tests/fuzz/replay.c
JSON_CHECK := tests/json_check.c
TEST_CODE := $(SUITE) $(UNIT) $(FIXTURES) $(E2E) $(E2E_HELP) $(FUZZ) $(REPLAY) \
             $(sort $(wildcard tests/*.h tests/*/*.h tests/unit/*/*.h \
             tests/unit/*/*/*.h))
C_FILES   := $(SOURCES) $(wildcard $(MAIN) $(ACME_MAIN)) $(HEADERS) $(TEST_CODE) \
             $(sort $(wildcard bench/*.[ch] packaging/*.[ch]))

# Parts of the program that are no C: each becomes the numbers of its bytes,
# for an array to include.
TEXTS     := $(sort $(wildcard src/handler/status/status_page/*))
TEXTS_INC := $(TEXTS:src/%=$(BUILD)/text/%.inc)

LARGE := www/downloads/large.bin

# --- how it is compiled ------------------------------------------------------

FLAVOURS := debug release asan tsan fuzz cov

WARNINGS := -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wstrict-prototypes \
            -Wmissing-prototypes -Wcast-align -Wwrite-strings -Wundef -Wvla \
            -Wformat=2 $(if $(filter 1,$(WERROR)),-Werror)
# Private headers (x_priv.h) lie in src; hence both. Those of tests lie beside
# them.
COMMON   := -std=c11 -D_GNU_SOURCE -pthread -Iinclude -Isrc -Itests \
            -I$(BUILD)/text $(WARNINGS)
LIBS     := -lev -lhttp_parser -lssl -lcrypto -lseccomp -llmdb -lcares -lhiredis \
            -lnghttp2 -lcrypt -lzstd -lbrotlienc -ldeflate -lz -lpthread -lm
ACME_LIBS := -lcurl

# The program that is shipped is optimised as a whole: a request passes through
# small functions of many files. Objects hold machine code, too, for what is
# linked without that (tests, the manual). gcc alone can do both. As linking
# compiles then, CFLAGS are for it, too: with them a package says how paths of
# the source read, so that it has the same bytes wherever it is built.
ifneq ($(findstring Free Software Foundation,$(shell $(CC) --version)),)
LTO      := -flto=auto -ffat-lto-objects
WHOLE_release   := $(LTO)
WITHOUT_release := -fno-lto
endif

HARDENED := -fstack-protector-strong -D_FORTIFY_SOURCE=2 -fPIE
SANE     := -O1 -g -fno-omit-frame-pointer

CC_debug   = $(CC)
CC_release = $(CC)
CC_asan    = $(CC)
CC_tsan    = $(CC)
CC_cov     = $(CC)
CC_fuzz    = $(CLANG)

CFLAGS_debug   := -O0 -g3
CFLAGS_release := -O2 -g $(HARDENED) $(LTO)
CFLAGS_asan    := $(SANE) -fsanitize=address,undefined -fno-sanitize-recover=all
CFLAGS_tsan    := $(SANE) -fsanitize=thread
CFLAGS_cov     := -O0 -g --coverage -DSPRINTD_COVERAGE
CFLAGS_fuzz    := $(SANE) -fsanitize=fuzzer-no-link,address,undefined \
                  -fno-sanitize-recover=all

LDFLAGS_debug   :=
LDFLAGS_release := -pie -Wl,-z,relro,-z,now,-z,pack-relative-relocs
LDFLAGS_asan    := -fsanitize=address,undefined
LDFLAGS_tsan    := -fsanitize=thread
LDFLAGS_cov     := --coverage
LDFLAGS_fuzz    := -fsanitize=address,undefined

# The rules of one flavour, $1. `flags` changes when the commands would, and
# everything is then made anew.
define FLAVOUR_RULES
OBJECTS_$1   := $$(SOURCES:%.c=$(BUILD)/$1/obj/%.o)
LIB_$1       := $(BUILD)/$1/libsprintd.a
UNIT_$1      := $$(UNIT:tests/%.c=$(BUILD)/$1/%)
E2E_$1       := $$(E2E:tests/%.c=$(BUILD)/$1/%)
REPLAY_$1    := $$(FUZZ:tests/fuzz/fuzz_%.c=$(BUILD)/$1/replay/%)
FIXTURES_$1  := $$(FIXTURES:%.c=$(BUILD)/$1/obj/%.o)
HELP_$1      := $(BUILD)/$1/libsuite.a $(BUILD)/$1/libe2e.a

$(BUILD)/$1/obj/%.o: %.c $(BUILD)/$1/flags
	$$(call say,CC,$$@)
	@mkdir -p $$(@D)
	$$Q$$(CC_$1) $$(COMMON) $$(CFLAGS_$1) $$(CFLAGS) $$(CPPFLAGS) \
	    -MMD -MP -c -o $$@ $$<

$(BUILD)/$1/obj/src/handler/status/status_page.o: $(TEXTS_INC)

$$(LIB_$1): $$(OBJECTS_$1)
	$$(call say,AR,$$@)
	$$Qrm -f $$@ && $$(AR) rcs $$@ $$(OBJECTS_$1)

# What several test programs share; each links what it names, and a main() when
# it has none.
$(BUILD)/$1/libsuite.a: $$(SUITE:%.c=$(BUILD)/$1/obj/%.o)
$(BUILD)/$1/libe2e.a: $$(patsubst %.c,$(BUILD)/$1/obj/%.o,$(SUITE) $(E2E_HELP))
$$(HELP_$1):
	$$(call say,AR,$$@)
	$$Qrm -f $$@ && $$(AR) rcs $$@ $$^

$(BUILD)/$1/sprintd: $(BUILD)/$1/obj/$(MAIN:.c=.o) $$(LIB_$1)
	$$(call say,LINK,$$@)
	$$Q$$(CC_$1) $$(CFLAGS_$1) $$(CFLAGS) $$(WHOLE_$1) $$(LDFLAGS_$1) \
	    $$(LDFLAGS) -o $$@ $$^ $$(LIBS)

$(BUILD)/$1/sprintd-acme: $(BUILD)/$1/obj/$(ACME_MAIN:.c=.o) $$(LIB_$1)
	$$(call say,LINK,$$@)
	$$Q$$(CC_$1) $$(CFLAGS_$1) $$(CFLAGS) $$(WHOLE_$1) $$(LDFLAGS_$1) \
	    $$(LDFLAGS) -o $$@ $$^ $$(LIBS) $$(ACME_LIBS)

# The server starts it from its own folder.
$(BUILD)/$1/sprintd: | $(BUILD)/$1/sprintd-acme

$$(UNIT_$1): $(BUILD)/$1/unit/%: $(BUILD)/$1/obj/tests/unit/%.o \
    $(BUILD)/$1/libsuite.a $$(LIB_$1) $$(FIXTURES_$1)
	$$(call say,LINK,$$@)
	@mkdir -p $$(@D)
	$$Q$$(CC_$1) $$(CFLAGS_$1) $$(WITHOUT_$1) $$(LDFLAGS_$1) $$(LDFLAGS) \
	    -o $$@ $$(call fixtures,$(BUILD)/$1/obj,$$(<:.o=.d)) \
	    $$(call group,$$(filter-out $$(FIXTURES_$1),$$^)) \
	    $$(call link_line,tests/unit/$$*.c) -lcmocka $$(LIBS)

$$(E2E_$1): $(BUILD)/$1/e2e/%: $(BUILD)/$1/obj/tests/e2e/%.o \
    $(BUILD)/$1/libe2e.a $$(LIB_$1)
	$$(call say,LINK,$$@)
	@mkdir -p $$(@D)
	$$Q$$(CC_$1) $$(CFLAGS_$1) $$(WITHOUT_$1) $$(LDFLAGS_$1) $$(LDFLAGS) \
	    -o $$@ $$(call group,$$^) $$(call link_line,tests/e2e/$$*.c) -lcmocka $$(LIBS)

$$(REPLAY_$1): $(BUILD)/$1/replay/%: $(BUILD)/$1/obj/tests/fuzz/fuzz_%.o \
    $(BUILD)/$1/obj/$(REPLAY:.c=.o) $(BUILD)/$1/obj/$(JSON_CHECK:.c=.o) $$(LIB_$1)
	$$(call say,LINK,$$@)
	@mkdir -p $$(@D)
	$$Q$$(CC_$1) $$(CFLAGS_$1) $$(WITHOUT_$1) $$(LDFLAGS_$1) $$(LDFLAGS) \
	    -o $$@ $$^ $$(LIBS)

$(BUILD)/$1/flags: FORCE
	@mkdir -p $$(@D)
	@echo '$$(CC_$1) $$(COMMON) $$(CFLAGS_$1) $$(CFLAGS) $$(CPPFLAGS)' \
	    '$$(LDFLAGS_$1) $$(LDFLAGS)' > $$@.new
	@cmp -s $$@.new $$@ && rm $$@.new || mv $$@.new $$@
endef

# The server calls what a test wraps: neither archive is the last.
group = -Wl,--start-group $1 -Wl,--end-group

# The fixtures of a unit program: those whose headers it includes, as the
# compiler has noted in $2. Not an archive: two fixtures may both have a set_up()
# or play malloc(), and each program has its own.
fixtures = $$(tr ' ' '\n' < $2 | sed -n 's|^\(tests/unit/.*\)\.h$$|\1|p' | \
    sort -u | while read -r name; do \
    [ ! -e $$name.c ] || echo $1/$$name.o; done)

# What a test says on a line `/* link: -Wl,--wrap=accept4 */` of its own.
link_line = $$(sed -n 's|^/\* link: \(.*\) \*/$$|\1|p' $1)

$(foreach flavour,$(FLAVOURS),$(eval $(call FLAVOUR_RULES,$(flavour))))

# A fuzzer is the same target with libFuzzer's driver in the place of ours.
FUZZERS := $(FUZZ:tests/fuzz/fuzz_%.c=$(BUILD)/fuzz/fuzz_%)

$(FUZZERS): $(BUILD)/fuzz/%: $(BUILD)/fuzz/obj/tests/fuzz/%.o \
    $(BUILD)/fuzz/obj/$(JSON_CHECK:.c=.o) $(LIB_fuzz)
	$(call say,LINK,$@)
	$Q$(CLANG) $(CFLAGS_fuzz) $(LDFLAGS) -fsanitize=fuzzer -o $@ $^ $(LIBS)

# The manual and the completions are printed by a program of our own, from the
# same table as --help.
MANUAL := $(BUILD)/release/manual
PAGES  := $(BUILD)/man/sprintd.8 $(BUILD)/man/sprintd.conf.5 \
          $(BUILD)/completion/sprintd.bash $(BUILD)/completion/sprintd.zsh

$(MANUAL): $(BUILD)/release/obj/packaging/manual.o $(LIB_release)
	$(call say,LINK,$@)
	$Q$(CC_release) $(CFLAGS_release) $(WITHOUT_release) $(LDFLAGS_release) \
	    $(LDFLAGS) -o $@ $^ $(LIBS)

$(BUILD)/man/sprintd.8: PAGE := 8
$(BUILD)/man/sprintd.conf.5: PAGE := 5
$(BUILD)/completion/sprintd.bash: PAGE := bash
$(BUILD)/completion/sprintd.zsh: PAGE := zsh

# What `install` copies.
.PHONY: installable
installable: $(BUILD)/release/sprintd $(BUILD)/release/sprintd-acme $(PAGES)

$(PAGES): $(MANUAL)
	$(call say,TEXT,$@)
	@mkdir -p $(@D)
	$Q$(MANUAL) $(PAGE) > $@

# Of the documentation this page alone is made; it is kept with the others, so
# that it can be read without a build.
docs: deps-build ## writes docs/options.md from the option table
	@$(MAKE) $(MANUAL)
	$(MANUAL) options > docs/options.md

$(BUILD)/text/%.inc: src/%
	$(call say,TEXT,$@)
	@mkdir -p $(@D)
	$Qsed 's/^ *//' $< | od -A n -v -t u1 | sed 's/[0-9]\{1,\}/&,/g' > $@

# Line n (7 digits and a newline) stands at byte 8 * (n - 1), so that a range
# of it can be checked by eye: 2^21 + 2^19 lines are 20 MiB.
$(LARGE):
	$(call say,MAKE,$@)
	@mkdir -p $(@D)
	@seq -w 1 2621440 > $@.new && mv $@.new $@

-include $(shell find $(FLAVOURS:%=$(BUILD)/%) -type f -name '*.d' 2>/dev/null)

.SECONDARY:
.PHONY: FORCE
FORCE:

# --- building and running ----------------------------------------------------

.PHONY: all man docs run clean help

all: $(BUILD)/sprintd $(LARGE) ## builds the release binary, build/sprintd

$(BUILD)/sprintd: $(BUILD)/release/sprintd
	@ln -sfn release/sprintd $@

man: deps-build ## prints the manual and completions to build/man, completion
	@$(MAKE) $(PAGES)

run: deps-build ## builds, then serves www/ at http://localhost:8080/ (PORT=)
	@$(MAKE) all
	$(BUILD)/sprintd --port $(PORT) www

clean: ## removes everything that was built
	rm -rf $(BUILD) $(LARGE)

help: ## prints this list
	@echo 'sprintd: make TARGET [VARIABLE=VALUE]...'
	@sed -n 's/^\([a-z0-9-]*\):[^#]*## \(.*\)/  \1\t\2/p' Makefile \
	    | expand -t 16
	@echo 'V=1 shows the commands, WERROR=1 makes warnings errors.'

# --- installing, packing -----------------------------------------------------

.PHONY: install install-files uninstall dist deb

SYSCONFDIR ?= /etc
UNITDIR    ?= $(PREFIX)/lib/systemd/system
INSTALL     = BUILD='$(BUILD)' DESTDIR='$(DESTDIR)' PREFIX='$(PREFIX)' \
              SYSCONFDIR='$(SYSCONFDIR)' UNITDIR='$(UNITDIR)' \
              sh packaging/install.sh

install: deps-build ## program, manual, units below PREFIX; DESTDIR before it
	@$(MAKE) installable
	@$(MAKE) install-files

install-files:
	@$(INSTALL) install

uninstall: ## takes that away again, but what was changed in /etc
	@$(INSTALL) uninstall

dist: ## packs the source: build/sprintd-VERSION.tar.gz and .tar.xz
	@sh packaging/dist.sh $(BUILD)

deb: deps-deb ## makes the Debian package: build/sprintd_VERSION_*.deb
	@sh packaging/deb.sh $(BUILD)

# --- tests -------------------------------------------------------------------

.PHONY: test unit e2e e2e-strict e2e-tls e2e-upstream-tls replay asan tsan cov run-tests run-unit run-e2e
.PHONY: package-test fresh-test

# Units run unoptimised, where a debugger sees all; end-to-end tests run what
# is shipped. FLAVOUR= makes both the same.
UNIT_FLAVOUR := $(or $(FLAVOUR),debug)
E2E_FLAVOUR  := $(or $(FLAVOUR),release)
UNIT_BINS     = $(UNIT_$(UNIT_FLAVOUR))
REPLAY_BINS   = $(REPLAY_$(UNIT_FLAVOUR))
E2E_BINS      = $(E2E_$(E2E_FLAVOUR))
SERVER        = $(BUILD)/$(E2E_FLAVOUR)/sprintd
# What is installed and measured is the release, whatever is tested.
SHELL_TESTS  := $(if $(FLAVOUR),,tests/e2e/install.sh tests/e2e/watchers.sh \
                tests/e2e/pages.sh tests/e2e/container.sh tests/e2e/lab.sh \
                tests/e2e/h2spec.sh tests/e2e/h2_clients.sh \
                tests/e2e/scripts.sh tests/e2e/dictionaries.sh \
                tests/e2e/simulations.sh tests/e2e/reader.sh)

# Seconds a test program may take; sanitizers make them several times slower.
TIMEOUT ?= $(if $(filter asan tsan cov,$(FLAVOUR)),900,300)
RUN_TESTS = BUILD='$(BUILD)' SPRINTD='$(abspath $(SERVER))' \
            TIMEOUT='$(TIMEOUT)' sh tests/run.sh

test: deps-test ## builds and runs every test: units, end to end, fuzz corpus
	@$(MAKE) run-tests

unit: deps-test ## runs the unit tests only
	@$(MAKE) run-unit

e2e: deps-test ## runs the end-to-end tests only
	@$(MAKE) run-e2e

cache-tests: $(BUILD)/release/sprintd ## npm's http-cache-tests against the cache; skipped without Node
	@sh tests/conformance/cache_tests.sh $(BUILD)/release/sprintd || \
	    [ $$? -eq 77 ]

testssl: $(BUILD)/release/sprintd ## testssl.sh against HTTPS, some minutes; skipped without it
	@sh tests/conformance/testssl.sh $(BUILD)/release/sprintd || \
	    [ $$? -eq 77 ]

e2e-strict: deps-test ## the same, of servers under --sandbox strict
	@SPRINTD_ARGS=--sandbox=strict $(MAKE) run-e2e

# Of those whose clients all speak through tests/e2e/client.c.
E2E_OVER_TLS := $(addprefix $(BUILD)/release/e2e/test_,bodies cache conditions \
                changing_files directories encodings methods multipart paths \
                pipelining ranges sites site_fields timeouts tls \
                h2 h2_abuse h2_downloads h2_end h2_fields h2_memory h2_order \
                h2_parked h2_proxy h2_smuggling h2_timeouts h2_websocket \
                h2_windows)

e2e-tls: deps-test ## end-to-end tests again, of clients that come over TLS
	@SPRINTD_TLS=1 $(MAKE) run-e2e \
	    E2E_BINS='$(filter $(E2E_OVER_TLS),$(E2E_release))' SHELL_TESTS=

E2E_BEHIND_TLS := $(addprefix %/test_, \
                proxy proxy_faults proxy_health proxy_held proxy_log \
                proxy_names proxy_pages proxy_relay proxy_smuggling \
                proxy_replies proxy_retries proxy_stream proxy_websocket)

e2e-upstream-tls: deps-test ## end-to-end tests again, of servers behind over TLS
	@SPRINTD_UPSTREAM_TLS=1 $(MAKE) run-e2e \
	    E2E_BINS='$(filter $(E2E_BEHIND_TLS),$(E2E_release))' SHELL_TESTS=

asan: deps-test ## all tests under the address and undefined sanitizers
	@$(MAKE) run-tests FLAVOUR=asan

tsan: deps-test ## all tests under the thread sanitizer
	@$(MAKE) run-tests FLAVOUR=tsan

package-test: deps-package ## installs the package in a fresh Debian (root)
	@sh tests/package.sh $(BUILD)

fresh-test: deps-fresh ## runs every test in a fresh Debian (root)
	@sh tests/fresh.sh $(BUILD)

run-tests: $(UNIT_BINS) $(REPLAY_BINS) $(E2E_BINS) $(if $(E2E),$(SERVER)) \
    $(if $(SHELL_TESTS),installable)
	@$(RUN_TESTS) $(UNIT_BINS) $(REPLAY_BINS) $(E2E_BINS) $(SHELL_TESTS)

run-unit: $(UNIT_BINS)
	@$(RUN_TESTS) $(UNIT_BINS)

run-e2e: $(E2E_BINS) $(SERVER) $(if $(SHELL_TESTS),installable)
	@$(RUN_TESTS) $(E2E_BINS) $(SHELL_TESTS)

cov: deps-test ## all tests, then the share of lines of each file they ran
	@find $(BUILD)/cov -name '*.gcda' -delete 2>/dev/null || true
	@$(MAKE) run-tests FLAVOUR=cov
	@for source in $(SOURCES); do \
	    gcov -n -o $(BUILD)/cov/obj/$${source%.c}.o $$source 2>/dev/null; \
	done | sh tests/cov.sh

# --- fuzzing, measuring, looking ---------------------------------------------

.PHONY: fuzz bench bench-tls bench-link bench-order bench-pages bench-far \
        bench-hits bench-http2 bench-abuse bench-reader lab lab-report format lint

S ?= 60
T ?= $(FUZZ:tests/fuzz/fuzz_%.c=%)

fuzz: deps-fuzz ## fuzzes S=60 seconds each of T=targets (all of them)
	@$(MAKE) $(T:%=$(BUILD)/fuzz/fuzz_%)
	@for target in $(T); do \
	    mkdir -p $(BUILD)/fuzz/corpus/$$target \
	        tests/fuzz/corpus/$$target tests/fuzz/crashes/$$target; \
	    echo "fuzzing $$target for $(S) seconds"; \
	    $(BUILD)/fuzz/fuzz_$$target -max_total_time=$(S) -timeout=10 \
	        -print_final_stats=1 \
	        -artifact_prefix=tests/fuzz/crashes/$$target/ \
	        $(BUILD)/fuzz/corpus/$$target tests/fuzz/corpus/$$target \
	        || exit 1; \
	    rmdir --ignore-fail-on-non-empty tests/fuzz/crashes/$$target; \
	done

bench-link: deps-bench all ## shortest first on a slow link, two hours (root)
	@CC='$(CC)' python3 bench/link.py $(ARGS)

ORDER_FILES := bench/order_own.c bench/draws.c \
               src/base/heap.c src/base/pages.c \
               $(wildcard src/engine/client_*.c) \
               $(addprefix src/engine/,sched.c fair_share.c)
ORDER_CC = $(CC) $(CPPFLAGS) -std=c11 -D_GNU_SOURCE -O2 -Iinclude -Isrc -Ibench

bench-order: ## which order: a simulated link, two minutes (ARGS='SECONDS SEEDS')
	@mkdir -p $(BUILD)
	@$(ORDER_CC) -o $(BUILD)/order bench/order.c bench/order_candidates.c \
	    $(ORDER_FILES) -lm
	@$(BUILD)/order $(ARGS)

bench-pages: ## the same of whole pages (ARGS='SECONDS SEEDS')
	@mkdir -p $(BUILD)
	@$(ORDER_CC) -o $(BUILD)/pages bench/pages.c bench/pages_candidates.c \
	    $(ORDER_FILES) -lm
	@$(BUILD)/pages $(ARGS)

FAR_WRAPPED := getsockopt setsockopt ioctl clock_gettime

bench-far: ## a link further away, simulated, a minute (ARGS='SECONDS SEEDS')
	@mkdir -p $(BUILD)
	@$(ORDER_CC) -o $(BUILD)/far_link bench/far_link.c bench/far_path.c \
	    bench/draws.c \
	    $(wildcard src/engine/link/*.c src/engine/client_*.c) \
	    src/base/heap.c src/base/pages.c src/base/address.c src/base/now.c \
	    src/io/socket_state.c $(FAR_WRAPPED:%=-Wl,--wrap=%) -lm
	@$(BUILD)/far_link $(ARGS)

bench-hits: ## what a cache would hit, told and true (ARGS='ACCESS-LOG MIB')
	@mkdir -p $(BUILD)
	@$(CC) $(CPPFLAGS) -std=c11 -D_GNU_SOURCE -O2 -Iinclude -Isrc \
	    -o $(BUILD)/hit_ratios bench/hit_ratios.c src/base/miniature.c \
	    $(wildcard src/base/evict*.c) src/base/heap.c src/base/now.c -lm
	@$(BUILD)/hit_ratios $(ARGS)

bench: deps-bench ## measures against other servers, about three minutes
	@$(MAKE) all
	@BUILD='$(BUILD)' CC='$(CC)' python3 bench/peers.py $(ARGS)

bench-tls: deps-bench ## the same over TLS, and handshakes, six minutes
	@$(MAKE) all
	@BUILD='$(BUILD)' CC='$(CC)' python3 bench/tls.py $(ARGS)

bench-http2: deps-bench ## the same by HTTP/2 over TLS, two minutes
	@$(MAKE) all
	@BUILD='$(BUILD)' CC='$(CC)' python3 bench/http2.py $(ARGS)

bench-abuse: deps-bench ## what others notice of abuse of HTTP/2, two minutes
	@$(MAKE) all
	@BUILD='$(BUILD)' CC='$(CC)' python3 bench/abuse.py $(ARGS)

bench-reader: deps-bench ## what a reader of a page sees, by Chromium (root)
	@$(MAKE) all
	@BUILD='$(BUILD)' CC='$(CC)' python3 bench/reader.py $(ARGS)

# A wrong name is told before anything is installed.
lab: ## repeats every experiment, in over two hours (EXP=NAME: one, ROUNDS=N: more)
	@! command -v python3 >/dev/null || \
	    python3 bench/laboratory.py --check $(EXP)
	@$(MAKE) deps-bench
	@$(MAKE) all
	@BUILD='$(BUILD)' CC='$(CC)' python3 bench/laboratory.py $(EXP) \
	    $(if $(ROUNDS),--rounds $(ROUNDS)) $(ARGS)

lab-report: ## makes its report anew from what was measured
	@BUILD='$(BUILD)' python3 bench/laboratory.py --report

format: ## lets clang-format rewrite the C files
	clang-format -i $(C_FILES)

lint: $(TEXTS_INC)
lint: deps-lint ## formatting, doors, words, pages, banned calls, clang-tidy
	@echo '  LINT  format'
	@found=$$(clang-format --dry-run -Werror $(C_FILES) 2>&1) || { \
	    echo "$$found" | sed -n 's/^\([^ :]*\):.*should be.*/\1/p' | \
	    sort -u | sed 's/$$/: not formatted; see make format/'; exit 1; }
	@echo '  LINT  doors'
	@python3 tests/lint/doors.py
	@echo '  LINT  words'
	@python3 tests/lint/words.py
	@echo '  LINT  pages'
	@python3 tests/lint/pages.py
	@echo '  LINT  banned'
	@sh tests/lint/banned.sh
	@echo '  LINT  clang-tidy'
	@printf '%s\n' $(SOURCES) $(wildcard $(MAIN)) \
	    | xargs -P $$(nproc) -n 3 sh tests/lint/tidy.sh $(COMMON)

# --- what must be installed --------------------------------------------------

.PHONY: deps deps-build deps-test deps-fuzz deps-bench deps-lint deps-deb \
        deps-package deps-fresh

deps: deps-test ## installs the Debian packages that are missing

# Some libraries have no .pc file: the compiler is asked about all of them.
deps-build:
	@CC='$(CC)' sh tests/deps.sh build
deps-test:
	@CC='$(CC)' sh tests/deps.sh build test
deps-fuzz:
	@CC='$(CC)' sh tests/deps.sh build fuzz
deps-bench:
	@CC='$(CC)' sh tests/deps.sh build bench
deps-lint:
	@CC='$(CC)' sh tests/deps.sh build test lint
deps-deb:
	@CC='$(CC)' sh tests/deps.sh build deb
deps-package:
	@CC='$(CC)' sh tests/deps.sh build deb package
deps-fresh:
	@sh tests/deps.sh fresh
