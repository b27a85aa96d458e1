#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# scripts/which-to-choose: the table of patterns and allocators, and what it chooses.

load helpers

PATTERNS='scratch region particles replacement realloc-growth handles rare-mixed'

documents() {
    KEPT=$BATS_TEST_TMPDIR/kept DOC=$BATS_TEST_TMPDIR/doc.md DATA=$BATS_TEST_TMPDIR/data.txt
    mkdir -p "$KEPT"
    printf 'before\n<!-- begin which-to-choose -->\nold\n<!-- end which-to-choose -->\nafter\n' >"$DOC"
}

# A result of each pattern: pool is fastest and takes 30 times the memory, slab is as fast as paged as
# far as the intervals tell, handle crashed.
some_results() { # JQ FILTER
    local name
    for name in $PATTERNS; do
        jq -n '
            def back($n; $s): {name: $n, status: $s, version: "2.36", reason: (if $s == "ok" then null else "SIGSEGV" end)};
            def ratio($n; $r; $l; $h): {backend: $n, base: "glibc", phase: null, metric: "time", ratio: $r, low: $l, high: $h};
            def peak($n; $x): range(3) | {backend: $n, phase: "p", round: ., rss_peak_bytes: ($x * 1000), live_peak_bytes: 1000};
            {schema: "allocbench/2", complete: true, tool: {version: "1", compiler: "cc"},
             host: {cpu: "CPU", cpus_online: 2, load_1min: 0.25, kernel: "Linux 6.1.0-9-x x86_64"}, rounds: [range(8) | {index: .}],
             backends: [back("glibc"; "ok"), back("pool"; "ok"), back("slab"; "ok"), back("paged"; "ok"),
                        back("inline+slab"; "ok"), back("handle"; "crashed")],
             ratios: [ratio("pool"; 0.1; 0.09; 0.11), ratio("slab"; 0.5; 0.4; 0.6), ratio("paged"; 0.45; 0.42; 0.48),
                      ratio("inline+slab"; 0.2; 0.2; 0.2), ratio("handle"; 0.01; 0.01; 0.01)],
             memory: [peak("glibc"; 1.5), peak("pool"; 30), peak("slab"; 1), peak("paged"; 1.25), peak("handle"; 1)]}' |
            jq "${1:-.}" >"$KEPT/$name.json"
    done
}

choose() { # OPTION…
    code=0
    "$ROOT/scripts/which-to-choose" --into "$DOC" --data "$DATA" "$@" >"$OUT/stdout" 2>"$OUT/stderr" || code=$?
}

@test "the choice is the fastest of what takes no more than twice the least memory, and what is not clearly slower" {
    documents
    some_results
    choose --from "$KEPT"
    expect_code 0
    [ "$(grep -c '| `paged` or `slab` |$' "$DOC")" = 7 ] || fail "$(cat "$DOC")"
    grep -Fq '| 1 · 1.5 | n/a | 0.1 · 30 | 0.5 (0.2) · 1 | 0.45 · 1.25 | n/a | n/a |' "$DATA" || fail "$(cat "$DATA")"
    grep -Fq 'n/a: `handle` in `scratch`: crashed, SIGSEGV.' "$DATA"
    grep -Eq '^20[0-9-]{8}; CPU, 2 CPUs \(load at most 0.25\), Linux 6.1, glibc 2.36; allocbench 1 \(cc\); 8 rounds\.$' "$DATA"
    [ "$(head -1 "$DOC")" = before ] && [ "$(tail -1 "$DOC")" = after ] && ! grep -q '^old$' "$DOC"
    cp "$DOC" "$BATS_TEST_TMPDIR/once"
    choose --from "$KEPT"
    cmp "$DOC" "$BATS_TEST_TMPDIR/once" || fail "not the same again"
    some_results '(.ratios[] | select(.backend == "slab") | .low) = 0.49'
    choose --from "$KEPT"
    [ "$(grep -c '| `paged` |$' "$DOC")" = 7 ] || fail "slab is clearly slower"
    some_results '(.memory[] | select(.backend == "pool") | .rss_peak_bytes) = 2000'
    choose --from "$KEPT"
    [ "$(grep -c '| `pool` |$' "$DOC")" = 7 ] || fail "twice the least is within"
}

@test "what is no result, or no document, is an error and changes nothing" {
    documents
    some_results '.complete = false'
    cp "$DOC" "$BATS_TEST_TMPDIR/once"
    choose --from "$KEPT"
    expect_code 1
    expect_error 'no complete result'
    some_results
    rm "$KEPT/handles.json"
    choose --from "$KEPT"
    expect_code 1
    expect_error 'handles.json'
    cmp "$DOC" "$BATS_TEST_TMPDIR/once"
    some_results
    echo nothing >"$DOC"
    choose --from "$KEPT"
    expect_code 2
    expect_error 'no lines <!-- begin'
    choose --budget 0
    expect_code 2
}

# bats test_tags=full
@test "it measures every pattern, and each has a choice" {
    documents
    AB_BUILD=$BUILD choose --rounds 1 --keep "$KEPT"
    expect_code 0
    [ "$(grep -c '^| .*| [^|]*`[a-z:=+]*`[^|]* |$' "$DOC")" -ge 7 ] || fail "$(cat "$DOC")"
    for name in $PATTERNS; do
        expect_json '(.backends | length) == 10 and ([.backends[] | select(.status == "ok")] | length) >= 8' "$KEPT/$name.json"
    done
    ! grep -q '| n/a |$' "$DATA" || fail "no choice"
    expect_nothing_left
}
