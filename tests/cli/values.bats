#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# Lists of values of params: each combination is measured in the same rounds, on its own tape and
# against its own null, and compared with nothing but its own rows.

load helpers

write_workload() {
    cat >"$OUT/w.yaml" <<'YAML'
allocbench: 1
name: values
params:
  - {name: n, value: [100, 1_000]}
  - {name: threads, value: 1}
sets: [{name: s, count: $n}]
gates:
  - "slab:fill/all/ns_per_op < 10s"
  - {gate: "fill/all/ns_per_op < 100x glibc", level: warn}
claims:
  - {claim: "slab:fill/all/ns_per_op = 0.5x glibc", says: "twice as fast", source: "test"}
phases:
  - name: fill
    lanes: $threads
    until: ops(20k)
    do: [{alloc: s, size: 64, count: all}, {free: s, count: all}]
  - name: drain
    do: [{alloc: s, size: 32, count: all}, {free: s, count: all}]
YAML
}

measure() { # FILE OPTION…
    bench run "$OUT/w.yaml" -b glibc,slab --drain 0 --rounds 3 -q --json "$1" "${@:2}"
}

# The measurement of both values, made once.
setup_file() {
    export PATH=$BUILD:$PATH ALLOCBENCH_RESULTS=
    OUT=$BATS_FILE_TMPDIR
    write_workload
    measure "$OUT/both.json" --csv "$OUT/both.csv"
    expect_code 0
}

