# SPDX-License-Identifier: MIT
# One Makefile, no configure. `make help` lists the targets; V=1 shows the commands.

VARIANT ?= release
ifeq ($(filter $(VARIANT),release debug asan tsan),)
$(error VARIANT=$(VARIANT): one of release, debug, asan, tsan)
endif

B       := build/$(VARIANT)
CC      ?= cc
VERSION := 0.1.0
PREFIX  ?= /usr/local

WARN := -Wall -Wextra -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes -Wvla \
        -Wundef -Wformat=2 -Wpointer-arith -Werror=implicit-function-declaration
ifeq ($(WERROR),1)
WARN += -Werror
endif
HARDEN := -fstack-protector-strong -fstack-clash-protection -D_FORTIFY_SOURCE=2
ifeq ($(shell uname -m),x86_64)
HARDEN += -fcf-protection
endif
PLAIN_release := -O2 -g $(HARDEN)
PLAIN_debug   := -O0 -g3
# Sanitizer variants drive the plain worker and recorder: a preloaded malloc and ASan do not mix.
PLAIN_asan    := -O1 -g
PLAIN_tsan    := -O1 -g
SAN_asan      := -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
SAN_tsan      := -fsanitize=thread
PLAIN := $(PLAIN_$(VARIANT))
SAN   := $(SAN_$(VARIANT))

CPPFLAGS += -D_GNU_SOURCE -DAB_VERSION='"$(VERSION)"' -Isrc -I.
CFLAGS   += -std=gnu17 -fPIE -fno-strict-aliasing -ffp-contract=off -fno-builtin-malloc -fno-builtin-free $(WARN)
# What the result says of its own build; version.c and the JSON sink are its only readers.
BUILD_FLAGS = $(filter -O% -f% -g% -std=%,$(CFLAGS) $(PLAIN) $(SAN))
$(B)/obj/src/report/sink_json.o $(B)/obj/src/cli/version.o: CPPFLAGS += -DAB_FLAGS='"$(BUILD_FLAGS)"'
LDFLAGS  += -pie -Wl,-z,relro,-z,now,-z,noexecstack
LDLIBS   := -lcyaml -lyaml -lzstd -lz -lxxhash -ljansson -lmd -lm

# What a measuring process contains; everything else lives in the parent only.
WORKER_SRC := $(sort $(wildcard src/worker/*.c src/verify/*.c)) src/core/clock.c src/core/nearest.c src/core/rng.c \
              src/core/units.c src/measure/footprint.c \
              $(sort $(wildcard allocators/*/*.c)) src/backend/builtin.c
