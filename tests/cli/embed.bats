#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# A report in HTML is an archive: the result in it comes out again, and its pictures are to be had
# as files.

load helpers

# $OUT/r.json and a report of it.
measure() {
    bench run "$WORKLOADS/small.yaml" -b glibc,arena --rounds 2 --no-store -q \
        --json "$OUT/r.json" --html "$OUT/r.html" "$@"
    expect_code 0
}

@test "report and compare take a report as they take a result" {
    measure
    bench report "$OUT/r.html" --json "$OUT/back.json"
    expect_code 0
    expect_json '.histograms == "merged" and (.rounds | length) == 2' "$OUT/back.json"
    # scalars of each round are the same, histograms those of all rounds
    for f in r back; do
        jq 'del(.checksum, .histograms, .size_classes, .timelines) | del(.results[].hdr_v2)
            | del(.windows[].counts)' "$OUT/$f.json" >"$OUT/$f.scalars"
    done
    cmp "$OUT/r.scalars" "$OUT/back.scalars"
    expect_json '. as $d | [.results[] | select(.round == 0 and .n > 0)] | length > 2
        and all(.hdr_v2 != null)' "$OUT/back.json"
    expect_json '[.results[] | select(.round == 1)] | all(.hdr_v2 == null)' "$OUT/back.json"
    bench compare "$OUT/r.html" "$OUT/r.json"
    [ "$code" -ne 2 ] && [ "$code" -ne 3 ] || fail "compare: $code"
    bench merge "$OUT/r.html" "$OUT/r.json" -o "$OUT/m.json"
    expect_code 2
}

@test "--embed=full keeps all of a result, none nothing" {
    measure --embed=full
    bench report "$OUT/r.html" --json "$OUT/back.json"
    expect_code 0
    cmp "$OUT/r.json" "$OUT/back.json"
    bench report "$OUT/r.json" --html "$OUT/none.html" --embed none
    expect_code 0
    [ "$(wc -c <"$OUT/none.html")" -lt "$(wc -c <"$OUT/r.html")" ]
    bench report "$OUT/none.html"
    expect_code 3
    expect_error "without an allocbench result in it"
}

@test "a report that was cut, or changed within its result, is refused" {
    measure
    head -c -30000 "$OUT/r.html" >"$OUT/cut.html"
    bench report "$OUT/cut.html"
    expect_code 3
    expect_error "truncated"
    sed '/id="allocbench-result"/,/<\/script>/s/^\([A-Za-z0-9+\/]\{100\}\)[A-Za-z]/\1+/' \
        "$OUT/r.html" >"$OUT/changed.html"
    cmp -s "$OUT/r.html" "$OUT/changed.html" && fail "not changed"
    bench report "$OUT/changed.html"
    expect_code 3
    expect_error "embedded result: "
    echo '<!DOCTYPE html><html></html>' >"$OUT/other.html"
    bench report "$OUT/other.html"
    expect_code 3
}

@test "the pictures are files that are well-formed XML" {
    bench replay "$ROOT/traces/perl-words.abt" -b glibc --rounds 1 --no-store -q \
        --json "$OUT/t.json" --svg "$OUT/pictures"
    expect_code 0
    expect_json '.trace_overview | .n_calls > 1000 and (.blocks | length) > 10
        and (.live.low | length) == (.live.high | length)' "$OUT/t.json"
    # every block is freed or not: by size and lifetime as many as by thread
    expect_json '.trace_overview | ([.blocks[].n] | add) ==
        ([.threads[] | (.freed_by | add) + .never_freed] | add)' "$OUT/t.json"
    for name in memory-glibc over-time-glibc trace-sizes-and-lifetimes; do
        [ -s "$OUT/pictures/$name.svg" ] || fail "no $name"
    done
    command -v xmllint >/dev/null || skip "no xmllint"
    for f in "$OUT"/pictures/*.svg; do
        xmllint --noout "$f" || fail "$f"
    done
    bench report "$OUT/t.json" --svg /proc/none
    expect_code 2
    expect_error "--svg: cannot make the folder"
}

@test "a stored report is read as the result that it holds" {
    good=$ROOT/tests/golden/results/good
    bench report "$good/report.html" --json "$OUT/back.json"
    expect_code 0
    bench report "$good/run.json" --json "$OUT/run.json"
    cmp "$OUT/run.json" "$OUT/back.json"
}
