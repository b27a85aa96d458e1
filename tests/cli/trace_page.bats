#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# The page of a trace (`trace info --html`): what is in it is what the JSON says, with any name, with
# call sites and without, and as a browser sees it.
# tests: stacks.c trace_page.c

load helpers

run_ok() {
    run "$@"
    [ "$status" -eq 0 ] || { echo "$output"; return 1; }
}

check_report() { # OPTION… FILE…
    run "$ROOT/scripts/check-report" "$@"
    [ "$status" -ne 77 ] || skip "needs Chromium"
    [ "$status" -eq 0 ] || fail "$output"
}

record_frames() {
    run_ok allocbench record -q --sites -o t.abt -- "$GUESTS/prog_frames"
}

# The numbers of the table of call sites are those of the JSON, the boxes of the flame graphs those of
# the folded stacks; prints how many of each were compared.
compare_page() { # PAGE JSON FOLDED
    python3 - "$@" <<'PY'
import html, json, re, sys
page, facts = open(sys.argv[1]).read(), json.load(open(sys.argv[2]))
rows = re.findall(r'<tr><th scope="row" class="site">(.*?)</th>(.*?)</tr>', page, re.S)
seen = sorted(tuple(int(v) for v in re.findall(r'data-v="(-?\d+)"', cells)[:5]) for _, cells in rows)
wanted = sorted((s["calls"], s["bytes"], s["peak_bytes"], s["never_freed_bytes"], s["temporary"])
                for s in facts["sites"])
if seen != wanted:
    sys.exit("call sites: %s, not %s" % (seen, wanted))
def names(frames): return [f["function"] for f in frames if f["function"]][:1]
first = sorted(re.search(r"<code>(\S+)", html.unescape(head))[1] for head, _ in rows)
if first != sorted(names(s["stack"])[0] for s in facts["sites"]):
    sys.exit("names: %s" % first)
calls = {}
for line in open(sys.argv[3]):
    stack, n = line.rsplit(" ", 1)
    for f in stack.split(";"):
        calls[f] = calls.get(f, 0) + int(n)
boxes = dict(re.findall(r"<title>([^<]*?): (\d+) calls, ", page))
for name, n in boxes.items():
    if int(n) != calls.get(name, sum(s["calls"] for s in facts["sites"])):
        sys.exit("%s has %s calls" % (name, n))
print(len(rows), len(boxes))
PY
}

@test "a page has what info says of a trace" {
    record_frames
    run_ok allocbench trace info --sites --json t.json --folded t.txt --html p.html t.abt
    check_report --static p.html
    for part in overview sites flame scopes; do
        grep -q "<section id=\"$part\">" p.html || fail "no part $part"
    done
    run_ok compare_page p.html t.json t.txt
    [ "$output" = "3 9" ] # 3 sites; all, 3 of start-up, main, run_frame and the three of the sites
    [[ "$(cat p.html)" == *"98.4 % of allocations, at most 900 B in one scope"* ]]
    [[ "$(cat p.html)" == *"n/a: the trace has no times of calls (record --time)"* ]]
    # 20 assets and the first frame, 31 blocks in each later one.
    [[ "$(cat p.html)" == *'data-x="linear count 0 40 '* ]]
    jq '.sites[0].calls += 1' t.json >other.json # what is not so is found
    run compare_page p.html other.json t.txt
    [ "$status" -eq 1 ]
}

@test "a page without --sites has them too; of a trace without, it says how to get them" {
    record_frames
    run_ok allocbench trace info --html p.html t.abt
    [[ "$output" != *"call sites:"* ]]
    [[ "$(cat p.html)" == *"parse_item"* ]]
    run_ok allocbench trace info --html w.html "$ROOT/traces/perl-words.abt"
    check_report --static w.html
    [[ "$(cat w.html)" == *"the trace has no call sites"*"allocbench record --sites"* ]]
    ! grep -q '<section id="flame">' w.html
}

@test "a page of standard input does without scopes, and says so" {
    record_frames
    run_ok bash -c 'allocbench trace info --html p.html - < t.abt'
    check_report --static p.html
    [[ "$(cat p.html)" == *"n/a: scopes are searched in several passes"* ]]
    [[ "$(cat p.html)" == *"parse_item"* ]]
    run bash -c 'allocbench trace info --scopes --html q.html - < t.abt'
    [ "$status" -eq 2 ]
    [ ! -e q.html ]
}

@test "a page: what it does not go together with" {
    record_frames
    run allocbench trace info --html p.html t.abt t.abt
    [ "$status" -eq 2 ]
    [[ "$output" == *"trace info --html takes one trace, not 2"* ]]
    run allocbench trace check --html p.html t.abt
    [ "$status" -eq 2 ]
    [[ "$output" == *"trace check does not take --html"* ]]
    run allocbench trace info --html p.html --json ./p.html t.abt
    [ "$status" -eq 2 ]
    cp t.abt kept.abt
    ln kept.abt link.abt
    for option in --html --flame --folded --json; do
        run allocbench trace info --sites $option kept.abt ./link.abt
        [ "$status" -eq 2 ]
        [[ "$output" == *"'kept.abt' would replace the file that is read"* ]]
    done
    cmp t.abt kept.abt
    head -c 300 t.abt >short.abt
    run allocbench trace info --html p.html short.abt
    [ "$status" -eq 3 ]
    run allocbench trace info --html p.html missing.abt
    [ "$status" -eq 3 ]
    [ ! -e p.html ]
    run_ok bash -c 'allocbench trace info --html - t.abt >p.html' # facts go where the page is not
    check_report --static p.html
}

