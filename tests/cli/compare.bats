#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# Stored results against each other: libraries whose cost is known, and everything that must not end
# in "ok", each with its message and exit code.
# tests: cmd_compare.c compare_files.c decision.c

load helpers

# libworks.so in a folder of its own, whose malloc costs so many multiplications.
make_works() { # FOLDER WORK [TAIL]
    mkdir -p "$1"
    cp "$GUESTS/libworks.so" "$1/"
    echo "$2 ${3:-0}" >"$1/libworks.so.work"
    set_build_id "$1/libworks.so" "$2 ${3:-0}"
}

measure() { # FOLDER RESULT [OPTIONS…]
    local folder=$1 result=$2
    shift 2
    bench run "$WORKLOADS/truth.yaml" --set n=2000 --rounds 6 --no-store --drain 0s -q -b "$folder/libworks.so" \
        --json "$result" "$@"
    expect_code 0
}

# A result that is another one with a change; its checksum is taken out, and how busy the machine was,
# so that nothing but the change is to be seen.
edited() { # JQ FROM TO
    jq "del(.checksum) | .noise |= map_values(0) | $1" "$2" >"$3"
}

setup_file() {
    export RESULTS=$BATS_FILE_TMPDIR
}

# One measurement for all tests that are not about time.
prepare() {
    if [ ! -e "$RESULTS/base.json" ]; then
        make_works "$RESULTS/base" 2000
        measure "$RESULTS/base" "$RESULTS/base.json"
    fi
    cp "$RESULTS/base.json" .
}

@test "a library that got slower is regressed, exit 1; the other way round it is improved" {
    make_works old 2000
    make_works new 20000
    measure old a.json
    measure new b.json
    bench compare a.json b.json --limit 20% --json out.json
    expect_code 1
    grep -Eq 'whole run time .* regressed' "$OUT/stdout" || fail "no verdict"
    grep -q '^1 regressed$' "$OUT/stdout" || fail "no count"
    expect_json '.schema == "allocbench-compare/1" and .exit_code == 1' out.json
    expect_json '.comparisons[0].cells[0] | .metric == "time" and .verdict == "regressed"
        and .ratio > 1.2 and .low > 1 and .high > .ratio and .n_base == 6' out.json
    bench compare b.json a.json --limit 20%
    expect_code 0
    grep -Eq 'whole run time .* improved' "$OUT/stdout" || fail "no verdict"
}

@test "a slower library on a faster machine is regressed; an unchanged one never is" {
    prepare
    # both measured, glibc the same build in both; rounds that hardly vary
    edited '.results |= map(if .op == "all" then .ns_per_op = 96 + 0.01 * .round else . end)
        | .backends += [.backends[0] | .name = "glibc" | .build_id = "91bc"]
        | [.results[] | .backend = "glibc"] as $more | .results += $more
        | [.memory[] | .backend = "glibc"] as $more | .memory += $more' base.json old.json
    edited '(.results[] | select(.op == "all" and .backend == "glibc")).ns_per_op *= 0.92
        | (.results[] | select(.op == "all" and .backend == "works")).ns_per_op *= 0.968
        | .backends[0].build_id = "22bb"' old.json new.json
    bench compare old.json new.json --limit 3% --json out.json --junit junit.xml --markdown out.md
    expect_code 1
    expect_json '.comparisons[0].cells | map(select(.metric == "time")) | map({(.backend): .}) | add |
        .glibc.verdict == "machine moved" and .works.verdict == "regressed" and .works.ratio < 1 and
        .works.relative.ratio > 1.05 and .works.relative.witnesses == "glibc"' out.json
    grep -q '^works takes 5.2 % more time .*relative to glibc: regressed' "$OUT/stdout" || fail "not said"
    [ "$(grep -c '<failure' junit.xml)" -eq 1 ] || fail "failures in JUnit"
    grep -q 'works.*relative to glibc' out.md || fail "not in Markdown"
    bench compare old.json new.json --limit 3% --github
    [ "$(grep -c '^::error' "$OUT/stdout")" -eq 1 ] || fail "errors for GitHub"
    grep -q '^::error.*works' "$OUT/stdout" || fail "another error"
    jq 'del(.checksum) | .backends[0].build_id = "7984"' old.json >same.json
    jq 'del(.checksum) | .backends[0].build_id = "7984"' new.json >moved.json
    bench compare same.json moved.json --limit 3%
    expect_code 0
    bench compare same.json moved.json --limit 3% --inconclusive=fail
    expect_code 0
    grep -q '^2 machine moved$' "$OUT/stdout" || fail "not counted"
}

