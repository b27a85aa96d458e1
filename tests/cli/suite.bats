#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# run of several workloads: all are checked first, one table, one document, gates, time, resume,
# baseline and compare.
# tests: app/measure_suite.c cli/suite_output.c cmd_run.c cmd_replay.c

load helpers

work() { # NAME SIZE
    cat >"$OUT/$1.yaml" <<YAML
# Blocks of up to $2 bytes.
allocbench: 1
name: $1
sizes: [{name: small, dist: "uniform(16, $2)"}]
sets: [{name: heap, count: 500}]
phases:
  - name: work
    until: ops(50_000)
    do:
      - {alloc: heap, size: small, count: all}
      - {free: heap, count: all}
YAML
}

several() { # ARGUMENT…
    [ -e "$OUT/a.yaml" ] || { work a 100 && work b 1000; }
    bench run "$OUT/a.yaml" "$OUT/b.yaml" -b "${BACKENDS-glibc,slab}" --passes memory:1 --drain 0 "$@"
}

@test "with -v and a document on standard output, tables stand beside it" {
    several -v --rounds 1 --no-store --json -
    expect_code 0
    expect_json '.schema == "allocbench-suite/1"'
}

@test "one table and one stored document, whose results are those of one workload alone" {
    several --rounds 6 --results "$OUT/r" --json "$OUT/s.json" --csv "$OUT/s.csv" --markdown "$OUT/s.md" --html "$OUT/s.html"
    expect_code 0
    [ "$(ls "$OUT/r" | wc -l)" = 1 ]
    grep -q '^2 workloads, 2 allocators' "$OUT/stdout"
    grep -qE '^  a  .* [um]s, .*B  ' "$OUT/stdout" || fail "$(cat "$OUT/stdout")"
    [ "$(awk 'length > 80' "$OUT/stdout" | wc -l)" = 0 ]
    [ "$(wc -l <"$OUT/stdout")" -le 14 ]
    expect_json '.schema == "allocbench-suite/1" and .complete and (.results | length) == 2' "$OUT/s.json"
    expect_json '[.results[].result.schema] == ["allocbench/2", "allocbench/2"]' "$OUT/s.json"
    jq .results[1].result "$OUT/s.json" >"$OUT/alone.json"
    bench report "$OUT/alone.json" # unchanged: its own checksum holds
    expect_code 0
    ! grep -q altered "$OUT/stderr" || fail "altered"
    ALLOCBENCH_RESULTS=$OUT/r bench report @last --json "$OUT/again.json"
    cmp "$OUT/s.json" "$OUT/again.json"
    grep -q '^mean,slab,time,' "$OUT/s.csv"
    grep -q '<svg' "$OUT/s.html"
    python3 "$ROOT/tests/cli/reckon_suite.py" "$OUT/s.json" "$OUT/s.csv"
    expect_nothing_left
}

@test "each combination of values is a row and counts in the means; the one result is as alone" {
    work a 100
    work b 1000
    sed -i 's/^sizes:/params: [{name: most, value: [500, 1000]}]\nsizes:/; s/16, 1000/16, $most/' "$OUT/b.yaml"
    several --rounds 6 --json "$OUT/s.json" --csv "$OUT/s.csv" --html "$OUT/s.html" --gate 'glibc:work/all/ns_per_op < 1ns'
    expect_code 1
    grep -q '^3 workloads, 2 allocators' "$OUT/stdout"
    grep -q 'in the geometric mean of 3 workloads' "$OUT/stdout"
    grep -qE '^  b\[most=1000\]  .* [um]s, .*B  ' "$OUT/stdout" || fail "$(cat "$OUT/stdout")"
    [ "$(grep -c '^fail: b: ' "$OUT/stdout")" = 2 ] || fail "$(cat "$OUT/stdout")"
    grep -q 'b\[most=500\]' "$OUT/s.html"
    python3 "$ROOT/tests/cli/reckon_suite.py" "$OUT/s.json" "$OUT/s.csv"
    jq .results[1].result "$OUT/s.json" >"$OUT/alone.json"
    bench report "$OUT/alone.json"
    expect_code 0
    ! grep -q altered "$OUT/stderr" || fail "altered"
    bench compare "$OUT/s.json" "$OUT/s.json"
    expect_code 0
    [ "$(jq -c '[.cells[].workload] | unique' "$OUT/s.json")" = '["a","b[most=1000]","b[most=500]"]' ]
}

@test "figures that were altered are found by the reckoner and by the checksum" {
    several --rounds 6 -q --json "$OUT/s.json"
    jq '(.means[] | select(.backend == "slab" and .metric == "time") | .ratio) *= 1.001' "$OUT/s.json" >"$OUT/bad.json"
    ! python3 "$ROOT/tests/cli/reckon_suite.py" "$OUT/bad.json" || fail "not found"
    bench report "$OUT/bad.json" --csv "$OUT/x.csv"
    expect_code 3
    expect_error 'altered'
    jq 'del(.results[0].result.checksum, .checksum)' "$OUT/s.json" >"$OUT/bare.json"
    bench report "$OUT/bare.json" --json "$OUT/made.json"
    expect_code 0
    expect_error 'warning: .*/bare.json is unsealed: it has no checksum'
    expect_json '.sealed == false' "$OUT/made.json"
    bench compare "$OUT/s.json" "$OUT/made.json" --json "$OUT/c.json"
    expect_error 'warning: .*/made.json is unsealed: it was made from a result without a checksum'
    expect_json '[.comparisons[].sealed] == [false, null]' "$OUT/c.json"
}

