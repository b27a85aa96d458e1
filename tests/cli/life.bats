#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# The life of a run: interrupted, killed, with closed or full descriptors, in a pipe.

load helpers

@test "SIGINT ends a run with 130, no process, no file, and the old result intact" {
    echo old >"$OUT/result.json"
    start_bench run "$WORKLOADS/long.yaml" -b glibc --rounds 50 --json "$OUT/result.json"
    wait_until has_worker || fail "no worker came up"
    kill -INT "$pid"
    await_bench
    expect_code 130
    [ "$(ls -A "$OUT" | paste -sd' ')" = "result.json stderr stdout" ] || fail "$(ls -A "$OUT")"
    expect_nothing_left
}

@test "SIGTERM ends a run with 143" {
    start_bench run "$WORKLOADS/long.yaml" -b glibc --rounds 50
    wait_until has_worker || fail "no worker came up"
    kill -TERM "$pid"
    await_bench
    expect_code 143
    expect_nothing_left
}

@test "an interrupted run keeps its complete blocks and says that it is not complete" {
    hold_after 12 # two rounds, and half of the third
    start_bench run "$ROOT/configs/churn.yaml" --set ops=20k -b arena,./libholds.so --rounds 4 --drain 0 \
        --json "$OUT/result.json"
    interrupt_held
    expect_one_document "$OUT/result.json"
    expect_json '.complete == false and (.rounds | length) == 2' "$OUT/result.json"
    expect_json '[.results[] | select(.op == "all")] | length == 4' "$OUT/result.json"
    rm libholds.so*
    expect_nothing_left
}

@test "SIGINT between two runs is not lost" {
    # runs of a millisecond: most signals arrive while no worker is being waited for
    for delay in 0.31 0.37 0.43 0.47 0.53 0.59; do
        start_bench run "$ROOT/configs/churn.yaml" --set ops=100 --set slots=10 -b arena --rounds 1000
        sleep $delay
        kill -INT "$pid"
        await_bench
        expect_code 130
    done
    expect_nothing_left
}

@test "an ignored SIGINT stays ignored, as nohup wants it" {
    (trap '' INT; exec allocbench run "$WORKLOADS/small.yaml" -b arena --rounds 10 --drain 0 --json - \
        >"$OUT/stdout" 2>"$OUT/stderr" 3>&-) &
    pid=$!
    sleep 0.3
    kill -INT "$pid" 2>/dev/null || true
    await_bench
    expect_code 0
    expect_json .complete
}

@test "when allocbench is killed its workers die with it" {
    start_bench run "$WORKLOADS/long.yaml" -b glibc --rounds 50
    wait_until has_worker || fail "no worker came up"
    kill -KILL "$pid"
    await_bench
    expect_code 137
    wait_until has_no_worker || fail "workers live on"
}

@test "a hanging guest can be interrupted too" {
    start_bench run "$WORKLOADS/small.yaml" -b "$GUESTS/libignoreterm.so" --rounds 1 --timeout 60s
    wait_until has_worker || fail "no worker came up"
    sleep 0.3
    kill -INT "$pid"
    await_bench
    expect_code 130
    expect_nothing_left
}

@test "all standard descriptors closed: the result file is still a clean document" {
    code=0
    allocbench run "$WORKLOADS/small.yaml" -b glibc --rounds 1 --json "$OUT/result.json" \
        <&- >&- 2>&- 3>&- || code=$?
    expect_code 4 # the tables are nowhere
    expect_one_document "$OUT/result.json"
    code=0
    allocbench run "$WORKLOADS/small.yaml" -b glibc --rounds 1 -q --json "$OUT/result.json" \
        <&- >&- 2>&- 3>&- || code=$?
    expect_code 0
    expect_one_document "$OUT/result.json"
    expect_json '.backends[0].status == "ok"' "$OUT/result.json"
}

