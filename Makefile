# SPDX-License-Identifier: MIT
# One Makefile, no configure. `make help` lists the targets; V=1 shows the commands.
# CPPFLAGS, CFLAGS, LDFLAGS and LDLIBS are the user's: they follow ours and never replace them.
#
# To make a release:
#   1. VERSION and RELEASED below; in CHANGELOG.md the version and the date above what is new.
#   2. `scripts/gen-docs`, `make help`, README.md: nothing names the old version any more.
#   3. `.ci/run` in a fresh clone ends with `0 failed`.
#   4. `make bench`; then its figures become those that the next release is held against:
#      `rm tests/bench/figures; AB_BENCH_FIGURES=tests/bench/figures make bench`.
#   5. `scripts/deps package`, `scripts/package/build-deb`, `tests/package/check`.
#   6. Commit, `git tag -s v$(VERSION)`, push the tag, publish the packages with their sums.

VARIANT ?= release
ifeq ($(filter $(VARIANT),release debug asan tsan fuzz coverage),)
$(error VARIANT=$(VARIANT): one of release, debug, asan, tsan, fuzz, coverage)
endif

B       := build/$(VARIANT)
CC      ?= cc
VERSION := 0.1.0
RELEASED := 2026-11-22
PREFIX  ?= /usr/local
LIBDIR  ?= $(PREFIX)/lib

WARN := -Wall -Wextra -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes -Wvla \
        -Wundef -Wformat=2 -Wpointer-arith -Werror=implicit-function-declaration \
        -Wno-missing-field-initializers
# At -Og gcc warns of what it does not see through: the warnings of the release build count.
ifeq ($(WERROR)$(filter asan tsan,$(VARIANT)),1)
WARN += -Werror
endif
FORTIFY := $(if $(filter -O0 -D_FORTIFY_SOURCE%,$(CPPFLAGS) $(CFLAGS)),,-D_FORTIFY_SOURCE=2)
HARDEN := -fstack-protector-strong -fstack-clash-protection $(FORTIFY)
ifeq ($(shell uname -m),x86_64)
HARDEN += -fcf-protection
endif
PLAIN_release := -O2 -g $(HARDEN)
PLAIN_debug   := -O0 -g3
# Sanitizer variants drive the release's worker and recorder: a preloaded malloc and ASan do not mix.
# -Og -g1 takes two thirds of the compiler's time at -O1 -g, and keeps files and lines in reports.
PLAIN_asan    := -Og -g1
PLAIN_tsan    := -Og -g1
PLAIN_fuzz    := -O1 -g
PLAIN_coverage := -O0 -g
SAN_asan      := -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
SAN_tsan      := -fsanitize=thread
SAN_fuzz      := -fsanitize=fuzzer-no-link $(SAN_asan)
SAN_coverage  := --coverage -fprofile-update=atomic
PLAIN := $(PLAIN_$(VARIANT))
SAN   := $(SAN_$(VARIANT))

AB_CPPFLAGS := -D_GNU_SOURCE -DAB_VERSION='"$(VERSION)"' -Isrc -I.
AB_CFLAGS   := -std=gnu17 -fPIE -fno-strict-aliasing -ffp-contract=off -fno-builtin-malloc \
               -fno-builtin-free $(WARN)
AB_LDFLAGS  := -pie -Wl,-z,relro,-z,now,-z,noexecstack
AB_LDLIBS   := -lcyaml -lyaml -lzstd -lz -lxxhash -ljansson -lmd -ldw -liberty -lm

# The manual pages have the date of the release, not of the build.
$(B)/obj/src/cli/manual.o: AB_CPPFLAGS += -DAB_RELEASED='"$(RELEASED)"'

# What compiles and links: for what a measuring process contains, and for the rest.
PLAIN_FLAGS = $(AB_CFLAGS) $(PLAIN) $(CFLAGS)
ALL_FLAGS   = $(AB_CFLAGS) $(PLAIN) $(SAN) $(CFLAGS)
CPP_FLAGS   = $(AB_CPPFLAGS) $(CPPFLAGS)
LINK        = $(CC) $(ALL_FLAGS) $(AB_LDFLAGS) $(LDFLAGS)
LIBS        = $(AB_LDLIBS) $(LDLIBS)
DEPS        = -MMD -MP -MF $@.d
# Flags that a result says of its own build; only session_record.c and version.c read them.
BUILD_FLAGS = $(filter -O% -f% -g% -m% -std=%,$(ALL_FLAGS))
$(B)/obj/src/document/session_record.o $(B)/obj/src/cli/version.o: \
  AB_CPPFLAGS += -DAB_FLAGS='"$(BUILD_FLAGS)"'

# allocators/examples: programs; the tests compile them.
sources = $(sort $(shell find $(1) -name '*.c' -not -path 'allocators/examples/*'))
# What a measuring process contains: these rooms. What a recorded program contains: its preload, and
# what tells a measured process the time: CLOCK_SRC.
# liballocbench-slab.so: a malloc for programs; what exports its names is in nothing else.
SLAB_MALLOC_SRC := $(call sources,allocators/slab_malloc)
# What only programs use stays out as well: a measuring process waits for no end of a thread.
WORKER_SRC := $(filter-out $(SLAB_MALLOC_SRC) allocators/arena/arena_scratch.c \
                allocators/common/shards_thread.c %_shared_own.c, \
              src/clock/steady_clock.c $(call sources,src/base src/worker allocators))
