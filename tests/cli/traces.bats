#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# replay of several traces: one result and one table of all, the worst exit code.

load helpers

A=$ROOT/tests/golden/traces/good/perl-tiny.abt
B=$ROOT/tests/golden/traces/good/one-each.abt

several() { # ARGUMENT…
    bench replay "$@" --rounds 1 --passes memory:1 --drain 0
}

@test "one stored result has all traces; a table has them all" {
    several "$A" "$B" -b glibc,slab --results "$OUT/r"
    expect_code 0
    [ "$(ls "$OUT/r" | wc -l)" = 1 ]
    grep -q '^2 traces, 2 allocators' "$OUT/stdout" || fail "no table"
    grep -qE '^  perl-tiny  .*B  ' "$OUT/stdout" || fail "no row"
    grep -q '^Not in the means: one-each (' "$OUT/stdout" || fail "one op of each kind is compared"
    [ "$(awk 'length > 80' "$OUT/stdout" | wc -l)" = 0 ]
    cp "$OUT/stdout" "$OUT/first"
    ALLOCBENCH_RESULTS=$OUT/r bench report @last
    cmp "$OUT/first" "$OUT/stdout"
    expect_nothing_left
}

@test "figures of the table are those of each trace alone" {
    several "$A" "$B" -b glibc,slab --json "$OUT/s.json"
    expect_code 0
    cp "$OUT/stdout" "$OUT/table"
    local i
    for i in 0 1; do
        jq ".results[$i].result" "$OUT/s.json" >"$OUT/one.json"
        bench report "$OUT/one.json"
        local whole
        whole=$(sed -n "/whole run/,/^$/s/^  glibc  *\([0-9][0-9.]* [a-z]*\) .*/\1/p" "$OUT/stdout" | head -1)
        [ -n "$whole" ] || { grep -q '^  glibc  *-' "$OUT/stdout" && continue; } || fail "no answer"
        grep -q "  $whole, " "$OUT/table" || fail "$whole is not in the table"
    done
}

@test "an output is of all traces, or with {trace} a file for each" {
    local option
    for option in hgrm svg hlog; do
        several "$A" "$B" -b glibc "--$option" "$OUT/x"
        expect_code 2
        expect_error "--$option .*2 traces, and one name; put \{trace\} into it"
        [ ! -e "$OUT/x" ]
    done
    several "$A" "$B" -b glibc -q --json "$OUT/{trace}-{trace}.json" --csv "$OUT/{trace}.csv"
    expect_code 0
    [ ! -s "$OUT/stdout" ] && [ ! -s "$OUT/stderr" ]
    expect_json '.config.name == "perl-tiny.abt"' "$OUT/perl-tiny-perl-tiny.json"
    expect_json '.config.name == "one-each.abt"' "$OUT/one-each-one-each.json"
    [ -s "$OUT/one-each.csv" ] && [ -s "$OUT/perl-tiny.csv" ]
    several "$A" -b glibc -q --json "$OUT/only-{trace}.json"
    expect_code 0
    [ -s "$OUT/only-perl-tiny.json" ]
    mkdir "$OUT/other"
    cp "$B" "$OUT/other/perl-tiny.abt"
    several "$A" "$OUT/other/perl-tiny.abt" -b glibc --json "$OUT/{trace}.json"
    expect_code 2
    expect_error '\{trace\} is the same for'
}

@test "what belongs to one trace, or is not there, is refused before anything runs" {
    several "$A" "$B" --shard 1/2
    expect_code 2
    expect_error 'one trace'
    several "$A" "$B" --baseline main --results "$OUT/r"
    expect_code 3
    several "$A" "$A"
    expect_code 2
    expect_error 'is given twice'
    several "$A" -
    expect_code 2
    expect_error 'standard input'
    several "$A" "$OUT/none.abt" -b glibc
    expect_code 3
    expect_error 'none.abt'
    several "$A" "$ROOT/configs/churn.yaml" -b glibc
    expect_code 2
    expect_error 'try: allocbench run'
    several "$A" "$B" -b nonesuch
    expect_code 2
    [ "$(grep -c 'unknown back end' "$OUT/stderr")" = 1 ] || fail "told for each"
    [ ! -s "$OUT/stdout" ] || fail "something ran"
}

@test "a trace that is cut off is an error before any other is measured" {
    head -c 900 "$A" >"$OUT/cut.abt"
    several "$A" "$OUT/cut.abt" "$B" -b glibc
    expect_code 3
    expect_error 'cut.abt'
    [ ! -s "$OUT/stdout" ] || fail "something ran"
}

@test "the exit code is the worst" {
    several "$A" "$B" -b glibc --gate 'replay/all/ns_per_op < 0.1ns'
    expect_code 1
    several "$B" "$A" -b "glibc,$GUESTS/libctorcrash.so"
    expect_code 4
    [ "$(grep -c '^  .*crashed' "$OUT/stdout")" = 2 ] || fail "$(cat "$OUT/stdout")"
    expect_nothing_left
}

@test "what only a later trace refuses does not stop the others" {
    bench replay "$B" "$A" --rounds 1 --passes latency:1 --drain 0 -b glibc --gate 'replay/alloc_aligned/n < 1000'
    expect_code 2
    expect_error "phase 'replay' has no alloc_aligned"
    grep -q 'no result' "$OUT/stdout" || fail "$(cat "$OUT/stdout")"
    grep -q '^Gates: 1 passed' "$OUT/stdout" || fail "the other was not measured"
    bench replay "$A" "$B" --rounds 1 --passes latency:1 --drain 0 -b glibc --gate 'replay/alloc_aligned/n < 1000'
    expect_code 2
    [ ! -s "$OUT/stdout" ] || fail "something ran"
    expect_nothing_left
}

@test "an interruption keeps what is complete, says how to go on, and what was not replayed" {
    start_bench replay "$A" "$ROOT/traces/perl-words.abt" "$B" -b glibc --rounds 1000 --passes memory:1 \
        --drain 0 --results "$OUT/r"
    wait_until has_worker
    kill -INT "$pid"
    wait "$pid" && code=0 || code=$?
    expect_code 130
    expect_error 'interrupted after 0 of 3 traces'
    expect_error 'continue:  allocbench replay .* --resume '
    wait_until has_no_worker
}
