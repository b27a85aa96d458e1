#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# A reader who reckons: every derived figure on the screens follows from the others that are shown.

load helpers

reckon() { # OPTION|SCREEN …
    python3 "$ROOT/tests/cli/reckon.py" "$@" >"$OUT/reckoned" || fail "$(grep -v '^ *[0-9]' "$OUT/reckoned" | head -20)"
}

# The rule was used in a screen that was read last.
expect_rule() { # RULE …
    for rule in "$@"; do
        grep -q "^ *[0-9]* $rule\$" "$OUT/reckoned" || fail "nothing was reckoned: $rule"
    done
}

@test "the figures of the stored screens follow from each other, at every width and in a pipe" {
    for what in run threads replay noisy failed interrupted exec compare gates; do
        for width in 60 80 pipe; do
            [ -s "$ROOT/tests/golden/report/screen-$what-$width.txt" ] || fail "no screen: $what, $width"
        done
    done
    reckon --steady "$ROOT"/tests/golden/report/{screen,table}-*.txt
    expect_rule 'ratio of whole runs' 'whole run: sum of ops x time' 'operations: sum' 'memory: sum' \
        'memory: x live' 'memory: peak as ranked' 'headline: speed' 'headline: memory' \
        'headline: time' 'headline: peak' 'harness: range' rounds 'compare: change' \
        'compare: verdict' 'compare: counts' 'compare: sentence' 'gates: counts' 'gates: verdict' \
        'exec: change' '-v time: ratio' '-v time: Mops/s' '-v size: shares' '-v memory: sum' \
        '-v worst: rounds' legend
}

@test "another figure in any place of a screen is found" {
    for what in run-80 threads-80 noisy-80 interrupted-80 exec-80 compare-80 gates-80 time-80 size-80 memory-80 worst-80; do
        reckon --each-fails --steady "$ROOT/tests/golden/report/screen-$what.txt"
    done
    printf 'gates: 2 passed\nglibc                value   limit  verdict\n%s\n%s\n' \
        '  fill/alloc/p99    126 ns  < 90ns   passed' '  fill/free/p99      26 ns  < 90ns   passed' >"$OUT/bad"
    run python3 "$ROOT/tests/cli/reckon.py" "$OUT/bad"
    [ "$status" -eq 1 ] || fail "a gate that is not met passed"
}

@test "so do the figures of real runs, of compare, of gates and of every topic of -v" {
    for f in a b; do
        bench run "$WORKLOADS/small.yaml" --drain 0 --rounds 6 --processes 1 -b glibc,arena,slab --no-store --json $f.json \
            --gate 'fill/alloc/p99 < 90ns' --gate 'slab:churn/all/ns_per_op < 1.05x glibc' \
            --gate 'glibc:churn/memory/rss_peak < 1.5x live'
        [ "$code" -le 1 ] || fail "exit $code"
        cp "$OUT/stdout" run.txt
        reckon run.txt
        expect_rule 'ratio of whole runs' 'memory: sum' 'gates: verdict'
    done
    for topic in time size worst memory phase=churn all; do
        for columns in 60 80 140; do
            COLUMNS=$columns bench report -v $topic a.json
            LC_ALL=C awk -v most=$columns '{gsub(/[\200-\277]/, "")} length($0) > most {exit 1}' "$OUT/stdout" ||
                fail "$topic is wider than $columns"
            cp "$OUT/stdout" topic.txt
            reckon topic.txt
        done
    done
    COLUMNS=80 bench compare a.json b.json --gate 'churn/alloc/p99 < +10%'
    [ "$code" -le 1 ] || fail "exit $code"
    cp "$OUT/stdout" compare.txt
    reckon compare.txt
    expect_rule 'compare: change' 'compare: counts' 'compare: sentence' 'gates: counts'
    head -1 compare.txt | grep -Eq ' (takes .* time|failed)' || fail "no verdict first: $(head -1 compare.txt)"
    awk 'length($0) > 80 {exit 1}' compare.txt || fail "wider than 80"
}
