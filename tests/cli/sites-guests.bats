#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# Programs that are hard to record are no harder with call sites: the tests of such programs, each
# once more with --sites=8.

load helpers

# In an environment without this run's own variables of bats.
with_sites() { # FILE
    # shellcheck disable=SC2046 # words
    env $(compgen -e BATS_ | sed 's/^/-u /') AB_RECORD_WITH=--sites=8 \
        bats --tap --filter-tags '!full' "$ROOT/tests/cli/$1" >"$OUT/tap" 2>&1 ||
        fail "$(grep -v '^ok' "$OUT/tap")"
    [ "$(grep -c '^ok' "$OUT/tap")" -ge "$2" ] || fail "$(cat "$OUT/tap")"
}

# bats test_tags=full
@test "programs that are hard to record: the same calls with call sites" {
    with_sites record-guests.bats 20
}

# bats test_tags=full
@test "however a program ends: the same calls with call sites" {
    with_sites record-ends.bats 20
}
