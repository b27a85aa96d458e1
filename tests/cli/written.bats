#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# What a program writes of its large blocks: recorded, shown, and replayed.
# tests: preload_written.c

load helpers
load recording

WRITES=$GUESTS/prog_writes

# Pages known and written, of all large blocks.
written() { # [TRACE]
    allocbench trace info --json - "${1:-$OUT/t.abt}" |
        jq -r '[.written_known_bytes, .written_bytes] | map(if . then . / 4096 else "n/a" end) | join(" ")'
}

expect_written() { # KNOWN WRITTEN
    local found
    found=$(written)
    [ "$found" = "$1 $2" ] || fail "known, written: $found pages, not $1 $2"
}

@test "written: a table of which every 40th page is used, buffers written to a tenth" {
    record -- "$GUESTS/prog_sparse_table"
    expect_code 0
    # of the buffers of 300,000 bytes 72 whole pages each, seven or eight of them in the first 30,000
    read -r known pages < <(written)
    [ "$known" = $((23436 + 60 * 72)) ] || fail "known: $known"
    [ "$pages" -ge $((585 + 60 * 7)) ] && [ "$pages" -le $((585 + 60 * 8)) ] || fail "written: $pages"
    allocbench trace info "$OUT/t.abt" >"$OUT/text"
    grep -Eq '^written    3\.9. MiB of 108 MiB in blocks of 64 KiB or more \(3\.6. %\)$' "$OUT/text" ||
        fail "$(grep written "$OUT/text")"
}

@test "written: each stretch of a block that is resized counts what was not there before" {
    record -- "$WRITES" grow
    expect_code 0
    # 255 whole pages, then 767 less the 20 that were there
    found=$(written | awk '{ print $2 }')
    [ "$found" = 50 ] || fail "$(written)"
    record -- "$GUESTS/prog_growing_buffer"
    expect_code 0
    read -r known pages < <(written)
    [ "$known" = "$pages" ] && [ "$known" -gt 24000 ] || fail "$(written)"
}

@test "written: a block that grows little by little is not asked for at each step" {
    need strace
    record -- strace -f -e trace=mincore -o "$OUT/calls" "$WRITES" creep
    expect_code 0
    [ "$(grep -c 'mincore(' "$OUT/calls")" -lt 60 ] || fail "$(grep -c 'mincore(' "$OUT/calls") calls"
}

@test "written: memory that the block before left is not known" {
    record -- "$WRITES" reuse
    expect_code 0
    read -r known pages < <(written)
    [ "$known" -le 24 ] && [ "$known" = "$pages" ] || fail "$(written)"
    allocbench trace info "$OUT/t.abt" | grep -q '^written .*; of another .* it is not known$'
}

@test "written: blocks that live at the end, by exit, _exit and exec, not when it is killed" {
    for how in kept kept-_exit kept-exec; do
        record -- "$WRITES" "$how"
        expect_code 0
        expect_written 255 20
    done
    record -- "$WRITES" kept-killed
    expect_code 137
    expect_written n/a n/a
    allocbench trace info "$OUT/t.abt" | grep -q '^written    not known of the 1.00 MiB in blocks of 64'
}

@test "written: of several threads, none twice; errno is kept" {
    record -- "$WRITES" threads
    expect_code 0
    expect_clean "$OUT/t.abt"
    read -r known pages < <(written)
    [ "$known" -gt 0 ] && [ "$pages" -gt 0 ] || fail "$(written)"
}

@test "written: where mincore is forbidden, or a page is unmapped, it is not known" {
    for how in forbidden punch; do
        record -- "$WRITES" "$how"
        expect_code 0
        expect_written n/a n/a
    done
}

@test "written: a child counts the blocks that it inherited as its own" {
    bench record --follow -o "$OUT/all" -- "$WRITES" fork
    expect_code 0
    expect_clean "$OUT"/all*
    [ "$(written "$OUT/all")" = "255 20" ] || fail "parent: $(written "$OUT/all")"
    # 20 pages of the one that it inherited were written before the fork, 30 after it
    [ "$(written "$OUT"/all.*)" = "510 55" ] || fail "child: $(written "$OUT"/all.*)"
}

@test "written: share keeps it" {
    record -- "$WRITES" kept
    allocbench trace share -o "$OUT/shared.abt" "$OUT/t.abt"
    [ "$(written "$OUT/shared.abt")" = "255 20" ]
}
