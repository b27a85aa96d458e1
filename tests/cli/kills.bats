#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# Every command, killed at random instants.

load helpers

# bats test_tags=full
@test "200 random kills of all commands leave no half file, lose no earlier output, and leave nothing behind" {
    command -v python3 >/dev/null || skip "no python3"
    AB_BUILD=$BUILD "$ROOT/scripts/stress-commands" 200 "${AB_SEED:-$(date +%s)}" >"$OUT/log" 2>&1 3>&- ||
        { cat "$OUT/log"; return 1; }
    tail -1 "$OUT/log" >&3
}
