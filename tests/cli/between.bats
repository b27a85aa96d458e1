#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# Other code between the timed calls of a replay: it is in the latencies, and in nothing else.
# tests: between.c

load helpers

# Medians over the rounds of the glibc row: mean latency, time per op in the latency pass.
latency_of() { # FILE
    jq '[.results[] | select(.op == "all" and .backend == "glibc").mean] | sort | .[length / 2 | floor]' "$1"
}

replay() { # FILE OPTION…
    bench replay @perl-words -b glibc,slab --rounds 3 --processes 1 --passes latency --json "$1" "${@:2}"
}

@test "other code between calls makes the timed ones slower, and is a setting of the result" {
    replay "$OUT/none.json"
    expect_code 0
    replay "$OUT/much.json" --between 500
    expect_code 0
    awk -v none="$(latency_of "$OUT/none.json")" -v much="$(latency_of "$OUT/much.json")" \
        'BEGIN { exit !(much > none * 1.3) }' || fail "$(latency_of "$OUT/none.json") and $(latency_of "$OUT/much.json") ns"
    expect_json '.config.settings | index("between=500") != null' "$OUT/much.json"
    expect_json '[.config.settings[] | select(startswith("between"))] == []' "$OUT/none.json"
    [ "$(jq .config.tape_sha256 "$OUT/none.json")" = "$(jq .config.tape_sha256 "$OUT/much.json")" ] || fail "other work"
    bench replay @perl-words -b glibc --between 10001
    expect_code 2
    expect_error 'between'
}

@test "a resumed replay has the same code between its calls" {
    replay "$OUT/whole.json" --between 3
    jq 'del(.checksum) | .complete = false | .rounds |= map(select(.index < 1))
        | with_entries(if (.value | type) == "array" and .key != "rounds"
                       then .value |= map(select((.round // 0) < 1)) else . end)
        | .timer.null |= map(select(.round < 1))' "$OUT/whole.json" >"$OUT/part.json"
    bench replay --resume "$OUT/part.json" --json "$OUT/resumed.json"
    expect_code 0
    expect_json '.config.settings | index("between=3") != null' "$OUT/resumed.json"
    expect_json '.rounds | length == 3' "$OUT/resumed.json"
    jq '.config.settings |= map(sub("between=3"; "between=-3"))' "$OUT/part.json" >"$OUT/bad.json"
    bench replay --resume "$OUT/bad.json"
    expect_code 3
    expect_error 'has a setting that is not known: between=-3'
}
