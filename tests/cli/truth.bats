#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# Known truths: libraries whose behaviour is certain, so that what is reported can be wrong. The
# machine may be busy, so the least disturbed block counts.

load helpers

# The values of slow1us' mallocs, one a block, in ascending order.
blocks_of() { # JQ_PATH
    jq -c "[.results[] | select(.phase == \"fill\" and .op == \"$1\") | $2] | sort" \
        "$OUT/result.json"
}

least_of() {
    blocks_of "$@" | jq '.[0]'
}

within_5_percent() { # VALUE TRUTH
    jq -en --argjson x "$1" --argjson truth "$2" '($x / $truth - 1) | fabs <= 0.05' >/dev/null ||
        fail "$1 is not within 5 % of $2"
}

@test "a malloc of 1 us, and of 50 us at each 100th call, is measured as such" {
    bench run "$WORKLOADS/truth.yaml" --rounds 5 --drain 0 -b "$GUESTS/libslow1us.so" \
        --json "$OUT/result.json"
    expect_code 0
    # the least disturbed block: other work on the machine only ever adds time
    within_5_percent "$(least_of alloc '.quantiles.p50')" 1000
    within_5_percent "$(least_of alloc '.quantiles["p99.5"]')" 50000
    jq -en "$(least_of alloc .max) >= 50000" >/dev/null || fail "max is too small"
    # 99 calls of 1 us and one of 50 in a hundred: as CPU time, and never less by the wall's clock
    is_the_truth .cpu_ns_per_op
    jq -en "$(least_of all .ns_per_op) >= 1490 * 0.95" >/dev/null || fail "faster than it can be"
    # exactly 200 ops are slow; what was the scheduler's in both passes is counted apart
    jq -en "$(least_of alloc '(.tail.over_10us + .n_scheduler)') | . >= 200" >/dev/null ||
        fail "over 10 us: $(least_of alloc .tail.over_10us)"
    jq -en "$(least_of alloc .tail.over_10us) | . >= 150 and . <= 260" >/dev/null ||
        fail "over 10 us: $(least_of alloc .tail.over_10us)"
}

is_the_truth() { # METRIC
    jq -en "$(least_of all $1) | . >= 1490 * 0.95 and . <= 1490 * 1.25" >/dev/null ||
        fail "$1: $(least_of all $1)"
}

@test "the wall's clock tells the same time where nothing else runs" {
    # passes so short that on a busy machine, too, some are left alone
    bench run "$WORKLOADS/truth.yaml" --set n=1000 --rounds 20 --drain 0 -b "$GUESTS/libslow1us.so" \
        --json "$OUT/result.json"
    expect_code 0
    is_the_truth .ns_per_op
}

@test "the worst ops lie where the slow calls are: at each 100th position" {
    # short rounds and many of them: in some the machine does nothing else
    bench run "$WORKLOADS/truth.yaml" --set n=4000 --rounds 10 --passes tail:all \
        --drain 0 -b "$GUESTS/libslow1us.so" --json "$OUT/result.json"
    expect_code 0
    # a preempted op may be among them: half of the best block must fit the pattern, which by chance
    # one op in a hundred does
    hits=$(jq '[.results[] | select(.op == "alloc") | .tail.worst | map(select(.position % 100 == 99))
        | length] | max' "$OUT/result.json")
    [ "$hits" -ge 8 ] || fail "$hits of 16 worst ops at the 100th calls"
    expect_json '[.results[] | select(.op == "alloc") | .tail.worst] | all(length == 16)' \
        "$OUT/result.json"
    expect_json '[.results[] | select(.op == "alloc") | .tail.worst[].size]
        | any(. == 64) and all(. == 64 or . == null)' \
        "$OUT/result.json"
}

