#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# Other code between the timed calls of a replay: it is in the latencies.
# tests: between.c

load helpers

# Mean latency, in the round where it is the least.
least_mean() { # FILE
    jq '[.results[] | select(.op == "all" and .backend == "glibc").mean] | min' "$1"
}

replay() { # FILE OPTION…
    bench replay "$ROOT/traces/perl-words.abt" -b glibc --rounds 3 --processes 1 --passes latency --json "$1" "${@:2}"
}

@test "other code between calls makes the timed ones slower, and is a setting of the result" {
    replay "$OUT/none.json"
    expect_code 0
    replay "$OUT/much.json" --between 500
    expect_code 0
    awk -v none="$(least_mean "$OUT/none.json")" -v much="$(least_mean "$OUT/much.json")" \
        'BEGIN { exit !(much > none * 1.3) }' || fail "$(least_mean "$OUT/none.json") and $(least_mean "$OUT/much.json") ns"
    expect_json '.config.settings | index("between=500") != null' "$OUT/much.json"
    expect_json '[.config.settings[] | select(startswith("between"))] == []' "$OUT/none.json"
    [ "$(jq .config.tape_sha256 "$OUT/none.json")" = "$(jq .config.tape_sha256 "$OUT/much.json")" ] || fail "other work"
    bench replay "$ROOT/traces/perl-words.abt" -b glibc --between 10001
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

@test "it needs latencies, and such with other code are not compared with those without" {
    for option in '--passes memory' '--order strict'; do
        bench replay "$ROOT/traces/perl-words.abt" -b glibc --between 5 $option
        expect_code 2
        expect_error 'between needs single ops that are timed'
    done
    replay "$OUT/none.json"
    replay "$OUT/some.json" --between 5
    bench compare "$OUT/none.json" "$OUT/some.json" --json "$OUT/c.json"
    tr -s ' \n' ' ' <"$OUT/stdout" | grep -q '(--between): latencies are not compared' || fail "$(cat "$OUT/stdout")"
    expect_json '[.. | .metric? // empty] | index("time") != null and index("p50") == null' "$OUT/c.json"
    bench compare "$OUT/some.json" "$OUT/some.json" --json "$OUT/c.json"
    expect_json '[.. | .metric? // empty] | index("p50") != null' "$OUT/c.json"
}
