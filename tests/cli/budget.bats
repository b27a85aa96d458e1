#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# How much is measured: --passes, --time-budget, --precision, and what -q leaves of the output.
# tests: rounds.c session_record.c

load helpers

small() { # OPTION…
    bench run "$WORKLOADS/${work:-tiny}.yaml" --drain 0 --no-store --processes 1 --json "$OUT/r.json" "$@"
}

# jq: the rounds that have numbers of a pass.
rounds_of='{latency: [.results[] | select(.op == "all" and .n > 0) | .round] | unique,
    tail: [.results[] | select(.op == "all" and .tail != null) | .round] | unique,
    memory: [.memory[].round] | unique}'

@test "tail and memory run in the first six rounds, latency in all" {
    small -b arena --rounds 8
    expect_code 0
    expect_json ".config.passes == {latency: \"all\", tail: 6, memory: 6}" "$OUT/r.json"
    expect_json "$rounds_of == {latency: [range(8)], tail: [range(6)], memory: [range(6)]}" "$OUT/r.json"
    expect_json '[.results[] | select(.round > 5) | .max] | unique == [null]' "$OUT/r.json"
}

@test "a gate has all the rounds that there are, and nothing else does" {
    small -b arena --rounds 7 --gate 'fill/memory/rss_peak < 1000x live'
    expect_code 0
    expect_json ".config.passes == {latency: \"all\", tail: 6, memory: \"all\"}" "$OUT/r.json"
    expect_json "$rounds_of | .memory == [range(7)] and .tail == [range(6)]" "$OUT/r.json"
}

@test "--passes says what runs, and how often" {
    small -b arena --rounds 3 --passes throughput,memory:all,latency:2
    expect_code 0
    expect_json ".config.passes == {latency: 2, tail: 0, memory: \"all\"}" "$OUT/r.json"
    expect_json "$rounds_of == {latency: [0, 1], tail: [], memory: [0, 1, 2]}" "$OUT/r.json"
    expect_json '[.results[] | .max] | unique == [null]' "$OUT/r.json"
    tr -s ' \n' ' ' <"$OUT/stdout" | grep -q 'not run: tail (--passes)' ||
        fail "no note"
}

@test "with throughput alone the rest is not available, in every form" {
    small -b arena,slab --rounds 2 --passes throughput --csv "$OUT/r.csv"
    expect_code 0
    expect_json '.timer.floor_ns == null and .memory == [] and .timelines == []' "$OUT/r.json"
    expect_json '[.results[] | .tail, .min, .mean, .max, .quantiles.p50] | unique == [null]' "$OUT/r.json"
    expect_json '[.results[] | select(.op == "all") | .ns_per_op > 0] | all' "$OUT/r.json"
    ! grep -Eq ',(p50|p99|max|min|mean|tail_n|tail_over_1us|rss_peak_bytes),' "$OUT/r.csv" ||
        fail "$(cat "$OUT/r.csv")"
    bench report "$OUT/r.json"
    expect_code 0
}

@test "a gate on what is left out is refused before anything runs" {
    small -b arena --passes memory --gate 'fill/alloc/p99 < 2us'
    expect_code 2
    expect_error "--gate 'fill/alloc/p99 < 2us': p99 comes from the latency pass, which --passes leaves out"
    [ ! -e "$OUT/r.json" ] || fail "it ran"
    small -b arena --passes latency --gate 'fill/alloc/max < 1s'
    expect_code 2
    expect_error 'max comes from the tail pass'
    { cat "$WORKLOADS/tiny.yaml"; printf 'gates:\n  - fill/memory/rss_peak < 100MiB\n'; } >gated.yaml
    bench run gated.yaml -b arena --passes tail --no-store
    expect_code 2
    expect_error 'gated.yaml:[0-9]+:[0-9]+: .*comes from the memory pass'
}

@test "what --passes cannot mean is an error with the right spelling" {
    expect_refused() { # LIST MESSAGE
        small -b arena --passes "$1"
        expect_code 2
        expect_error "$2"
    }
    expect_refused latncy 'did you mean latency\?'
    expect_refused '' 'expected one or more of throughput, latency, tail and memory'
    expect_refused latency,,tail 'expected one or more of'
    expect_refused memory:0 'NAME:N with N from 1 to 1000'
    expect_refused memory: 'NAME:N with N from 1 to 1000'
    expect_refused memory:many 'NAME:N with N from 1 to 1000'
    expect_refused throughput:3 'the throughput pass always runs in every round'
    small -b arena --order strict --passes tail
    expect_code 2
    expect_error 'tail cannot be measured with --order strict'
}

