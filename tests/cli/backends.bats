#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# How back ends are named, set and found, and what is said of them.
# tests: cmd_list.c identity.c
# tests: open_heap.c prefixed_malloc.c

load helpers

run_with() { # LIST [OPTION…]
    bench run "$WORKLOADS/settings.yaml" --rounds 1 -b "$1" --json - "${@:2}"
}

expect_refused() { # LIST REGEX
    run_with "$1"
    expect_code 2
    expect_error "$2"
    [ ! -s "$OUT/stdout" ] || fail "something on standard output"
}

@test "settings of the workload's back ends are rows of their own" {
    bench run "$WORKLOADS/settings.yaml" --rounds 1 --json -
    expect_code 0
    expect_json '[.backends[].name] == ["glibc", "glibc{GLIBC_TUNABLES=glibc.malloc.tcache_count=0}",
        "arena:reserve=64MiB"]'
    expect_json '[.backends[].settings] == [[], ["GLIBC_TUNABLES=glibc.malloc.tcache_count=0"],
        ["reserve=64MiB"]]'
    expect_json '[.backends[].status] | all(. == "ok")'
}

@test "a variable reaches the worker and nobody else" {
    run_with "$GUESTS/libenv.so,$GUESTS/libenv.so{ENV_WANTED=yes;OTHER=a,b}"
    expect_code 4
    expect_json '.backends[0].status == "crashed"'
    expect_json '.backends[1].status == "ok"'
    ENV_WANTED=yes run_with "$GUESTS/libenv.so"
    expect_json '.backends[0].status == "crashed"' # what we have in our own is not passed on
}

@test "a tunable of glibc and the one that dlopen needs go together" {
    run_with "$GUESTS/libplug_good.so{GLIBC_TUNABLES=glibc.malloc.tcache_count=0}"
    expect_code 0
    expect_json '.backends[0].status == "ok"'
}

@test "functions with a prefix are measured, and are those of that file" {
    need_library mimalloc
    run_with "$library:prefix=mi_"
    expect_code 0
    expect_json '.backends[0] | .name == "mimalloc:prefix=mi_" and .status == "ok"
        and .boundary == "malloc" and (.path | test("libmimalloc"))
        and (.version | test("^[0-9]+[.][0-9]")) and .settings == ["prefix=mi_"]'
    run_with "$library:prefix=mi_,$library:prefix=xx_"
    expect_code 4
    expect_error 'mimalloc:prefix=xx_: does not define xx_malloc and xx_free'
}

# An allocator in the shape of the malloc lab: nothing works before mm_init, which needs mem_init.
make_lab() { # FOLDER, options of gcc
    cat >"$1/mm.c" <<'C'
#include <stddef.h>
#include <string.h>
static char heap[64 << 20], *lab_break;
static int has_memory, n_inits;
#ifdef MEMLIB
void mem_init(void) { has_memory = 1; }
#endif
#ifndef INIT
#define INIT mm_init
#endif
int INIT(void)
{
#ifdef MEMLIB
    if (!has_memory) return -1;
#endif
#ifdef FAILS
    return -1;
#endif
    if (n_inits++) return -1;
    lab_break = heap + 16;
    return 0;
}
void *mm_malloc(size_t n)
{
    size_t bytes = (n + 31) & ~(size_t)15;
    if (n == 0 || bytes > (size_t)(heap + sizeof heap - lab_break)) return NULL;
    char *p = lab_break + 16;
    *(size_t *)(p - 16) = n;
    lab_break += bytes;
    return p;
}
void mm_free(void *p) { (void)p; }
void *mm_realloc(void *p, size_t n)
{
    void *q = mm_malloc(n);
    size_t old = p ? *(size_t *)((char *)p - 16) : 0;
    if (q && p) memcpy(q, p, old < n ? old : n);
    return q;
}
C
    gcc -O1 -fPIC -shared "${@:2}" -o "$1/libmm.so" "$1/mm.c"
}