@test "a result and itself: ok" {
    prepare
    bench compare base.json base.json --limit 1000%
    expect_code 0
    grep -q '^1 ok$' "$OUT/stdout" || fail "no count"
}

@test "next: baseline update names what was better, quoted, and nothing that is not a stored result" {
    prepare
    export ALLOCBENCH_RESULTS=$PWD/res
    edited '.results |= map(if .ns_per_op != null then .ns_per_op /= 4 else . end)
        | .backends[0].build_id = "22bb"' base.json 'it is.json'
    bench baseline save main base.json
    bench baseline save v1.2 'it is.json'
    expect_code 0
    bench compare main 'it is.json'
    expect_code 0
    grep -q 'improved' "$OUT/stdout" || fail "not better"
    grep -Fqx "next: allocbench baseline update main 'it is.json'" "$OUT/stdout" || fail "no command"
    bench compare main v1.2
    grep -q 'improved' "$OUT/stdout" || fail "not better"
    ! grep -q '^next:' "$OUT/stdout" || fail "a baseline as a file"
}

@test "next: the command that measured, with more rounds; of a merged result only how many" {
    prepare
    edited '.results |= map(if .op == "all" then .ns_per_op = 100 + 10 * .round else . end)' base.json open.json
    edited '.config.command_line = "allocbench merge open.json -o merged.json"' open.json merged.json
    bench compare open.json open.json
    grep -q '^next: allocbench run --rounds [0-9]' "$OUT/stdout" || fail "no command"
    bench compare open.json merged.json
    grep -q '^next: measure both with --rounds [0-9]' "$OUT/stdout" || fail "no number"
    ! grep -q 'allocbench merge' "$OUT/stdout" || fail "a merge is no measurement"
}

@test "several new results: the worst of them is the exit code" {
    prepare
    make_works new 60000
    measure new b.json
    bench compare base.json base.json b.json --limit 1000% --json -
    expect_code 1
    expect_one_document
    expect_json '.comparisons | map(.cells[0].verdict) == ["ok", "regressed"]'
    expect_error 'regressed'
}

@test "--jointly: what is significant alone need not be so after correction; it is said, and in the document" {
    prepare
    # rounds of 100 to 150 ns; ten more back ends with the same numbers, of which one is slower by so
    # much that it would be seen by chance in 3 % of cases
    edited '.results |= map(if .op == "all" then .ns_per_op = 100 + 10 * .round else . end)
        | .backends[0].build_id = null
        | .backends += [range(10) as $i | .backends[0] | .name = "c\($i)"]
        | [range(10) as $i | .results[] | .backend = "c\($i)"] as $more | .results += $more
        | [range(10) as $i | .memory[] | .backend = "c\($i)"] as $more | .memory += $more' base.json many.json
    jq '[131, 141, 151, 161, 171, 121] as $slow
        | .results |= map(if .backend == "c0" and .op == "all" then .ns_per_op = $slow[.round] else . end)' \
        many.json >new.json
    bench compare many.json new.json --json alone.json
    alone=$(jq -r '.comparisons[0].cells[] | select(.backend == "c0" and .metric == "time") | .verdict' alone.json)
    bench compare many.json new.json --jointly --json joint.json
    expect_json '.comparisons[0].jointly == true' joint.json
    expect_json '.comparisons[0].jointly == null' alone.json
    joint=$(jq -r '.comparisons[0].cells[] | select(.backend == "c0" and .metric == "time") | .verdict' joint.json)
    [ "$alone" = regressed ] || fail "alone it is $alone"
    [ "$joint" = inconclusive ] || fail "jointly it is $joint"
    expect_code 0
    grep -q 'judged jointly' "$OUT/stdout" || fail "not said"
    bench run "$WORKLOADS/truth.yaml" --jointly
    expect_code 2
    expect_error '\-\-jointly requires'
}

