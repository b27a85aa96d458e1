#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# What `run` promises when all goes well: the JSON and CSV documents, the table, and that the same
# seed means the same work.
# tests: measure.c measure_tape.c run_workload.c say.c show.c cmd_run.c runner/run_session.c rounds.c burst.c
# tests: meters.c progress.c run.c worker/fail_run.c worker/worker_main.c

load helpers

small() { # OPTION…
    bench run "$WORKLOADS/small.yaml" --drain 0 "$@"
}

quickstart() { # OPTION…
    bench run "$ROOT/configs/quickstart.yaml" --set live=4000 --set churn=60000 --set grow=12000 \
        --drain 0 "$@"
}

# One for the tests that only look at it.
setup_file() {
    PATH=$BUILD:$PATH ALLOCBENCH_RESULTS='' allocbench run "$ROOT/configs/quickstart.yaml" \
        --set live=4000 --set churn=60000 --set grow=12000 --drain 0 --rounds 2 --processes 1 \
        --json "$BATS_FILE_TMPDIR/quickstart.json" -q 3>&-
}

take_quickstart() {
    cp "$BATS_FILE_TMPDIR/quickstart.json" "$OUT/stdout"
}

@test "the quickstart yields one JSON document with the promised keys" {
    quickstart --set live=400 --set churn=6000 --set grow=1200 --rounds 2 --json -
    expect_code 0
    expect_one_document
    expect_json 'keys_unsorted == ["schema", "tool", "complete", "config", "seed", "host", "timer",
        "counting", "noise", "backends", "rounds", "results", "size_classes", "windows", "heaps", "memory",
        "memory_distributions", "timelines", "trace_overview", "ratios", "gates", "claims", "comparison",
        "checksum"]'
    expect_json '.schema == "allocbench/2" and .complete and .seed == 42'
    expect_json '.results | length > 0 and all(has("backend") and has("phase") and has("op")
        and has("round") and has("n") and has("overflow") and has("min") and has("max")
        and has("mean") and has("hdr_v2") and (.quantiles | keys | length) == 6)'
    expect_json '[.results[] | select(.op == "all")] | all(.ns_per_op > 0
        and ((.ns_per_op * .ops_per_s / 1e9 - 1) | fabs) < 1e-6)'
    expect_json '[.results[] | select(.op != "all") | has("ns_per_op")] | any | not'
    expect_nothing_left
}

@test "every number belongs to a back end that is ok, and every back end has every block" {
    take_quickstart
    expect_json '[.backends[] | select(.status == "ok") | .name] as $ok
        | ([.results[].backend] | unique) == ($ok | unique)'
    expect_json '[.backends[] | select(.status == "ok")] as $ok | .config.phases as $phases
        | [.results[] | select(.op == "all")] | length == ($ok | length) * ($phases | length) * 2'
    expect_json '.rounds | length == 2 and all(.order | length == (unique | length))'
}

@test "percentiles ascend from min to max" {
    take_quickstart
    expect_json '.results | all([.min, .quantiles.p50, .quantiles.p90, .quantiles.p99,
        .quantiles["p99.5"], .quantiles["p99.9"], .quantiles["p99.99"], .max]
        | map(select(. != null)) | . == sort)'
    expect_json '.results | all(.n == 0 or (.min <= .mean and .mean <= .max))'
}

@test "the histograms, decoded by something else, add up to n and agree with the percentiles" {
    command -v python3 >/dev/null || skip "no python3"
    take_quickstart
    n=$(python3 "$ROOT/tests/cli/hdr_total.py" "$OUT/stdout") || fail "$n"
    [ "$n" -ge 40 ] || fail "only $n histograms"
}

@test "the tail pass sees every op of the phase" {
    small --rounds 1 -b glibc --json -
    expect_json '[.results[] | select(.op == "all")] | all(.tail.n == .n_ops)'
    expect_json '[.results[] | select(.phase == "churn" and .op != "all") | .tail.n] | add == 80000'
}