@test "an allocator of the malloc lab is initialized first: mm_init, mem_init ahead of it, or init=" {
    command -v gcc >/dev/null || skip "no gcc"
    printf '20000\n2\n4\n1\na 0 64\na 1 100\nr 0 200\nf 1\n' >"$OUT/t.rep"
    allocbench trace import -q "$OUT/t.rep" -o "$OUT/t.abt" 3>&-
    replay_lab() { # SETTINGS
        bench replay "$OUT/t.abt" --rounds 1 --json - -b "glibc,$OUT/libmm.so:prefix=mm_$1"
    }
    make_lab "$OUT"
    replay_lab ""
    expect_code 0
    expect_json '.backends[1] | .status == "ok" and .settings == ["prefix=mm_"]'
    replay_lab ":init=none" # a null pointer is written
    expect_code 4
    expect_json '.backends[1].status == "crashed"'
    make_lab "$OUT" -DMEMLIB
    replay_lab ""
    expect_code 0
    make_lab "$OUT" -DINIT=start -DMEMLIB
    replay_lab ":init=mem_init+start"
    expect_code 0
    expect_json '.backends[1] | .settings == ["prefix=mm_", "init=mem_init+start"]'
    replay_lab ":init=begin"
    expect_code 4
    expect_json '.backends[1].reason | test("does not define begin, which init= names")'
    make_lab "$OUT" -DFAILS
    replay_lab ""
    expect_code 4
    expect_json '.backends[1].reason | test("could not be initialized: mm_init returned -1")'
    bench replay "$OUT/t.abt" -b "glibc,$OUT/libmm.so"
    expect_code 4
    expect_error 'mm: has no malloc, but mm_malloc and mm_free: give it as .*/libmm.so:prefix=mm_;'
    bench replay "$OUT/t.abt" -b "glibc,$OUT/libmm.so:init=mm_init"
    expect_code 2
    expect_error 'init= is for functions with a prefix'
    replay_lab ":keep=8"
    expect_code 2
    expect_error 'beside prefix=NAME there can only be init=FUNCTION'
}

@test "a prefix without all functions makes the run partial, out of every ratio" {
    bench run "$WORKLOADS/aligned.yaml" --rounds 1 -b "$GUESTS/libprefix.so:prefix=few_,glibc" --json -
    expect_code 0
    expect_json '.backends[0] | .status == "partial" and (.reason | test("alloc_aligned"))'
    expect_json '[.results[] | select(.op == "all" and .backend == "prefix:prefix=few_")
        | .n_unsupported] | add > 0'
    bench run "$WORKLOADS/aligned.yaml" --rounds 1 -b "glibc,$GUESTS/libprefix.so:prefix=few_" --no-store
    grep -q 'partial' "$OUT/stdout" || fail "not said"
    ! grep -E '^ +prefix:prefix=few_ .*[0-9]x' "$OUT/stdout" || fail "it has a ratio"
}

@test "names are looked for in the folders of --backend-path" {
    mkdir "$OUT/plug ins"
    cp "$GUESTS/libplug_good.so" "$OUT/plug ins/libmine.so"
    run_with mine
    expect_code 2
    run_with mine --backend-path "/nowhere:$OUT/plug ins"
    expect_code 0
    expect_json '.backends[0] | .name == "mine" and .status == "ok" and (.path | test("libmine"))'
}

# bats test_tags=installed
@test "every library that is installed here serves all of the quickstart, and proves who it is" {
    local names
    names=$(installed_backends '.kind == "library"')
    bench run "$ROOT/configs/quickstart.yaml" --rounds 1 -b "$names" --set live=2000 --set churn=2000 \
        --set grow=500 --json -
    expect_code 0
    expect_json '.backends | map(.name) | join(",") == "'"$names"'"'
    expect_json '.backends | all(.status == "ok" and .version != null and .build_id != null
        and (.path | startswith("/")))'
    expect_json '.backends | map(.build_id) | unique | length == '"$(tr ',' '\n' <<<"$names" | wc -l)"
}

# bats test_tags=installed
@test "a proxy must hand over to the allocator beside it" {
    need_library tbb
    cp -L "$library" "$OUT/libtbbmalloc_proxy.so.2"
    run_with "tbb,$OUT/libtbbmalloc_proxy.so.2"
    expect_code 4
    expect_json '.backends[0].status == "ok"'
    expect_json '.backends[1] | .status == "wrong_library"
        and (.reason | test("calls /.*libtbbmalloc.so.2, not to .*/out/libtbbmalloc.so.2"))'
}

