#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# calibrate, and the warnings that follow from it.
# tests: calibrate.c cmd_calibrate.c noise_warning.c

load helpers

# A calibration of this machine with a noise of 4 % in ns_per_op and nothing else.
calibrated() {
    mkdir -p "$OUT/results"
    bench calibrate "$WORKLOADS/tiny.yaml" --rounds 2 -q --results "$OUT/results"
    expect_code 0
    file=$(echo "$OUT"/results/calibration-*.json)
    jq '.noise = [{op: "all", metric: "ns_per_op", p95: 0.04}, {op: "all", metric: "time", p95: 0.03}]' \
        "$file" >"$OUT/edited" && mv "$OUT/edited" "$file"
}

@test "calibrate stores the noise of each metric, with the machine and the date" {
    bench calibrate "$WORKLOADS/tiny.yaml" --rounds 3 --results "$OUT/results"
    expect_code 0
    expect_error '^Stored: .*/calibration-[0-9a-f]{12}\.json$'
    grep -q 'all/ns_per_op' "$OUT/stdout" || fail "no table"
    # Time, p99 and memory; the rest is for who asks for it.
    [ "$(grep -c ' %$' "$OUT/stdout")" -le 7 ] || fail "$(cat "$OUT/stdout")"
    ! grep -q '/max ' "$OUT/stdout" || fail "$(cat "$OUT/stdout")"
    grep -Eq '^  \(-v: [0-9]+ more metrics\)$' "$OUT/stdout" || fail "$(cat "$OUT/stdout")"
    [ "$(ls "$OUT/results" | wc -l)" -eq 1 ] || fail "more than the calibration is stored"
    file=$(echo "$OUT"/results/calibration-*.json)
    expect_json '.schema == "allocbench-calibration/1" and .rounds == 10 and .rounds_measured == 3' "$file"
    expect_json '.workload == "tiny" and (.host.fingerprint | length) == 64 and (.date | test("^20"))' "$file"
    expect_json '[.noise[] | select(.metric == "time")] | length == 1 and .[0].p95 >= 0' "$file"
    expect_json '[.noise[] | select(.metric | test("instr|fault|syscalls|^n$"))] == []' "$file"
    grep -Eq '^  memory/rss_peak +[0-9.]+ %$' "$OUT/stdout" || fail "no memory"
    expect_json '[.noise[] | select(.op == "memory" and .metric == "rss_peak")] | length == 1' "$file"
    # again: in place of the old one
    bench calibrate "$WORKLOADS/tiny.yaml" --rounds 2 -q --results "$OUT/results"
    expect_code 0
    expect_json '.rounds_measured == 2' "$file"
    [ ! -s "$OUT/stdout" ] || fail "-q prints"
    expect_nothing_left
}

# bats test_tags=full
@test "without a workload it measures a churn of its own" {
    bench calibrate --rounds 2 --results "$OUT/results"
    expect_code 0
    expect_json '.workload == "churn" and (.tape_sha256 | startswith("74e6ef24827c0d65"))' \
        "$OUT"/results/calibration-*.json
}

@test "a param of that churn can be set" {
    bench calibrate --rounds 2 --set ops=20000 --results "$OUT/results"
    expect_code 0
    expect_json '.tape_sha256 | startswith("cf834954eb99687d")' "$OUT"/results/calibration-*.json
}

@test "a gate that is narrower than twice the noise warns, in one line; a wider one does not" {
    calibrated
    export ALLOCBENCH_RESULTS=$OUT/results
    bench run "$WORKLOADS/tiny.yaml" -b glibc,arena --rounds 10 --drain 0 --no-store \
        --gate 'arena:churn/all/ns_per_op < 1.05x glibc'
    expect_error 'warning: arena:churn/all/ns_per_op < 1.05x glibc: allows 5 %.* up to 4 %'
    [ "$(grep -c warning: "$OUT/stderr")" -eq 1 ] || fail "not one line"
    # fewer rounds are noisier: 4 % becomes 5.7 %
    bench run "$WORKLOADS/tiny.yaml" -b glibc,arena --rounds 5 --drain 0 --no-store \
        --gate 'arena:churn/all/ns_per_op < 1.10x glibc'
    expect_error 'up to 5\.7 %'
    # wide, of no back end, of what was not calibrated
    bench run "$WORKLOADS/tiny.yaml" -b glibc,arena --rounds 10 --drain 0 --no-store \
        --gate 'arena:churn/all/ns_per_op < 1.5x glibc' --gate 'churn/all/ns_per_op < 1s' \
        --gate 'arena:churn/alloc/p50 < 1.01x glibc' --gate 'arena:churn/memory/rss_peak < 1.01x glibc'
    ! grep -q calibrate "$OUT/stderr" || fail "a gate warns that should not"
}

