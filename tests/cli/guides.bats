#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# The guides of docs/: the block to copy is run as it stands, line by line under `set -e`, in an
# empty folder with the built allocbench in front of PATH. Only the number of rounds and processes
# is smaller. What a page says of files and results is looked for afterwards.

load helpers

# Prints the ```sh blocks of a page.
block() { # PAGE
    sed -n '/^```sh$/,/^```$/{/^```/!p;}' "$1"
}

# A command of the name allocbench that measures less, in front of PATH.
use_few_rounds() {
    mkdir "$OUT/bin"
    cat >"$OUT/bin/allocbench" <<SH
#!/bin/sh
command=\$1
shift
case \$command in
run | replay) set -- --processes 1 --rounds 6 "\$@" ;;
exec | calibrate) set -- --rounds 6 "\$@" ;;
esac
exec '$BUILD/allocbench' "\$command" "\$@"
SH
    chmod +x "$OUT/bin/allocbench"
    export PATH=$OUT/bin:$PATH
}

# Runs the block of docs/NAME.md; the exit code is in $code.
follow() { # NAME
    unset ALLOCBENCH_RESULTS # results are stored, in the folder of the test
    use_few_rounds
    block "$ROOT/docs/$1.md" >"$OUT/block"
    [ "$(grep -c '^allocbench ' "$OUT/block")" -ge 4 ] || fail "no block to copy in $1"
    code=0
    bash -eu "$OUT/block" >"$OUT/stdout" 2>"$OUT/stderr" 3>&- || code=$?
}

need_libraries() { # NAME…
    allocbench list backends >"$OUT/backends"
    for name; do
        grep -Eq "^ +$name +[0-9]" "$OUT/backends" || skip "no $name"
    done
}

title() { # SVG: of the whole picture; each of its points may have one too
    sed -n 's/.*<title>\(.*\)<\/title>.*/\1/p' "$1" | head -n 1
}

# A picture named on the page: made by the tool, small, and of the name the commands make.
expect_picture() { # NAME FILE-IN-PICTURES
    local picture=$ROOT/docs/pictures/$1.svg
    grep -q "](pictures/$1.svg)" "$ROOT/docs/$1.md" || fail "$1 does not show its picture"
    grep -q "from pictures/$2" "$ROOT/docs/$1.md" || fail "$1 does not say where its picture is from"
    [ -s "pictures/$2" ] || fail "the commands do not make $2"
    [ "$(title "$picture")" = "$(title "pictures/$2")" ] || fail "another picture than $2"
}

@test "the pages are one screen, with one block and one picture that is small and names no path" {
    local name page picture
    for name in choose-a-malloc arena-for-my-frame gate-in-ci; do
        page=$ROOT/docs/$name.md
        picture=$ROOT/docs/pictures/$name.svg
        [ "$(wc -l <"$page")" -le 80 ] || fail "$name is too long"
        [ "$(grep -c '^```sh$' "$page")" -eq 1 ] || fail "$name: not one block"
        [ "$(grep -c '^!\[' "$page")" -eq 1 ] || fail "$name: not one picture"
        [ "$(wc -c <"$picture")" -le 61440 ] || fail "$picture is too large"
        python3 -c 'import sys, xml.dom.minidom as x; x.parse(sys.argv[1])' "$picture"
        ! grep -Eo '/(work|tmp|home|root|usr)/[^"<]*|https?://[^"<]*' "$picture" |
            grep -v 'http://www.w3.org/' || fail "$picture names a path or address"
        grep -q "docs/$name.md" "$ROOT/README.md" || fail "README.md has no link to $name"
    done
}

@test "options and commands named in the text exist" {
    grep -ho '`[^`]*`' "$ROOT"/docs/{choose-a-malloc,memory-over-time,arena-for-my-frame,gate-in-ci}.md |
        grep -o -- '--[a-z][a-z-]*' | sort -u >"$OUT/options"
    [ "$(wc -l <"$OUT/options")" -ge 4 ]
    local command option
    for command in run replay record exec compare report advise; do
        allocbench "$command" --help-all
    done >"$OUT/help"
    while read -r option; do
        grep -q -- "$option\b" "$OUT/help" || fail "there is no $option"
    done <"$OUT/options"
}

# bats test_tags=full
@test "choose an allocator for a service: recorded, replayed and run" {
    command -v perl >/dev/null || skip "no perl"
    need_libraries jemalloc tcmalloc mimalloc
    follow choose-a-malloc
    expect_code 0
    ! grep -q '^mimalloc is [0-9.]*x .*faster' "$OUT/stdout" || # busy machines show none
        grep -q '^next: allocbench exec -b mimalloc,glibc -- perl' "$OUT/stdout" || fail "no line for the program"
    [ -s report.html ]
    expect_picture choose-a-malloc summary-speed-against-memory.svg
    [ "$(ls results/*.json | wc -l)" -eq 2 ]
}