@test "a full standard output is an error, not silence" {
    [ -c /dev/full ] || skip "no /dev/full"
    code=0
    allocbench run "$WORKLOADS/small.yaml" -b arena --rounds 1 >/dev/full 2>"$OUT/stderr" 3>&- || code=$?
    [ "$code" -ne 0 ] || fail "exit code 0"
    expect_error 'standard output'
    code=0
    allocbench run "$WORKLOADS/small.yaml" -b arena --rounds 1 --json - >/dev/full 2>"$OUT/stderr" 3>&- ||
        code=$?
    [ "$code" -ne 0 ] || fail "exit code 0 with --json -"
}

@test "head -1 gets its line and the rest goes without noise" {
    allocbench run "$WORKLOADS/small.yaml" -b glibc --rounds 1 -q --json - 2>"$OUT/stderr" 3>&- |
        head -1 >"$OUT/stdout"
    [ "$(cat "$OUT/stdout")" = "{" ]
    [ ! -s "$OUT/stderr" ] || grep -Eq 'standard output|Broken pipe' "$OUT/stderr" || fail "noise"
    [ "$(wc -l <"$OUT/stderr")" -le 1 ]
    expect_nothing_left
}

@test "-q prints nothing but what failed, and files all the same" {
    bench run "$WORKLOADS/small.yaml" -b arena --rounds 1 -q --json "$OUT/r.json" \
        --gate 'fill/all/ns_per_op > 0ns'
    expect_code 0
    [ ! -s "$OUT/stdout" ] && [ ! -s "$OUT/stderr" ] || fail "something was printed"
    expect_json .complete "$OUT/r.json"
    bench run "$WORKLOADS/small.yaml" -b arena,"$GUESTS/libnthcrash.so" --rounds 1 -q \
        --gate 'arena:fill/all/ns_per_op < 0.001ns'
    expect_code 4
    [ ! -s "$OUT/stdout" ] || fail "a table"
    expect_error '^allocbench: error: nthcrash: crashed'
    expect_error 'arena:fill/all/ns_per_op < 0.001'
    bench verify -q glibc --check required
    expect_code 0
    [ ! -s "$OUT/stdout" ] && [ ! -s "$OUT/stderr" ] || fail "something was printed"
    bench verify -q "$GUESTS/libdirtycalloc.so" --check zeroed
    expect_code 4
    [ ! -s "$OUT/stdout" ] || fail "a table"
    expect_error '^allocbench: error: dirtycalloc: zeroed: '
}

@test "a log gets a line for each round that is done, and no other" {
    bench run "$WORKLOADS/small.yaml" -b arena --rounds 3
    expect_code 0
    [ "$(grep -Ec '^\[ [123]/3\] [0-9]+ s(, [0-9]+ s left)?  arena [0-9.]+ ns$' "$OUT/stderr")" -eq 3 ] ||
        fail "not three lines"
    [ "$(wc -l <"$OUT/stderr")" -eq 3 ] || fail "more"
    tail -1 "$OUT/stderr" | grep -Eq '^\[ 3/3\] [0-9]+ s  arena' || fail "the last"
    bench replay "$ROOT/tests/golden/traces/good/one-each.abt" -b arena --rounds 2
    [ "$(grep -c '^\[ [12]/2\] ' "$OUT/stderr")" -eq 2 ] || fail "not two lines"
}

@test "-q leaves standard error empty" {
    bench run "$WORKLOADS/small.yaml" -b arena --rounds 1 -q
    expect_code 0
    [ ! -s "$OUT/stderr" ]
}

@test "a run as nobody, from another folder, works" {
    [ "$(id -u)" -eq 0 ] || skip "needs root to become nobody"
    command -v setpriv >/dev/null || skip "no setpriv"
    chmod -R a+rX "$OUT"
    setpriv --reuid=65534 --regid=65534 --clear-groups test -x "$BUILD/allocbench" ||
        skip "nobody cannot reach the build"
    cd /
    setpriv --reuid=65534 --regid=65534 --clear-groups "$BUILD/allocbench" run \
        "$WORKLOADS/small.yaml" -b glibc --rounds 1 --json - >"$OUT/stdout" 2>"$OUT/stderr" 3>&- ||
        fail "exit code $?"
    expect_json '.backends[0].status == "ok"'
}