@test "a function with the prefix, but of another file, counts as missing" {
    bench run "$WORKLOADS/small.yaml" --rounds 1 -b "$GUESTS/liblibcprefix.so:prefix=__libc_" --json -
    expect_code 0
    expect_json '.config.phases | index("grow") != null' # it resizes
    expect_json '.backends[0] | .status == "partial" and (.reason | test("resize"))'
}

@test "a plug-in's parameters arrive, and are checked by its own table" {
    local guest=$GUESTS/libplug_params.so
    run_with "$guest:size=64KiB:n=12:mode=fast:check=on"
    expect_code 0
    expect_json '.backends[0].settings == ["size=64KiB", "n=12", "mode=fast", "check=on"]'
    run_with "$guest,$guest:size=2MiB,$guest:n=1.5,$guest:mode=fst,$guest:check=x,$guest:sze=1,$guest:n="
    expect_code 4
    expect_json '.backends[0].reason | test("open refused")' # by the guest: nothing was set
    expect_json '[.backends[1:][].status] | all(. == "wrong_library")'
    expect_json '.backends[1].reason | test("size=2MiB: must be from 16 to 1048576")'
    expect_json '.backends[2].reason | test("n=1.5: must be a whole number")'
    expect_json '.backends[3].reason | test("mode=fst: allowed: slow, fast; did you mean .fast.")'
    expect_json '.backends[4].reason | test("check=x: must be on or off")'
    expect_json '.backends[5].reason | test("parameters: size, n, mode, check; did you mean .size.")'
    expect_json '.backends[6].reason | test("n=: empty")'
}

@test "a plug-in whose table of parameters is wrong is refused, whatever is set" {
    run_with "$GUESTS/libplug_badparam.so"
    expect_code 4
    expect_json '.backends[0].reason | test("params.1. has a default outside min and max")'
}

@test "a back end that cannot do an op is shown, and in no ratio, summary or gate" {
    local guest=$GUESTS/libplug_noresize.so
    bench run "$WORKLOADS/small.yaml" --rounds 2 -b "glibc,$guest" --no-store \
        --gate 'plug_noresize:grow/all/ns_per_op < 1s' --json "$OUT/result.json"
    expect_code 1
    expect_json '.backends[1] | .status == "partial" and .reason == "cannot resize"' \
        "$OUT/result.json"
    expect_json '[.results[] | select(.backend == "plug_noresize" and .op == "all")] | length > 0' \
        "$OUT/result.json"
    expect_json '.gates[0].verdict == "not_evaluated"' "$OUT/result.json"
    grep -q 'plug_noresize (partial)' "$OUT/stdout" || fail "not shown"
    awk '/^ +whole run/ {on = 1} /^$/ {on = 0} on && /plug_noresize/ {n++; if (/faster|slower/) bad = 1}
         END {exit bad || n == 0}' "$OUT/stdout" || fail "it has a ratio"
    grep -q '^glibc takes .* for the whole run' "$OUT/stdout" || fail "the summary is not that of glibc alone"
    tr -s '\n ' ' ' <"$OUT/stdout" | grep -q 'Left out: plug_noresize (partial)\.' || fail "not said"
}