# bats test_tags=installed
@test "every back end that is installed serves the quickstart" {
    names=$(installed_backends '.name != "null"')
    [ -n "$names" ]
    quickstart --set live=400 --set churn=6000 --set grow=1200 --rounds 1 -b "$names" --json -
    expect_code 0
    expect_json '.backends | length >= 4 and all(.status == "ok")'
    expect_json '[.backends[] | select(.boundary == "malloc" and .name != "glibc")]
        | all((.path | startswith("/")) and .build_id != null)'
}

@test "each boundary in use has its null cost, in JSON and in words" {
    small --rounds 1 -b glibc,arena -v time --json "$OUT/result.json"
    expect_code 0
    expect_json '[.timer.null[].boundary] | unique == ["heap", "malloc"]' "$OUT/result.json"
    expect_json '.timer.null | length == 8 and all(.ns_per_op > 0 and .floor_ns > 0)' \
        "$OUT/result.json"
    tr -s '\n ' ' ' <"$OUT/stdout" | # the note is wrapped
        grep -Eq 'Harness overhead \(not subtracted\): [0-9.]+ ns/op'
    grep -Eq 'timer floor: [0-9.]+ ns' "$OUT/stdout"
}

@test "CSV on standard output is nothing but rows of ten fields" {
    small --rounds 2 -b glibc,arena --csv -
    expect_code 0
    [ "$(head -1 "$OUT/stdout" | tr -d '\r')" = run,round,order,backend,phase,op,metric,value,unit,workload ]
    awk -F, 'NF != 10 { exit 1 }' "$OUT/stdout" || fail "rows of other lengths"
    [ "$(cut -d, -f4 "$OUT/stdout" | tail -n +2 | sort -u | paste -sd,)" = arena,glibc ]
}

@test "CSV and JSON tell the same numbers" {
    small --rounds 1 -b glibc --csv "$OUT/result.csv" --json "$OUT/result.json"
    expect_code 0
    csv=$(awk -F, '$5 == "churn" && $6 == "all" && $7 == "ns_per_op" { print $8 }' "$OUT/result.csv")
    jq -e --argjson csv "$csv" '.results[] | select(.phase == "churn" and .op == "all")
        | (.ns_per_op / $csv - 1) | fabs < 1e-6' "$OUT/result.json" >/dev/null || fail "$csv"
}

@test "the same seed is the same work, another seed is another" {
    for seed in 5 5 6; do
        small --rounds 1 -b arena --seed $seed --json -
        jq -r .config.tape_sha256 "$OUT/stdout" >>"$OUT/digests"
    done
    [ "$(sort -u "$OUT/digests" | wc -l)" -eq 2 ]
    [ "$(head -2 "$OUT/digests" | sort -u | wc -l)" -eq 1 ]
}

@test "all back ends of one command did the same work" {
    small --rounds 1 -b glibc,arena,skeleton --json -
    expect_json '[.results[] | select(.op == "all")] | group_by(.phase)
        | all(map(.n_ops) | unique | length == 1)'
}

@test "the table alone goes to standard output, and only the rounds to standard error" {
    small --rounds 1 -b glibc,arena
    expect_code 0
    ! grep -v '^\[ 1/1\] ' "$OUT/stderr" || fail "standard error has more"
    grep -q '^time per op, ns' "$OUT/stdout"
    ! grep -q "$(printf '\033')" "$OUT/stdout"
}

@test "-b may be repeated, and --cpus is told in the result" {
    small --rounds 1 -b glibc -b arena --cpus 0 --json -
    expect_code 0
    expect_json '[.backends[].name] == ["glibc", "arena"] and .config.cpu == 0'
}

