#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# Mistakes with each allocator, and what notices them: the checked build here, every build in the table
# of docs/data/misuse.txt.

load helpers

build_shared() { # FLAG…
    local sources
    sources=$(cd "$ROOT" && ls allocators/{common,pool,slab}/*.c | grep -v _backend)
    # shellcheck disable=SC2086 # words
    compile_once "$OUT/cells" "${CC:-cc}" -std=c11 -g -O1 -Wall -Wextra -Wpedantic -Werror -I. "$@" \
        tests/examples/misuse_shared.c $sources -pthread
}

build_cells() { # FLAG…
    local sources
    sources=$(cd "$ROOT" && ls allocators/{common,arena,pool,slab,paged,handle}/*.c | grep -v _backend)
    # shellcheck disable=SC2086 # words
    compile_once "$OUT/cells" "${CC:-cc}" -std=c11 -g -O1 -Wall -Wextra -Wpedantic -Werror -I. "$@" \
        tests/examples/misuse_cells.c $sources -pthread
}

# In the checked build: one line, and the end of the process.
expect_end() { # MISTAKE ALLOCATOR WHAT
    code=0
    "$OUT/cells" "$1" "$2" >"$OUT/stdout" 2>"$OUT/stderr" || code=$?
    [ "$code" -eq 134 ] || fail "$1, $2: exit code $code"
    local says=${2#shared }
    says=${says#lock-free }
    says=${says#locked }
    expect_error "^$says: 0x[0-9a-f]{16}: $3(, at byte -?[0-9]+)?(; .*)?\$"
    [ "$(wc -l <"$OUT/stderr")" -eq 1 ] || fail "$1, $2: more than one line"
}

@test "the checked build visits every live block, the youngest first, with its size" {
    local sources
    sources=$(cd "$ROOT" && ls allocators/{common,arena,pool,slab}/*.c | grep -v _backend)
    # shellcheck disable=SC2086 # words
    compile_once "$OUT/visits" "${CC:-cc}" -std=c11 -g -O1 -Wall -Wextra -Wpedantic -Werror -I. \
        -DAB_WITH_CHECKS tests/examples/visits.c $sources -pthread
    "$OUT/visits" 2>"$OUT/stderr" || fail "$(cat "$OUT/stderr")"
}

@test "the checked build ends the process at what is done to blocks of pool, slab, paged pool, handle" {
    build_cells -DAB_WITH_CHECKS
    for name in pool slab "paged pool" handle; do
        "$OUT/cells" none "$name" 2>"$OUT/stderr" || fail "$name: exit code $?"
        [ ! -s "$OUT/stderr" ] || fail "$name: says something without a mistake"
        expect_end overflow "$name" "overflow past its end, at byte 40; 40 bytes, allocated at .*cells\+0x[0-9a-f]+"
        expect_end "overflow into the next block" "$name" "overflow past its end"
        expect_end underflow "$name" "corrupted before its start, at byte -1; 64 bytes, allocated at .*cells\+0x[0-9a-f]+"
        expect_end "write after free" "$name" "written to after it was dead"
        expect_end "use after reset" "$name" "written to after it was dead"
    done
    for name in pool slab "paged pool"; do
        expect_end "double free" "$name" "freed already; 64 bytes, allocated at .*, freed at .*cells\+0x[0-9a-f]+"
        expect_end "free in another heap" "$name" "not from this heap"
        expect_end "free of a pointer into a block" "$name" "not the begin of a live block"
        expect_end "wrong size" "$name" "its size is another one"
        expect_end "free in another allocator" "$name" "not from this heap"
        [ "$name" = pool ] || expect_end "resize after free" "$name" "freed already"
        [ "$name" = pool ] || expect_end "resize in place after free" "$name" "freed already"
    done
    for name in arena "paged arena" "paged pool"; do
        expect_end "growth over a write after free" "$name" "written to after it was dead"
    done
    expect_end "free in another allocator" arena "not from this heap"
    expect_end "free in another allocator" "paged arena" "not from this heap"
}

@test "the checked build ends the process at the same in shared, lock-free and locked heaps" {
    build_cells -DAB_WITH_CHECKS
    for name in "shared arena" "shared pool" "shared slab" "lock-free pool" "locked paged pool"; do
        "$OUT/cells" none "$name" 2>"$OUT/stderr" || fail "$name: exit code $?"
        [ ! -s "$OUT/stderr" ] || fail "$name: says something without a mistake"
        expect_end "overflow by 16 bytes" "$name" "overflow past its end, at byte 79; 64 bytes, allocated at .*"
        expect_end "underflow by 40 bytes" "$name" "corrupted before its start"
        expect_end "use after reset" "$name" "written to after it was dead"
        expect_end "wrong size" "$name" "its size is another one; 64 bytes, allocated at .*"
        expect_end "free of an address that is nowhere" "$name" "not from this heap"
        expect_end "heap that is closed" "$name" "a heap that is not open"
        expect_end "heap that is NULL" "$name" "a heap that is not open"
        [ "$name" != "shared arena" ] || continue
        expect_end "double free" "$name" "freed already"
        expect_end "free of a pointer into a block" "$name" "not the begin of a live block"
        expect_end "write after free" "$name" "written to after it was dead"
        "$OUT/cells" leak "$name" 2>"$OUT/stderr"
        [ "$(grep -c "never freed; 64 bytes" "$OUT/stderr")" -eq 3 ] || fail "$name: leaks"
    done
}

@test "the checked build names the wrong thread, and what is done to a large block" {
    build_cells -DAB_WITH_CHECKS
    for name in arena "paged arena" pool slab "paged pool" handle; do
        expect_end "two threads at the same time" "$name" "used by two threads at the same time"
    done
    for name in "shared arena" "shared pool" "shared slab"; do
        expect_end "heap of another thread" "$name" "the heap of another thread"
    done
    for name in slab "shared slab"; do
        expect_end "double free of a large block" "$name" "freed already; 20000 bytes, .*"
        expect_end "free of a large block in another heap" "$name" "not from this heap"
        expect_end "write after the free of a large block" "$name" "written to after it was dead, at byte 100; .*"
        expect_end "underflow of a large block" "$name" "corrupted before its start"
    done
    [ "$("$OUT/cells" "tag that is none" "paged pool")" = refused ]
}

@test "a message of the checked build names the call of the program, also without optimization" {
    command -v addr2line >/dev/null || skip "no addr2line"
    build_cells -DAB_WITH_CHECKS -O0
    for name in arena pool slab "paged pool" "paged arena" handle "shared arena" "shared slab" "lock-free pool"; do
        expect_end overflow "$name" "overflow past its end"
        at=$(sed 's/.*allocated at .*+\(0x[0-9a-f]*\)$/\1/' "$OUT/stderr")
        addr2line -i -e "$OUT/cells" "$at" | grep -q 'misuse_cells.c:' || fail "$name: $(cat "$OUT/stderr")"
    done
}

@test "the checked build looks at the size of a free in a heap of several threads" {
    build_shared -DAB_WITH_CHECKS
    for name in pool slab; do
        "$OUT/cells" none "$name" 2>"$OUT/stderr" || fail "$name: exit code $?"
        [ ! -s "$OUT/stderr" ] || fail "$name: says something without a mistake"
        expect_end size "$name" "its size is another one"
    done
}

@test "AddressSanitizer sees the use of a block that waits for the heap that it is of" {
    build_shared -fsanitize=address
    for name in pool slab; do
        "$OUT/cells" none "$name" 2>"$OUT/stderr" || fail "$name: exit code $?; $(cat "$OUT/stderr")"
        for mistake in waiting counted; do
            ! "$OUT/cells" "$mistake" "$name" 2>"$OUT/stderr" || fail "$name: $mistake is not seen"
            grep -q 'use-after-poison' "$OUT/stderr" || fail "$name: $(cat "$OUT/stderr")"
        done
    done
}

@test "the checked build lists what still lives at the close, and a stale handle is refused" {
    build_cells -DAB_WITH_CHECKS
    for name in pool slab "paged pool" handle; do
        "$OUT/cells" leak "$name" 2>"$OUT/stderr" || fail "$name: exit code $?"
        [ "$(grep -cE "^$name: 0x[0-9a-f]{16}: never (freed|removed); 64 bytes, allocated at " "$OUT/stderr")" -eq 3 ]
    done
    for mistake in "stale handle" "double free" "free in another heap"; do
        [ "$("$OUT/cells" "$mistake" handle)" = refused ]
    done
}

# bats test_tags=full
@test "the table of mistakes says what each build notices" {
    command -v valgrind >/dev/null || skip "no valgrind"
    [ -e /usr/include/valgrind/memcheck.h ] || skip "no headers of valgrind"
    "$ROOT/scripts/misuse-table" --check 2>"$OUT/stderr" || fail "it is another"
}