HOSTILE="\"'><img src=x onerror=document.title=1>&amp;<b>"

# A program, its file and its directory with a hostile name, and nothing else to name its frames by.
@test "hostile names stay text" {
    local name="$HOSTILE"$'\033[2J\u202e'
    mkdir "d$name"
    strip -o "d$name/p$name" "$GUESTS/prog_frames"
    run_ok allocbench record -q --sites -o "t$name.abt" -- "./d$name/p$name"
    run_ok allocbench trace info --html h.html "t$name.abt"
    check_report --static --hostile "p$HOSTILE" h.html
    check_report --static --hostile "t$HOSTILE" h.html
    grep -qF '<title>p&quot;&#39;&gt;&lt;img' h.html # a box
}

# What the script adds, in a browser.
use_page() { # PAGE
    python3 - "$ROOT/scripts/check-report" "$@" <<'PY'
import importlib.machinery, importlib.util, os, pathlib, shutil, sys
loader = importlib.machinery.SourceFileLoader("check_report", sys.argv[1])
check = importlib.util.module_from_spec(importlib.util.spec_from_loader("check_report", loader))
loader.exec_module(check)
program = shutil.which(os.environ.get("CHROMIUM", "chromium"))
if program is None:
    sys.exit(77)
browser = check.Browser(program)
browser.size(1280)
browser.open(pathlib.Path(sys.argv[2]).resolve().as_uri())
print(browser.value("""(() => {
  const first = () => document.querySelector('td[data-v]').closest('tr').querySelector('code').textContent.split(' ')[0];
  const press = text => [...document.querySelectorAll('th button')].find(b => b.textContent === text).click();
  const out = [first()];
  press('calls');
  out.push(first());
  press('calls');
  out.push(first());
  const svg = document.querySelectorAll('svg[data-flame]')[1], figure = svg.closest('figure');
  const box = name => [...svg.querySelectorAll('g')].find(g => g.textContent.startsWith(name + ':'));
  const width = name => Math.round(+box(name).querySelector('rect').getAttribute('width'));
  const input = figure.querySelector('input');
  input.value = 'PARSE_';
  input.dispatchEvent(new Event('input'));
  out.push(input.nextSibling.textContent, svg.querySelectorAll('.miss').length);
  out.push(width('parse_item'));
  box('build_list').dispatchEvent(new MouseEvent('click', {bubbles: true}));
  out.push(width('build_list'), width('main'), width('parse_item'), box('build_list').lastChild.textContent);
  [...figure.querySelectorAll('button')].find(b => b.textContent === 'whole').click();
  out.push(width('parse_item'), width('all'));
  return out.join(' ');
})()"""))
browser.close()
PY
}

# bats test_tags=full
@test "the script of a page sorts, searches and enlarges" {
    record_frames
    run_ok allocbench trace info --html p.html t.abt
    run use_page p.html
    [ "$status" -ne 77 ] || skip "needs Chromium"
    [ "$status" -eq 0 ] || fail "$output"
    # 1200 of 1260 calls are parse_item's: 95.2 %, 987 of 1036 pixels.
    [ "$output" = "load_assets parse_item load_assets 95.2 % 8 987 1036 1036 0 build_list 987 1036" ] ||
        fail "$output"
}

# bats test_tags=full
@test "a browser shows the page: no message, no request, nothing overlaps" {
    record_frames
    run_ok allocbench trace info --html p.html t.abt
    run_ok allocbench trace info --html w.html "$ROOT/traces/perl-words.abt"
    check_report --pictures "$OUT" p.html w.html
}

@test "the report of a replay has the flame graphs of its trace, one of a stored result says where they are" {
    record_frames
    bench replay t.abt -b glibc --rounds 2 --no-store -q --json r.json --html r.html --svg pictures
    expect_code 0
    check_report --static r.html
    run_ok allocbench trace info --html p.html t.abt
    [ "$(grep -c 'data-flame=' r.html)" -eq 3 ]
    diff <(grep '^<g><title>' r.html | sort) <(grep '^<g><title>' p.html | sort)
    [ "$(ls pictures/trace-flame-graph-*.svg | wc -l)" -eq 3 ]
    ! grep -q 'allocbench trace info --html' r.html || fail "still says how, or draws"
    bench report r.json --html s.html
    expect_code 0
    check_report --static s.html
    ! grep -q 'data-flame=' s.html || fail "still says how, or draws"
    grep -q 'allocbench trace info --html FILE TRACE' s.html
    bench replay "$ROOT/traces/perl-words.abt" -b glibc --rounds 2 --no-store -q --html w.html
    expect_code 0
    ! grep -q 'data-flame=' w.html
}
