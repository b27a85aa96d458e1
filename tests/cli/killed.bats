#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# A run that is killed, and can do nothing about it, has kept the rounds that were complete.

load helpers

# The result in $OUT/r has at least so many rounds.
has_rounds() { # COUNT
    [ -n "$(ls "$OUT/r" 2>/dev/null)" ] && [ "$(jq '.rounds | length' "$OUT"/r/*.json)" -ge "$1" ]
}

kill_it() {
    kill -KILL "$pid"
    await_bench 2>/dev/null
    expect_code 137
    wait_until has_no_worker || fail "workers live on"
}

@test "what is stored when a run is killed can be reported and resumed" {
    start_bench run "$WORKLOADS/tiny.yaml" -b glibc,arena --rounds 40 --drain 0 --results "$OUT/r" -q
    wait_until has_rounds 2 || fail "no two rounds"
    kill_it
    [ "$(ls -A "$OUT/r" | wc -l)" -eq 1 ] || fail "$(ls -A "$OUT/r")"
    expect_nothing_left
    expect_json '.complete == false and (.rounds | length | . >= 2 and . < 40)
        and (.rounds | length) as $n | ([.results[].round] | unique) == [range($n)]
        and ([.memory[].round] | unique) == [range([$n, 6] | min)]
        and .timer.floor_ns > 0' "$OUT"/r/*.json
    bench report "$OUT"/r/*.json
    expect_code 0
    tr -s ' \n' ' ' <"$OUT/stdout" | grep -q 'Interrupted after [0-9]* of' || fail "not marked"
    sum=$(sha256sum <"$(echo "$OUT"/r/*.json)")
    bench run --resume "$OUT"/r/*.json --json "$OUT/resumed.json" -q
    expect_code 0
    expect_json '.complete and (.rounds | length == 40) and .config.rounds_resumed >= 2' \
        "$OUT/resumed.json"
    [ "$sum" = "$(sha256sum <"$(echo "$OUT"/r/*.json)")" ] || fail "the partial result was changed"
}

@test "a replay that is killed leaves its rounds too" {
    start_bench replay "$ROOT/traces/perl-words.abt" -b arena --rounds 200 --results "$OUT/r" -q
    wait_until has_rounds 1 || fail "no round"
    kill_it
    expect_json '.complete == false and .config.kind == "trace"' "$OUT"/r/*.json
}

@test "what goes on with a result saves its rounds in a file of its own" {
    bench run "$WORKLOADS/tiny.yaml" -b arena --rounds 40 --drain 0 --json "$OUT/whole.json" -q
    jq 'del(.checksum) | .complete = false | .rounds |= map(select(.index < 2))
        | .timer.null |= map(select(.round < 2))
        | with_entries(if (.value | type) == "array" and .key != "rounds"
                       then .value |= map(select((.round // 0) < 2)) else . end)' \
        "$OUT/whole.json" >"$OUT/partial.json"
    start_bench run --resume "$OUT/partial.json" --results "$OUT/r" -q
    wait_until has_rounds 4 || fail "no two more rounds"
    kill_it
    expect_json '.complete == false and .config.rounds_resumed == 2' "$OUT"/r/*.json
}

@test "the file of a run that is complete is one, and is complete" {
    bench run "$WORKLOADS/tiny.yaml" -b arena --rounds 8 --drain 0 --results "$OUT/r" \
        --json "$OUT/result.json"
    expect_code 0
    [ "$(ls -A "$OUT/r" | wc -l)" -eq 1 ] || fail "$(ls -A "$OUT/r")"
    expect_json '.complete and (.rounds | length == 8)' "$OUT"/r/*.json
    cmp "$OUT"/r/*.json "$OUT/result.json"
}

@test "--no-store saves no rounds" {
    unset ALLOCBENCH_RESULTS
    start_bench run "$WORKLOADS/tiny.yaml" -b arena --rounds 200 --no-store
    wait_until grep -q '^\[ 3/200\]' "$OUT/stderr" || fail "no third round"
    kill_it
    expect_nothing_left
}

# ---- what only the next start can remove ----

has_draft() {
    [ -n "$(find "$TMPDIR" -path '*/allocbench-model-*/.owner' 2>/dev/null)" ]
}

@test "the folder of a trace model that was killed goes at the next start" {
    bench record -q -o "$OUT/long.abt" -- "$GUESTS/prog_short_threads" 80
    start_bench trace model "$OUT/long.abt" -o model.yaml
    wait_until has_draft || fail "no draft"
    kill_it
    [ -n "$(ls "$TMPDIR")" ] || fail "nothing was left"
    bench trace info "$ROOT/traces/perl-words.abt"
    expect_code 0
    [ ! -s "$OUT/stderr" ] || fail "it says something"
    expect_nothing_left
}

has_spool() {
    [ -n "$(find "$TMPDIR" -path '*/spool/*.0' 2>/dev/null)" ]
}

has_no_perl() {
    ! pgrep -f "^perl -e sleep 1 while -e \"go\"" >/dev/null
}

@test "the spool of a record that was killed is named and stays, and can be recovered" {
    touch go
    start_bench record -o "$OUT/t.abt" -- perl -e 'sleep 1 while -e "go"'
    wait_until has_spool || fail "no spool"
    bench check "$WORKLOADS/tiny.yaml"
    [ ! -s "$OUT/stderr" ] || fail "a spool in use is named"
    kill_it
    rm go
    wait_until has_no_perl || fail "perl lives on"
    bench check "$WORKLOADS/tiny.yaml"
    expect_code 0
    expect_error '^allocbench: .* has a recording that was not finished: use allocbench trace recover '
    folder=$(sed -n 's/.*trace recover \(.*\) -o TRACE.*/\1/p' "$OUT/stderr")
    bench trace recover "$folder" -o "$OUT/recovered.abt" --partial
    expect_code 0
    bench trace check "$OUT/recovered.abt"
    expect_code 0
    rm -r "$folder"
    bench check "$WORKLOADS/tiny.yaml"
    expect_nothing_left
}
