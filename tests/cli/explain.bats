#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# `explain`: words, mistakes.
# tests: cmd_explain.c

load helpers

@test "the list has all groups and fits 80 columns" {
    bench explain
    expect_code 0
    for group in Time Latency Memory 'Rounds and noise' Comparing 'The work' Results 'Real programs'; do
        grep -qx "$group" "$OUT/stdout" || fail "no $group"
    done
    ! LC_ALL=C.UTF-8 grep -E '.{81}' "$OUT/stdout" || fail "too wide"
}

@test "every word of the list is explained" {
    allocbench explain --json - 3>&- | jq -r '.words[].word' >"$OUT/words"
    [ "$(wc -l <"$OUT/words")" -gt 100 ]
    while IFS= read -r word; do
        bench explain -- "$word"
        expect_code 0
        [ "$(head -1 "$OUT/stdout")" = "$word" ] || fail "$word: $(head -1 "$OUT/stdout")"
        ! LC_ALL=C.UTF-8 grep -E '.{81}' "$OUT/stdout" || fail "$word is too wide"
    done <"$OUT/words"
}

@test "a word of several words, a synonym, any case" {
    bench explain after free
    grep -qx 'after free' "$OUT/stdout"
    bench explain RSS_PEAK
    [ "$(head -1 "$OUT/stdout")" = peak ]
}

@test "an unknown word gets the nearest, exit 2" {
    bench explain retianed
    expect_code 2
    expect_error 'unknown word "retianed"; did you mean "retained"\?'
    bench explain qwertyuiop
    expect_code 2
    expect_error 'allocbench explain lists all words'
    bench explain "$(printf 'a\033[31m')"
    expect_code 2
    ! grep -q "$(printf '\033')" "$OUT/stderr"
}

@test "--json has the same, with numbers and their units" {
    bench explain p99 --json -
    expect_code 0
    expect_one_document
    expect_json '.schema == "allocbench-explain/1" and (.words | length) == 1'
    expect_json '.words[0] | .word == "p99" and .unit == "ns"'
    bench explain --json "$OUT/all.json"
    expect_json '[.words[] | select(.what == null)] == []' "$OUT/all.json"
}

@test "every word of the glossary's manual page is one of explain" {
    allocbench --man glossary 3>&- | grep -A1 '^\.TP' |
        sed -n 's/\\fR.*//; s/^\\fB//p' | sed 's/\\(ti/~/; s/\\//g' >"$OUT/words"
    [ "$(wc -l <"$OUT/words")" -gt 60 ]
    while IFS= read -r word; do
        bench explain -- "$word"
        expect_code 0
    done <"$OUT/words"
}

@test "words that screens show are explained" {
    for word in arena pool slab paged handle slab_malloc scudo region heap slot usable_size exact \
        'harness alone' 'harness (heap)' 'memory growth at constant load' alloc_zeroed sweep advisory \
        'mean memory' 'minor page faults' 'cross-thread reorderings' @last worse better; do
        bench explain "$word"
        expect_code 0
    done
}

@test "what the verdicts say: regressed needs a limit, worse is none, and both ratio and interval say how they belong" {
    bench explain worse
    [ "$(head -1 "$OUT/stdout")" = worse ]
    grep -q 'never changes' "$OUT/stdout"
    ! grep -q 'exit code is 1' "$OUT/stdout" || fail "worse has no exit code"
    bench explain regressed
    grep -q 'exit code is 1' "$OUT/stdout"
    ! grep -qi surely "$OUT/stdout" || fail "nothing is sure"
    for word in ratio interval; do
        bench explain "$word"
        tr -s ' \n' ' ' <"$OUT/stdout" | grep -q 'the two medians shown.*widened.* to contain it' || fail "$word"
    done
}

@test "an example of the last result was removed, and the message says what shows one" {
    bench explain p99 --results "$OUT"
    expect_code 2
    expect_error 'explain: --results was removed: allocbench report'
}

# Titles of the tables that run, verify and exec print, as they print them: each is a word, or made of words.
@test "explain knows every title of the tables on real screens" {
    cat >idle.yaml <<'YAML'
allocbench: 1
name: idle
sets: [{name: a, count: 200}]
phases:
  - {name: burst, do: [{alloc: a, size: 512, count: all}, {free: a, fraction: 95%}]}
  - {name: idle, until: seconds(2), do: [{every: 1s, do: [{replace: a, at: random, size: 512}]}]}
YAML
    { allocbench run "$WORKLOADS/small.yaml" --no-store --rounds 1 -b glibc,slab -v all
      allocbench run idle.yaml --no-store --rounds 1 -b glibc -v pins,memory
      allocbench exec --rounds 1 --no-store --inside -b glibc -- true
      allocbench verify --checks alignment,overlap slab; } >screens.txt 2>/dev/null || true
    awk '/^[^ ].*  / { head = $0; getline; if (/^  [^ ]/) print head }' screens.txt | sed 's/  \+/\n/g' |
        grep -vE '^(glibc|slab|fill|churn|grow|drain|burst|idle|small|true|[0-9.]+ ?s?|)$' | sort -u >titles.txt
    [ "$(wc -l <titles.txt)" -ge 30 ] || fail "only: $(cat titles.txt)"
    known() { allocbench explain "$1" >/dev/null 2>&1; }
    while IFS= read -r title; do
        known "$title" && continue
        for word in $(printf '%s\n' "$title" | sed 's/, *\(ns\|MiB\|KiB\|%\)$//; s,[/:,], ,g; s/…/ /g'); do
            case $word in
                glibc|slab|fill|churn|grow|drain|burst|idle|a|in|of|the|by|per|to|at|over|one|was|no|only|ns|us|MiB|KiB|all|time|memory) continue ;;
            esac
            known "$word" || echo "$title: $word"
        done
    done <titles.txt >unknown.txt
    [ ! -s unknown.txt ] || fail "not explained: $(cat unknown.txt)"
    for check in $(sed -n 's/^REQUIRED("\([a-z-]*\)".*/\1/p' "$ROOT/src/worker/checks/checks.def") p95 'MiB h' net held pinned; do
        known "$check" || fail "explain does not know $check"
    done
}