@test "where nothing was calibrated nothing is said; what cannot be read is said once" {
    calibrated
    narrow='arena:churn/all/ns_per_op < 1.01x glibc'
    export ALLOCBENCH_RESULTS=$OUT/other
    bench run "$WORKLOADS/tiny.yaml" -b glibc,arena --rounds 1 --drain 0 --no-store --gate "$narrow"
    ! grep -q calibrate "$OUT/stderr" || fail "warns"
    export ALLOCBENCH_RESULTS=$OUT/results
    echo '{"schema": "allocbench-calibration/1", "date"' >"$file"
    bench run "$WORKLOADS/tiny.yaml" -b glibc,arena --rounds 1 --drain 0 --no-store \
        --gate "$narrow" --gate "$narrow"
    expect_error 'the noise of this machine is not known, calibrate it again'
    [ "$(grep -c 'calibrate it again' "$OUT/stderr")" -eq 1 ] || fail "said more than once"
}

@test "a place that cannot be written to, and mistakes, are errors before anything is measured" {
    bench calibrate --results "$OUT/stdout/not-a-folder"
    expect_code 2
    bench calibrate # ALLOCBENCH_RESULTS is empty in these tests
    expect_code 2
    expect_error 'name a folder with --results'
    bench calibrate --rounds 1 --results "$OUT/results"
    expect_code 2
    expect_error '2 to 1000'
    bench calibrate "$WORKLOADS/none.yaml" --results "$OUT/results"
    expect_code 3
    bench calibrate a.yaml b.yaml --results "$OUT/results"
    expect_code 2
    [ -z "$(ls "$OUT/results")" ] || fail "something was stored"
}

@test "limits of a baseline and bounds on a real program are set against the noise as well" {
    calibrated
    jq -c '.noise[0].metric = "time" | del(.noise[1:]) | .noise[0].op = "all"' "$file" >"$OUT/c.json"
    mv "$OUT/c.json" "$file"
    export ALLOCBENCH_RESULTS=$OUT/results
    bench run "$WORKLOADS/tiny.yaml" -b glibc --rounds 10 --drain 0 --no-store --json "$OUT/base.json"
    bench run "$WORKLOADS/tiny.yaml" -b glibc --rounds 10 --drain 0 --no-store --baseline "$OUT/base.json" --limit 3%
    expect_error 'warning: --limit: allows 3 %.* differ in time by up to 4 %'
    bench run "$WORKLOADS/tiny.yaml" -b glibc --rounds 10 --drain 0 --no-store --baseline "$OUT/base.json" --limit 20%
    ! grep -q calibrate "$OUT/stderr" || fail "warns about a wide limit"
    bench exec --no-store --rounds 10 -b "glibc,toy=$GUESTS/libtoy.so" --gate 'toy:program/all/wall_ns < 1.05x glibc' -- true
    expect_error 'allows 5 %.* differ in time by up to 4 %'
    bench exec --no-store --rounds 10 -b "glibc,toy=$GUESTS/libtoy.so" --gate 'toy:program/all/wall_ns < 9x glibc' -- true
    ! grep -q calibrate "$OUT/stderr" || fail "warns about a wide bound"
}

@test "gates of the workload, which name other rows, are not read" {
    sed 's/^phases:/gates: ["all\/ns_per_op < 3x glibc"]\n&/' "$WORKLOADS/small.yaml" >gated.yaml
    bench calibrate gated.yaml --rounds 2 -q --results "$OUT/results"
    expect_code 0
}