# bats test_tags=full
@test "a tail alone moves p99.5 and not p50, and the table says so" {
    make_works old 300
    make_works new 300 6000
    measure old a.json --set n=64000
    measure new b.json --set n=64000
    bench compare a.json b.json --limit 1000% --json out.json
    expect_code 0
    expect_json '.comparisons[0].cells | map(select(.op == "alloc"))
        | (map(select(.metric == "p99.5")) | .[0].direction == "worse" and .[0].ratio > 1.5)
        and (map(select(.metric == "p50")) | .[0].ratio < 1.5)' out.json
    grep -Eq 'fill alloc p99.5 .* worse' "$OUT/stdout" || fail "not in the table"
    # a gate makes it fail
    bench compare a.json b.json --limit 1000% --gate 'fill/alloc/p99.5 < +50%'
    expect_code 1
    bench compare a.json b.json --limit 1000% --gate 'fill/alloc/p50 < +100%'
    expect_code 0
}

@test "another work is exit 2, and says which" {
    prepare
    measure "$RESULTS/base" b.json --set n=2001
    bench compare base.json b.json
    expect_code 2
    expect_error 'different work: base.json ran truth \(digest [0-9a-f]{12}\), b.json ran truth'
    [ ! -s "$OUT/stdout" ] || fail "something on standard output"
}

@test "unreadable, truncated and altered files are exit 3" {
    prepare
    bench compare base.json none.json
    expect_code 3
    expect_error "cannot read 'none.json'"
    head -c 3000 base.json >cut.json
    bench compare cut.json base.json
    expect_code 3
    expect_error 'cut.json'
    sed '0,/"ns_per_op": [0-9.]*/s//"ns_per_op": 1.5/' base.json >changed.json
    bench compare base.json changed.json
    expect_code 3
    expect_error 'changed.json was altered after it was written'
    bench report changed.json # it may be looked at
    expect_code 0
    expect_error 'warning: changed.json was altered after it was written'
    local form # a file of it would have a checksum of its own
    for form in json csv html junit; do
        bench report changed.json -q "--$form" made
        expect_code 3
        expect_error '^allocbench: changed.json was altered after it was written'
        [ ! -e made ] || fail "--$form made a file"
    done
    bench run --resume changed.json
    expect_code 3
    expect_error 'changed.json was altered after it was written'
    jq -S . base.json >spelt.json # other white space and order
    bench compare base.json spelt.json --limit 1000%
    expect_code 0
}

@test "a result without a checksum is read, with a warning" {
    prepare
    edited . base.json old.json
    bench compare old.json base.json --limit 1000%
    expect_code 0
    expect_error 'warning: old.json is unsealed: it has no checksum'
    bench report old.json
    expect_code 0
    expect_error 'warning: old.json is unsealed: it has no checksum'
    grep -q 'these numbers come from a result without a checksum' "$OUT/stdout" || fail "the table does not say it"
}

@test "what is written from a result without a checksum says so, and is said to be unsealed itself" {
    prepare
    edited . base.json old.json
    bench report old.json --json made.json --html made.html --markdown made.md -q
    expect_json '.sealed == false and .complete' made.json
    grep -q 'without a checksum' made.md || fail "$(cat made.md)"
    for file in made.json made.html; do
        bench compare base.json "$file" --limit 1000% --json -
        expect_json '.comparisons[0].sealed == false'
        expect_error "warning: $file is unsealed: it was made from a result without a checksum"
        bench report "$file" --json again.json -q
        expect_json '.sealed == false' again.json
    done
    bench report base.json --json again.json --html again.html -q
    expect_json 'has("sealed") | not' again.json
    bench compare base.json again.html --json -
    expect_json '.comparisons[0] | has("sealed") | not'
    ! grep -q unsealed "$OUT/stderr" || fail "$(cat "$OUT/stderr")"
}

