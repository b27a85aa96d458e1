#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# The lists of CONTRIBUTING.md, "Adding something", are complete: each addition is made in a copy of
# the sources, in the files that its list names, and works.

load helpers

# bats test_tags=full
@test "a verb, a metric, a check, a preset, an importer, a format and a topic need the files that are named" {
    "$ROOT/scripts/check-additions" >"$OUT/stdout" 2>"$OUT/stderr" || fail "an addition does not work"
    grep -qx '11 passed, 0 failed' "$OUT/stdout" || fail "additions are missing"
}

@test "a place of the lists that is gone is an error" {
    mkdir -p tree/scripts tree/src/workload
    cp "$ROOT/scripts/check-additions" tree/scripts/
    cp "$ROOT/src/workload/workload_language.h" tree/src/workload/
    sed -i 's/AB_PICK_LIFO, 0)/AB_PICK_LIFO)/' tree/src/workload/workload_language.h
    ! tree/scripts/check-additions "$PWD/copy" >"$OUT/stdout" 2>"$OUT/stderr" || fail "passes"
    grep -q 'src/workload/workload_language.h has nothing like' "$OUT/stderr" || fail "another reason"
    [ ! -e copy ] || fail "the copy is left"
}