# bats test_tags=full
@test "a service that gives nothing back: a periodic trim does, by the clock of the recording" {
    command -v perl >/dev/null || skip "no perl"
    need_libraries jemalloc mimalloc
    follow memory-over-time
    expect_code 0
    [ -s report.html ]
    jq -e '[.memory_over_time[] | select(.round == 0)] | group_by(.backend)
        | map({(.[0].backend): ((.[-1].resident_bytes) / (map(.resident_bytes) | max))}) | add
        | .glibc > 0.8 and ."glibc:trim=2s" < 0.4' "$(ls results/*.json | head -1)" >/dev/null ||
        fail "the trim shows nothing"
    jq -e '.backends | map({(.name): .clock}) | add | .glibc == "none" and .jemalloc == "virtual"' \
        "$(ls results/*.json | head -1)" >/dev/null || fail "not the clock that the page names"
}

# bats test_tags=full
@test "arena or pool for my frame: time of each frame, and blocks that stay unmake one arena for all" {
    follow arena-for-my-frame
    expect_code 0
    [ -s report.html ]
    expect_picture arena-for-my-frame iterations-frames-per-frame.svg
    [ "$(grep -c '^note: bulk reset: arena, @map; individual frees: glibc, slab$' "$OUT/stdout")" -eq 2 ]
    [ "$(grep -Ec '^frame +p50 +p99 +worst +missed ' "$OUT/stdout")" -eq 2 ] || fail "no time per frame"
    # With 5,000 blocks a frame by how much is a matter of the machine's page faults.
    [ "$(grep -c '^  arena .* slower ' "$OUT/stdout")" -ge 1 ] || fail "one arena for all is not slower"
    jq -e '[.memory[] | select(.at == "end") | {(.backend): .footprint_bytes}] | add
        | .arena > 10 * .glibc' "$(ls results/*.json | tail -1)" >/dev/null || fail "one arena for all is not larger"
    [ "$(grep -c '^  @map .* faster ' "$OUT/stdout")" -eq 2 ] || fail "@map is not faster"
    # The table of frames: glibc takes longer than @map, and the C++ of the page compiles.
    jq -e '[.iterations[] | select(.backend == "glibc" or .backend == "@map")] | group_by(.backend)
        | map([.[].p50] | add) | .[0] < .[1]' "$(ls results/*.json | tail -1)" >/dev/null || fail "no gain per frame"
    {
        cat <<'EOF'
#include "allocators/cpp/heaps.hpp"
#include <string>
#include <unordered_map>
#include <vector>
struct Unit { std::string name; int hp; };
static int cell(int i) { return i / 2; }
namespace advised { static ab::arena heap(1 << 20); static ab::arena_resource frame(heap.get()); }
static void advised_scope_end() {}
int main()
{
    int n = 9;
    std::vector<Unit> units(3);
    {
EOF
        sed -n '/^```cpp$/,/^```$/{/^```/!p;}' "$ROOT/docs/arena-for-my-frame.md" | sed 's,^// after,} {,'
        printf '    }\n    return 0;\n}\n'
    } >page.cpp
    c++ -std=c++17 -Wall -fsyntax-only -I"$ROOT" page.cpp || fail "the C++ of the page does not compile"
}

# bats test_tags=full
@test "gate my allocator in CI: equal builds pass, and a gate that does not hold is exit code 1" {
    need_libraries jemalloc
    follow gate-in-ci
    expect_code 0
    [ "$(grep -c '^gates: .* passed$' "$OUT/stdout")" -ge 2 ]
    for file in junit.xml summary.md compare.md report.html results/baselines/main.json \
        .github/workflows/allocbench.yml; do
        [ -s "$file" ] || fail "no $file"
    done
    expect_picture gate-in-ci summary-speed-against-memory.svg
    sed 's/rss_peak < 1.1x old/rss_peak < 0.1x old/; /^allocbench \(verify\|init\|calibrate\)/d' \
        "$OUT/block" >"$OUT/broken"
    code=0
    bash -eu "$OUT/broken" >"$OUT/stdout" 2>"$OUT/stderr" 3>&- || code=$?
    expect_code 1
}

# bats test_tags=full
@test "the pictures of the guides are made again by a script" {
    command -v perl >/dev/null || skip "no perl"
    need_libraries jemalloc tcmalloc mimalloc
    use_few_rounds
    AB_BUILD=$OUT/bin run "$ROOT/scripts/guide-pictures" --into "$OUT/pictures" choose-a-malloc
    [ "$status" -eq 0 ] || fail "$output"
    [ "$(ls "$OUT/pictures")" = choose-a-malloc.svg ]
    [ "$(title "$OUT/pictures/choose-a-malloc.svg")" = "$(title "$ROOT/docs/pictures/choose-a-malloc.svg")" ]
    python3 -c 'import sys, xml.dom.minidom as x; x.parse(sys.argv[1])' "$OUT/pictures/choose-a-malloc.svg"
    AB_BUILD=$OUT/bin run "$ROOT/scripts/guide-pictures" --into "$OUT/pictures" ci
    [ "$status" -eq 2 ] && [[ "$output" == *"does not say which picture"* ]] || fail "$output"
}