RECORDER_SRC := $(call sources,src/record/preload)
PRELOAD_SRC := $(filter src/record/preload/preload%,$(RECORDER_SRC))
CLOCK_SRC := src/clock/virtual_clock.c
# What `exec`, `exec --inside` and `exec --aged` preload into a program.
AGING_SRC := src/inside/aging_library.c
CLOSES_SRC := src/inside/closes.c
ASKED_SRC := src/inside/asked.c
INSIDE_SRC := $(filter-out $(AGING_SRC) $(CLOSES_SRC) $(ASKED_SRC),$(call sources,src/inside))
MAIN_SRC   := src/cli/main.c
LIB_SRC    := $(filter-out $(MAIN_SRC) $(PRELOAD_SRC) $(CLOCK_SRC) $(INSIDE_SRC) $(AGING_SRC) $(CLOSES_SRC) $(ASKED_SRC) src/record/frames.c src/worker/worker_main.c \
                allocators/slab_malloc/malloc.c, \
                $(call sources,src allocators))

LIB_OBJ    := $(LIB_SRC:%.c=$(B)/obj/%.o)
MAIN_OBJ   := $(MAIN_SRC:%.c=$(B)/obj/%.o)
WORKER_OBJ := $(WORKER_SRC:%.c=$(B)/obj/%.o)

SLAB_MALLOC := liballocbench-slab.so
TOOLS := $(B)/allocbench $(B)/allocbench-worker $(B)/liballocbench-record.so \
         $(B)/liballocbench-frames.so $(B)/liballocbench-clock.so $(B)/liballocbench-inside.so $(B)/liballocbench-litter.so \
         $(B)/liballocbench-closes.so $(B)/liballocbench-asked.so $(B)/$(SLAB_MALLOC)

# ---- tests: cmocka, a program a room and a link to it for each source file; tests/support/*.c linked
# into each. Programs of their own have those that replace functions of the C library, or take arguments,
# and under ThreadSanitizer all. ----
UNIT_SRC    := $(sort $(wildcard tests/unit/test_*.c tests/contract/test_*.c))
UNIT_BIN    := $(UNIT_SRC:tests/%.c=$(B)/tests/%)
UNIT_ALONE  := test_allocators_pages test_allocators_shards test_allocators_mutants
UNIT_SHARED := $(if $(filter tsan,$(VARIANT)),,$(filter-out $(UNIT_ALONE), \
                 $(patsubst tests/unit/%.c,%,$(filter tests/unit/%,$(UNIT_SRC)))))
UNIT_ROOMS  := $(sort $(foreach t,$(UNIT_SHARED),$(word 2,$(subst _, ,$t))))
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

# The rows of these tables without the sentences at their ends. Only the object of the table includes
# the sentences; all others include the rows, which change only if a row changes.
ROWS := $(patsubst %,build/fields/%.inc,result_fields memory_fields memory_dists)
build/fields/%.inc: src/result/%.def force
	@mkdir -p $(@D)
	@sed -zE 's,^/\*([^*]|\*[^/])*\*/\n,,; s/,\s*("([^"\\]|\\.)*"\s*)+\)/,)/g' $< >$@.$$$$ && \
	  if cmp -s $@.$$$$ $@; then rm $@.$$$$; else mv $@.$$$$ $@; fi

# Other flags or another compiler make other objects: each depends on this file, which changes
# with them. -Werror alone changes no object.
quoted = '$(subst ','\'',$(1))'
STAMP := $(strip $(filter-out -Werror,$(CC) $(shell $(CC) -dumpfullversion 2>/dev/null) $(CPP_FLAGS) \
         $(ALL_FLAGS) $(AB_LDFLAGS) $(LDFLAGS) $(LIBS)))
$(B)/flags: force | $(ROWS)
	@mkdir -p $(@D)
	@printf '%s\n' $(call quoted,$(STAMP)) | cmp -s - $@ || \
	  printf '%s\n' $(call quoted,$(STAMP)) >$@
.PHONY: force

$(B)/allocbench: $(MAIN_OBJ) $(B)/liballocbench.a
	$(call say,LD,$@)
	$(Q)$(LINK) -o $@ $^ $(LIBS)

# A source that is gone must leave the archive: the list of objects is a prerequisite too.
$(B)/objects.list: force
	@mkdir -p $(@D)
	@echo '$(LIB_OBJ)' | cmp -s - $@ || echo '$(LIB_OBJ)' >$@

$(B)/liballocbench.a: $(LIB_OBJ) $(B)/objects.list
	$(call say,AR,$@)
	$(Q)rm -f $@ && ar rcs $@ $(LIB_OBJ)

ifeq ($(SAN),)
$(B)/allocbench-worker: $(WORKER_OBJ)
	$(call say,LD,$@)
	$(Q)$(CC) $(PLAIN_FLAGS) $(AB_LDFLAGS) $(LDFLAGS) -o $@ $^ $(LDLIBS)
