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

# 200 requests of 40 blocks that each parse 6 documents of 60, beside a block that lives on; every 10th
# request leaves a block behind while it parses.
write_trace() {
    awk 'BEGIN {
        print "a 0 100000"; id = 1
        for (s = 0; s < 200; s++) {
            own = id
            for (i = 0; i < 40; i++) print "a " id++ " 500"
            for (d = 0; d < 6; d++) {
                doc = id
                for (i = 0; i < 60; i++) print "a " id++ " 500"
                for (i = 0; i < 60; i++) print "f " doc + i
                if (d == 3 && s % 10 == 9) print "a " id++ " 500"
            }
            for (i = 0; i < 40; i++) print "f " own + i
        }
    }' >calls
    { printf '200000000\n%s\n%s\n1\n' "$(grep -c a calls)" "$(wc -l <calls)"; cat calls; } >nested.rep
    allocbench trace import rep nested.rep -o nested.abt
}

@test "scopes of a trace, also within each other, drive save points in its replay" {
    write_trace
    bench replay nested.abt -b glibc,slab,arena,paged,inline+arena --each scope --rounds 1 --no-store -q --json -
    expect_code 0
    # 1,200 documents and 180 requests: the other 20 leave a block behind, and their own ones with it
    expect_json '[.results[] | select(.op == "reset" and .n > 0) | [.backend, .tail.n]]
        | unique == [["arena", 1380], ["inline+arena", 1380], ["paged", 1380]]'
    expect_json '.results[] | select(.op == "reset" and (.backend | test("glibc|slab"))) | .n == 0'
    expect_json '[.memory[] | select(.backend | test("arena|paged")) | .rss_peak_bytes] | max < 800 * 1024'
    bench replay nested.abt -b arena --each scope --burst 10000 --rounds 1 --no-store -q --json -
    expect_json '[.memory[] | .rss_peak_bytes] | max < 1500 * 1024'
    bench replay nested.abt -b glibc,arena --rounds 1 --no-store -q --json -
    expect_json '[.memory[] | select(.backend == "arena") | .rss_peak_bytes] | min > 30 * 1024 * 1024'
}

@test "of the heaps of a mapping each that can goes back where a scope of a trace ends" {
    write_trace
    bench replay nested.abt -b glibc --map 'size:1-600=arena,*=glibc' --map '*=arena' --each scope \
        --rounds 1 --no-store -q --json -
    expect_code 0
    expect_json '[.results[] | select(.op == "reset" and .n > 0) | .tail.n] == [1380, 1380]'
    expect_json '[.memory[] | select(.backend | test("map")) | .rss_peak_bytes] | max < 800 * 1024'
}

@test "in the replay of a trace, too, a release that takes an older block along fails the run" {
    [ -e "$BUILD/mutants/libmutantheap.so" ] || skip "needs the mutants"
    write_trace
    bench replay nested.abt -b "glibc,$BUILD/mutants/libmutantheap.so:mutant=0" --each scope --rounds 1 \
        --no-store -q
    expect_code 0
    bench replay nested.abt -b "glibc,$BUILD/mutants/libmutantheap.so:mutant=54" --each scope --rounds 1 \
        --no-store
    expect_code 4
}
