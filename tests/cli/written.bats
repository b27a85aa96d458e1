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
    allocbench trace info "$OUT/t.abt" | grep -q '^written .*; unknown for another .*$'
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
    allocbench trace info "$OUT/t.abt" | grep -q '^written    not known for the 1.00 MiB in blocks of 64'
}

@test "written: of several threads, none twice; errno is kept" {
    record -- "$WRITES" threads
    expect_code 0
    expect_clean "$OUT/t.abt"
    read -r known pages < <(written)
    [ "$known" -gt 0 ] && [ "$pages" -gt 0 ] || fail "$(written)"
}

@test "written: where mincore is forbidden, or a page is unmapped, it is not known" {
    for how in forbidden deadly punch; do
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

# Peak resident MiB of a back end in a memory pass.
peak() { # BACKEND [FILE]
    jq --arg name "$1" '[.memory[] | select(.backend == $name) | .rss_peak_bytes] | max / 1048576 | floor' \
        "${2:-$OUT/stdout}"
}

replay_memory() { # TRACE, options before it
    bench replay --rounds 1 --passes memory --json - "$@"
    expect_code 0
}

# The same calls, of which nothing is known: a pipe says it too late.
forget_written() {
    cat "$OUT/t.abt" | allocbench trace cut --events 0.. -o "$OUT/old.abt" - >"$OUT/cut.out" 2>&1
}

@test "written: a replay needs the memory of the program, in pages of its blocks" {
    record -- "$GUESTS/prog_sparse_table"
    # 20 MB of small blocks and about 4 MiB of the large ones, of 128 MiB; glibc takes fresh pages
    replay_memory -b glibc "$OUT/t.abt"
    recorded=$(peak glibc)
    expect_json '.config.settings[0] == "touch=recorded"'
    replay_memory -b glibc --touch page "$OUT/t.abt"
    [ "$recorded" -ge 22 ] && [ "$recorded" -le 27 ] && [ "$(peak glibc)" -ge 126 ] ||
        fail "recorded $recorded, page $(peak glibc)"
}

@test "written: what a library writes itself in zeroed memory is its difference, as in the program" {
    need_library tcmalloc
    record -- "$GUESTS/prog_sparse_table"
    bench exec -b glibc,tcmalloc --rounds 3 --json "$OUT/exec.json" -- "$GUESTS/prog_sparse_table"
    expect_code 0
    replay_memory -b glibc,tcmalloc "$OUT/t.abt"
    program=$(jq '[.results[] | select(.backend == "tcmalloc") | .program.resident_peak_bytes] | min / 1048576 | floor' "$OUT/exec.json")
    plain=$(jq '[.results[] | select(.backend == "glibc") | .program.resident_peak_bytes] | min / 1048576 | floor' "$OUT/exec.json")
    replayed=$(($(peak tcmalloc) - $(peak glibc)))
    program=$((program - plain))
    # the library itself is in the program's difference alone
    [ "$program" -ge 60 ] && [ "$replayed" -ge $((program - program / 5)) ] &&
        [ "$replayed" -le $((program + program / 5)) ] || fail "program $program, replay $replayed"
}

@test "written: --touch recorded,apart and auto write the same pages, and bursts do" {
    record -- "$GUESTS/prog_sparse_table"
    for how in "--touch recorded" "--touch recorded,apart" "--touch auto" "--burst 3000"; do
        replay_memory -b glibc $how "$OUT/t.abt"
        [ "$(peak glibc)" -ge 22 ] && [ "$(peak glibc)" -le 27 ] || fail "$how: $(peak glibc)"
    done
    bench replay --rounds 1 -b glibc,slab --touch recorded,apart --json - "$OUT/t.abt"
    expect_code 0
    expect_json '.config.settings[0] == "touch=recorded,apart"'
}

@test "written: a buffer that grows is written whole, and its tape is that of --touch page" {
    record -- "$GUESTS/prog_growing_buffer"
    replay_memory -b glibc "$OUT/t.abt"
    expect_json '.config.settings[0] == "touch=page"'
    auto=$(jq -r .config.tape_sha256 "$OUT/stdout")
    replay_memory -b glibc --touch page "$OUT/t.abt"
    [ "$(jq -r .config.tape_sha256 "$OUT/stdout")" = "$auto" ]
    [ "$(peak glibc)" -ge 95 ]
}

@test "written: where a trace says nothing, large zeroed blocks are left alone, with a warning" {
    record -- "$GUESTS/prog_sparse_table"
    forget_written
    bench replay --rounds 1 --passes memory -b glibc --json "$OUT/json" "$OUT/old.abt"
    expect_code 0
    expect_json '.config.settings[0:2] == ["touch=auto", "untouched=96000000 of live bytes at most"]' "$OUT/json"
    [ "$(peak glibc "$OUT/json")" -le 40 ] || fail "$(peak glibc "$OUT/json")"
    grep -A4 '^warning: zeroed blocks of 64 KiB or more, up to 91.6 MiB live (72 %' "$OUT/stdout" |
        grep -q -- '--touch page' || fail "no warning"
    bench replay --rounds 1 --passes memory -b glibc --touch recorded "$OUT/old.abt"
    expect_code 2
    expect_error 'old.abt: --touch recorded: the trace does not say what is written of its large blocks'
    bench replay --rounds 1 --passes memory -b glibc --touch page --json - "$OUT/old.abt"
    expect_json '.config.settings[0] == "touch=page"'
}

@test "written: results of other writes are not compared, and that is said" {
    record -- "$GUESTS/prog_sparse_table"
    for how in page recorded; do
        bench replay --rounds 1 --passes memory -b glibc --touch "$how" --json "$OUT/$how.json" "$OUT/t.abt"
        expect_code 0
    done
    bench compare "$OUT/page.json" "$OUT/recorded.json"
    expect_code 2
    expect_error 'other writes: .*/page.json replayed t.abt with touch=page, .*/recorded.json with touch=recorded'
}

@test "touch: a share of each block, of workloads and of traces" {
    cat >w.yaml <<'END'
allocbench: 1
name: w
sets: [{name: big, count: 10}, {name: small, count: 10}]
phases:
  - name: fill
    measure: true
    do:
      - {alloc: big, size: 1MiB, count: all, touch: 5%}
      - {alloc: small, size: 5000, count: all, touch: 1%}
END
    bench check --json - w.yaml
    expect_code 0
    # of 256 pages 13, of two one: a byte of the first
    expect_json '[.. | .touched_pages? // empty] | add == 10 * 13 + 10' || fail "$(jq -c . "$OUT/stdout")"
    sed -i 's/touch: 5%/touch: 0%/' w.yaml
    bench check w.yaml
    expect_code 2
    expect_error "'touch' must be a number from 0.000001 to 1, found a percentage '0%'"
    record -- "$GUESTS/prog_growing_buffer"
    replay_memory -b glibc --touch 5% "$OUT/t.abt"
    expect_json '.config.settings[0] == "touch=5%"'
    [ "$(peak glibc)" -le 12 ] || fail "$(peak glibc)"
    bench replay --touch 101% "$OUT/t.abt"
    expect_code 2
    expect_error 'must be more than 0% and at most 100%'
}