@test "an incomplete result is exit 3, and says how to complete it" {
    prepare
    edited '.complete = false | .config.rounds_planned = 10' base.json half.json
    bench compare base.json half.json
    expect_code 3
    expect_error 'half.json is incomplete, 6 of 10 rounds'
    expect_error "allocbench run --resume 'half.json'"
    edited '.config.kind = "exec"' half.json half-exec.json
    bench compare base.json half-exec.json
    expect_code 3
    expect_error 'half-exec.json is incomplete, 6 of 10 rounds; measure it again'
    ! grep -q -e --resume "$OUT/stderr" || fail "a program cannot be resumed"
}

@test "a failed run on either side is exit 4" {
    prepare
    edited '.backends[0] |= (.status = "crashed" | .reason = "SIGSEGV in free")
        | .backends += [.backends[0] | .name = "other" | .status = "ok"]' base.json crashed.json
    for order in "base.json crashed.json" "crashed.json base.json"; do
        bench compare $order
        expect_code 4
        grep -Eq '^[12] failed' "$OUT/stdout" || fail "no count"
        tr -s '\n ' ' ' <"$OUT/stdout" | grep -q 'works cannot be compared: in the .*crashed: SIGSEGV in free.* whole run time - - - failed in the .*crashed: SIGSEGV in free' ||
            fail "no reason"
    done
    edited '.backends |= map(.status = "timeout")' base.json none.json
    bench compare base.json none.json
    expect_code 4
    expect_error 'none.json has no numbers: every back end in it failed'
}

@test "too few rounds are inconclusive: exit 0, 5 with --inconclusive=fail" {
    prepare
    measure "$RESULTS/base" few.json --rounds 3
    bench compare few.json base.json
    expect_code 0
    grep -q '^1 inconclusive$' "$OUT/stdout" || fail "no count"
    grep -q 'too few rounds: the base has 3' "$OUT/stdout" || fail "no reason"
    bench compare few.json base.json --inconclusive=fail
    expect_code 5
    bench compare few.json base.json --gate '*/all/ns_per_op < +1000%' # not evaluated: fails
    expect_code 1
    grep -Eq '  fill/all/ns_per_op .* NOT EVALUATED$' "$OUT/stdout" || fail "no verdict"
    grep -A2 'NOT EVALUATED$' "$OUT/stdout" | grep -q '    too few rounds' || fail "no reason"
}

@test "the next command has as many rounds as would settle it" {
    prepare
    measure "$RESULTS/base" few.json --rounds 3
    bench compare base.json few.json
    # lines that go on, joined as a shell joins them
    sed -e ':a' -e '/\\$/{N;s/ \\\n */ /;ta' -e '}' "$OUT/stdout" >joined.txt
    awk 'length($0) > 80 {exit 1}' "$OUT/stdout" || fail "wider than 80"
    # both sides need them, unless the base has as many
    words=next
    [ "$(sed -n 's/.*about \([0-9]*\) rounds would settle it.*/\1/p' "$OUT/stdout" | sort -n | tail -1)" -le 6 ] ||
        words="next and"
    for word in $words; do
        grep -E "^$word: +allocbench run --rounds [0-9]+ .*truth.yaml --set n=2000 .*" joined.txt >command.txt ||
            fail "no command: $word"
        [ "$(grep -o -- --rounds command.txt | wc -l)" -eq 1 ] || fail "two numbers of rounds"
    done
}

@test "another machine: verdicts are advisory, exit 0, 1 with --strict" {
    make_works new 20000
    prepare
    measure new b.json
    edited '.host |= (.kernel = "Linux 1.0" | .fingerprint = ("0" * 64))' b.json far.json
    bench compare base.json far.json
    expect_code 0
    grep -q 'regressed' "$OUT/stdout" || fail "no verdict"
    tr -s '\n ' ' ' <"$OUT/stdout" |
        grep -q 'verdicts are advisory: another machine or system: kernel .*now Linux 1.0' ||
        fail "no word of it"
    bench compare base.json far.json --strict
    expect_code 1
    bench compare base.json far.json --gate '*/all/ns_per_op < +5%'
    expect_code 0
}