endif

$(B)/obj/%.o: %.c $(B)/flags
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPP_FLAGS) $(ALL_FLAGS) $(DEPS) -c -o $@ $<

# What the assembler includes, -MMD does not see.
$(B)/obj/src/report/html/assets.o: src/report/html/report.css src/report/html/report.js
$(B)/obj/src/app/calibrate.o: configs/churn.yaml
$(B)/obj/src/cli/cmd_init.o: $(wildcard configs/init/*)
$(B)/obj/src/cli/complete.o: $(wildcard src/cli/completion.*)

$(B)/obj/tests/%.o: AB_CPPFLAGS += -Itests
# Where the linker puts a timed loop must not show: at some places an op took a fifth longer.
$(B)/obj/src/worker/pass_%.o: AB_CPPFLAGS += -falign-functions=64

# The recorder; under wrong1 and wrong2 with its two wrong orders, for the tests.
RECORDER := liballocbench-record.so
FRAMES := $(B)/liballocbench-frames.so
CLOCK := $(B)/liballocbench-clock.so
INSIDE := $(B)/liballocbench-inside.so
AGING := $(B)/liballocbench-litter.so
CLOSES := $(B)/liballocbench-closes.so
ASKED := $(B)/liballocbench-asked.so
RECORDERS := $(B)/$(RECORDER) $(B)/guests/wrong1/$(RECORDER) $(B)/guests/wrong2/$(RECORDER)
RECORDER_FLAGS = $(filter-out -fPIE,$(PLAIN_FLAGS)) -fPIC -fno-builtin -fvisibility=hidden \
                 -ftls-model=initial-exec
RECORDER_OBJ := $(RECORDER_SRC:.c=.o)

ifeq ($(SAN),)
$(B)/$(RECORDER): $(RECORDER_OBJ:%=$(B)/recorder/%)
$(B)/guests/wrong1/$(RECORDER): $(RECORDER_OBJ:%=$(B)/recorder1/%)
$(B)/guests/wrong2/$(RECORDER): $(RECORDER_OBJ:%=$(B)/recorder2/%)
$(FRAMES): $(B)/recorder/src/record/frames.o
$(CLOCK): $(CLOCK_SRC:%.c=$(B)/recorder/%.o)
# An exception of the allocator's operator new passes through it.
$(B)/recorder/src/inside/%.o: RECORDER_FLAGS += -fexceptions
$(INSIDE): $(INSIDE_SRC:%.c=$(B)/recorder/%.o)
$(AGING): $(patsubst %.c,$(B)/recorder/%.o,$(AGING_SRC) src/base/aging.c src/base/rng.c)
$(CLOSES): $(CLOSES_SRC:%.c=$(B)/recorder/%.o)
$(ASKED): $(ASKED_SRC:%.c=$(B)/recorder/%.o)
$(RECORDERS) $(FRAMES) $(CLOCK) $(INSIDE) $(AGING) $(CLOSES) $(ASKED):
	$(call say,SO,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(RECORDER_FLAGS) -shared -Wl,-z,relro,-z,now,-z,separate-code -Wl,-soname,$(@F) $(LDFLAGS) \
	  -o $@ $(filter %.o,$^) $(LDLIBS)
endif

RECORDER_CC = $(Q)mkdir -p $(@D) && $(CC) $(CPP_FLAGS) $(RECORDER_FLAGS) $(DEPS) -c -o $@ $<
$(B)/recorder/%.o: %.c $(B)/flags
	$(call say,CC,$<)
	$(RECORDER_CC)
$(B)/recorder1/%.o: %.c $(B)/flags
	$(RECORDER_CC) -DAB_RECORD_WRONG=1
$(B)/recorder2/%.o: %.c $(B)/flags
	$(RECORDER_CC) -DAB_RECORD_WRONG=2

# Without -fcf-protection, as the malloc libraries of distributions are: it costs two instructions a pair.
SLAB_MALLOC_FLAGS = $(filter-out -fPIE -fcf-protection,$(PLAIN_FLAGS)) -fPIC -fno-builtin \
                    -fvisibility=hidden -ftls-model=initial-exec
ifeq ($(SAN),)
$(B)/$(SLAB_MALLOC): $(patsubst %.c,$(B)/slab_malloc/%.o,$(SLAB_MALLOC_SRC) allocators/common/pages.c)
	$(call say,SO,$@)
	$(Q)$(CC) $(SLAB_MALLOC_FLAGS) -shared -Wl,-z,relro,-z,now,-z,initfirst -Wl,-soname,$(SLAB_MALLOC) \
	  $(LDFLAGS) -o $@ $^ $(LDLIBS)
endif
$(B)/slab_malloc/%.o: %.c $(B)/flags
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D) && $(CC) $(CPP_FLAGS) $(SLAB_MALLOC_FLAGS) $(DEPS) -c -o $@ $<

TEST_PARTS = $(SUPPORT_OBJ) $(B)/liballocbench.a
$(B)/tests/%: tests/%.c $(TEST_PARTS)
	$(call say,TEST,$@)
	@mkdir -p $(@D)
	$(Q)$(LINK) $(CPP_FLAGS) -Itests $(DEPS) -o $@ $< $(TEST_PARTS) -lcmocka $(LIBS)

$(B)/unit/%.o: tests/unit/%.c $(B)/flags
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPP_FLAGS) -Itests -Dmain=$*_main $(ALL_FLAGS) -Wno-missing-prototypes $(DEPS) -c -o $@ $<
define ROOM_RULES
$(B)/unit/room_$1.list: force
	@mkdir -p $$(@D)
	@echo '$(filter test_$1_%,$(UNIT_SHARED))' | cmp -s - $$@ || echo '$(filter test_$1_%,$(UNIT_SHARED))' >$$@
$(B)/unit/room_$1.o: tests/room.c $(B)/unit/room_$1.list $(B)/flags
	$$(call say,CC,$$@)
	$$(Q)$$(CC) $$(CPP_FLAGS) '-DROOM_TESTS(X)=$(patsubst %,X(%),$(filter test_$1_%,$(UNIT_SHARED)))' $$(ALL_FLAGS) $$(DEPS) -c -o $$@ $$<
$(B)/tests/unit/room_$1: $(B)/unit/room_$1.o $(patsubst %,$(B)/unit/%.o,$(filter test_$1_%,$(UNIT_SHARED))) $$(TEST_PARTS)
	$$(call say,TEST,$$@)
	@mkdir -p $$(@D)
	$$(Q)$$(LINK) -o $$@ $$^ -lcmocka $$(LIBS)
$(patsubst %,$(B)/tests/unit/%,$(filter test_$1_%,$(UNIT_SHARED))): $(B)/tests/unit/room_$1
	$$(Q)ln -sf room_$1 $$@
endef
$(foreach r,$(UNIT_ROOMS),$(eval $(call ROOM_RULES,$r)))

# What the tests in tests/tsan-tests are linked with: a quarter of the library, from these rooms. A test
# that needs more does not link.
THREAD_ROOMS := allocators src/backend src/base src/core src/tape src/trace src/worker
THREAD_OBJ := $(patsubst %.c,$(B)/obj/%.o,$(filter $(THREAD_ROOMS:%=%/%),$(LIB_SRC)) $(SUPPORT_SRC))
$(B)/libthreads.a: $(THREAD_OBJ) $(B)/objects.list
	$(call say,AR,$@)
	$(Q)rm -f $@ && ar rcs $@ $(THREAD_OBJ)

# The allocators as a library of their own: strict C, nothing of ours around it.
HEAPS_FOLDERS := common arena pool slab handle paged
HEAPS_SRC := $(sort $(filter-out %_backend.c,$(wildcard $(HEAPS_FOLDERS:%=allocators/%/*.c))))
HEAPS_HEADERS := $(sort $(wildcard allocators/ab_allocator*.h) \
                 $(filter-out $(addprefix allocators/common/,pages.h checked.h shards.h) allocators/slab/size_class.h, \
                   $(wildcard $(HEAPS_FOLDERS:%=allocators/%/*.h))) allocators/cpp/heaps.hpp)
HEAPS_OBJ := $(HEAPS_SRC:allocators/%.c=$(B)/heaps/%.o)
HEAPS_A   := $(B)/liballocbench-heaps.a
HEAPS_SO  := $(B)/liballocbench-heaps.so.0
HEAPS_FLAGS = $(filter-out -std=% -fPIE,$(PLAIN_FLAGS)) -std=c11 -Wpedantic -fPIC

.PHONY: heaps single-headers
heaps: $(HEAPS_A) $(HEAPS_SO)
$(B)/heaps/%.o: allocators/%.c $(B)/flags
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(HEAPS_FLAGS) $(DEPS) -c -o $@ $<
$(B)/heaps.list: force
	@mkdir -p $(@D)
	@echo '$(HEAPS_OBJ)' | cmp -s - $@ || echo '$(HEAPS_OBJ)' >$@
$(HEAPS_A): $(HEAPS_OBJ) $(B)/heaps.list
	$(call say,AR,$@)
	$(Q)rm -f $@ && ar rcs $@ $(HEAPS_OBJ)
$(HEAPS_SO): $(HEAPS_OBJ) $(B)/heaps.list allocators/heaps.map
	$(call say,SO,$@)
	$(Q)$(CC) $(HEAPS_FLAGS) -shared -Wl,-z,relro,-z,now,-z,defs -Wl,-soname,$(notdir $@) \
	  -Wl,--version-script=allocators/heaps.map $(LDFLAGS) -o $@ $(HEAPS_OBJ) -pthread $(LDLIBS)

single-headers:
	$(Q)./scripts/single-headers build/single

# Guests are programs of others: they have flags of their own and only the user's CPPFLAGS.
# tests/mutants: broken allocators, for what must find them
GUEST_FLAGS    := -std=gnu17 -g -Wall -Wextra -fno-builtin
GUEST_SO_FLAGS := $(GUEST_FLAGS) -O2 -fPIC -ftls-model=initial-exec -shared
MUTANT_LIB := $(patsubst tests/mutants/%.c,$(B)/mutants/%.so,$(sort $(wildcard tests/mutants/lib*.c)))

$(B)/guests/lib%.so: tests/guests/lib%.c $(B)/flags
	@mkdir -p $(@D)
	$(call say,SO,$@)
	$(Q)$(CC) $(CPP_FLAGS) $(GUEST_SO_FLAGS) $(DEPS) -o $@ $<

$(B)/mutants/lib%.so: tests/mutants/lib%.c $(B)/flags
	@mkdir -p $(@D)
	$(call say,SO,$@)
	$(Q)$(CC) $(CPP_FLAGS) $(GUEST_SO_FLAGS) $(DEPS) -o $@ $<

$(B)/guests/%: tests/guests/%.c $(B)/flags
	@mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(CC) $(CPP_FLAGS) $(GUEST_FLAGS) -O1 -pthread $(DEPS) -o $@ $<

# What measures and what is measured: sanitizer variants take these files of the release build.
PLAIN_FILES := $(filter-out $(B)/allocbench,$(TOOLS)) $(RECORDERS) $(GUEST_LIB) $(MUTANT_LIB) $(GUEST_PROG)
ifneq ($(SAN),)
.PHONY: release-files
release-files:
	$(Q)$(MAKE) --no-print-directory VARIANT=release B=build/release $(patsubst $(B)/%,build/release/%,$(sort $(PLAIN_FILES)))
$(sort $(PLAIN_FILES)): $(B)/%: release-files
	@mkdir -p $(@D)
	$(Q)ln -f build/release/$* $@
endif

-include $(shell find $(B) -name '*.d' 2>/dev/null)

# ---- fuzz targets: replayed over golden inputs in the tests, run by libFuzzer (VARIANT=fuzz, which
# needs clang) in `make fuzz` ----
FUZZ_SRC := $(sort $(wildcard tests/fuzz/fuzz_*.c))
FUZZ_BIN := $(FUZZ_SRC:tests/%.c=$(B)/%) \
            $(B)/fuzz/fuzz_trace_unchecked $(B)/fuzz/fuzz_check_unchecked
FUZZ_REPLAY := $(if $(filter fuzz,$(VARIANT)),,$(B)/obj/tests/fuzz/replay.o)
LIBFUZZER := $(if $(filter fuzz,$(VARIANT)),-fsanitize=fuzzer)

$(B)/fuzz/%: $(B)/obj/tests/fuzz/%.o $(FUZZ_REPLAY) $(B)/liballocbench.a
	$(call say,FUZZ,$@)
	@mkdir -p $(@D)
	$(Q)$(LINK) $(LIBFUZZER) -o $@ $^ $(LIBS)

$(B)/fuzz/fuzz_tape: $(B)/obj/tests/fuzz/tape_model.o

# The reader without its checksums, ahead of the one in the library.
$(B)/fuzz/%_unchecked: $(B)/unchecked/tests/fuzz/%.o $(B)/unchecked/src/trace/reader.o \
                       $(FUZZ_REPLAY) $(B)/liballocbench.a
	$(call say,FUZZ,$@)
	@mkdir -p $(@D)
	$(Q)$(LINK) $(LIBFUZZER) -o $@ $^ $(LIBS)

$(B)/unchecked/%.o: %.c $(B)/flags
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPP_FLAGS) -Itests -DAB_TRACE_UNCHECKED $(ALL_FLAGS) $(DEPS) -c -o $@ $<

.PHONY: fuzz-bins fuzz
fuzz-bins: $(FUZZ_BIN)
FUZZ_SECONDS ?= 60
fuzz:
	$(Q)./scripts/fuzz $(FUZZ_SECONDS)

# ---- running it ----
# What an editor or clang-tidy needs to know of each source.
compile_commands.json: $(B)/flags $(B)/objects.list
	$(Q)printf '%s\n' $(foreach s,$(sort $(LIB_SRC) $(MAIN_SRC) $(WORKER_SRC) $(PRELOAD_SRC) $(CLOCK_SRC) $(INSIDE_SRC) $(UNIT_SRC) $(SUPPORT_SRC)),'$(s)') | \
	  jq -R --arg dir '$(CURDIR)' --arg cc $(call quoted,$(CC) $(CPP_FLAGS) -Itests $(ALL_FLAGS)) \
	  '{directory: $$dir, file: ., command: ($$cc + " -c " + .)}' | jq -s . >$@

FORMATTED := $(shell find src allocators tests -name '*.[ch]')
CLANG_FORMAT ?= clang-format
.PHONY: format check-format uninstall
format:
	$(Q)$(CLANG_FORMAT) -i $(FORMATTED)
check-format:
	$(Q)$(CLANG_FORMAT) --dry-run -Werror $(FORMATTED)

.PHONY: quickstart test test-bins test-full test-bins-full check unit unit-bins guests bench big interop deps install clean help
quickstart: all
	$(Q)$(B)/allocbench run configs/quickstart.yaml
	@echo 'next: your own program: $(B)/allocbench exec -- PROGRAM ARGUMENTS (measures it under each allocator)'

# What runs on several threads, under ThreadSanitizer too.
TSAN_TESTS := $(shell cat tests/tsan-tests)

# What runs in workers and in the preloads is not counted: they are built without.
.PHONY: coverage
coverage:
	$(Q)$(MAKE) $(SUBMAKE) VARIANT=coverage all unit-bins guests
	$(Q)find build/coverage -name '*.gcda' -delete
	$(Q)-for t in $(UNIT_SRC:tests/%.c=build/coverage/tests/%); do \
	  AB_BUILD=build/coverage $$t >/dev/null 2>&1 || echo "failed: $$t"; done
	$(Q)gcovr -r . --object-directory build/coverage --filter src/ --filter allocators/ --print-summary \
	  -o build/coverage/lines.txt

unit-bins: $(UNIT_BIN)
guests: $(PLAIN_FILES) \
        $(B)/bench/big_trace $(B)/bench/peak_rss
unit: all guests $(UNIT_BIN)
	$(Q)fail=0; for t in $(UNIT_BIN); do $$t || fail=1; done; exit $$fail
# One test of any kind by name: make test-result_hdr, test-contract, test-run.
test-%: all guests
	$(Q)binary=; for kind in unit contract; do \
	  [ ! -e tests/$$kind/test_$*.c ] || binary=$(B)/tests/$$kind/test_$*; \
	done; \
	if [ -n "$$binary" ]; then $(MAKE) --no-print-directory $$binary && AB_BUILD=$(B) exec $$binary; \
	elif [ -e tests/cli/$*.bats ]; then AB_BUILD=$(B) exec bats tests/cli/$*.bats; \
	else echo 'no test is called $*' >&2; exit 2; fi

# Builds in parallel, then runs everything one by one: what is timed should be alone.
# The caller's -j holds for them too; without one, as many as there are CPUs.
SUBMAKE = $(if $(filter -j% --jobserver%,$(MAKEFLAGS)),,-j$(shell nproc)) --no-print-directory WERROR=1
test-bins:
	$(Q)$(MAKE) $(SUBMAKE) VARIANT=release all unit-bins guests
test-bins-full: test-bins
	$(Q)$(MAKE) $(SUBMAKE) VARIANT=asan all unit-bins guests fuzz-bins
	$(Q)$(MAKE) $(SUBMAKE) VARIANT=tsan TEST_PARTS=build/tsan/libthreads.a $(TSAN_TESTS:%=build/tsan/tests/unit/%)
test check: test-bins
	$(Q)./tests/run-all
test-full: test-bins-full
	$(Q)./tests/run-all --full

$(B)/bench/%: $(B)/obj/tests/bench/%.o $(B)/liballocbench.a
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(LINK) -o $@ $(filter %.o,$^) $(filter %.a,$^) $(LIBS)
$(B)/bench/effect_simulation: $(B)/obj/tests/support/noise_model.o

bench: all guests $(B)/bench/null_instructions $(B)/bench/record_cost $(B)/bench/command_costs \
       $(B)/bench/nested_scratch
	$(Q)./scripts/bench $(B)
big: all $(B)/bench/big_trace $(B)/bench/peak_rss
	$(Q)AB_BUILD=$(B) ./scripts/check-big
interop: all
	$(Q)./scripts/interop-hdr
.PHONY: aarch64
aarch64: $(ROWS)
	$(Q)./scripts/check-aarch64
.PHONY: stress-record
stress-record: all guests
	$(Q)./scripts/stress-record
deps:
	$(Q)./scripts/deps build

LIBEXEC := $(DESTDIR)$(PREFIX)/libexec/allocbench
LIB_DIR := $(DESTDIR)$(PREFIX)/lib/allocbench
# Written from the tables of commands, options and words, and from the documents of the allocators and
# of the two formats.
COMMANDS := $(shell sed -n 's/^AB_COMMAND.[A-Z_]*, \([a-z_]*\),.*/\1/p' src/cli/commands.def)
MAN_PAGES := allocbench.1 $(COMMANDS:%=allocbench-%.1) allocbench-workload.5 allocbench-trace.5 \
             allocbench-allocators.7 allocbench-glossary.7
COMPLETION_FILES := allocbench.bash _allocbench allocbench.fish
MAN := $(MAN_PAGES:%=$(B)/man/%) $(COMPLETION_FILES:%=$(B)/completions/%)

$(B)/man/allocbench.1: $(B)/allocbench
	$(call say,MAN,$@)
	@mkdir -p $(@D)
	$(Q)$< --man >$@
$(B)/man/allocbench-%.1: $(B)/allocbench
	$(call say,MAN,$@)
	@mkdir -p $(@D)
	$(Q)$< --man $* >$@
$(B)/man/allocbench-glossary.7: $(B)/allocbench
	$(call say,MAN,$@)
	@mkdir -p $(@D)
	$(Q)$< --man glossary >$@
MD_TO_MAN = ./scripts/md-to-man "$(RELEASED)" "allocbench $(VERSION)"
$(B)/man/allocbench-workload.5: configs/README.md scripts/md-to-man
	$(call say,MAN,$@)
	@mkdir -p $(@D)
	$(Q)$(MD_TO_MAN) allocbench-workload 5 'the workload language of allocbench' $< >$@
$(B)/man/allocbench-trace.5: traces/FORMAT.md scripts/md-to-man
	$(call say,MAN,$@)
	@mkdir -p $(@D)
	$(Q)$(MD_TO_MAN) allocbench-trace 5 'the trace file of allocbench' $< >$@
$(B)/man/allocbench-allocators.7: allocators/README.md scripts/md-to-man
	$(call say,MAN,$@)
	@mkdir -p $(@D)
	$(Q)$(MD_TO_MAN) allocbench-allocators 7 'allocators as back ends and as a library' $< >$@

$(B)/completions/allocbench.bash: $(B)/allocbench
	$(call say,SH,$@)
	@mkdir -p $(@D)
	$(Q)$< --completion bash >$@
$(B)/completions/_allocbench: $(B)/allocbench
	$(call say,SH,$@)
	@mkdir -p $(@D)
	$(Q)$< --completion zsh >$@
$(B)/completions/allocbench.fish: $(B)/allocbench
	$(call say,SH,$@)
	@mkdir -p $(@D)
	$(Q)$< --completion fish >$@
.PHONY: man
man: $(MAN)

MAN_DIR := $(DESTDIR)$(PREFIX)/share/man
BASH_COMPLETIONS := $(DESTDIR)$(PREFIX)/share/bash-completion/completions
ZSH_COMPLETIONS := $(DESTDIR)$(PREFIX)/share/zsh/site-functions
FISH_COMPLETIONS := $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d
SHARE := $(DESTDIR)$(PREFIX)/share/allocbench
DOC := $(DESTDIR)$(PREFIX)/share/doc/allocbench
INCLUDE := $(DESTDIR)$(PREFIX)/include/allocbench
PKGCONFIG := $(DESTDIR)$(PREFIX)/share/pkgconfig
install: all install-man install-share install-develop install-heaps
	install -d $(DESTDIR)$(PREFIX)/bin $(LIBEXEC) $(LIB_DIR)
	install $(B)/allocbench $(DESTDIR)$(PREFIX)/bin
	install $(B)/allocbench-worker $(LIBEXEC)
	install -m 644 $(B)/$(RECORDER) $(FRAMES) $(CLOCK) $(INSIDE) $(AGING) $(CLOSES) $(ASKED) $(LIBEXEC)
	install -m 644 $(B)/$(SLAB_MALLOC) $(LIB_DIR)

.PHONY: install-man
install-man: man
	install -d $(MAN_DIR)/man1 $(MAN_DIR)/man5 $(MAN_DIR)/man7
	install -m 644 $(filter %.1,$(MAN_PAGES:%=$(B)/man/%)) $(MAN_DIR)/man1
	install -m 644 $(filter %.5,$(MAN_PAGES:%=$(B)/man/%)) $(MAN_DIR)/man5
	install -m 644 $(filter %.7,$(MAN_PAGES:%=$(B)/man/%)) $(MAN_DIR)/man7
	install -d $(BASH_COMPLETIONS) $(ZSH_COMPLETIONS) $(FISH_COMPLETIONS)
	install -m 644 $(B)/completions/allocbench.bash $(BASH_COMPLETIONS)/allocbench
	install -m 644 $(B)/completions/_allocbench $(ZSH_COMPLETIONS)
	install -m 644 $(B)/completions/allocbench.fish $(FISH_COMPLETIONS)

# Workloads, recorded traces and pages: what one reads and measures.
.PHONY: install-share install-develop
install-share:
	install -d $(SHARE)/configs/ci $(SHARE)/traces
	install -m 644 configs/*.yaml $(SHARE)/configs
	for group in seeds classics fragmentation; do install -d $(SHARE)/configs/$$group && \
	  install -m 644 configs/$$group/* $(SHARE)/configs/$$group || exit 1; done
	install -m 644 $(wildcard configs/ci/*.yml) $(SHARE)/configs/ci
	install $(wildcard configs/ci/*.sh) $(SHARE)/configs/ci
	install -m 644 traces/*.abt $(SHARE)/traces
	./scripts/install-docs $(DOC)

# For a back end of one's own: the header, the template, where both are found.
install-develop:
	install -d $(INCLUDE) $(SHARE)/skeleton $(PKGCONFIG)
	install -m 644 allocators/ab_backend.h src/record/mark.h $(INCLUDE)
	sed 's|"allocators/ab_backend.h"|<allocbench/ab_backend.h>|' \
	  allocators/skeleton/skeleton.c >$(SHARE)/skeleton/skeleton.c
	printf '%s\n' 'prefix=$(PREFIX)' 'Name: allocbench' 'Version: $(VERSION)' \
	  'Description: header of back ends for allocbench' 'Cflags: -I$${prefix}/include' \
	  >$(PKGCONFIG)/allocbench.pc

# The library of allocators, its headers in one folder. They know no marks, as it does.
HEAPS_INCLUDE := $(INCLUDE)/heaps
HEAPS_LIB := $(DESTDIR)$(LIBDIR)
HEAPS_CMAKE := $(HEAPS_LIB)/cmake/allocbench-heaps
.PHONY: install-heaps
install-heaps: heaps
	install -d $(HEAPS_INCLUDE) $(HEAPS_LIB)/pkgconfig $(HEAPS_CMAKE)
	install -m 644 $(HEAPS_A) $(HEAPS_SO) $(HEAPS_LIB)
	ln -sf $(notdir $(HEAPS_SO)) $(HEAPS_LIB)/liballocbench-heaps.so
	./scripts/single-headers $(B)/single
	for header in $(HEAPS_HEADERS) $(patsubst allocators/buffer/%,$(B)/single/%,$(wildcard allocators/buffer/*.h)); do \
	  sed -e 's|^#include ".*/\([a-z_]*\.h\)"|#include "\1"|' \
	    -e 's|^#define AB_ALLOCATORS_MARKS_H|&\n\n#define AB_MARKS_OFF|' \
	    -e 's|^#define AB_ALLOCATORS_LANGUAGE_H|&\n\n#ifdef AB_WITH_CHECKS\n#error "compile the sources: the library has no checked build"\n#endif|' \
	    $$header >$(HEAPS_INCLUDE)/$${header##*/} || exit 1; \
	done
	# Names of headers whose contents moved.
	printf '#include "%s"\n' pool.h pool_lockfree.h >$(HEAPS_INCLUDE)/pool_allocator.h
	printf '#include "%s"\n' slab.h >$(HEAPS_INCLUDE)/slab_allocator.h
	printf '#include "%s"\n' paged_pool.h >$(HEAPS_INCLUDE)/paged_allocator.h
	printf '%s\n' 'prefix=$(PREFIX)' 'libdir=$(LIBDIR)' 'Name: allocbench-heaps' \
	  'Version: $(VERSION)' 'Description: arena, pool, slab, paged arena and handle arena' \
	  'Cflags: -I$${prefix}/include' 'Libs: -L$${libdir} -lallocbench-heaps' 'Libs.private: -pthread' \
	  >$(HEAPS_LIB)/pkgconfig/allocbench-heaps.pc
	for file in allocators/cmake/*; do \
	  sed -e 's|@VERSION@|$(VERSION)|' \
	    -e "s|@INCLUDE@|$$(realpath -ms --relative-to='$(LIBDIR)' '$(PREFIX)/include')|" \
	    $$file >$(HEAPS_CMAKE)/$${file##*/} || exit 1; \
	done

