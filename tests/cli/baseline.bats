#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# Baselines: kept under a name, compared with by run and replay, and refused where they are not
# fit; gates on changes, confirmed before they fail.
# tests: baselines.c cmd_baseline.c decision.c

load helpers

make_works() { # FOLDER WORK: libworks.so, whose malloc costs so many multiplications
    mkdir -p "$1"
    cp "$GUESTS/libworks.so" "$1/"
    echo "$2 0" >"$1/libworks.so.work"
    set_build_id "$1/libworks.so" "$2"
}

setup_file() {
    export RESULTS=$BATS_FILE_TMPDIR
}

# res/ with the baseline "main" of a library of 2000 multiplications, and its result base.json.
prepare() {
    export ALLOCBENCH_RESULTS=$PWD/res
    make_works lib 2000
    if [ ! -e "$RESULTS/base.json" ]; then
        bench run "$WORKLOADS/truth.yaml" --set n=2000 --rounds 6 --no-store --drain 0s -q -b lib/libworks.so \
            --json "$RESULTS/base.json"
        expect_code 0
    fi
    cp "$RESULTS/base.json" .
    bench baseline save main base.json
    expect_code 0
}

again() { # OPTIONS…: the same measurement again
    bench run "$WORKLOADS/truth.yaml" --set n=2000 --rounds 6 --no-store --drain 0s -b lib/libworks.so "$@"
}

@test "save, list, show, update, remove" {
    prepare
    grep -q 'saved base.json as baseline main' "$OUT/stdout" || fail "not told"
    bench baseline list
    expect_code 0
    grep -Eq '^main +truth, 6 rounds: works$' "$OUT/stdout" || fail "not listed"
    bench baseline show main
    expect_code 0
    grep -q 'works' "$OUT/stdout" || fail "no table"
    bench baseline save main base.json
    expect_code 2
    expect_error "already; replace it with allocbench baseline update main"
    bench baseline update main base.json
    expect_code 0
    grep -q 'base: baseline main (6 rounds), new: base.json' "$OUT/stdout" || fail "no comparison"
    bench baseline remove main
    expect_code 0
    bench baseline remove main
    expect_code 3
    bench baseline list
    expect_code 0
    grep -q 'no baselines' "$OUT/stdout" || fail "something is listed"
}

@test "a baseline has a checksum, also of a result that had none" {
    prepare
    jq 'del(.checksum)' base.json >old.json
    bench baseline save old old.json
    expect_code 0
    expect_json '.checksum | test("^sha256:[0-9a-f]{64}$")' res/baselines/old.json
    expect_json '.sealed == false' res/baselines/old.json
    [ "$(jq 'del(.sealed, .checksum)' res/baselines/old.json)" = "$(jq 'del(.checksum)' base.json)" ] ||
        fail "another document"
    bench compare old base.json # it is said of each that is read, however its own sum was made
    expect_error 'warning: baseline old is unsealed: it was made from a result without a checksum'
}

@test "without a file the newest stored result is taken" {
    prepare
    cp base.json res/first.json
    jq '.config.name = "newer" | del(.checksum)' base.json >res/second.json
    touch -d '1 hour ago' res/first.json
    bench baseline save newest
    expect_code 0
    grep -q 'saved .*/res/second.json as baseline newest' "$OUT/stdout" || fail "another one"
}

@test "save says of when and which rows, and how the machine is told from the library" {
    prepare
    grep -Eq '^  written 20[0-9-]+ [0-9:]+ UTC: truth, 6 rounds: works$' "$OUT/stdout" || fail "not said"
    grep -q 'measure glibc as well: -b glibc' "$OUT/stdout" || fail "no word of glibc"
    jq 'del(.checksum) | .backends[0].name = "glibc" | .rounds[].order = ["glibc"]
        | (.. | objects | select(.backend? == "works")).backend = "glibc"' base.json >witness.json
    bench baseline save witness witness.json
    expect_code 0
    ! grep -q 'measure glibc as well' "$OUT/stdout" || fail "glibc is there"
}