@test "shards take the passes from the number of a round, and merge to the whole" {
    for i in 1 2; do
        small -b arena --rounds 8 --shard $i/2
        expect_code 0
        mv "$OUT/r.json" "$OUT/$i.json"
    done
    expect_json "$rounds_of | .tail == [1, 3, 5] and .latency == [1, 3, 5, 7]" "$OUT/2.json"
    bench merge "$OUT/1.json" "$OUT/2.json" -o "$OUT/merged.json"
    expect_code 0
    expect_json "$rounds_of | .tail == [range(6)] and .memory == [range(6)]" "$OUT/merged.json"
    expect_json '.config.passes == {latency: "all", tail: 6, memory: 6}' "$OUT/merged.json"
    small -b arena --rounds 8 --shard 2/2 --passes throughput
    bench merge "$OUT/1.json" "$OUT/r.json" -o "$OUT/other.json"
    expect_code 2
    expect_error 'the latency pass is not run, there in every round'
}

@test "a result is resumed with the passes that it has" {
    small -b arena --rounds 4 --passes memory:2 -q
    jq 'def keep: .rounds |= map(select(.index < 1)) | .timer.null |= map(select(.round < 1))
        | with_entries(if (.value | type) == "array" and .key != "rounds"
                       then .value |= map(select((.round // 0) < 1)) else . end);
        .complete = false | del(.checksum) | keep' "$OUT/r.json" >"$OUT/partial.json"
    bench run --resume "$OUT/partial.json" --no-store --json "$OUT/again.json"
    expect_code 0
    expect_json "$rounds_of == {latency: [], tail: [], memory: [0, 1]}" "$OUT/again.json"
    bench run --resume "$OUT/partial.json" --passes tail --no-store
    expect_code 2
    expect_error 'the conditions differ: the tail pass is in 6 rounds, was not run'
}

@test "a time budget ends a run after six rounds at least, and says so" {
    small -b arena,slab --time-budget 1s
    expect_code 0
    expect_json '.complete and (.rounds | length) >= 6 and .config.rounds_planned == (.rounds | length)' "$OUT/r.json"
    expect_json '.config.stopping | .time_budget_s == 1 and .precision == null and .rounds_most == 100
        and .spent_s > 0 and (.ended == "time_budget" or .ended == "rounds")' "$OUT/r.json"
    tr -s ' \n' ' ' <"$OUT/stdout" | grep -Eq 'stopped (after|at the limit of) [0-9]+ rounds' || fail "no note"
    small -b arena --time-budget 1s --rounds 2
    expect_code 0
    expect_json '(.rounds | length) == 2 and .config.stopping.ended == "rounds"' "$OUT/r.json"
}

# bats test_tags=full
@test "precision ends a run when every interval is that narrow" {
    work=small
    small -b arena,glibc --precision 50%
    expect_code 0
    expect_json '.config.stopping.ended == "precision" and (.rounds | length) >= 6 and (.rounds | length) < 100' "$OUT/r.json"
    expect_json '.ratios[] | select(.phase == null and .metric == "time") | .low > .ratio * 0.4 and .high < .ratio * 1.6' "$OUT/r.json"
    tr -s ' \n' ' ' <"$OUT/stdout" | grep -q 'the ratio of each back end to its base is known to within 50 %' ||
        fail "no note"
    local more=$(($(jq '.rounds | length' "$OUT/r.json") + 1)) # what ended it does not end it again
    bench run --resume "$OUT/r.json" --rounds $more --time-budget 100s --json "$OUT/more.json" -q
    expect_code 0
    expect_json '.config.stopping | .ended == "rounds" and .precision == null and .time_budget_s == 100' "$OUT/more.json"
    expect_json "(.rounds | length) == $more" "$OUT/more.json"
    small -b arena,glibc --precision 0.1% --rounds 7
    expect_code 0
    expect_json '.config.stopping.ended == "rounds" and (.rounds | length) == 7' "$OUT/r.json"
    tr -s ' \n' ' ' <"$OUT/stdout" | grep -q 'stopped at the limit of [0-9]* rounds; widest interval' ||
        fail "no note"
}

@test "by default a run of several ends when its intervals are narrow, after ten rounds at the latest" {
    small -b arena,slab
    expect_code 0
    expect_json '.config.stopping | .precision == 0.02 and .rounds_most == 10 and .ended != ""' "$OUT/r.json"
    expect_json '(.rounds | length) as $n | $n >= 6 and $n <= 10' "$OUT/r.json"
    small -b arena,slab --rounds 7 # as many as were asked for
    expect_json '.config.stopping == null and (.rounds | length) == 7' "$OUT/r.json"
    small -b arena,slab --gate 'arena:fill/all/ns_per_op < 1000x slab' # a verdict has all rounds
    expect_json '.config.stopping == null and (.rounds | length) == 10' "$OUT/r.json"
    small -b arena
    expect_json '.config.stopping == null and (.rounds | length) == 10' "$OUT/r.json"
}

@test "what cannot be combined is refused" {
    small -b arena --precision 2%
    expect_code 2
    expect_error 'it needs at least two back ends'
    small -b arena,slab --precision 2% --rounds 5
    expect_code 2
    expect_error 'needs at least 6 rounds, --rounds allows 5'
    for rule in '--precision 2%' '--time-budget 5s'; do
        small -b arena,slab $rule --shard 1/2
        expect_code 2
        expect_error "--shard and ${rule%% *} are mutually exclusive"
    done
    small -b arena,slab --precision 2
    expect_code 2
    expect_error 'expected a percentage such as 2%'
    small -b arena,slab --time-budget 10ms
    expect_code 2
    expect_error 'must be at least 1s'
}

@test "a run that a rule ended is gone on with by another one" {
    small -b arena,slab --time-budget 1s --rounds 7
    expect_code 0
    mv "$OUT/r.json" "$OUT/first.json"
    n=$(jq '.rounds | length' "$OUT/first.json")
    bench run --resume "$OUT/first.json" --no-store
    expect_code 0
    expect_error 'is complete; nothing to run'
    bench run --resume "$OUT/first.json" --rounds 9 --time-budget 60s --no-store --json "$OUT/more.json"
    expect_code 0
    expect_json ".complete and .config.rounds_resumed == $n and (.rounds | length) == 9
        and .config.stopping.ended == \"rounds\" and .config.rounds_planned == 9" "$OUT/more.json"
    expect_json '.config.stopping.spent_s' "$OUT/first.json"
    [ "$(jq '.config.stopping.spent_s' "$OUT/more.json" | cut -d. -f1)" -ge \
        "$(jq '.config.stopping.spent_s' "$OUT/first.json" | cut -d. -f1)" ] || fail "time was lost"
}

@test "a gate that fails is confirmed by as many rounds as there were" {
    small -b arena,glibc --precision 50% --rounds 8 --gate 'glibc:fill/all/ns_per_op < 0.01x arena'
    expect_code 1
    n=$(jq '.rounds | length' "$OUT/r.json")
    expect_error "1 verdict to confirm: $n more rounds"
    expect_json ".gates[0].confirm_rounds == $n" "$OUT/r.json"
}

@test "-q says in a line each what failed, and nothing else" {
    small -q -b arena,glibc --rounds 6 --gate 'glibc:fill/all/ns_per_op < 0.01x arena' \
        --gate 'arena:fill/all/ns_per_op > 0ns'
    expect_code 1
    [ ! -s "$OUT/stdout" ] || fail "standard output: $(cat "$OUT/stdout")"
    [ "$(wc -l <"$OUT/stderr")" -eq 1 ] || fail "$(cat "$OUT/stderr")"
    expect_error '^allocbench: gate: .*glibc:fill/all/ns_per_op < 0.01x arena.*does not hold'
    bench report -q "$OUT/r.json" --csv "$OUT/r.csv"
    expect_code 0
    [ ! -s "$OUT/stdout" ] && [ ! -s "$OUT/stderr" ] && [ -s "$OUT/r.csv" ] || fail "report prints"
}

@test "-q is silent about what warns" {
    mkdir -p results
    bench calibrate "$WORKLOADS/tiny.yaml" --rounds 2 -q --results results
    file=$(echo results/calibration-*.json)
    jq '.noise = [{op: "all", metric: "ns_per_op", p95: 0.9}, {op: "all", metric: "time", p95: 0.9}]' \
        "$file" >edited && mv edited "$file"
    bench run "$WORKLOADS/tiny.yaml" -b arena,slab --rounds 1 --drain 0 --results results \
        --gate 'arena:fill/all/ns_per_op < 1.9x slab'
    expect_error 'allocbench: warning: arena:fill/all/ns_per_op < 1.9x slab: allows'
    bench run "$WORKLOADS/tiny.yaml" -b arena,slab --rounds 1 --drain 0 --results results -q \
        --gate 'arena:fill/all/ns_per_op < 1000x slab'
    [ ! -s "$OUT/stdout" ] && [ ! -s "$OUT/stderr" ] || fail "$(cat "$OUT/stderr")"
    # --limit warns as gates do
    bench run "$WORKLOADS/tiny.yaml" -b arena --rounds 6 --drain 0 --results results --json base.json
    bench run "$WORKLOADS/tiny.yaml" -b arena --rounds 6 --drain 0 --results results \
        --baseline base.json --limit 50%
    expect_error 'warning: --limit: allows 50 %, and here two identical back ends differ in time'
}