# What install puts there, and the folders that are empty then.
uninstall:
	rm -f $(DESTDIR)$(PREFIX)/bin/allocbench $(BASH_COMPLETIONS)/allocbench
	rm -f $(ZSH_COMPLETIONS)/_allocbench $(FISH_COMPLETIONS)/allocbench.fish
	rm -f $(foreach p,$(MAN_PAGES),$(MAN_DIR)/man$(subst .,,$(suffix $(p)))/$(p))
	rm -f $(PKGCONFIG)/allocbench.pc $(HEAPS_LIB)/pkgconfig/allocbench-heaps.pc
	rm -f $(addprefix $(HEAPS_LIB)/liballocbench-heaps.,a so so.0)
	rm -rf $(LIBEXEC) $(LIB_DIR) $(SHARE) $(DOC) $(INCLUDE) $(HEAPS_CMAKE)

clean:
	rm -rf build compile_commands.json

help:
	@echo 'make [VARIANT=release|debug|asan|tsan|fuzz|coverage] [WERROR=1] [V=1] TARGET'
	@echo 'CPPFLAGS, CFLAGS, LDFLAGS and LDLIBS are added to ours'
	@echo '  all          allocbench, allocbench-worker and their libraries (default)'
	@echo '  quickstart   build, measure configs/quickstart.yaml'
	@echo '  test         proves the product in some minutes: unit, contract, command line'
	@echo '  test-full    everything: also slow tests, sanitizers, fuzz inputs'
	@echo '  unit         unit and contract tests of this variant'
	@echo '  test-NAME    one test of any kind: test-run, test-result_hdr, test-contract'
	@echo '  bench        what the harness and the recorder cost, as ratios within one run'
	@echo '  big          memory does not grow with the length of a trace: 10 and 50 million calls'
	@echo '  fuzz         each fuzz target for FUZZ_SECONDS (60) under libFuzzer; needs clang'
	@echo '  coverage     lines of src/ and allocators/ that unit and contract tests run; needs gcovr'
	@echo '  interop      histograms against the readers of Java and JavaScript'
	@echo '  stress-record  ten million contended calls: is the order that is recorded a possible one?'
	@echo '  aarch64      compiles every source for aarch64; needs its gcc'
	@echo '  heaps        the allocators as a library: liballocbench-heaps.a and .so.0'
	@echo '  single-headers  build/single/: each allocator in one header; over a buffer, also for 32 bits'
	@echo '  man          manual pages and completions for bash, zsh and fish'
	@echo '  install      to PREFIX (default /usr/local), honours DESTDIR'
	@echo '  uninstall    removes what install puts there'
	@echo '  compile_commands.json  for editors and clang-tidy; needs jq'
	@echo '  format       the sources as .clang-format says; check-format only looks'
	@echo '  deps         the Debian packages that a build needs'
	@echo '  clean        remove build/'
