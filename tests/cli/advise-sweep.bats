#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# `advise --sweep`: settings of general mallocs beside those that are measured anyway.

load helpers

measured() { # ARGUMENTS
    rm -f "$OUT/part.abt"
    bench trace cut "$ROOT/traces/sqlite-index.abt" --events 0..2000 -o "$OUT/part.abt"
    expect_code 0
    bench advise "$OUT/part.abt" --rounds 1 --json - -q "$@"
    expect_code 0
    jq -r '[.base.name, .generals[].name] | join(" ")' "$OUT/stdout" >"$OUT/names"
}

@test "settings come beside glibc and the libraries, or beside the one that -b names" {
    measured --sweep glibc
    grep -q '^glibc ' "$OUT/names"
    grep -qF 'glibc{GLIBC_TUNABLES=glibc.malloc.tcache_count=0}' "$OUT/names"
    for name in jemalloc tcmalloc mimalloc; do
        [ "$(allocbench list backends --json - | jq -r ".backends[] | select(.name == \"$name\").status")" != ok ] ||
            grep -q " $name\b" "$OUT/names" || fail "$name: $(cat "$OUT/names")"
    done
    measured -b slab --sweep slab
    grep -q '^slab ' "$OUT/names"
    grep -qF ' slab:classes=fine ' "$OUT/names"
    grep -q ' glibc ' "$OUT/names"
    [ "$(grep -o ' slab\( \|$\)' "$OUT/names" | wc -l)" -eq 0 ] # itself once, as what is compared with
}

@test "a list in -b is all that is measured beside the settings" {
    measured -b glibc,slab --sweep pool
    grep -q '^glibc slab pool pool:grow=off' "$OUT/names" || fail "$(cat "$OUT/names")"
    ! grep -q jemalloc "$OUT/names"
}

@test "an unknown name is refused, with the nearest one" {
    bench advise "$ROOT/traces/sqlite-index.abt" --sweep jemaloc
    expect_code 2
    expect_error jemalloc
}