@test "what cannot be meant is refused before anything runs" {
    expect_refused 'glibc{LD_PRELOAD=x}' 'LD_PRELOAD cannot be set'
    expect_refused 'glibc{A=1' "must be closed"
    expect_refused 'glibc{}' 'nothing between the braces'
    expect_refused 'glibc{A=1;A=2}' 'set twice'
    expect_refused 'glibc{1A=2}' 'not VARIABLE=VALUE'
    expect_refused 'glibc{A=1},glibc{A=1}' 'given twice'
    expect_refused 'glibc:x=1' 'environment variables stand in braces'
    expect_refused 'slab:kep=1' 'did you mean "keep"'
    expect_refused 'jemaloc' 'did you mean "jemalloc"'
    expect_refused "$GUESTS/libtoy.so:prefix=9" 'beginning of a C name'
    expect_refused "$GUESTS/libtoy.so:prefx=a_" 'takes no parameters except purge=TIME.*prefix='
    expect_refused 'glibc{LD_LIBRARY_PATH=/x}' 'which libraries are loaded'
    expect_refused 'glibc{LD_AUDIT=/x}' 'LD_AUDIT cannot be set'
    expect_refused 'glibc{A=1;B=2},glibc{B=2;A=1}' 'the same back end with the same settings'
    expect_refused 'arena,arena:commit=0' 'leave one out'
    expect_refused '{A=1}' 'no back end before'
    bench run "$WORKLOADS/settings.yaml" -b mime --backend-path /nowhere
    expect_code 2
    expect_error 'neither libmime.so nor mime.so is in /nowhere'
    bench check "$WORKLOADS/settings.yaml" -b jemaloc
    expect_code 2
    expect_error 'did you mean "jemalloc"'
}

@test "rows whose settings differ at the end can be told apart" {
    bench run "$WORKLOADS/small.yaml" --rounds 1 --no-store \
        -b 'glibc{GLIBC_TUNABLES=glibc.malloc.tcache_count=0},glibc{GLIBC_TUNABLES=glibc.malloc.tcache_count=1}'
    expect_code 0
    grep -q '^  glibc{tcache_count=0} ' "$OUT/stdout" || fail "no row {tcache_count=0}"
    grep -q '^  glibc{tcache_count=1} ' "$OUT/stdout" || fail "no row {tcache_count=1}"
    grep -qF 'glibc{tcache_count=1}: glibc{GLIBC_TUNABLES=glibc.malloc.tcache_count=1}' "$OUT/stdout" ||
        fail "what it stands for is not said"
}

@test "list backends -v tells traits, parameters and packages" {
    bench list backends -v
    expect_code 0
    grep -Eq 'package +libjemalloc2' "$OUT/stdout"
    grep -q 'frees only on reset' "$OUT/stdout"
    grep -q ':keep=' "$OUT/stdout"
    grep -q 'multithreaded, cross-thread frees' "$OUT/stdout"
    grep -Eq ':keep=1024 \(0 to [0-9]+\) empty slabs' "$OUT/stdout"
    grep -Eq ':spare=4MiB \(0 to 64TiB\)' "$OUT/stdout"
    grep -Eq ':threads=auto \(auto, mutex' "$OUT/stdout"
    grep -Eq ':grow=on \(on, off\)' "$OUT/stdout"
    bench list backend
    expect_code 2
    expect_error 'did you mean "backends"'
}

@test "list backends --json is one document with the same" {
    bench list backends --json -
    expect_code 0
    expect_one_document
    expect_json '.schema == "allocbench-backends/1"'
    expect_json '[.backends[].name] | index("glibc") == 0 and index("slab") != null'
    expect_json '.backends[] | select(.name == "jemalloc") | .boundary == "malloc"
        and .package == "libjemalloc2" and (.status == "ok") == (.path != null)'
    expect_json '.backends[] | select(.name == "arena") | .boundary == "heap"
        and (.traits | index("never_frees") != null) and (.hooks | index("usable_size") == null)'
    expect_json '.backends[] | select(.name == "slab").params[] | select(.name == "threads")
        | .type == "choice" and .default == "auto" and .choices[:2] == ["auto", "mutex"]'
    bench list backends --json "$OUT/list.json"
    expect_code 0
    expect_one_document "$OUT/list.json"
    grep -q '^built in' "$OUT/stdout"
    bench list backends --json /nowhere/x.json
    expect_code 2
    expect_error 'cannot write'
}

@test "what would need more memory than allowed is not run, and says how much" {
    bench run "$WORKLOADS/settings.yaml" --rounds 1 -b arena,glibc --mem-limit 1MiB --json -
    expect_code 4
    expect_json '.backends[] | select(.name == "arena") | .status == "oom"
        and (.reason | test("never frees.*not run"))'
    expect_json '.backends[] | select(.name == "glibc") | .status == "ok"'
    # a plug-in says what it is only once it is loaded: it is not run all the same
    run_with "$GUESTS/libplug_nofree.so" --mem-limit 1MiB
    expect_code 4
    expect_json '.backends[0] | .status == "oom" and .never_frees
        and (.reason | test("never frees.*not run"))'
    expect_json '.results == [] and .rounds == []'
    run_with "$GUESTS/libplug_nofree.so"
    expect_code 0
    expect_json '.backends[0] | .status == "partial" and .reason == "cannot free"'
}