@test "the harness calls no allocator while it measures: a counting library sees the tape alone" {
    cp "$GUESTS/libcountshim.so" "$OUT/"
    bench run "$WORKLOADS/counted.yaml" --rounds 2 -b "$OUT/libcountshim.so" --json "$OUT/result.json"
    expect_code 0
    expect_json '.config.tape.total_blocks == 10000' "$OUT/result.json"
    # one line a worker: malloc free calloc realloc memalign usable_size
    counts=$OUT/libcountshim.so.counts
    # pre-flight, one run for the length of slices, 2 rounds of 4 passes, and the memory pass once
    # more to find the peaks
    [ "$(wc -l <"$counts")" -eq 11 ] || fail "$(cat "$counts")"
    # the first of them is the pre-flight, which probes beyond the tape
    [ "$(sed 1d "$counts" | cut -d' ' -f1-5 | sort -u)" = "8000 8000 0 2000 0" ] ||
        fail "$(cat "$counts")"
    # usable_size: the pre-flight and the memory pass ask, a timed pass never
    [ "$(sed -n '2,5p;8,10p' "$counts" | cut -d' ' -f6 | sort -u)" = 0 ] || fail "$(cat "$counts")"
}

# A process that never stops, on one CPU with the worker: each gets a few milliseconds in turn.
compete_on() { # CPU
    taskset -c "$1" sh -c 'while :; do :; done' 3>&- &
    rival=$!
}

@test "what the scheduler does is in no tail: a free that does nothing has no milliseconds" {
    cpu=$(taskset -cp $$ | sed 's/.*: *\([0-9]*\).*/\1/')
    compete_on "$cpu"
    bench run "$ROOT/configs/churn.yaml" --rounds 4 --drain 0 --cpus "$cpu" -b arena -v all \
        --json "$OUT/result.json"
    kill "$rival"
    wait "$rival" || true
    expect_code 0
    # it did happen, in nearly every round, and was long
    expect_json '[.results[] | select(.op == "all" and .n_scheduler > 0)] | length >= 3' \
        "$OUT/result.json"
    expect_json '[.results[].scheduler_max_ns | numbers] | max > 1e6' "$OUT/result.json"
    expect_json '[.results[] | select(.op == "all")] | all(.n_scheduler >= 0)' "$OUT/result.json"
    # a hypervisor that stops the machine cannot be told from a slow op: one round may have met it
    expect_json '[.results[] | select(.op == "free" and .max < 1e6)] | length >= 3' \
        "$OUT/result.json"
    expect_json '[.results[] | select(.op == "free")
        | select(all(.tail.worst[]; .ns < 1e6))] | length >= 3' "$OUT/result.json"
    tr -s ' \n' '  ' <"$OUT/stdout" | grep -q 'the scheduler ran something' || fail "not said"
}

@test "5 ms of CPU time in one call of a thousand are seen in each round, however busy the CPU is" {
    cpu=$(taskset -cp $$ | sed 's/.*: *\([0-9]*\).*/\1/')
    rivals=()
    for _ in 1 2 3 4; do
        compete_on "$cpu"
        rivals+=("$rival")
    done
    bench run "$WORKLOADS/truth.yaml" --set n=3000 --rounds 6 --passes tail:all --drain 0 \
        --cpus "$cpu" -b "$GUESTS/libseldom.so" --json "$OUT/result.json" \
        --gate 'fill/alloc/max < 1ms' --gate 'fill/alloc/tail_over_100us < 2' --inconclusive=fail
    kill "${rivals[@]}"
    wait "${rivals[@]}" || true
    [ "$code" -ne 0 ] || fail "a gate passed"
    # no gate passes: where only what was interrupted is above the bound, it is inconclusive
    expect_json '[.gates[].verdict] | length == 2 and all(. == "inconclusive" or . == "fail")' \
        "$OUT/result.json"
    # in truth 5 ms, three times: more than half of it is seen, and by CPU time no more than it is
    expect_json '[.results[] | select(.phase == "fill" and .op == "alloc")]
        | length == 6 and all([.max, .max_least_ns] | max >= 2.5e6)
          and all(.tail.over_100us + .tail.least_over_100us >= 3)' "$OUT/result.json"
    expect_json '[.results[].max_least_ns | numbers] | length > 0 and max <= 5.5e6' "$OUT/result.json"
}
