#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# The page of an advice (`advise --html`): its numbers are those of the JSON, its texts those of the
# files, and a browser shows it.

load helpers

check_report() { # OPTION… FILE…
    run "$ROOT/scripts/check-report" "$@"
    [ "$status" -ne 77 ] || skip "needs Chromium"
    [ "$status" -eq 0 ] || fail "$output"
}

# Cells of the tables against the JSON; prints how many rows there are of groups and of measurements.
compare_page() { # PAGE JSON RULES CODE
    python3 - "$@" <<'PY'
import html, json, re, sys
page, d = open(sys.argv[1]).read(), json.load(open(sys.argv[2]))
def text(cell): return html.unescape(re.sub("<[^>]*>", " ", cell)).split()
rows = re.findall(r'<tr><th scope="row" class="site"><code>(.*?)</code></th><td class="n" data-v="([\d.]+)"', page)
seen = sorted((html.unescape(place).split(" ")[0], float(calls)) for place, calls in rows)
def place(g):
    return "%s:%d" % (g["file"], g["line"]) if g["file"] and g["line"] else (g["function"] or g["rule"] or "not").split(" ")[0]
wanted = sorted((place(g), g["calls"]) for g in d["groups"])
if seen != wanted:
    sys.exit("groups: %s, not %s" % (seen, wanted))
shown = [text(c) for c in re.findall(r"<tr>(.*?)</tr>", page, re.S)]
speeds = [w for row in shown for w in row if re.fullmatch(r"\d+\.\d\dx", w)]
measured = [h["alone"] for h in d["heaps"]] + ([d["together"]] if d["together"] else []) + ([d["compiled"]] if d["compiled"] else []) + d["generals"]
near = [abs(float(a[:-1]) - r["speed"]) < 0.006 for a, r in zip(speeds, measured)]
if len(speeds) != len(measured) or not all(near):
    sys.exit("speeds: %s, not %s" % (speeds, [r["speed"] for r in measured]))
for caption, file in zip(re.findall(r"<pre data-copy=[^>]*>(.*?)</pre>", page, re.S), sys.argv[3:]):
    if html.unescape(caption) != open(file).read():
        sys.exit("%s is another" % file)
if html.unescape(re.search(r'class="verdict"><p>Advice: (.*?)</p>', page)[1]) != d["answer_text"]:
    sys.exit("another answer")
print(len(seen), len(measured))
PY
}

# Functions of one heap have its colour, those of another and of malloc others.
expect_colours() { # PAGE JSON
    python3 - "$@" <<'PY'
import json, re, sys
page, d = open(sys.argv[1]).read(), json.load(open(sys.argv[2]))
advised = {h["name"] for h in d["heaps"] if h["advised"]}
fills = {}
for name, fill in re.findall(r'<g><title>(\w+): [^<]*</title><rect [^>]*fill="(#[0-9a-f]+)"', page):
    fills.setdefault(name, set()).add(fill)
of_heap = {}
for g in d["groups"]:
    heap = g["heap"] if g["heap"] in advised else "malloc"
    of_heap.setdefault(heap, set()).update(fills.get(g["function"], set()) - fills["main"])
if any(len(c) != 1 for c in of_heap.values()) or len(set.union(*of_heap.values())) != len(of_heap):
    sys.exit("colours: %s of %s" % (of_heap, fills))
PY
}

@test "a page by size: what it says is what the JSON says" {
    bench trace cut "$ROOT/traces/sqlite-index.abt" --events 0..20000 -o "$OUT/part.abt"
    bench advise "$OUT/part.abt" --rounds 1 -b glibc,slab -q -o "$OUT/a.map" --json "$OUT/a.json" \
        --html "$OUT/a.html"
    expect_code 0
    check_report --static "$OUT/a.html"
    run compare_page "$OUT/a.html" "$OUT/a.json" "$OUT/a.map"
    [ "$status" -eq 0 ] || fail "$output"
    [[ "$output" =~ ^[0-9]+\ [2-9]$ ]] || fail "$output"
    for part in advice malloc code; do
        grep -q "<section id=\"$part\">" "$OUT/a.html" || fail "no part $part"
    done
    for part in heaps flame budget survivors; do
        ! grep -q "<section id=\"$part\">" "$OUT/a.html" || fail "$part of nothing"
    done
    jq '.generals[0].speed *= 1.5' "$OUT/a.json" >"$OUT/other.json" # what is not so is found
    run compare_page "$OUT/a.html" "$OUT/other.json" "$OUT/a.map"
    [ "$status" -eq 1 ]
}

@test "a page: what it does not go together with" {
    cp "$ROOT/traces/perl-words.abt" "$OUT/t.abt"
    bench advise "$OUT/t.abt" --html "$OUT/./t.abt"
    expect_code 2
    expect_error 'would replace the file that is read'
    bench advise "$OUT/t.abt" --html "$OUT/a" --json "$OUT/a"
    expect_code 2
    expect_error 'name the same file'
    [ ! -e "$OUT/a" ]
}

# bats test_tags=full
@test "a page of a game: survivors, budget, flame graphs by proposal; as a browser shows it" {
    need_compilers gcc
    gcc -O2 -g -o "$OUT/game" "$ROOT/allocators/examples/frame-game/frame_game.c"
    bench record --sites -q -o "$OUT/game.abt" -- "$OUT/game" --leaky-trail
    expect_code 0
    bench advise "$OUT/game.abt" --rounds 6 -b glibc,slab --budget 50us --scope nested -q -o "$OUT/a.map" \
        --code "$OUT/a.c" --json "$OUT/a.json" --html "$OUT/a.html"
    expect_code 0
    if jq -e '.answer == "heaps"' "$OUT/a.json"; then
        run compare_page "$OUT/a.html" "$OUT/a.json" "$OUT/a.map" "$OUT/a.c"
        expect_colours "$OUT/a.html" "$OUT/a.json"
    else
        run compare_page "$OUT/a.html" "$OUT/a.json" "$OUT/a.map"
    fi
    [ "$status" -eq 0 ] || fail "$output"
    for part in budget survivors flame; do
        grep -q "<section id=\"$part\">" "$OUT/a.html" || fail "no part $part"
    done
    grep -q 'budget 50 µs' "$OUT/a.html"
    grep -Eq '<code>frame_game.c:[0-9]+ spawn_trail</code></th><td class="n">96 B</td><td class="n">41</td>' "$OUT/a.html"
    check_report "$OUT/a.html"
}
