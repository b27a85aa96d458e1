#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# Scopes that end by going back to a save point of the back end.

load helpers

# SIZE: a scope within a scope, beside a block that lives longer than both
nested() {
    cat >"$OUT/nested.yaml" <<END
allocbench: 1
name: nested
sets: [{name: kept, count: 1}, {name: outer, kind: region${1:+, $1}}, {name: inner, kind: region${1:+, $1}}]
phases:
  - name: set-up
    measure: false
    do: [{alloc: kept, size: 64}]
  - name: calls
    until: iters(100)
    do:
      - scope: outer
        do:
          - {alloc: outer, size: 100, count: 400}
          - scope: inner
            do: [{alloc: inner, size: 100, count: 600}]
END
}

@test "an arena takes as much memory for scratch scopes as a program that is written by hand" {
    [ -x "$BUILD/bench/nested_scratch" ] || skip "needs: make $BUILD/bench/nested_scratch"
    read -r _ kib < <("$BUILD/bench/nested_scratch" 1)
    bench run "$ROOT/configs/scratch.yaml" -b glibc,arena,paged --rounds 1 --passes throughput,memory \
        --no-store -q --json -
    expect_code 0
    expect_json "[.memory[] | select(.backend == \"arena\") | .rss_peak_bytes / 1024 / $kib]
        | all(. > 0.9 and . < 1.1)"
    expect_json '[.memory[] | select(.backend == "paged") | .rss_peak_bytes] | max < 160 * 1024'
}

@test "a scope beside a block that lives on ends in one call in heaps with save points" {
    nested
    bench run "$OUT/nested.yaml" -b glibc,slab,arena,paged,inline+arena --rounds 1 --no-store -q --json -
    expect_code 0
    expect_json '[.memory[] | select(.backend | test("arena|paged")) | .rss_peak_bytes] | max < 200 * 1024'
    expect_json '[.results[] | select(.op == "reset" and .n > 0) | .backend] | unique
        == ["arena", "inline+arena", "paged"]'
    bench run "$OUT/nested.yaml" -b glibc,slab,arena --rounds 1 --no-store
    grep -Eq '^note: bulk reset: arena; individual frees: (glibc, slab|slab, glibc)' "$OUT/stdout" ||
        fail "$(cat "$OUT/stdout")"
    bench check "$OUT/nested.yaml"
    expect_code 0
    ! grep -q 'one by one' "$OUT/stdout" || fail "$(cat "$OUT/stdout")"
}

@test "a release that takes an older block along fails the run before anything is timed" {
    [ -e "$BUILD/mutants/libmutantheap.so" ] || skip "needs the mutants"
    nested
    bench run "$OUT/nested.yaml" -b "glibc,$BUILD/mutants/libmutantheap.so:mutant=0" --rounds 1 --no-store -q
    expect_code 0
    bench run "$OUT/nested.yaml" -b "glibc,$BUILD/mutants/libmutantheap.so:mutant=54" --rounds 1 --no-store
    expect_code 4
    grep -q 'mutant=54.*failed\|failed.*mutant=54' "$OUT/stdout" || fail "$(cat "$OUT/stdout")"
}

@test "heaps of a placement go back each by what it holds" {
    nested 'via: arena'
    bench run "$OUT/nested.yaml" -b glibc --rounds 1 --no-store -q --json -
    expect_code 0
    expect_json '[.memory[] | select(.backend | test("map")) | .rss_peak_bytes] | max < 400 * 1024'
}

@test "check says which blocks keep a scope from ending in one call" {
    nested
    sed -i 's/do: \[{alloc: inner/do: [{free: kept, at: occupied}, {alloc: kept, size: 8}, {alloc: inner/' "$OUT/nested.yaml"
    bench check "$OUT/nested.yaml"
    grep -Eq "region 'inner' never ends a scope in one call, because 'kept' has blocks" \
        <(cat "$OUT/stdout" "$OUT/stderr") || fail "$(cat "$OUT/stdout" "$OUT/stderr")"
}