with_both() {
    cp "$BATS_FILE_TMPDIR"/* "$OUT"
}

digest_of() { # VALUE
    allocbench check "$OUT/w.yaml" --set "n=$1" --json - 3>&- | jq -r .tape_sha256
}

@test "each combination has its own rows, tape, digest and null" {
    with_both
    expect_json '[.config.combinations[].params] == [{"n": 100}, {"n": 1000}]
        and ([.config.combinations[].live_peak_blocks] == [100, 1000])
        and ([.backends[] | [.name, .params.n]]
             == [["glibc", 100], ["slab", 100], ["glibc", 1000], ["slab", 1000]])
        and all(.results[], .memory[], .timelines[]; .params.n == 100 or .params.n == 1000)
        and ([.results[] | select(.op == "all") | [.backend, .params.n, .phase, .round]]
             | unique | length) == 4 * 2 * 3
        and ([.timer.null[] | [.params.n, .boundary, .phase, .round]] | unique | length) == 2 * 2 * 2 * 3
        and ([.rounds[].order[]] | unique
             == ["glibc n=100", "glibc n=1000", "slab n=100", "slab n=1000"])' "$OUT/both.json"
    for n in 100 1000; do
        expect_json ".config.combinations[] | select(.params.n == $n) | .tape_sha256 == \"$(digest_of $n)\"" \
            "$OUT/both.json"
    done
    head -1 "$OUT/both.csv" | grep -q ',workload,params'
    grep -q "^$(digest_of 1000 | cut -c1-12)-1,.*,slab,.*,n=1000" "$OUT/both.csv"
}

@test "ratios, gates and claims are of one combination, and name their row" {
    with_both
    python3 "$ROOT/tests/cli/values_ratios.py" "$OUT/both.json" || fail "ratios"
    expect_json '[.gates[] | select(.gate | startswith("slab:")) | .backend] == ["slab n=100", "slab n=1000"]
        and ([.gates[] | select(.level == "warn") | .backend] == ["slab n=100", "slab n=1000"])
        and ([.claims[] | [.backend, .base]] == [["slab n=100", "glibc"], ["slab n=1000", "glibc"]])' \
        "$OUT/both.json"
    measure "$OUT/fails.json" --gate 'glibc:fill/all/ns_per_op < 1ns'
    expect_code 1
    expect_json '[.gates[] | select(.verdict == "fail") | .backend] == ["glibc n=100", "glibc n=1000"]' \
        "$OUT/fails.json"
}

@test "one value leaves no trace of it, and --set takes lists" {
    write_workload
    measure "$OUT/one.json" --set n=1000 --csv "$OUT/one.csv"
    expect_code 0
    expect_json '(.config | has("combinations") | not) and all(.results[], .backends[]; has("params") | not)' \
        "$OUT/one.json"
    [ "$(head -1 "$OUT/one.csv" | tr -d '\r')" = "run,round,order,backend,phase,op,metric,value,unit,workload" ]
    measure "$OUT/set.json" --set n=1000 --set threads=1,2
    expect_code 0
    expect_json '[.config.combinations[] | [.params.threads, .lanes]] == [[1, 1], [2, 2]]
        and .config.settings == ["n=1000", "threads=1,2"]' "$OUT/set.json"
}

@test "the screen has a table for each phase, a column for each value, and 40 lines" {
    with_both
    bench report "$OUT/both.json"
    grep -Eq '^fill: ns per op by n$' "$OUT/stdout" || fail "no table"
    grep -Eq '^n +100 +1000$' "$OUT/stdout" || fail "no columns"
    [ "$(wc -l <"$OUT/stdout")" -le 40 ] || fail "too long"
    python3 "$ROOT/tests/cli/values_ratios.py" "$OUT/both.json" "$OUT/stdout" || fail "figures"
    bench report "$OUT/both.json" --html "$OUT/r.html"
    expect_code 0
    python3 "$ROOT/tests/cli/report_values.py" "$OUT/r.html" "$OUT/both.json" >"$OUT/counted" ||
        fail "report"
    grep -q 'by-value' "$OUT/counted" || fail "no page"
}

@test "results of other values are compared where rows did the same work" {
    with_both
    measure "$OUT/other.json" --set n=1000,5000
    expect_code 0
    bench compare "$OUT/both.json" "$OUT/other.json" --json -
    expect_json '[.comparisons[0] // . | .. | .backend? // empty] | unique
        | map(select(startswith("slab") or startswith("glibc"))) == ["glibc n=1000", "slab n=1000"]'
    measure "$OUT/seed.json" --seed 2 --set n=200,300
    bench compare "$OUT/both.json" "$OUT/seed.json"
    expect_code 2
    expect_error 'different work'
}

@test "shards of it merge to the whole, and a partial result is gone on with" {
    with_both
    for i in 1 2; do
        measure "$OUT/$i.shard" --shard "$i/2"
        expect_code 0
    done
    bench merge "$OUT/1.shard" "$OUT/2.shard" -o "$OUT/merged.json"
    expect_code 0
    expect_json '[.gates[].backend] | unique == ["slab n=100", "slab n=1000"]' "$OUT/merged.json"
    rows='[.results[] | {backend, params, phase, op, round, n_ops}], .config.combinations,
        [.timer.null[] | {params, phase, boundary, round, n_ops}]'
    diff <(jq -c "$rows" "$OUT/both.json") <(jq -c "$rows" "$OUT/merged.json") || fail "merge"
    jq 'del(.checksum) | .complete = false | .rounds |= .[:1]
        | .timer.null |= map(select(.round == 0))
        | with_entries(if (.value | type) == "array" and .key != "rounds"
                       then .value |= map(select((.round // 0) == 0)) else . end)' \
        "$OUT/both.json" >"$OUT/partial.json"
    bench run --resume "$OUT/partial.json" -q --json "$OUT/resumed.json"
    expect_code 0
    diff <(jq -c "$rows" "$OUT/both.json") <(jq -c "$rows" "$OUT/resumed.json") || fail "resume"
}

@test "too many rows are refused with their number, and who needs one combination says so" {
    write_workload
    bench run "$OUT/w.yaml" -b glibc,slab --set "n=$(seq -s, 1 600)"
    expect_code 2
    expect_error '600 combinations of values x 2 back ends = 1200 rows; at most 1000'
    bench verify slab "$OUT/w.yaml" --set n=1,2
    expect_code 2
    expect_error 'n=1,2'
    bench check "$OUT/w.yaml" --json -
    expect_code 0
    expect_json '[.combinations[].params.n] == [100, 1000]'
    bench check "$OUT/w.yaml" --set n=100,0
    expect_code 2
    expect_error 'found with combination 2 of 2'
}
