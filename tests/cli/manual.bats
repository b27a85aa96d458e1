#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# The manual page and the completion say what --help says.

load helpers

commands="run replay report record trace check list verify"

# The long options in the help of a command.
options_of() { # COMMAND
    allocbench "$1" --help 3>&- | grep -oE '^(      |  -[a-z], )--[a-z-]+' | grep -oE -- '--[a-z-]+'
}

@test "the manual page has each command with each of its options" {
    bench --man
    expect_code 0
    for command in $commands; do
        for option in $(options_of $command); do
            sed -n "/^\.SH ${command^^}$/,/^\.SH/p" "$OUT/stdout" | sed 's/\\-/-/g' |
                grep -qF -- "\\fB$option\\fR" || fail "$command $option"
        done
    done
}

@test "the manual page is read without a warning" {
    command -v groff >/dev/null || skip "no groff"
    allocbench --man 3>&- | groff -k -man -Tutf8 -ww >"$OUT/page" 2>"$OUT/warnings"
    [ ! -s "$OUT/warnings" ] || fail "$(cat "$OUT/warnings")"
    grep -q 'corrupt input' "$OUT/page"
}

# What bash offers behind these words.
offered() { # WORD…
    (
        . "$OUT/completion"
        COMP_WORDS=(allocbench "$@")
        COMP_CWORD=$#
        COMPREPLY=()
        _allocbench
        echo "${COMPREPLY[*]}"
    )
}

@test "bash completes commands, options and the words that an option takes" {
    allocbench --bash-completion 3>&- >"$OUT/completion"
    [ "$(offered re)" = "replay report record" ] || fail "$(offered re)"
    [ "$(offered run x.yaml --ro)" = "--rounds" ] || fail "$(offered run x.yaml --ro)"
    [ "$(offered replay --touch p)" = "page" ] || fail "$(offered replay --touch p)"
    [ "$(offered replay --touch f)" = "first(N)" ] || fail "$(offered replay --touch f)"
    [ -z "$(offered run x.y)" ] || fail "$(offered run x.y)" # files are bash's own business
    for command in $commands; do
        [ "$(offered $command --)" = "$(options_of $command | tr '\n' ' ' | sed 's/ $//')" ] ||
            fail "$command: $(offered $command --)"
    done
}