@test "all errors of all files, before anything is measured" {
    work a 100
    work b 1000
    sed -i 's/alloc: heap/aloc: heap/' "$OUT/a.yaml"
    sed -i 's/size: small/size: smal/' "$OUT/b.yaml"
    several --rounds 1 --results "$OUT/r"
    expect_code 2
    expect_error "a.yaml:.*unknown key 'aloc'"
    expect_error "b.yaml:.*smal"
    expect_error 'nothing was measured: 2 of 2 workloads'
    [ ! -s "$OUT/stdout" ] && [ ! -e "$OUT/r" ]
    rm "$OUT/a.yaml"
    BACKENDS=nonesuch several
    [ "$(grep -c 'unknown back end' "$OUT/stderr")" = 1 ] || fail "told for each"
}

@test "files that do not go together are refused, with one error each" {
    work a 100
    work b 1000
    sed -i 's/^sizes:/params: [{name: n, value: 1}]\nsizes:/' "$OUT/b.yaml"
    cp "$ROOT/traces/perl-words.abt" "$OUT/p.abt"
    refused() { # REGEX ARGUMENT…
        bench run "${@:2}" -b glibc,slab --rounds 1 --no-store
        expect_code 2
        expect_error "$1"
        [ "$(grep -cvE 'nothing was measured' "$OUT/stderr")" = 1 ] || fail "$(cat "$OUT/stderr")"
        [ ! -s "$OUT/stdout" ]
    }
    cd "$OUT"
    refused 'a.yaml is given twice' ./a.yaml b.yaml a.yaml
    ln -s a.yaml link.yaml
    refused 'link.yaml is given twice' a.yaml link.yaml
    refused "a.yaml: error: --set: unknown param 'n'" a.yaml b.yaml --set n=2
    refused 'b.yaml: 600 combinations of values x 2 back ends = 1200 rows; at most 1000' b.yaml "$ROOT/configs/quickstart.yaml" --set "n=$(seq -s, 600)"
    refused 'p.abt is a trace, not a workload; try: allocbench replay' a.yaml p.abt
    refused 'standard input \(-\) cannot be one of several workloads' a.yaml -
    refused '1001 files; at most 1000 are allowed' $(printf 'f%d.yaml ' $(seq 1001))
    bench run a.yaml 'none*.yaml' -b glibc
    expect_code 3
    expect_error "^allocbench: cannot open workload 'none\*.yaml': No such file"
}

@test "a gate holds for each workload, and names it; gates on the mean" {
    several --rounds 6 --gate 'glibc:work/all/ns_per_op < 1ns' --gate 'mean/all/ns_per_op < 100x base' --gate 'mean/all/ns_per_op < 0.001x base'
    expect_code 1
    grep -q '^Gates: 3 failed, 1 passed$' "$OUT/stdout" || fail "$(cat "$OUT/stdout")"
    grep -q '^fail: a: ' "$OUT/stdout"
    grep -q '^fail: b: ' "$OUT/stdout"
    grep -q '^fail: all: .*mean/all' "$OUT/stdout"
    several --rounds 6 -q --gate 'slab:work/all/ns_per_op < 1ns'
    expect_code 1
    expect_error 'fail: b: '
    several --rounds 1 --gate 'mean/alloc/p99 < 1x base'
    expect_code 2
    expect_error 'a mean over workloads is of mean/all/ns_per_op'
    [ ! -s "$OUT/stdout" ]
}

@test "a back end that fails is a row that says so, and its workload is in no mean" {
    BACKENDS="glibc,slab,$GUESTS/libctorcrash.so" several --rounds 6
    expect_code 4
    grep -q 'crashed' "$OUT/stdout"
    expect_error 'a: ctorcrash: crashed'
    grep -q 'geometric mean of 2 workloads' "$OUT/stdout" || fail "compared by what has failed everywhere"
}