@test "what failed last is not passed over, unless the result is named" {
    prepare
    cp base.json res/first.json
    touch -d '1 hour ago' res/first.json
    jq 'del(.checksum) | .backends += [.backends[0] | .name = "mine" | .status = "absent"]' base.json \
        >res/second.json
    bench baseline save newest
    expect_code 4
    expect_error 'the newest result, .*second.json, has no numbers of mine .absent.: to keep it'
    jq 'del(.checksum) | .backends |= map(.status = "crashed") | .results = []' base.json >res/second.json
    bench baseline save newest
    expect_code 4
    expect_error 'every back end failed in the newest result; .*first.json: give its path to use that one'
    [ ! -e res/baselines/newest.json ] || fail "it was saved"
    bench baseline save newest res/first.json
    expect_code 0
}

@test "a file is no name of a baseline" {
    prepare
    for file in base.json ./base.json report.html; do
        bench baseline save "$file"
        expect_code 2
        expect_error "is a file, and cannot be the name of a baseline; allocbench baseline save NAME"
    done
    bench baseline update base.json
    expect_code 2
    expect_error 'allocbench baseline update NAME base.json'
}

@test "run --baseline measures the glibc of the baseline along; gates are not about it" {
    prepare
    bench run "$WORKLOADS/truth.yaml" --set n=2000 --rounds 6 --no-store --drain 0s -q \
        -b glibc,lib/libworks.so --json both.json
    make_works lib 20000
    again --baseline both.json --limit 20% --gate 'fill/all/ns_per_op < 1s' --json out.json
    expect_code 1
    expect_error 'glibc is measured too, as in the baseline'
    expect_json '[.backends[] | select(.name == "glibc") | .status] == ["ok"]' out.json
    expect_json '[.gates[].backend] == ["works"]' out.json
    expect_json '.comparison.cells[] | select(.metric == "time" and .backend == "works") |
        .verdict == "regressed" and .relative.witnesses == "glibc" and .confirm_rounds == 6' out.json
}

@test "names lead nowhere else" {
    prepare
    mkdir secret
    for name in ../secret/x a/b /etc/x .hidden -x '' "$(printf 'a\nb')" "$(head -c 65 /dev/zero | tr '\0' a)"; do
        bench baseline save -- "$name" base.json
        expect_code 2
        expect_error 'cannot be the name of a baseline'
    done
    [ -z "$(ls -A secret)" ] || fail "something was written"
    ln -s "$PWD/base.json" res/baselines/link.json
    bench baseline remove link
    expect_code 0
    [ -e base.json ] || fail "the link was followed"
}

@test "what is not fit to be a baseline is refused" {
    prepare
    bench baseline save x none.json
    expect_code 3
    head -c 2000 base.json >cut.json
    bench baseline save x cut.json
    expect_code 3
    sed '0,/"ns_per_op": [0-9.]*/s//"ns_per_op": 1.5/' base.json >changed.json
    bench baseline save x changed.json
    expect_code 3
    expect_error 'was altered after it was written'
    bench run "$WORKLOADS/truth.yaml" --set n=2000 --rounds 5 --no-store --drain 0s -q -b lib/libworks.so --json few.json
    bench baseline save x few.json
    expect_code 3
    expect_error 'few.json has 5 rounds, too few for a verdict: at least 6'
    jq 'del(.checksum) | .complete = false' base.json >half.json
    bench baseline save x half.json
    expect_code 3
    expect_error 'half.json is incomplete'
    jq 'del(.checksum) | .backends |= map(.status = "crashed")' base.json >crashed.json
    bench baseline save x crashed.json
    expect_code 4
    [ ! -e res/baselines/x.json ] || fail "it was saved"
}

@test "run --baseline: a slower library fails, with what was measured again to be sure" {
    prepare
    make_works lib 20000
    again --baseline main --json out.json
    expect_code 1
    expect_error '^1 verdict to confirm: 6 more rounds$'
    grep -Eq 'whole run time .* regressed' "$OUT/stdout" || fail "no verdict"
    expect_json '.comparison.base == "baseline main"' out.json
    expect_json '.comparison.cells[0] | .verdict == "regressed" and .confirm_rounds == 6
        and .confirm_ratio > 1.05' out.json
}

