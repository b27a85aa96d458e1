#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# Call sites of optimised C++, where the program's own functions and those of the library are inlined
# (tests/guests/inlined.cpp): they are named by the program's lines, and what is advised by them is what
# a replay does; what --code writes for it compiles and runs.

load helpers

# Records it; the JSON of its call sites is in $OUT/sites.json.
record_inlined() { # OPTIONS OF THE COMPILER…
    need_compilers g++
    g++ -std=c++17 -g "$@" -o "$OUT/inlined" "$ROOT/tests/guests/inlined.cpp"
    allocbench record --sites -q -o "$OUT/t.abt" -- "$OUT/inlined" >"$OUT/says" 2>"$OUT/stderr" 3>&- ||
        fail "recording ended with $?"
    bench trace info --sites=1000 --json "$OUT/sites.json" "$OUT/t.abt"
    expect_code 0
}

lines_of() { # WORD IN A COMMENT: "17|33"
    grep -n "// $1" "$ROOT/tests/guests/inlined.cpp" | cut -d: -f1 | paste -sd'|'
}

# Calls of the sites whose stack has a line of the program with this comment.
calls_of() { # WORD
    jq --arg lines "$(lines_of "$1")" '[.sites[] | select(any(.stack[]; (.file // "" | endswith("inlined.cpp"))
        and (.line | tostring | test("^(" + $lines + ")$")))) | .calls] | add' "$OUT/sites.json"
}

@test "inlined functions are named: the program's innermost line is the site" {
    record_inlined -O2
    [ "$(calls_of draw)" = 16000 ]
    [ "$(calls_of name)" = 52000 ]
    [ "$(calls_of world)" = 207 ]
    expect_json '[.sites[].stack[] | select(.function // "" | test("draw")) | .inlined] | unique == [true]' \
        "$OUT/sites.json"
    bench trace info --sites "$OUT/t.abt"
    grep -Eq "^ *new in .*::draw  inlined\.cpp:($(lines_of draw))$" "$OUT/stdout"
    grep -Eq "^ *new in .*::name  inlined\.cpp:($(lines_of name))$" "$OUT/stdout"
    bench trace info --sites --folded "$OUT/folded" "$OUT/t.abt"
    grep -Eq 'main;[^;]*::draw;std::' "$OUT/folded"
}

# What dies with its frame, or the next one, and nothing else: by lines of the program, of which one has
# several calls.
expect_frames() {
    expect_json '[.groups[] | select(.kind == "frame" or .kind == "double")] | group_by(.line)
        | map([.[0].file, (map(.calls) | add)]) | sort
        == [["inlined.cpp", 16000], ["inlined.cpp", 52000]]' "$OUT/advice.json"
}

@test "an advice for inlined C++ is what its replay does: equal calls, and about the same memory" {
    record_inlined -O2
    bench advise -q -b glibc,slab --rounds 1 --json "$OUT/advice.json" "$OUT/t.abt"
    expect_code 0
    expect_frames
    for line in $(lines_of world | tr '|' ' '); do
        jq -e --argjson line "$line" '[.groups[] | select(.line == $line) | .kind]
            - ["keep", "pool", "slab"] == []' "$OUT/advice.json"
    done
    jq -r '. as $a | .groups[] | select(.kind == "frame" or .kind == "double") | "\(.rule)=\(.heap as $h
        | $a.heaps[] | select(.name == $h) | .backend)"' "$OUT/advice.json" >"$OUT/rules"
    printf '*=glibc\n' >>"$OUT/rules"
    bench replay "$OUT/t.abt" -q -b glibc --map "@$OUT/rules" --rounds 1 --json "$OUT/replayed.json"
    expect_code 0
    expect_json '[.backends[1].map.heaps[] | select(.name != "glibc") | .n_requests] | sort == [16000, 52000]' \
        "$OUT/replayed.json"
    jq -e '[.memory[] | {key: .backend, value: .rss_peak_bytes}] | from_entries
        | .["@rules"] <= .glibc + 40960' "$OUT/replayed.json"
}

@test "the same program without inlining has the same frames" {
    record_inlined -O0
    bench advise -q -b glibc,slab --rounds 1 --json "$OUT/advice.json" "$OUT/t.abt"
    expect_frames
}

