#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# The report as one HTML file: from run, report and compare, of one result and of several, with any
# name in it, and as a browser sees it.

load helpers

check_report() { # OPTION… FILE…
    run "$ROOT/scripts/check-report" "$@"
    [ "$status" -ne 77 ] || skip "needs Chromium"
    [ "$status" -eq 0 ] || fail "$output"
}

measure() { # OPTION…
    bench run "$WORKLOADS/small.yaml" --no-store -q --rounds 2 "$@"
    expect_code 0
}

@test "a run writes a report that is well-formed and fetches nothing" {
    measure -b glibc,arena --json "$OUT/r.json" --html "$OUT/r.html"
    check_report --static "$OUT/r.html"
    for page in summary time latency environment; do
        grep -q "<section id=\"$page\">" "$OUT/r.html" || fail "no page $page"
    done
    [ "$(stat -c %s "$OUT/r.html")" -lt 700000 ]
}

@test "report writes the same pages from the stored result" {
    measure -b glibc,arena --json "$OUT/r.json" --html "$OUT/run.html"
    bench report "$OUT/r.json" --html "$OUT/report.html" --embed none
    expect_code 0
    check_report --static "$OUT/report.html"
    diff <(grep -c '<figure' "$OUT/run.html") <(grep -c '<figure' "$OUT/report.html")
    grep -o 'Latency of [a-z_]* in [a-z]* by' "$OUT/report.html" | sort -u >"$OUT/panels"
    [ "$(wc -l <"$OUT/panels")" -ge 2 ]
}

@test "of two results the first is the base of the other" {
    measure -b glibc --json "$OUT/a.json"
    measure -b glibc --json "$OUT/b.json"
    bench report --html "$OUT/r.html" "$OUT/a.json" "$OUT/b.json"
    expect_code 0
    check_report --static "$OUT/r.html"
    grep -q '<section id="compare">' "$OUT/r.html"
    grep -q '<title>base glibc</title>' "$OUT/r.html"
    grep -q '<title>new glibc</title>' "$OUT/r.html"
    bench compare "$OUT/a.json" "$OUT/b.json" --html "$OUT/c.html" -q
    check_report --static "$OUT/c.html"
    grep -q '<section id="compare">' "$OUT/c.html"
}

@test "results of different work make no report" {
    measure -b glibc --json "$OUT/a.json"
    bench run "$WORKLOADS/memory.yaml" -b glibc --no-store -q --rounds 2 --json "$OUT/b.json"
    expect_code 0
    bench report --html "$OUT/r.html" "$OUT/a.json" "$OUT/b.json"
    expect_code 2
    expect_error 'different work'
    [ ! -e "$OUT/r.html" ]
    bench report --html "$OUT/r.html" "$OUT/a.json" "$OUT/missing.json"
    expect_code 3
    [ ! -e "$OUT/r.html" ]
}

@test "--html with several results takes no other output" {
    measure -b glibc --json "$OUT/a.json"
    bench report --html "$OUT/r.html" --csv "$OUT/r.csv" "$OUT/a.json" "$OUT/a.json"
    expect_code 2
    [ ! -e "$OUT/r.html" ]
}

@test "the check of reports finds what is wrong" {
    measure -b glibc --html "$OUT/r.html"
    for change in 's/<svg xmlns/<svg onload="x()" xmlns/' 's/<h1>/<img src="x"><h1>/' \
        's/body{margin/body{padding/' "s/'use strict'/'use  strict'/" 's,</svg>,</svgx>,' \
        's/<text class="soft"[^>]*>/<text class="soft" color="#000" x="50" y="50">/g'; do
        sed "$change" "$OUT/r.html" >"$OUT/bad.html"
        cmp -s "$OUT/r.html" "$OUT/bad.html" && fail "no change: $change"
        run "$ROOT/scripts/check-report" --static "$OUT/bad.html"
        [ "$status" -eq 1 ] || fail "not found: $change"
    done
}

# bats test_tags=full
@test "a browser shows it: no message, no request, nothing overlaps, all figures without scripts" {
    measure -b glibc,jemalloc,tcmalloc,arena --json "$OUT/r.json" --html "$OUT/r.html"
    bench report --html "$OUT/two.html" "$OUT/r.json" "$OUT/r.json"
    expect_code 0
    check_report --pictures "$OUT" "$OUT/r.html" "$OUT/two.html"
    for look in light dark print phone; do
        [ "$(stat -c %s "$OUT/r-$look.png")" -gt 10000 ]
    done
}
