#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# The report as one HTML file: from run, report and compare, of one result and of several, with any
# name in it, and as a browser sees it.
# tests: cmd_report.c

load helpers

check_report() { # OPTION… FILE…
    run "$ROOT/scripts/check-report" "$@"
    [ "$status" -ne 77 ] || skip "needs Chromium"
    [ "$status" -eq 0 ] || fail "$output"
}

measure() { # OPTION…
    bench run "$WORKLOADS/tiny.yaml" --no-store -q --rounds 2 "$@"
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

# What a name may be: ends of elements, an element with a handler, escape sequences, turned text.
HOSTILE="\"'></svg></script><img src=x onerror=document.title=1>"

# $OUT/hostile.json: $OUT/r.json with a hostile name behind each of its texts.
make_hostile() {
    python3 "$ROOT/tests/cli/hostile_result.py" "$OUT/r.json" "$OUT/hostile.json" \
        "$HOSTILE"$'\033[2J\u202e' >"$OUT/places"
    for place in config.name config.path config.command_line 'config.phases[]' \
        'backends[].name' 'backends[].path' host.cpu host.kernel "$@"; do
        grep -qFx -- "$place" "$OUT/places" || fail "nothing hostile in $place"
    done
}

# Each phase, back end and machine of that name is in the report, as text.
expect_names_as_text() { # REPORT RESULT
    python3 - "$@" <<'PY'
import html, json, re, sys
page = html.unescape(re.sub(r"<script.*?</script>|<[^>]*>", "", open(sys.argv[1]).read(), flags=re.S))
r = json.load(open(sys.argv[2]))
wanted = [r["config"]["name"], r["host"]["cpu"], r["config"]["command_line"], *r["config"]["phases"],
          *(b[k] for b in r["backends"] for k in ("name", "path", "version") if b.get(k))]
wanted = [w.replace("\033", "\\x1b").split("\u202e")[0] for w in wanted if isinstance(w, str)]
missing = [w for w in wanted if w not in page]
sys.exit("not in the page: %s" % missing if missing or len(wanted) < 6 else 0)
PY
}

# bats test_tags=full
@test "a hostile name stays text wherever a result can have one" {
    measure -b glibc,arena --json "$OUT/r.json"
    make_hostile config.text
    bench report "$OUT/hostile.json" --html "$OUT/h.html"
    expect_code 0
    check_report --static --hostile "$HOSTILE" "$OUT/h.html"
    expect_names_as_text "$OUT/h.html" "$OUT/hostile.json"
    bench replay "$ROOT/traces/perl-words.abt" -b glibc --rounds 2 --no-store -q --json "$OUT/r.json"
    make_hostile
    bench report --html "$OUT/two.html" "$OUT/hostile.json" "$OUT/hostile.json"
    expect_code 0
    check_report --static --hostile "$HOSTILE" "$OUT/two.html"
    check_report --hostile "$HOSTILE" "$OUT/h.html" "$OUT/two.html"
}

# Compares what is drawn with the result, by tests/cli/report_values.py; pages that must be in it.
expect_values() { # REPORT RESULT [BASE COMPARISON] -- PAGE…
    local files=() page
    while [ "$1" != -- ]; do
        files+=("$1")
        shift
    done
    run python3 "$ROOT/tests/cli/report_values.py" "${files[@]}"
    [ "$status" -eq 0 ] || fail "$output"
    for page in "${@:2}"; do
        [[ " $output" == *" $page:"* ]] || fail "nothing of $page was compared: $output"
    done
}

# bats test_tags=full
@test "what is drawn is what the result says: a run, a replay, threads, two results" {
    bench run "$ROOT/configs/churn.yaml" --set ops=60000 -b glibc,jemalloc,slab,arena --rounds 6 --no-store -q \
        --json "$OUT/churn.json" --html "$OUT/churn.html"
    expect_code 0
    expect_values "$OUT/churn.html" "$OUT/churn.json" -- summary time latency over-time memory sizes slowest
    bench replay "$ROOT/traces/perl-words.abt" -b glibc,slab --rounds 2 --no-store -q \
        --json "$OUT/t.json" --html "$OUT/t.html"
    expect_code 0
    expect_values "$OUT/t.html" "$OUT/t.json" -- latency memory sizes trace
    bench run "$ROOT/configs/exchange.yaml" -b glibc,slab:threads=sharded --rounds 2 --no-store -q --json "$OUT/x.json" \
        --html "$OUT/x.html"
    expect_code 0
    expect_values "$OUT/x.html" "$OUT/x.json" -- latency over-time sizes
    measure -b glibc,arena --json "$OUT/a.json"
    measure -b glibc,arena --json "$OUT/b.json"
    bench compare "$OUT/a.json" "$OUT/b.json" --json "$OUT/c.json" --html "$OUT/c.html" -q
    expect_values "$OUT/c.html" "$OUT/b.json" "$OUT/a.json" "$OUT/c.json" -- compare latency
}

# bats test_tags=full
@test "a value that is drawn elsewhere is found" {
    bench replay "$ROOT/traces/perl-words.abt" -b glibc,slab --rounds 2 --no-store -q \
        --json "$OUT/r.json" --html "$OUT/r.html"
    for change in '(.results[] | select(.op == "all") | .ns_per_op) *= 1.2' \
        '(.timelines[].points[][3]) |= (. // 0) + 65536' \
        '(.trace_overview.live.high[]) += 20000' \
        '(.trace_overview.blocks[0].n) *= 900' \
        '(.results[] | select(.tail) | .tail.worst[].ns) *= 3' \
        '(.memory[] | .footprint_bytes, .internal_bytes | numbers) *= 1.5' \
        '([.results[] | select(.op == "alloc") | .hdr_v2] | last) as $h
            | (.results[] | select(.op != "all" and .n > 0) | .hdr_v2) = $h' \
        '([.size_classes[] | select(.le_bytes == 16) | .hdr_v2] | last) as $h
            | (.size_classes[] | .hdr_v2) = $h' \
        '(.windows[].counts | strings) |= sub("^[0-9]+"; "9")'; do
        jq "$change" "$OUT/r.json" >"$OUT/other.json"
        run python3 "$ROOT/tests/cli/report_values.py" "$OUT/r.html" "$OUT/other.json"
        [ "$status" -eq 1 ] || fail "not found: $change: $output"
    done
}

# Changes the style or script of a report, and the policy with it.
change_asset() { # REPORT OUT ELEMENT PATTERN TEXT
    python3 - "$@" <<'PY'
import base64, hashlib, re, sys
source, target, element, pattern, text = sys.argv[1:]
page = open(source).read()
digest = lambda s: "sha256-" + base64.b64encode(hashlib.sha256(s.encode()).digest()).decode()
was = re.search(r"<%s>(.*?)</%s>" % (element, element), page, re.S)[1]
now = re.sub(pattern, text, was, count=1)
assert now != was, pattern
open(target, "w").write(page.replace(was, now).replace(digest(was), digest(now)))
PY
}

# bats test_tags=full
@test "the check in a browser finds what is wrong" {
    measure -b glibc,arena --html "$OUT/r.html"
    check_report "$OUT/r.html"
    # Many reports in one browser, each with a change: of each it must say the one thing.
    local wanted=() name
    break_asset() { # NAME TEXT ELEMENT PATTERN TEXT
        wanted+=("$1: $2")
        change_asset "$OUT/r.html" "$OUT/$1.html" "${@:3}"
    }
    break_page() { # NAME TEXT SED-OPTION…
        wanted+=("$1: $2")
        sed "${@:3}" "$OUT/r.html" >"$OUT/$1.html"
    }
    break_asset soft "light: contrast" style 'soft:light-dark\(#[0-9a-f]*' 'soft:light-dark(#999999'
    wanted+=("soft: print: contrast")
    break_asset ink "dark: contrast" style '(ink:light-dark\(#[0-9a-f]*),#[0-9a-f]*' '\1,#666666'
    break_asset large "at 400 pixels" style '(figure:not\(\[data-wide\]\)>svg)\{font-size:14px' '\1{font-size:24px'
    break_asset small "text of" style '(figure>svg)\{' '\1{font-size:6px;'
    break_asset cut "on paper: cut off" style 'td,\.name\)\{white-space:normal' 'td,.name){min-width:30rem'
    break_asset hint "cut off without a hint" style '(data-wide\]\{overflow-x:auto;)background' '\1--none'
    break_asset letters "a narrow cell" style 'td:has\(>code\)\{min-width:12rem' 'td:has(>code){min-width:0;width:1px'
    break_asset throws "script error" script 'addThemeSwitch\(\);' 'addThemeSwitch(); throw new Error("x");'
    break_asset logs "on the console" script 'addThemeSwitch\(\);' 'addThemeSwitch(); console.log("x");'
    break_asset removes "figures differ" script 'addThemeSwitch\(\);' \
        'addThemeSwitch(); document.querySelector("figure").remove();'
    break_page fetches "example.invalid" '0,/<section/s//<img src="https:\/\/example.invalid\/x.png"><section/'
    break_page wide "wider than a window of 1280" \
        '0,/<section/s//<table><tr><td class="n">'"$(printf 'x%.0s' {1..400})"'<\/td><\/tr><\/table><section/'
    break_page leaves "leaves the picture" -E '0,/(<text class="soft"[^>]* x=")[0-9.]+/s//\1-90/'
    for name in "${wanted[@]%%:*}"; do
        cmp -s "$OUT/r.html" "$OUT/$name.html" && fail "no change: $name"
    done
    run "$ROOT/scripts/check-report" "$OUT"/{soft,ink,large,small,cut,hint,letters,throws,logs,removes,fetches,wide,leaves,r}.html
    [ "$status" -eq 1 ] || fail "nothing found: $output"
    for name in "${wanted[@]}"; do
        grep -F "$OUT/${name%%:*}.html: " <<<"$output" | grep -qF "${name#*: }" || fail "not found: $name: $output"
    done
    [[ "$output" != *"$OUT/r.html:"* ]] || fail "said of one that is right: $output"
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
