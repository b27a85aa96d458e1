#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# What the terminal says first: it fits, names who was fastest, and more is told by topic.

load helpers

# The back end with the least time of the whole run, median of the rounds, out of the JSON.
fastest() { # RESULT
    jq -r 'def median: sort | (.[(length - 1) / 2 | floor] + .[length / 2 | floor]) / 2;
        [.results[] | select(.op == "all")] | group_by(.backend)
        | map({name: .[0].backend, t: (group_by(.round)
            | map(select(all(.ns_per_op != null)) | map(.ns_per_op * .n_ops) | add)
            | if length > 0 then median else infinite end)})
        | min_by(.t).name' "$1"
}

@test "in a pipe the answer takes 80 columns at most, and 40 lines" {
    bench run "$WORKLOADS/tiny.yaml" --drain 0 --rounds 2 -b glibc,arena,slab --json "$OUT/r.json"
    expect_code 0
    # a machine on which others run adds its warnings, and hides what is near the harness
    [ "$(sed '/^warning: /,$d; /^not distinguishable from the harness/,/^$/d' "$OUT/stdout" | wc -l)" -le 40 ] ||
        fail "$(cat "$OUT/stdout")"
    awk 'length($0) > 80 {exit 1}' "$OUT/stdout" || fail "wider than 80"
    sed -n 2p "$OUT/stdout" | grep -q '^No verdict: 2 rounds ' || fail "no verdict is said first"
    cp "$OUT/stdout" "$OUT/run.txt"
    COLUMNS=80 bench report "$OUT/r.json"
    cmp "$OUT/stdout" "$OUT/run.txt" || fail "report says it otherwise"
}

@test "-v tells more by topic, and names the topics and phases that there are" {
    bench run "$WORKLOADS/tiny.yaml" --drain 0 --rounds 1 -b glibc --json "$OUT/r.json"
    ! grep -Eq '^all ops|latency by size' "$OUT/stdout" || fail "more than the answer"
    bench report -v time "$OUT/r.json"
    grep -q '^all ops' "$OUT/stdout" || fail "no times"
    ! grep -q 'latency by size' "$OUT/stdout" || fail "sizes as well"
    bench report -v size "$OUT/r.json"
    grep -q 'latency by size' "$OUT/stdout" || fail "no sizes"
    bench report -v phase=churn "$OUT/r.json"
    grep -q '/ churn: ' "$OUT/stdout" || fail "not this phase"
    ! grep -q '/ fill: ' "$OUT/stdout" || fail "another phase"
    bench report -v phase=chrn "$OUT/r.json"
    expect_code 2
    expect_error 'no such phase among .*; did you mean churn\?'
    bench report --verbose=sizes "$OUT/r.json"
    expect_code 2
    expect_error 'did you mean size\?'
    bench run "$WORKLOADS/tiny.yaml" -v phase=no --rounds 1 -b glibc
    expect_code 2
}

# Sentences and ranking of the screen name the one that the JSON has as fastest; nothing that frees
# nothing has a latency of milliseconds, but for one marked as a single event.
expect_fastest() { # WHAT
    first=$(fastest "$OUT/r.json")
    sed '/^$/,$d' "$OUT/stdout" | tr '\n' ' ' | tr -s ' ' >"$OUT/said"
    row=$(grep -A1 '^ *whole run ' "$OUT/stdout" | sed -n '2s/^ *\([^ ]*\) .*/\1/p')
    [ "$row" = "$first" ] || fail "$1: the ranking begins with $row, fastest is $first"
    ! grep -q ' is [0-9.]*x [^.]*slower than' "$OUT/said" || fail "$1: names a slower one: $(cat "$OUT/said")"
    grep -Eq "(: |rounds )$first is [0-9.]+x .*faster than|(No clear difference in the time of the whole run between|So far) $first |No verdict: this machine" \
        "$OUT/said" || fail "$1: $first, but $(cat "$OUT/said")"
    bench report -v time "$OUT/r.json"
    awk '/^[a-z]/ {op = $1} op == "free" && $1 == "arena" {
            for (i = 2; i <= 6; i++) if ($i ~ /[0-9]ms$/) exit 1}' "$OUT/stdout" ||
        fail "$1: milliseconds: $(grep arena "$OUT/stdout")"
}

# Counts in $n; the gates of a workload may fail here.
look_at() { # CONFIG OPTION…
    bench run "$ROOT/configs/$1.yaml" "${@:2}" --drain 0 --rounds 6 --passes throughput,tail:2 \
        -b glibc,mimalloc,arena --no-store --json "$OUT/r.json"
    [ "$code" -le 1 ] || return 0
    # Where threads wait for each other most of the time, no row has a time.
    jq -e '[.results[] | select(.op == "all") | .ns_per_op // empty] | length > 0' "$OUT/r.json" >/dev/null || return 0
    expect_fastest "$*"
    n=$((n + 1))
}

# bats test_tags=full
@test "on 20 workloads the fastest by the whole run is the one that is named" {
    n=0
    for config in "$ROOT"/configs/*.yaml; do
        config=$(basename "$config" .yaml)
        [ "$config" != replacement ] || config="replacement --set ops=20k --set blocks=2000"
        # shellcheck disable=SC2086 # words
        look_at $config
    done
    for config in classics/{threadtest,alloc-test,glibc-thread} fragmentation/{hole-punch,mesh}; do
        look_at "$config"
    done
    for config in random-free realloc-growth exchange quickstart particles; do # other sizes and positions
        [ $n -ge 20 ] || look_at "$config" --seed 5
    done
    [ $n -ge 20 ] || fail "only $n workloads"
}

@test "a clear winner comes with what a program is started with; deploy says so" {
    uname -m | grep -q x86_64 || skip "the slow library reads the counter of x86-64"
    export ALLOCBENCH_RESULTS=$OUT/results
    winner() { bench run "$WORKLOADS/tiny.yaml" --rounds 6 --drain 0 -b "slow=$GUESTS/libslow1us.so,mine=$OUT/libmine.so"; }
    cp "$BUILD/mutants/libmutant.so" "$OUT/libmine.so" # without a defect
    winner
    expect_code 0
    tr -s ' \n' ' ' <"$OUT/stdout" | grep -qF "next: allocbench verify $OUT/libmine.so" ||
        fail "what nobody verified is put to use: $(cat "$OUT/stdout")"
    bench verify "$OUT/libmine.so"
    winner
    expect_code 0
    line=$(sed -n 's/^next: \(LD_PRELOAD=[^ ]*\)$/\1/p; s/^next: \(LD_PRELOAD=[^ ]*\) (runs a.*/\1/p' "$OUT/stdout")
    [ -n "$line" ] || fail "no line"
    env "$line" cat /proc/self/maps | grep -q 'libmine.so' || fail "$line starts nothing with it"
    bench deploy
    expect_code 2
    expect_error 'unknown command deploy; the answer .* ends with the LD_PRELOAD line of the winner'
}
