#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# Interrupted at any instant: what was whole is kept and marked, nothing is left running or lying
# about, and the terminal is as it was.

load helpers

interrupt() { # SEED COUNT ARGUMENT…
    command -v python3 >/dev/null || skip "no python3"
    unset ALLOCBENCH_RESULTS
    python3 "$ROOT/tests/cli/interrupt.py" "$BUILD/allocbench" \
        "$ROOT/results/allocbench-2.schema.json" "$@" >"$OUT/log" 2>&1 3>&- || {
        cat "$OUT/log"
        return 1
    }
    tail -1 "$OUT/log" >&3
}

# bats test_tags=full
@test "twenty random instants of a run leave a valid partial result or none, and nothing else" {
    interrupt 20260101 20 run "$ROOT/configs/churn.yaml" --set ops=10k -b glibc,arena --rounds 3 \
        --drain 0
}

@test "with --json too, and in the first moments of a run" {
    interrupt 7 6 run "$ROOT/configs/churn.yaml" --set ops=20k -b arena --rounds 3 --drain 0 \
        --json "$OUT/result.json"
    [ "$(ls -A "$OUT" | grep -c '\.tmp$')" -eq 0 ] || fail "$(ls -A "$OUT")"
}

@test "a second signal ends it at once, and no worker lives on" {
    start_bench run "$WORKLOADS/long.yaml" -b "$GUESTS/libignoreterm.so" --rounds 3
    wait_until has_worker || fail "no worker came up"
    kill -INT "$pid"
    sleep 0.05
    kill -INT "$pid" || true # the first may have been enough
    await_bench
    expect_code 130
    wait_until has_no_worker || fail "workers live on"
    expect_nothing_left
}

# OPTION… of a run of libholds.so: the command continues it to the end.
continues() {
    hold_after 11
    start_bench run "$WORKLOADS/small.yaml" "$@" --rounds 4 --drain 0 --results r
    interrupt_held
    hold_no_more
    command=$(sed -n 's/^continue:  //p' "$OUT/stderr")
    [ -n "$command" ] || fail "no command"
    sh -c "$command -q" 2>"$OUT/again" 3>&- || fail "$(cat "$OUT/again")"
    [ "$(ls r | wc -l)" -eq 2 ] || fail "$(ls r)"
    expect_json '.complete and (.rounds | length == 4)' "$(ls -t r/*.json | head -1)"
}

@test "the command that an interruption gives completes the result" {
    continues -b ./libholds.so
}

@test "the command that an interruption gives has the mapping with its libraries" {
    echo '*=./libholds.so' >rules.txt
    continues -b arena --map @rules.txt
}

@test "an interruption before the first round says that nothing is kept" {
    start_bench run "$WORKLOADS/long.yaml" -b "$GUESTS/libignoreterm.so" --rounds 3
    wait_until has_worker || fail "no worker came up"
    kill -TERM "$pid"
    await_bench
    expect_code 143
    expect_error '^allocbench: interrupted before a round was complete; nothing new was stored$'
}

@test "an interrupted result says so in its table and can be reported" {
    hold_after 7
    start_bench run "$ROOT/configs/churn.yaml" --set ops=10k -b arena,./libholds.so --rounds 3 --drain 0 \
        --results "$OUT/r"
    interrupt_held
    tr -s ' \n' ' ' <"$OUT/stdout" | grep -q 'Interrupted after [0-9]* of' || fail "not marked"
    expect_error '^Stored: '
    expect_error '^allocbench: interrupted after 1 of 3 rounds; what is complete is kept$'
    grep -q "^continue:  allocbench run --resume $OUT/r/churn-[^ ]*json --results $OUT/r -b " "$OUT/stderr" ||
        fail "no command"
    cp "$OUT/stdout" "$OUT/table"
    bench report "$OUT"/r/*.json
    expect_code 0
    # the same, and how to continue, which stderr had said with the path
    ! grep -q -- --resume "$OUT/table" || fail "said twice"
    tr -s ' \n' ' ' <"$OUT/stdout" | grep -q 'warning: interrupted after 1 of 3 rounds -> allocbench run --resume' ||
        fail "no way to continue"
    sed '/^warning: interrupted/,/measures the rest$/d' "$OUT/stdout" | cmp - "$OUT/table"
    expect_json '.complete == false' "$(ls "$OUT"/r/*.json)"
}

# ---- temporary folders ----

has_recording() {
    [ -n "$(find "$TMPDIR" -path '*/allocbench-litter-*/spool/*.0' 2>/dev/null)" ]
}

@test "the folder of exec --aged goes with the recording in it on TERM, HUP and INT" {
    for signal in TERM HUP INT; do
        start_bench exec --aged 0.5 -b glibc -- sh -c 'sleep 61.5; true'
        wait_until has_recording || fail "no recording"
        ! pgrep -P "$pid" -f 'record -q' || fail "another allocbench makes the recording"
        kill -"$signal" "$pid"
        await_bench
        [ "$code" -ge 128 ] || fail "$signal: exit code $code"
        expect_nothing_left
        ! pgrep -f '^sleep 61.5$' || fail "$signal: the program lives on"
    done
}

@test "exec --litter records on after a signal that is ignored" {
    env --ignore-signal=INT allocbench exec --litter 0.5 -b glibc --rounds 1 -- sh -c 'sleep 2; true' \
        >"$OUT/stdout" 2>"$OUT/stderr" 3>&- &
    pid=$!
    wait_until has_recording || fail "no recording"
    kill -INT "$pid"
    await_bench
    expect_code 0
}

has_draft() {
    [ -n "$(find "$TMPDIR" -path '*/allocbench-model-*/.owner' 2>/dev/null)" ]
}

@test "the folder of trace model goes on TERM, HUP and INT, and no output is left" {
    bench record -q -o "$OUT/long.abt" -- "$GUESTS/prog_short_threads" 80
    for signal in TERM HUP INT; do
        start_bench trace model "$OUT/long.abt" -o model.yaml
        wait_until has_draft || fail "no draft"
        kill -"$signal" "$pid"
        await_bench
        [ "$code" -ge 128 ] || fail "$signal: exit code $code"
        expect_nothing_left
    done
}
