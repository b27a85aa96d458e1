#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# scripts/check-docs can fail: each rule is broken once, in a small tree of its own.

load helpers

tree() { # FILE LINE…
    rm -rf ./* .ci
    mkdir -p src/core tests/unit tests/cli docs
    printf '# Top\n\n[sources](src/README.md#rooms-and-words)\n' >README.md
    printf '# Sources\n\n## Rooms and words\n\n`core/text.c`, `text.c`, `tests/unit/`\n' >src/README.md
    printf '# Tests\n\n`tests/unit/test_*.c`\n' >tests/README.md
    printf '/* SPDX */\n/* tests: other.c */\n' >tests/unit/test_more.c
    printf '/* SPDX\n *\n * Text.\n */\n' | tee src/core/text.c >src/core/other.c
    touch tests/unit/test_core_text.c
    local file=$1
    shift
    printf '%s\n' "$@" >>"$file"
    "$ROOT/scripts/check-docs" "$PWD" >"$OUT/stdout" 2>"$OUT/stderr"
}

violates() { # PATTERN FILE LINE…
    local pattern=$1
    shift
    ! tree "$@" || fail "passes: $*"
    grep -Eq -- "$pattern" "$OUT/stdout" || fail "another reason"
}

@test "a tree whose pages are right passes" {
    tree docs/a.md '`tests/unit/test_NAME.c` `build/release/x` `serve/alloc/p99` `-b ./x/y.so` `a b/c.c`' \
        '[one](../README.md) [two](https://example.org/x) [three](#head)' '# Head' '```' '`src/no.c`' '```'
}

@test "a path in backticks that does not exist is found, with its line" {
    violates 'README.md:5: there is no src/core/tex.c' README.md '' '`src/core/tex.c`'
    violates 'src/README.md:6: there is no src/core/tex.c' src/README.md '`core/tex.c`'
    violates 'docs/a.md:1: there is no tests/cli/x.bats' docs/a.md '`tests/cli/x.bats`'
    violates 'there is no tests/cli/\*.bats' docs/a.md '`tests/cli/*.bats`'
    violates 'there is no other_NAME.c|there is no src/core/other_NAME.c' docs/a.md '`src/core/other_NAME.c`'
    violates 'there is no gone.h' docs/a.md '`gone.h`'
}

@test "a link that leads nowhere is found, and one to a heading that is not there" {
    violates 'docs/a.md:2: the link b.md leads nowhere' docs/a.md '' '[b](b.md)'
    violates 'no heading #words in docs/../src/README.md' docs/a.md '[b](../src/README.md#words)'
    violates 'no heading #words in src/README.md' src/README.md '[b](#words)'
}

@test "rows of a table that are cut off from its head are found" {
    tree docs/a.md '| a | b |' '|---|---|' '| c | d |' '' '```' '| no | table |' '```'
    violates 'docs/a.md:5: a table without a head' docs/a.md '| a | b |' '|---|---|' '| c | d |' '' '| e | f |' ''
    violates 'docs/a.md:2: a table without a head' docs/a.md '' '| e | f |'
}

@test "a source that no test names is found, and a name that is of no source or of several" {
    violates 'src/core/new.c:1: what tests it\?' src/core/new.c ''
    tree src/core/new.c '/* SPDX' ' * New.' ' */' >/dev/null || true
    printf '# tests: core/new.c\n' >tests/cli/new.bats
    "$ROOT/scripts/check-docs" "$PWD" || fail "named by a folder"
    violates 'tests/cli/a.bats: there is no gone.c' tests/cli/a.bats '# tests: other.c gone.c'
    mkdir -p src/base
    printf '/* SPDX\n * Text.\n */\n' >src/base/other.c
    ! "$ROOT/scripts/check-docs" "$PWD" >"$OUT/stdout" || fail "passes"
    grep -q 'tests/unit/test_more.c: there are several other.c' "$OUT/stdout" || fail "another reason"
}

@test "a source that does not say what it owns is found" {
    tree src/core/text.c ''
    printf '/* SPDX */\n' >src/core/text.c
    ! "$ROOT/scripts/check-docs" "$PWD" >"$OUT/stdout" || fail "passes"
    grep -q 'src/core/text.c:1: does not say what it owns' "$OUT/stdout" || fail "another reason"
}

@test "a tree without documents is a failure, not a pass" {
    rm -rf ./*
    mkdir src
    ! "$ROOT/scripts/check-docs" "$PWD" >"$OUT/stdout" 2>&1 || fail "passes"
}

@test "a comment that names a source which does not exist is found" {
    violates 'src/core/text.c:6: there is no gone.h' src/core/text.c 'int x;' '/* as gone.h has it */'
    violates 'src/core/text.c:6: there is no core/tex.c' src/core/text.c '/* like' ' * core/tex.c does */'
    tree src/core/text.c '/* text.c, ../core/other.c, <gone.h>, "gone.h" and site:gone.c:8 */' \
        'const char *s = "/* gone.c */";' || fail "$(cat "$OUT/stdout")"
}

@test "numbered lists of the pages are whole: no item is indented as text of the one before" {
    cd "$ROOT"
    git ls-files '*.md' | xargs awk '
        FNR == 1 { last = 0 }
        match($0, /^ *[0-9]+\. /) {
            at = index($0, $1)
            if (last > 0 && $1 + 0 == last + 1 && at != column) { print FILENAME ":" FNR ": " $0; bad = 1 }
            if (at == 1 || $1 + 0 == 1) { last = $1 + 0; column = at }
        }
        END { exit bad }' || fail "an item is indented otherwise than the one before"
}