@test "--junit has a testsuite for each workload, annotations name theirs" {
    several --rounds 6 -q --github --junit "$OUT/j.xml" --gate 'glibc:work/all/ns_per_op < 1ns' \
        --gate 'mean/all/ns_per_op < 0.001x base' --json "$OUT/s.json"
    expect_code 1
    python3 - "$OUT/j.xml" <<'PY'
import sys, xml.etree.ElementTree as ET
root = ET.parse(sys.argv[1]).getroot()
suites = {s.get("name"): s for s in root}
assert list(suites) == ["a", "b", "mean"], list(suites)
for of in "tests", "failures", "errors", "skipped":
    assert int(root.get(of)) == sum(int(s.get(of)) for s in root), of
assert root.get("failures") == "3" and root.get("errors") == "0"
assert [len(s.findall("testcase")) for s in root] == [3, 3, 1]
assert suites["b"].find("testcase").get("classname") == "b.gate"
PY
    grep -q '^::error title=allocbench gate.* in b::' "$OUT/stdout" || fail "$(cat "$OUT/stdout")"
    grep -q '^::error title=allocbench gate.* in mean::' "$OUT/stdout"
    bench report "$OUT/s.json" --junit "$OUT/again.xml"
    cmp "$OUT/j.xml" "$OUT/again.xml"
}

@test "--time-budget is for all together" {
    several -q --time-budget 4s --json "$OUT/s.json"
    expect_code 0
    expect_json '.time_budget_s == 4' "$OUT/s.json"
    expect_json '.results[0].result.config.stopping.time_budget_s <= 2' "$OUT/s.json"
    expect_json '.results[1].result.config.stopping.time_budget_s <= 4' "$OUT/s.json"
}

@test "a name with {workload} is a file for each; other forms of one result are refused" {
    several --rounds 1 -q --json "$OUT/{workload}.json" --hgrm "$OUT/{workload}"
    expect_code 0
    expect_json '.schema == "allocbench/2" and .config.name == "b"' "$OUT/b.json"
    several --rounds 1 --benchmark-json "$OUT/x.xml"
    expect_code 2
    expect_error '2 workloads, and one name; put \{workload\} into it'
}

@test "interrupted, and resumed by the same command line" {
    work a 100
    work b 40000
    start_bench run "$OUT/a.yaml" "$OUT/b.yaml" -b glibc --rounds 4 --passes memory:1 --drain 0 --results "$OUT/r"
    wait_until grep -q 'stage 2 of 2: b \[ 1/4\]' "$OUT/stderr"
    kill -INT "$pid"
    wait "$pid" && code=0 || code=$?
    expect_code 130
    expect_error 'interrupted after 1 of 2 workloads'
    expect_error "continue:  allocbench run .*--resume $OUT/r/suite-"
    local part
    part=$(ls "$OUT"/r/suite-*.json)
    expect_json '(.complete | not) and .results[0].result.complete and (.results[1].result.complete | not)' "$part"
    bench run "$OUT/a.yaml" "$OUT/b.yaml" -b glibc --rounds 4 --passes memory:1 --drain 0 --no-store -q --resume "$part" --json "$OUT/whole.json"
    expect_code 0
    expect_json '.complete and ([.results[].result.rounds | length] == [4, 4])' "$OUT/whole.json"
    [ "$(jq -c .results[0].result "$OUT/whole.json")" = "$(jq -c .results[0].result "$part")" ]
    bench run --resume "$part"
    expect_code 2
    expect_error 'give the files again'
    bench run "$OUT/a.yaml" "$OUT/b.yaml" -b slab --rounds 4 --passes memory:1 --drain 0 --resume "$part"
    expect_code 2
}

@test "baseline and compare go by workload" {
    several --rounds 6 -q --json "$OUT/old.json"
    bench baseline save main "$OUT/old.json" --results "$OUT/r"
    expect_code 0
    bench run "$OUT/b.yaml" "$OUT/a.yaml" -b glibc,slab --passes memory:1 --drain 0 --rounds 6 --results "$OUT/r" --baseline main --limit 1000% --json "$OUT/new.json"
    expect_code 0
    grep -q '^Gates: .*passed' "$OUT/stdout" || fail "$(cat "$OUT/stdout")"
    bench compare "$OUT/old.json" "$OUT/new.json" --limit 1000% --json "$OUT/c.json"
    expect_code 0
    expect_json '.comparisons | length == 2' "$OUT/c.json"
    expect_json '[.comparisons[] | .base | test("old.json, [ab]$")] | all' "$OUT/c.json"
    bench run "$OUT/a.yaml" -b glibc --rounds 6 --passes memory:1 --drain 0 --no-store --json "$OUT/one.json" -q
    bench compare "$OUT/old.json" "$OUT/one.json"
    expect_code 2
    expect_error 'is not the result of several workloads'
}

@test "a folder of configs is a group" {
    mkdir -p "$OUT/tree/build/release"
    cp "$BUILD/allocbench" "$OUT/tree/build/release"
    cp -r "$ROOT/configs" "$ROOT/traces" "$OUT/tree"
    PATH=$OUT/tree/build/release:$PATH
    bench list workloads
    grep -q '@seeds: 2 workloads' "$OUT/stdout"
    bench run @seed
    expect_code 2
    expect_error 'did you mean @seeds'
    bench replay @seeds
    expect_code 2
    expect_error '@seeds are workloads, not traces; try: allocbench run @seeds'
    bench check @seeds
    expect_code 2
    expect_error '@seeds is a group, which only `run` takes'
    bench run @seeds --rounds 1 --time-budget nonsense
    expect_code 2
}