@test "another build of the library is shown, and has no effect" {
    prepare
    edited '.backends[0].build_id = "11aa"' base.json a.json
    edited '.backends[0].build_id = "22bb"' base.json b.json
    bench compare a.json b.json --limit 1000%
    expect_code 0
    grep -q 'works, build id: 11aa, now 22bb' "$OUT/stdout" || fail "not told"
}

@test "back ends are matched by name; what the new result was not asked for is a note" {
    prepare
    edited '.backends[0].name = "theirs" | .rounds[].order = ["theirs"]
        | (.. | objects | select(.backend? == "works")).backend = "theirs"' base.json theirs.json
    bench compare base.json theirs.json
    expect_code 2
    expect_error 'no back end in common.*-b NAME=PATH'
    edited '.backends += [.backends[0] | .name = "other"]
        | [.results[] | .backend = "other"] as $more | .results += $more' base.json two.json
    bench compare two.json base.json --limit 1000% --html out.html
    expect_code 0
    grep -q '^note: other of the base was not run: not compared$' "$OUT/stdout" || fail "no note"
    ! grep -qi 'failed' "$OUT/stdout" || fail "something failed"
    ! grep -q 'base other' out.html || fail "a curve that no legend explains"
}

@test "--html begins with the comparison: title, first section, first link and its sentences" {
    prepare
    make_works new 60000
    measure new b.json
    bench compare base.json b.json --html out.html -q
    expect_code 1
    grep -q '<title>truth: b.json against base.json' out.html || fail "another title"
    [ "$(grep -o '<section id="[a-z-]*"' out.html | head -n 1)" = '<section id="compare"' ] || fail "another section"
    [ "$(grep -o 'href="#[a-z-]*"' out.html | head -n 1)" = 'href="#compare"' ] || fail "another link"
    grep -o '<div class="verdict">.*' out.html >/dev/null
    sed -n '/<div class="verdict">/,/<\/div>/p' out.html | sed -n '2p' | grep -q 'works takes .* regressed' ||
        fail "another sentence first"
}

@test "gates: a change that cannot be, and words for a bare percentage" {
    prepare
    bench compare base.json base.json --gate 'fill/alloc/p99 < 10%'
    expect_code 2
    expect_error "write \+10% for a change against the baseline"
    bench compare base.json base.json --gate 'fil/alloc/p99 < +10%'
    expect_code 2
    expect_error "did you mean 'fill'"
    bench compare base.json base.json --limit 1000% --gate 'other:fill/alloc/p99 < +10%'
    expect_code 2
}

@test "mistakes in the options" {
    prepare
    bench compare base.json
    expect_code 2
    expect_error 'compare needs a base and at least one new result'
    for limit in 5 0% -5% x% 2000%; do
        bench compare base.json base.json --limit "$limit"
        expect_code 2
    done
    bench compare base.json base.json --inconclusive=maybe
    expect_code 2
    expect_error 'report'
}

@test "-q prints nothing when nothing is wrong" {
    prepare
    bench compare -q base.json base.json --limit 1000%
    expect_code 0
    [ ! -s "$OUT/stdout" ] && [ ! -s "$OUT/stderr" ] || fail "something is printed"
}

@test "results of a real program: its time, CPU time and memory" {
    for name in a b; do
        bench exec -b glibc --rounds 6 --no-store -q --json $name.json -- perl -e 'my @x = (1) x 1000'
        expect_code 0
    done
    bench compare a.json b.json --limit 1000% --json out.json
    expect_code 0
    expect_json '.comparisons[0].cells | .[0].metric == "time" and .[0].verdict == "ok"
        and .[0].base > 0 and any(.[]; .metric == "resident_peak_bytes" and .ratio > 0.5)' out.json
    bench exec -b glibc --rounds 6 --no-store -q --json c.json -- perl -e 'my @x = (1) x 2000'
    bench compare a.json c.json
    expect_code 2
    expect_error 'different work'
}