@test "the skeleton, copied and built as its page says, is a back end" {
    command -v cc >/dev/null || skip "no compiler"
    mkdir "$OUT/configs"
    cp -r "$ROOT/allocators" "$OUT/"
    cp "$WORKLOADS/settings.yaml" "$OUT/configs/quickstart.yaml"
    awk '/^## Write a back end/ {on = 1} /^4[.]/ {on = 0}
         on && /```/ {code = /```sh/; next} on && code' "$ROOT/allocators/README.md" >"$OUT/commands"
    [ "$(wc -l <"$OUT/commands")" -eq 3 ] || fail "not three commands: $(cat "$OUT/commands")"
    (cd "$OUT" && sh -e commands) >"$OUT/stdout" 2>"$OUT/stderr" || fail "the commands fail"
    grep -q '^  mine ' "$OUT/stdout" || fail "no row of the copy"
    sed -i 's/{name: glibc}/{name: .\/libmine.so, params: ["fill=on"]}/' "$OUT/configs/quickstart.yaml"
    (cd "$OUT" && allocbench run configs/quickstart.yaml --allow-plugins --rounds 1 --json -) >"$OUT/stdout"
    expect_json '.backends[0] | .name == "mine:fill=on" and .status == "ok" and .boundary == "heap"'
}

@test "threads=none with several threads says what to do" {
    cat >two.yaml <<Y
allocbench: 1
name: two
seed: 3
sets:
  - {name: parts, count: 30}
phases:
  - name: w
    lanes: 2
    until: iters(4)
    do:
      - {replace: parts, at: random, size: 48, count: 3}
Y
    for b in pool slab; do
        bench run two.yaml --rounds 1 -b "$b:threads=none"
        expect_code 4
        expect_error "threads=none is for one thread, this work has 2: leave the setting out, or use one of threads=auto, threads=mutex, threads=local, threads=sharded"
        bench run two.yaml --rounds 1 -b "$b"
        expect_code 0
    done
}

@test "sized frees go to the library's own function, and the report says to which" {
    bench run "$WORKLOADS/sized.yaml" --rounds 1 --json "$OUT/sized.json" \
        -b "glibc,$GUESTS/libsized.so,checked+$GUESTS/libsized.so,$GUESTS/libsized.so{SIZED_TRAPS=1},slab,pool,arena,handle"
    expect_code 4
    tr -s '\n ' ' ' <"$OUT/stdout" | grep -q 'sized frees: .*sized by free_sized.*; glibc by plain free' ||
        fail "the table does not say which function"
    cp "$OUT/sized.json" "$OUT/stdout"
    expect_json '[.backends[] | .status] ==
        ["ok", "ok", "decorated", "crashed", "ok", "ok", "ok", "ok"]'
    expect_json '.backends[0].sized_free == "free" and .backends[1].sized_free == "free_sized"
        and (.backends[4] | has("sized_free") | not)'
}

@test "a sized free of another library than the one that serves malloc is not called" {
    bench run "$WORKLOADS/sized.yaml" --rounds 1 --json - \
        -b "$GUESTS/libsizedelsewhere.so{ELSEWHERE=$GUESTS/libsized.so}"
    expect_code 0
    expect_json '.backends[0] | .status == "ok" and .sized_free == "free"'
}

@test "the sized frees of installed libraries, and of one behind a prefix and a map" {
    need_library jemalloc
    need_library mimalloc
    bench run "$WORKLOADS/sized.yaml" --rounds 1 --json - --map 'live=jemalloc,*=slab' \
        -b "jemalloc,checked+jemalloc,$library:prefix=mi_"
    expect_code 0
    expect_json '[.backends[].sized_free] == ["sdallocx", "sdallocx", "mi_free_size", "sdallocx"]'
}