PRELOAD_SRC := $(sort $(wildcard src/record/preload*.c))
RECORDER_SRC := $(PRELOAD_SRC) src/record/half_pack.c
MAIN_SRC   := src/cli/main.c
LIB_SRC    := $(sort $(filter-out $(MAIN_SRC) $(PRELOAD_SRC) src/worker/main.c,\
                $(wildcard src/*/*.c)) $(wildcard allocators/*/*.c))

LIB_OBJ    := $(LIB_SRC:%.c=$(B)/obj/%.o)
MAIN_OBJ   := $(MAIN_SRC:%.c=$(B)/obj/%.o)
WORKER_OBJ := $(WORKER_SRC:%.c=$(B)/plain/%.o)

TOOLS := $(B)/allocbench $(B)/allocbench-worker $(B)/liballocbench-record.so

# ---- tests: one cmocka binary a source file; tests/support/*.c linked into each ----
UNIT_SRC    := $(sort $(wildcard tests/unit/test_*.c tests/contract/test_*.c))
UNIT_BIN    := $(UNIT_SRC:tests/%.c=$(B)/tests/%)
SUPPORT_SRC := $(sort $(wildcard tests/support/*.c))
SUPPORT_OBJ := $(SUPPORT_SRC:%.c=$(B)/obj/%.o)
# tests/guests/lib*.c become shared objects, tests/guests/prog_*.c programs
GUEST_LIB   := $(patsubst tests/guests/%.c,$(B)/guests/%.so,$(sort $(wildcard tests/guests/lib*.c)))
GUEST_PROG  := $(patsubst tests/guests/%.c,$(B)/guests/%,$(sort $(wildcard tests/guests/prog_*.c)))

ifeq ($(V),1)
Q :=
say =
else
Q := @
say = @printf '  %-5s %s\n' $(1) $(2)
endif

.DELETE_ON_ERROR:
.SECONDARY:
.PHONY: all help
all: $(TOOLS)

$(B)/allocbench: $(MAIN_OBJ) $(B)/liballocbench.a
	$(call say,LD,$@)
	$(Q)$(CC) $(PLAIN) $(SAN) $(LDFLAGS) -o $@ $^ $(LDLIBS)

# A source that is gone must leave the archive: the list of objects is a prerequisite too.
$(B)/objects.list: force
	@mkdir -p $(@D)
	@echo '$(LIB_OBJ)' | cmp -s - $@ || echo '$(LIB_OBJ)' >$@
.PHONY: force

$(B)/liballocbench.a: $(LIB_OBJ) $(B)/objects.list
	$(call say,AR,$@)
	$(Q)rm -f $@ && ar rcs $@ $(LIB_OBJ)

$(B)/allocbench-worker: $(WORKER_OBJ)
	$(call say,LD,$@)
	$(Q)$(CC) $(PLAIN) $(LDFLAGS) -o $@ $^

# The recorder; under wrong1 and wrong2 with its two wrong orders, for the tests.
RECORDER := liballocbench-record.so
$(B)/$(RECORDER) $(B)/guests/wrong1/$(RECORDER) $(B)/guests/wrong2/$(RECORDER): $(RECORDER_SRC)
	$(call say,SO,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(filter-out -fPIE,$(CFLAGS)) $(PLAIN) -fPIC -fno-builtin -fvisibility=hidden \
	  -ftls-model=initial-exec -MMD -MP -MF $@.d -shared -Wl,-z,relro,-z,now \
	  $(if $(findstring wrong,$@),-DAB_RECORD_WRONG=$(patsubst $(B)/guests/wrong%/$(RECORDER),%,$@)) \
	  -Wl,-soname,$(RECORDER) -o $@ $(RECORDER_SRC)

$(B)/obj/%.o: %.c
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) $(PLAIN) $(SAN) -MMD -MP -c -o $@ $<

$(B)/obj/tests/%.o: CPPFLAGS += -Itests

$(B)/plain/%.o: %.c
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) $(PLAIN) -MMD -MP -c -o $@ $<

$(B)/tests/%: tests/%.c $(SUPPORT_OBJ) $(B)/liballocbench.a
	$(call say,TEST,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) -Itests $(CFLAGS) $(PLAIN) $(SAN) -MMD -MP -MF $@.d $(LDFLAGS) -o $@ \
	  $< $(SUPPORT_OBJ) $(B)/liballocbench.a -lcmocka $(LDLIBS)

$(B)/guests/lib%.so: tests/guests/lib%.c
	@mkdir -p $(@D)
	$(call say,SO,$@)
	$(Q)$(CC) $(CPPFLAGS) -std=gnu17 -O2 -g -Wall -Wextra -fPIC -fno-builtin -ftls-model=initial-exec -shared -o $@ $<

# broken allocators, for what must find them
MUTANT_LIB := $(patsubst tests/mutants/%.c,$(B)/mutants/%.so,$(sort $(wildcard tests/mutants/lib*.c)))
$(B)/mutants/lib%.so: tests/mutants/lib%.c $(wildcard tests/mutants/*.h)
	@mkdir -p $(@D)
	$(call say,SO,$@)
	$(Q)$(CC) $(CPPFLAGS) -std=gnu17 -O2 -g -Wall -Wextra -fPIC -fno-builtin -ftls-model=initial-exec -shared -o $@ $<

$(B)/guests/%: tests/guests/%.c
	@mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(CC) $(CPPFLAGS) -std=gnu17 -O1 -g -Wall -Wextra -fno-builtin -pthread -o $@ $<

-include $(shell find $(B) -name '*.d' 2>/dev/null)

# ---- fuzz targets: replayed over golden inputs in the tests, run by libFuzzer in `make fuzz` ----
FUZZ_SRC := $(sort $(wildcard tests/fuzz/fuzz_*.c))
FUZZ_BIN := $(FUZZ_SRC:tests/%.c=$(B)/%) \
            $(B)/fuzz/fuzz_trace_unchecked $(B)/fuzz/fuzz_check_unchecked
FUZZ_REPLAY := $(B)/obj/tests/fuzz/replay.o

$(B)/fuzz/%: tests/fuzz/%.c $(FUZZ_REPLAY) $(B)/liballocbench.a
	$(call say,FUZZ,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) -Itests $(CFLAGS) $(PLAIN) $(SAN) $(LDFLAGS) -o $@ $^ $(LDLIBS)

$(B)/fuzz/fuzz_tape: $(B)/obj/tests/fuzz/tape_model.o

# The reader without its checksums, ahead of the one in the library.
$(B)/fuzz/%_unchecked: tests/fuzz/%.c src/trace/reader.c $(FUZZ_REPLAY) $(B)/liballocbench.a
	$(call say,FUZZ,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) -Itests -DAB_TRACE_UNCHECKED $(CFLAGS) $(PLAIN) $(SAN) $(LDFLAGS) -o $@ $^ $(LDLIBS)

.PHONY: fuzz-bins fuzz
fuzz-bins: $(FUZZ_BIN)
FUZZ_SECONDS ?= 60
fuzz:
	$(Q)./scripts/fuzz $(FUZZ_SECONDS)

# ---- running it ----
.PHONY: quickstart test test-bins check unit unit-bins guests bench big interop deps install clean help
quickstart: all
	$(Q)$(B)/allocbench run configs/quickstart.yaml
	@echo
	$(Q)$(B)/allocbench replay $(firstword $(sort $(wildcard traces/*.abt)))

# What runs on several threads, under ThreadSanitizer too.
TSAN_TESTS := $(shell cat tests/tsan-tests)

unit-bins: $(UNIT_BIN)
guests: $(GUEST_LIB) $(MUTANT_LIB) $(GUEST_PROG) $(B)/guests/wrong1/$(RECORDER) $(B)/guests/wrong2/$(RECORDER) \
        $(B)/bench/big_trace $(B)/bench/peak_rss
unit: all guests $(UNIT_BIN)
	$(Q)fail=0; for t in $(UNIT_BIN); do $$t || fail=1; done; exit $$fail
# one unit test by name: make test_measure_hdr
test_%: $(B)/tests/unit/test_% all guests
	$(Q)$<

# Builds in parallel, then runs everything one by one: what is timed should be alone.
test-bins:
	$(Q)$(MAKE) --no-print-directory -j2 WERROR=1 VARIANT=release all unit-bins guests
	$(Q)$(MAKE) --no-print-directory -j2 WERROR=1 VARIANT=asan all unit-bins guests fuzz-bins
	$(Q)$(MAKE) --no-print-directory -j2 WERROR=1 VARIANT=tsan \
	  $(TSAN_TESTS:%=build/tsan/tests/unit/%)
test check: test-bins
	$(Q)./tests/run-all build/release build/asan build/tsan

$(B)/bench/%: tests/bench/%.c $(B)/liballocbench.a
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) $(PLAIN) $(SAN) $(LDFLAGS) -o $@ $^ $(LDLIBS)

bench: all guests $(B)/bench/null_instructions $(B)/bench/record_cost
	$(Q)./scripts/bench $(B)
big: all $(B)/bench/big_trace $(B)/bench/peak_rss
	$(Q)AB_BUILD=$(B) ./scripts/check-big
interop: all
	$(Q)./scripts/interop-hdr
.PHONY: aarch64
aarch64:
	$(Q)./scripts/check-aarch64
.PHONY: stress-record
stress-record: all guests
	$(Q)./scripts/stress-record
deps:
	$(Q)./scripts/deps build

LIBEXEC := $(DESTDIR)$(PREFIX)/libexec/allocbench
install: all
	install -d $(DESTDIR)$(PREFIX)/bin $(LIBEXEC) $(DESTDIR)$(PREFIX)/share/allocbench/configs
	install $(B)/allocbench $(DESTDIR)$(PREFIX)/bin
	install $(B)/allocbench-worker $(LIBEXEC)
	install -m 644 $(B)/liballocbench-record.so $(LIBEXEC)
	install -m 644 configs/*.yaml $(DESTDIR)$(PREFIX)/share/allocbench/configs
	install -m 644 scripts/plot.gp $(DESTDIR)$(PREFIX)/share/allocbench
	install -d $(DESTDIR)$(PREFIX)/include/allocbench
	install -m 644 allocators/ab_backend.h $(DESTDIR)$(PREFIX)/include/allocbench

clean:
	rm -rf build

help:
	@echo 'make [VARIANT=release|debug|asan|tsan] [WERROR=1] [V=1] TARGET'
	@echo '  all          allocbench, allocbench-worker, liballocbench-record.so (default)'
	@echo '  quickstart   build, measure configs/quickstart.yaml, replay a bundled trace'
	@echo '  test         everything: unit, contract, sanitizers, command line'
	@echo '  unit         unit and contract tests of this variant; test_NAME runs one'
	@echo '  bench        what the harness and the recorder cost, as ratios within one run'
	@echo '  big          memory does not grow with the length of a trace: 10 and 50 million calls'
	@echo '  fuzz         each fuzz target for FUZZ_SECONDS (60) under libFuzzer; needs clang'
	@echo '  interop      histograms against the readers of Java and JavaScript'
	@echo '  stress-record  ten million contended calls: is the order that is recorded a possible one?'
	@echo '  aarch64      compiles every source for aarch64; needs its gcc'
	@echo '  install      to PREFIX (default /usr/local), honours DESTDIR'
	@echo '  deps         the Debian packages that a build needs'
	@echo '  clean        remove build/'