@test "--set changes the work, and the result says so" {
    bench run "$ROOT/configs/churn.yaml" --rounds 1 -b arena --set ops=20k --json -
    expect_code 0
    expect_json '[.results[] | select(.op == "all") | .n_ops] == [20000]'
    expect_json '.config.settings | any(. == "ops=20000" or . == "ops=20k")'
}

@test "a library in a folder with spaces, colons, commas and dollars is measured all the same" {
    mkdir "$OUT/a b:c,d \$e;f"
    cp "$GUESTS/libtoy.so" "$OUT/a b:c,d \$e;f/libmy toy.so"
    small --rounds 1 -b glibc -b "$OUT/a b:c,d \$e;f/libmy toy.so" --json "$OUT/a b:c,d \$e;f/r 1.json"
    expect_code 0
    expect_json '.backends[1].status == "ok"' "$OUT/a b:c,d \$e;f/r 1.json"
}

@test "what the user's environment does to malloc does not reach the workers" {
    MALLOC_ARENA_TEST=1 MALLOC_CONF=abort:true,stats_print:true GLIBC_TUNABLES=glibc.malloc.check=3 \
        small --rounds 1 -b glibc,jemalloc --json -
    expect_json '[.backends[] | select(.status != "absent") | .status] | all(. == "ok")'
}

@test "a result replaces the one before it, whole" {
    echo old >"$OUT/result.json"
    small --rounds 1 -b arena --json "$OUT/result.json"
    expect_one_document "$OUT/result.json"
    [ "$(ls -A "$OUT" | grep -c result)" -eq 1 ]
}

@test "list backends names the C library and what is built in" {
    bench list backends
    expect_code 0
    grep -Eq '^  glibc +[0-9.]+' "$OUT/stdout"
    grep -Eq '^  arena ' "$OUT/stdout"
}

@test "check tells the plan of every bundled workload" {
    for file in "$ROOT"/configs/*.yaml; do
        bench check "$file"
        expect_code 0
        [ -s "$OUT/stdout" ]
        ! grep '^note ' "$OUT/stdout" || fail "$file"
    done
}

@test "check says where an alignment of malloc's own makes it measure memalign" {
    cat >"$OUT/align.yaml" <<'YAML'
allocbench: 1
name: align
sets: [{name: s, kind: list}]
phases:
  - name: p
    do:
      - {alloc: s, size: 8, align: 32}
      - {repeat: 2, do: [{alloc: s, size: 8, align: 16}]}
      - {alloc: s, size: 8}
  - name: q
    roles: [{name: r, do: [{alloc: s, size: 8, align: 8}]}]
YAML
    bench check "$OUT/align.yaml"
    expect_code 0
    [ "$(grep -c '\[align\]$' "$OUT/stdout")" -eq 2 ]
    grep -Eq '^note .*/align.yaml:8:27: align: 16 is no more than malloc guarantees; drop it to' \
        "$OUT/stdout"
    grep -Eq '^note .*/align.yaml:11:29: align: 8 is no more' "$OUT/stdout"
}

# What is called warm in the seeds finds its pages there: an arena writes to none of them before.
@test "no page of an arena is new in the warm phases of the seeds" {
    for seed in million-small:objects=50000 random-free:blocks=20000; do
        bench run "$ROOT/configs/seeds/${seed%:*}.yaml" --set "${seed#*:}" --rounds 1 --no-store \
            -b arena --json -
        expect_code 0
        expect_json '[.results[] | select(.op == "all" and (.phase == "alloc" or
            .phase == "alloc_touched"))] | length == 2 and all(.faults_minor < 100)'
        expect_json '[.memory[].live_peak_bytes] | max > 500 * 4096'
    done
}

@test "blocks that a bulk reset gave back are freed in no pass" {
    bench run "$ROOT/configs/region.yaml" --rounds 1 --no-store --set requests=20 \
        -b skeleton,pool,slab,arena --json -
    expect_code 0
    expect_json '[.backends[] | .status == "ok" and .has_reset] == [true, true, true, true]'
}
