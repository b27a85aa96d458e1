#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# The manual pages say what --help says, and the checkers of such pages have nothing to say.
# tests: manual.c

load helpers

commands=$(sed -n 's/^AB_COMMAND([A-Z]*, \([a-z]*\),.*/\1/p' "$BATS_TEST_DIRNAME/../../src/cli/commands.def")

# The long options in the help of a command.
options_of() { # COMMAND
    allocbench "$1" --help-all 3>&- | grep -oE '^(      |  -[a-z], )--[a-z-]+' | grep -oE -- '--[a-z-]+'
}

# All pages, in $OUT/man.
make_pages() {
    mkdir -p "$OUT/man"
    allocbench --man >"$OUT/man/allocbench.1" 3>&-
    for command in $commands; do
        allocbench --man "$command" >"$OUT/man/allocbench-$command.1" 3>&-
    done
    allocbench --man glossary >"$OUT/man/allocbench-glossary.7" 3>&-
    "$ROOT/scripts/md-to-man" 2026-01-01 allocbench allocbench-workload 5 'the language' \
        "$ROOT/configs/README.md" >"$OUT/man/allocbench-workload.5"
    "$ROOT/scripts/md-to-man" 2026-01-01 allocbench allocbench-trace 5 'the file' \
        "$ROOT/traces/FORMAT.md" >"$OUT/man/allocbench-trace.5"
    "$ROOT/scripts/md-to-man" 2026-01-01 allocbench allocbench-allocators 7 'the allocators' \
        "$ROOT/allocators/README.md" >"$OUT/man/allocbench-allocators.7"
}

@test "there is a page for each command, with each of its options" {
    [ "$(echo "$commands" | wc -l)" -gt 10 ]
    for command in $commands; do
        bench --man "$command"
        expect_code 0
        for option in $(options_of "$command"); do
            sed 's/\\-/-/g' "$OUT/stdout" | grep -qF -- "\\fB$option\\fR" || fail "$command $option"
        done
    done
}

@test "a minus is one that can be copied, no hyphen" {
    bench --man run
    grep -qF '\fB\-\-rounds\fR' "$OUT/stdout" || fail "$(grep rounds "$OUT/stdout" | head -1)"
    ! sed 's/\\-//g' "$OUT/stdout" | grep -E '(^| |B)--?[a-z]' || fail "a hyphen"
}

@test "the first page has every command, with the exit codes" {
    bench --man
    for command in $commands; do
        grep -qF "\\fB$command\\fR" "$OUT/stdout" || fail "$command"
        grep -qF "allocbench\\-$command (1)" "$OUT/stdout" || fail "no reference to $command"
    done
    grep -q 'the input is unreadable, altered or incomplete' "$OUT/stdout"
}

@test "a page that is not there gets the nearest" {
    bench --man repaly
    expect_code 2
    expect_error 'no page "repaly"; did you mean replay'
}

@test "all pages are read without a warning by groff" {
    command -v groff >/dev/null || skip "no groff"
    make_pages
    for page in "$OUT"/man/*; do
        groff -k -man -Tutf8 -ww "$page" >"$OUT/page" 2>"$OUT/warnings"
        [ ! -s "$OUT/warnings" ] || fail "$page: $(cat "$OUT/warnings")"
        [ -s "$OUT/page" ] || fail "$page is empty"
    done
}

@test "no page has an ellipsis of one character, which troff lacks on plain terminals" {
    make_pages
    ! grep -rl '…' "$OUT/man" || fail "an ellipsis"
}

@test "mandoc finds nothing in any page" {
    command -v mandoc >/dev/null || skip "no mandoc"
    make_pages
    for page in "$OUT"/man/*; do
        mandoc -T lint "$page" >"$OUT/warnings" 2>&1 || true
        [ ! -s "$OUT/warnings" ] || fail "$(head -3 "$OUT/warnings")"
    done
}

@test "the page of the language has its verbs, keys and distributions" {
    command -v mandoc >/dev/null || skip "no mandoc"
    make_pages
    mandoc -T ascii -O width=78 "$OUT/man/allocbench-workload.5" 2>/dev/null | sed 's/.\x08//g' >"$OUT/page"
    for word in 'replace: SET' 'round_robin' 'lognormal(median, sigma' 'phase, lanes' 'GATES'; do
        grep -qF "$word" "$OUT/page" || fail "no $word"
    done
    mandoc -T ascii "$OUT/man/allocbench-trace.5" 2>/dev/null | sed 's/.\x08//g' >"$OUT/page"
    grep -q 'END MARK' "$OUT/page" || fail "no end mark"
    mandoc -T ascii "$OUT/man/allocbench-allocators.7" 2>/dev/null | sed 's/.\x08//g' >"$OUT/page"
    for word in 'As a library' 'ab_backend.h:' 'ab_arena_defer' 'Miscellaneous'; do
        grep -qF "$word" "$OUT/page" || fail "no $word"
    done
}

@test "a document's text is never a request of troff" {
    printf '# x\n\n## A\n\n.so /etc/passwd\n\n```\n.sy id\n\\fBx\n```\n\n| a | b |\n|---|---|\n| `.x` | it is \\| so |\n' >"$OUT/bad.md"
    "$ROOT/scripts/md-to-man" 2026-01-01 v n 5 s "$OUT/bad.md" >"$OUT/page"
    ! grep -Eq '^\.(so|sy|x)' "$OUT/page" || fail "$(cat "$OUT/page")"
    grep -qF '\e' "$OUT/page"
    grep -q 'it is | so' "$OUT/page" || fail "$(cat "$OUT/page")"
}
