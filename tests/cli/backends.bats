#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# How back ends are named, set and found, and what is said of them.

load helpers

run_with() { # LIST [OPTION…]
    bench run "$WORKLOADS/settings.yaml" --reps 1 -b "$1" --json - "${@:2}"
}

expect_refused() { # LIST REGEX
    run_with "$1"
    expect_code 2
    expect_error "$2"
    [ ! -s "$OUT/stdout" ] || fail "something on standard output"
}

mimalloc() {
    local found
    found=$(allocbench list backends | awk '$1 == "mimalloc" {print $3}')
    case $found in
    /*) echo "$found" ;;
    *) skip "no mimalloc here" ;;
    esac
}

@test "settings of the workload's back ends are rows of their own" {
    bench run "$WORKLOADS/settings.yaml" --reps 1 --json -
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
    library=$(mimalloc)
    run_with "$library:prefix=mi_,$library:prefix=xx_"
    expect_code 4
    expect_json '.backends[0] | .name == "mimalloc:prefix=mi_" and .status == "ok"
        and .boundary == "malloc" and (.path | test("libmimalloc"))'
    expect_json '.backends[1] | .status == "wrong_library" and (.reason | test("xx_malloc"))'
}

@test "a prefix without all functions makes the run partial, out of every ratio" {
    bench run "$WORKLOADS/aligned.yaml" --reps 1 -b "$GUESTS/libprefix.so:prefix=few_,glibc" --json -
    expect_code 0
    expect_json '.backends[0] | .status == "partial" and (.reason | test("alloc_aligned"))'
    expect_json '[.results[] | select(.op == "all" and .backend == "prefix:prefix=few_")
        | .n_unsupported] | add > 0'
    bench run "$WORKLOADS/aligned.yaml" --reps 1 -b "glibc,$GUESTS/libprefix.so:prefix=few_" --no-store
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

@test "a plug-in's parameters are checked by its own table" {
    run_with "$GUESTS/libplug_good.so:no_such=1"
    expect_code 4
    expect_json '.backends[0] | .status == "wrong_library" and (.reason | test("no_such"))'
}

@test "what cannot be meant is refused before anything runs" {
    expect_refused 'glibc{LD_PRELOAD=x}' 'LD_PRELOAD cannot be set'
    expect_refused 'glibc{A=1' "must be closed"
    expect_refused 'glibc{}' 'nothing between the braces'
    expect_refused 'glibc{A=1;A=2}' 'set twice'
    expect_refused 'glibc{1A=2}' 'not VARIABLE=VALUE'
    expect_refused 'glibc{A=1},glibc{A=1}' 'given twice'
    expect_refused 'glibc:x=1' 'stand in braces'
    expect_refused 'slab:kep=1' 'did you mean "keep"'
    expect_refused 'jemaloc' 'did you mean "jemalloc"'
    expect_refused "$GUESTS/libtoy.so:prefix=9" 'beginning of a C name'
}

@test "list backends -v tells traits, parameters and packages" {
    bench list backends -v
    expect_code 0
    grep -q 'package libjemalloc2' "$OUT/stdout"
    grep -q 'gives nothing back before a reset' "$OUT/stdout"
    grep -q ':keep=' "$OUT/stdout"
    grep -q 'several lanes, frees by other lanes' "$OUT/stdout"
}

@test "what would need more memory than allowed is not run, and says how much" {
    bench run "$WORKLOADS/settings.yaml" --reps 1 -b arena,glibc --mem-limit 1MiB --json -
    expect_code 4
    expect_json '.backends[] | select(.name == "arena") | .status == "oom"
        and (.reason | test("never frees.*not run"))'
    expect_json '.backends[] | select(.name == "glibc") | .status == "ok"'
}

@test "the skeleton, copied and compiled alone, is a back end" {
    command -v cc >/dev/null || skip "no compiler"
    cp "$ROOT/allocators/skeleton/skeleton.c" "$OUT/mine.c"
    mkdir "$OUT/allocators"
    cp "$ROOT/allocators/ab_backend.h" "$OUT/allocators/"
    (cd "$OUT" && cc -O2 -shared -fPIC -DAB_PLUGIN -I. -o mine.so mine.c)
    run_with "$OUT/mine.so,glibc"
    expect_code 0
    expect_json '.backends[0] | .name == "mine" and .status == "ok" and .boundary == "heap"'
}
