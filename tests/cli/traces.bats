#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# replay of several traces: each its own session, one table at the end, the worst exit code.

load helpers

A=$ROOT/tests/golden/traces/good/perl-tiny.abt
B=$ROOT/tests/golden/traces/good/one-each.abt

several() { # ARGUMENT…
    bench replay "$@" --rounds 1 --passes memory:1 --drain 0
}

@test "each trace has its answer and its stored result; a table has them all" {
    several "$A" "$B" -b glibc,slab --results "$OUT/r"
    expect_code 0
    [ "$(ls "$OUT/r" | wc -l)" = 2 ]
    [ "$(grep -c '^perl-tiny.abt' "$OUT/stdout")" -ge 2 ] || fail "no answer for the first"
    grep -q '^2 traces$' "$OUT/stdout" || fail "no table"
    sed -n '/^2 traces$/,$p' "$OUT/stdout" >"$OUT/table"
    [ "$(grep -c '^  glibc .* base ' "$OUT/table")" = 2 ] || fail "$(cat "$OUT/table")"
    [ "$(grep -cE '^  slab .* (faster|slower)' "$OUT/table")" = 1 ] || fail "$(cat "$OUT/table")"
    grep -qE '^  slab .* -  ' "$OUT/table" || fail "one op of each kind is compared"
    grep -qx -- '-: too little work for a comparison' "$OUT/table"
    [ "$(awk 'length > 80' "$OUT/stdout" | wc -l)" = 0 ]
    ALLOCBENCH_RESULTS=$OUT/r bench report @last # the last trace is the newest result
    grep -q '^one-each.abt' "$OUT/stdout" || fail "@last is another"
    ALLOCBENCH_RESULTS=$OUT/r bench report @last~1
    grep -q '^perl-tiny.abt' "$OUT/stdout" || fail "@last~1 is another"
    expect_nothing_left
}

@test "figures of the table are those of the answers" {
    several "$A" "$B" -b glibc,slab --json "$OUT/{trace}.json"
    expect_code 0
    sed -n '/^2 traces$/,$p' "$OUT/stdout" >"$OUT/table"
    local name row
    for name in perl-tiny one-each; do
        bench report "$OUT/$name.json"
        for row in glibc slab; do
            local whole
            whole=$(sed -n "/whole run/,/^\$/s/^  $row  *\([0-9.]* [a-z]*\) .*/\1/p" "$OUT/stdout" | head -1)
            [ -n "$whole" ] || fail "no $row in the answer of $name"
            grep -A2 "^$name" "$OUT/table" | grep -q "^  $row  *$whole " || fail "$name: $row is not $whole"
        done
    done
}

@test "an output needs {trace}, and gets a file for each" {
    local option
    for option in json csv html junit markdown hgrm svg; do
        several "$A" "$B" -b glibc "--$option" "$OUT/x"
        expect_code 2
        expect_error "--$option .*2 traces, and one name; put \{trace\} into it"
        [ ! -e "$OUT/x" ]
    done
    several "$A" "$B" -b glibc --json -
    expect_code 2
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
    several "$A" "$B" --resume "$OUT/x.json"
    expect_code 2
    expect_error 'one trace'
    several "$A" "$B" --baseline main
    expect_code 2
    expect_error 'one trace'
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

@test "the exit code is the worst: a trace that is cut off does not stop the others" {
    head -c 900 "$A" >"$OUT/cut.abt"
    several "$A" "$OUT/cut.abt" "$B" -b glibc
    expect_code 3
    expect_error 'cut.abt'
    sed -n '/^3 traces$/,$p' "$OUT/stdout" >"$OUT/table"
    grep -A1 'cut.abt$' "$OUT/table" | grep -q 'no result, see above' || fail "$(cat "$OUT/table")"
    [ "$(grep -c '^  glibc ' "$OUT/table")" = 2 ]
    several "$A" "$OUT/cut.abt" -b glibc --gate 'replay/all/ns_per_op < 0.1ns'
    expect_code 3
    several "$A" "$B" -b glibc --gate 'replay/all/ns_per_op < 0.1ns'
    expect_code 1
    several "$B" "$A" -b "glibc,$GUESTS/libctorcrash.so"
    expect_code 4
    sed -n '/^2 traces$/,$p' "$OUT/stdout" >"$OUT/table"
    [ "$(grep -c '^  ctorcrash .*crashed' "$OUT/table")" = 2 ] || fail "$(cat "$OUT/table")"
    expect_nothing_left
}

@test "what only a later trace refuses does not stop the others" {
    bench replay "$B" "$A" "$B" --rounds 1 --passes latency:1 --drain 0 -b glibc --gate 'replay/alloc_aligned/n < 1000'
    expect_code 2
    expect_error "phase 'replay' has no alloc_aligned"
    sed -n '/^3 traces$/,$p' "$OUT/stdout" >"$OUT/table"
    grep -A1 'perl-tiny.abt$' "$OUT/table" | grep -q 'no result, see above' || fail "$(cat "$OUT/table")"
    [ "$(grep -c '^gates: ' "$OUT/stdout")" = 2 ] || fail "the third was not measured"
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
    expect_error 'not replayed: .*perl-words.abt, .*one-each.abt'
    wait_until has_no_worker
}