@test "run --baseline: the same library with a generous limit is ok, a faster one improved" {
    prepare
    again --baseline base.json --limit 1000% --json out.json # a file
    expect_code 0
    expect_json '.comparison.cells[0].verdict == "ok" and .comparison.base == "base.json"' out.json
    make_works lib 300
    again --baseline main --limit 20% --json out.json
    expect_code 0
    expect_json '.comparison.cells[0].verdict == "improved"' out.json
}

@test "a baseline that is missing, cut, altered, of other work or too small ends the run before it" {
    prepare
    again --baseline mian
    expect_code 3
    expect_error "no baseline 'mian' in .*did you mean 'main'"
    again --baseline none.json
    expect_code 3
    head -c 2000 base.json >res/baselines/cut.json
    again --baseline cut
    expect_code 3
    sed '0,/"ns_per_op": [0-9.]*/s//"ns_per_op": 1.5/' base.json >res/baselines/changed.json
    again --baseline changed
    expect_code 3
    expect_error 'baselines/changed.json was altered'
    bench baseline list
    expect_code 3
    grep -q '^changed .*unusable: .*changed.json was altered' "$OUT/stdout" || fail "not listed so"
    again --baseline main --set n=2001
    expect_code 2
    expect_error 'different work: baseline main ran truth'
    jq 'del(.checksum) | .rounds |= .[:3] | .config.rounds_planned = 3
        | walk(if type == "array" then map(select(type != "object" or (.round // 0) < 3)) else . end)' \
        base.json >small.json
    again --baseline small.json
    expect_code 3
    expect_error 'small.json has 3 rounds, too few for a verdict'
    [ ! -s "$OUT/stdout" ] || fail "something was measured"
    again --limit 5%
    expect_code 2
    expect_error '\-\-limit is about ratios: it needs two back ends, or a --baseline'
}

@test "run --limit: the back ends of one run against the base" {
    prepare
    make_works new 20000
    limited() {
        bench run "$WORKLOADS/truth.yaml" --set n=2000 --rounds 6 --no-store --drain 0s \
            -b old=lib/libworks.so,new=new/libworks.so --json out.json "$@"
    }
    limited --base old --limit 20%
    expect_code 1
    expect_json '.comparison | .base == null and (.cells[0] | .verdict == "regressed" and
        .backend == "new" and .base_backend == "old" and .confirm_rounds == 6)' out.json
    limited --base new --limit 20%
    expect_code 0
    expect_json '.comparison.cells[0].verdict == "improved"' out.json
    limited --limit 20% --shard 1/2
    expect_code 2
    expect_error '\-\-shard and --limit are mutually exclusive'
}

@test "a run that is too short for a verdict: 0, 5 with --inconclusive=fail" {
    prepare
    again --baseline main --rounds 2
    expect_code 0
    grep -q 'too few rounds: the base has 6, the new result 2' "$OUT/stdout" || fail "no reason"
    again --baseline main --rounds 2 --inconclusive=fail
    expect_code 5
}

@test "a back end that crashes is exit 4, whatever the baseline says" {
    prepare
    bench run "$WORKLOADS/truth.yaml" --set n=2000 --rounds 6 --no-store --drain 0s --baseline main \
        -b lib/libworks.so -b "$GUESTS/libctorcrash.so" --limit 1000%
    expect_code 4
}

@test "a gate on a change: fails, passes, and is not evaluated without a baseline" {
    prepare
    again --gate '*/all/ns_per_op < +1000%' --json out.json
    expect_code 1
    grep -A1 'NOT EVALUATED$' "$OUT/stdout" | grep -q '    there is no baseline: --baseline' || fail "no reason"
    again --baseline main --limit 1000% --gate 'fill/all/ns_per_op < +900%' --json out.json
    expect_code 0
    expect_json '.gates[0] | .verdict == "pass" and .unit == "x baseline" and .bound == 10
        and .low <= .value and .value <= .high' out.json
    make_works lib 8000
    again --baseline main --limit 1000% --gate 'fill/all/ns_per_op < +10%' --json out.json
    expect_code 1
    expect_json '.gates[0] | .verdict == "fail" and .confirm_rounds == 6 and .level == "error"' out.json
    again --baseline main --limit 1000% --gate 'fill/all/ns_per_op < +10% floor 1s'
    expect_code 0
}

@test "level: warn says it and fails nothing" {
    prepare
    make_works lib 8000
    cp "$WORKLOADS/truth.yaml" warn.yaml
    printf 'gates:\n  - {gate: "fill/all/ns_per_op < +10%%", level: warn}\n' >>warn.yaml
    bench run warn.yaml --set n=2000 --rounds 6 --no-store --drain 0s -b lib/libworks.so --baseline main \
        --limit 1000% --json out.json
    expect_code 0
    expect_json '.gates[0] | .verdict == "fail" and .level == "warn" and .exit_code == 0' out.json
    grep -q '1 warning' "$OUT/stdout" || fail "not said"
    bench run warn.yaml --set n=2000 --rounds 1 --no-store --drain 0s -b lib/libworks.so # without a baseline
    expect_code 0
}

# bats test_tags=full
@test "a failing ratio is confirmed by more rounds of the two back ends alone" {
    prepare
    make_works slow 20000
    mv slow/libworks.so slow/libslow.so
    mv slow/libworks.so.work slow/libslow.so.work
    bench run "$WORKLOADS/truth.yaml" --set n=2000 --rounds 6 --no-store --drain 0s -b lib/libworks.so \
        -b slow/libslow.so -b glibc --gate 'slow:fill/all/ns_per_op < 1.1x works' --json out.json
    expect_code 1
    expect_error '^1 verdict to confirm: 6 more rounds$'
    expect_json '.gates[0] | .verdict == "fail" and .confirm_rounds == 6 and .confirm_value > 1.1' out.json
    expect_json '.rounds | length == 6' out.json
}

@test "replay compares with a baseline as well" {
    export ALLOCBENCH_RESULTS=$PWD/res
    trace=$ROOT/tests/golden/traces/good/perl-tiny.abt
    bench replay "$trace" --rounds 6 -q -b glibc
    expect_code 0
    bench baseline save trace
    expect_code 0
    bench replay "$trace" --rounds 6 --no-store --drain 0s -b glibc --baseline trace --limit 1000% --json out.json
    expect_code 0
    expect_json '.comparison.cells[0].verdict == "ok"' out.json
    bench run "$WORKLOADS/truth.yaml" --rounds 6 --no-store --drain 0s -b glibc --baseline trace
    expect_code 2
    expect_error 'different work'
}

# bats test_tags=full
@test "old and new build of one library side by side, and one after the other under one name" {
    prepare
    make_works old 2000
    make_works new 20000
    bench run "$WORKLOADS/truth.yaml" --set n=2000 --rounds 6 --no-store --drain 0s -b mine=old/libworks.so --json a.json -q
    expect_code 0
    bench run "$WORKLOADS/truth.yaml" --set n=2000 --rounds 6 --no-store --drain 0s -b mine=new/libworks.so --json b.json -q
    expect_code 0
    bench compare a.json b.json
    expect_code 1
    bench run "$WORKLOADS/truth.yaml" --set n=2000 --rounds 6 --no-store --drain 0s -b old=old/libworks.so,new=new/libworks.so \
        --gate 'new:*/all/ns_per_op < 1000x old'
    expect_code 0
}

@test "commands and their arguments" {
    prepare
    bench baseline
    expect_code 2
    bench baseline sav main base.json
    expect_code 2
    expect_error 'did you mean save'
    bench baseline save
    expect_code 2
    expect_error 'baseline save needs a name'
    bench baseline list main
    expect_code 2
    bench baseline show nothing
    expect_code 3
    ALLOCBENCH_RESULTS= bench baseline list
    expect_code 2
    expect_error 'give one with --results DIR'
    bench baseline list --results "$PWD/res"
    expect_code 0
}