@test "what a place asks with is known: containers, new, malloc" {
    need_compilers g++
    cat >"$OUT/calls.cpp" <<'EOF'
#include <cstdlib>
#include <memory>
#include <vector>
int main()
{
    for (int i = 0; i < 200; i++) {
        std::vector<int> numbers(i + 1); // std
        std::unique_ptr<int> one(new int(1)); // new
        auto other = std::make_unique<int>(i); // new
        std::free(std::malloc(numbers.size() + *one + *other)); // malloc
    }
}
EOF
    for level in -O0 -O2; do
        g++ -std=c++17 -g -fno-builtin -fno-allocation-dce $level -o "$OUT/calls" "$OUT/calls.cpp"
        allocbench record --sites -q -o "$OUT/t.abt" -- "$OUT/calls" 3>&-
        bench advise -q -b glibc,slab --rounds 1 --json "$OUT/advice.json" "$OUT/t.abt"
        expect_code 0
        grep -n '// [a-z]*$' "$OUT/calls.cpp" | sed 's|:.*// | |' | sort >"$OUT/wanted"
        jq -r '.groups[] | select(.file == "calls.cpp") | "\(.line) \(.call)"' "$OUT/advice.json" |
            sort -u >"$OUT/found"
        diff "$OUT/wanted" "$OUT/found" || fail "$level: other calls"
    done
}

@test "the container that asks is known at each place, with and without inlining" {
    need_compilers g++
    cat >"$OUT/calls.cpp" <<'EOF'
#include <deque>
#include <list>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>
static std::string text(int i) { return std::string(40, (char)i); } // string
static unsigned long frame()
{
    unsigned long n = 0;
    std::vector<int> v;
    std::deque<int> d(20); // deque<T>
    std::list<int> l;
    std::map<int, int> m;
    std::set<int> s;
    std::unordered_map<int, int> um;
    std::unordered_set<int> us;
    for (int i = 0; i < 9; i++) {
        v.push_back(i); // vector<T>
        l.push_back(i); // list<T>
        m[i] = i; // map<K, T>
        s.insert(i); // set<T>
        um[i] = i; // unordered_map<K, T>
        us.insert(i); // unordered_set<T>
        n += text(i).size();
    }
    return n + v.size() + d.size() + l.size() + m.size() + s.size() + um.size() + us.size();
}
int main()
{
    unsigned long n = 0;
    for (int i = 0; i < 300; i++)
        n += frame();
    return n == 0;
}
EOF
    grep -n '// [a-z_]*\(<.*>\)*$' "$OUT/calls.cpp" | sed 's|:.*// | std::|' | sort >"$OUT/wanted"
    for level in -O0 -O2; do
        g++ -std=c++17 -g -fno-allocation-dce $level -o "$OUT/calls" "$OUT/calls.cpp"
        allocbench record --sites=32 -q -o "$OUT/t.abt" -- "$OUT/calls" 3>&-
        bench advise -q -b glibc --rounds 1 --json "$OUT/advice.json" "$OUT/t.abt"
        expect_code 0
        jq -r '.groups[] | select(.file == "calls.cpp") | "\(.line) \(.containers | join(" "))"' \
            "$OUT/advice.json" | sort -u >"$OUT/found"
        diff "$OUT/wanted" "$OUT/found" || fail "$level: other containers"
    done
}

# The very goldens of tests/unit/test_advise_code.c.
@test "--code for C++: containers and objects live in the resources that it writes" {
    need_compilers g++
    "$ROOT/scripts/single-headers" "$OUT/single"
    for flags in -DNONE -DTHREADS; do
        for more in -O2 -fsanitize=address,undefined; do
            local name=one
            [ "$flags" = -DNONE ] || name=threads
            cp "$ROOT/tests/golden/advise/code-$name.txt" "$OUT/advised.hpp"
            g++ -std=c++17 -Wall -Wextra -Werror -g $flags $more -isystem "$OUT/single" \
                "-DADVISED_FILE=\"$OUT/advised.hpp\"" -o "$OUT/main" "$ROOT/tests/examples/advised.cpp" -pthread
            "$OUT/main" >"$OUT/stdout" 2>"$OUT/stderr" || fail "$flags $more: $(cat "$OUT/stdout" "$OUT/stderr")"
            grep -qx "all right" "$OUT/stdout"
            [ ! -s "$OUT/stderr" ] || fail "$flags $more: $(head "$OUT/stderr")"
        done
    done
}
