#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# Allocators that are wrong in one known way each: `verify` must find every one, by the check that
# is there for it, and must find nothing in the ones they were made from.

load helpers

MUTANTS=$BUILD/mutants
EXPECTED=$ROOT/tests/mutants/expected

spelling() { # KIND NUMBER
    case $1 in
    malloc) echo "$MUTANTS/libmutant.so{MUTANT=$2}" ;;
    heap) echo "$MUTANTS/libmutantheap.so:mutant=$2" ;;
    esac
}

# Verifies, and appends one line a mutant to $OUT/found: name, then the checks that fail it.
find() { # CHECKS SPELLING …
    bench verify --check "$@" --json "$OUT/found.json"
    expect_code 4
    jq -r '.backends[] | [.name, ([.checks[] | select(.verdict as $v
        | ["failed", "crashed", "timeout", "not_proven"] | index($v)) | .check] | join(","))]
        | join(" ")' "$OUT/found.json" >>"$OUT/found"
}

find_all() {
    local kind number check alone rest spellings=()
    while read -r kind number check alone rest; do
        case $kind in malloc | heap) ;; *) continue ;; esac
        case $alone in # one that hangs would do so in nearly every check
        hangs) find "$check" "$(spelling "$kind" "$number")" --timeout 1s ;;
        *) spellings+=("$(spelling "$kind" "$number")") ;;
        esac
    done <"$EXPECTED"
    find required,repeatable,double-free,foreign-handle "${spellings[@]}"
}

# bats test_tags=full
@test "every mutant is found by its check, and every check alone finds one" {
    find_all
    [ "$(grep -cE '^(malloc|heap) ' "$EXPECTED")" -ge 40 ]
    [ "$(wc -l <"$OUT/found")" -eq "$(grep -cE '^(malloc|heap) ' "$EXPECTED")" ]
    local kind number check alone rest name checks wrong=
    while read -r kind number check alone rest; do
        case $kind in malloc) name="mutant{MUTANT=$number}" ;; heap) name="mutantheap:mutant=$number" ;; *) continue ;; esac
        checks=$(awk -v name="$name" '$1 == name { print $2 }' "$OUT/found")
        case ",$checks," in *",$check,"*) ;; *) wrong+="$name: not found by $check ($checks)"$'\n' ;; esac
        [ "$alone" != alone ] || [ "$checks" = "$check" ] || wrong+="$name: $checks, not $check alone"$'\n'
    done <"$EXPECTED"
    [ -z "$wrong" ] || fail "$wrong"
    # Each gate that verify knows is the only one to find some mutant.
    jq -r '.backends[0].checks[] | select(.kind == "required") | .check' "$OUT/found.json" |
        while read -r check; do
            grep -qE "^(malloc|heap) +[0-9]+ +$check +alone" "$EXPECTED" || echo "$check"
        done >"$OUT/untested"
    [ ! -s "$OUT/untested" ] || fail "no mutant needs: $(tr '\n' ' ' <"$OUT/untested")"
}

@test "what the mutants were made from passes, whatever the seed" {
    for seed in 1 2 3; do
        bench verify "$(spelling malloc 0)" "$(spelling heap 0)" --seed $seed \
            --check required,repeatable,double-free,late-double-free,invalid-free,foreign-handle --json -
        expect_code 0
        expect_json '[.backends[].status] == ["conforming", "conforming"]'
        expect_json '[.backends[].checks[] | select(.verdict == "not_proven")] == []'
    done
    expect_nothing_left
}
