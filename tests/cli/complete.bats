#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# Completion: what is offered, and that bash, zsh and fish offer it.
# tests: complete.c catalogue.c

load helpers

offered() { # WORD…
    allocbench --complete "$@" 3>&- | tr '\n' ' ' | sed 's/ $//'
}

offers() { # EXPECTED WORD…
    local expected=$1
    shift
    [ "$(offered "$@")" = "$expected" ] || fail "$*: $(offered "$@")"
}

@test "commands, and commands of commands" {
    offers "replay report record" re
    offers "cut" trace cu
    offers "mtrace" trace import mt
    offers "memory-replay" trace -q import mem
    offers "" trace exp
    offers "save show" baseline s
    offers "backends" list b
    offers "p99 p99.9 p99.99" explain p99
    offers "" nothing --
}

@test "options of the command, all of them, and no other's" {
    offers "--rounds" run x.yaml --ro
    offers "--help --help-all" run --hel
    offers "--touch" replay --to
    offers "" run --tou
    local options
    options=$(allocbench run --help-all 3>&- | grep -cE '^(      |  -[a-z], )--')
    [ "$(allocbench --complete run -- 3>&- | wc -l)" -eq "$options" ] || fail "not $options"
}

@test "values of options: words, back ends, checks" {
    offers "page" replay --touch p
    offers "--touch=page" replay --touch=p
    offers "always" run --color al
    offers "glibc" run -b gl
    offers "glibc,jemalloc" run -b glibc,je
    offers "--backend=arena" run --backend=ar
    offers "libraries" run -b lib
    offers "" run --base lib # a word for several
    offers "slab,pool" run --sweep slab,po
    offers "frame" init f
    [[ " $(offered verify --check '') " == *" required "*" alignment "* ]] || fail "$(offered verify --check '')"
    offers "time,memory" report -v time,me
    offers "" report -v results/x.j
    offers "cut" trace -q cu
    offers "" run --json ""
}

@test "gates come from the tables, whatever the workload" {
    offers "" run x.yaml --gate s
    offers "*/" run x.yaml --gate '*'
    offers "serve/alloc/ serve/alloc_zeroed/ serve/alloc_aligned/ serve/all/" run x.yaml --gate serve/al
    offers "serve/all/ns_per_op" run x.yaml --gate serve/all/ns
    offers "" run x.yaml --gate serve/alloc/ns # not of one kind of op
    offers "serve/memory/rss_peak_bytes" run x.yaml --gate serve/memory/rss
    offers "serve/frame/p50 serve/frame/p99" run x.yaml --gate serve/frame/p
    offers "replay/" replay x.abt --gate r
    offers "arena:replay/" replay x.abt --gate arena:r
    offers "program/" exec --gate p
    offers "" run "$ROOT/configs/churn.yaml" --set o
}

@test "baselines are named" {
    export ALLOCBENCH_RESULTS=$OUT/results
    mkdir -p "$OUT/results/baselines"
    cp "$ROOT/tests/golden/results/good/run.json" "$OUT/results/baselines/main.json"
    offers "main" run --baseline m
    offers "main" baseline show ma
    offers "" list --json m
}

@test "the words of a program that is recorded are its own" {
    offers "" record -o x.abt -- ls --
    offers "" exec -b glibc -- app -
}

@test "nothing is printed and nothing fails, whatever the line is" {
    for line in "" "run" "run -" "run --set" "exec --" "trace info x --" "explain --=" "run -b ,"; do
        # shellcheck disable=SC2086 # words
        bench --complete $line
        expect_code 0
        [ ! -s "$OUT/stderr" ] || fail "$line"
    done
    bench --complete
    expect_code 0
}

@test "bash: words with = and : are put together again" {
    allocbench --completion bash 3>&- >"$OUT/completion"
    cat >"$OUT/ask" <<'EOS'
. "$1"; shift
COMP_WORDS=(allocbench "$@"); COMP_CWORD=$#; COMPREPLY=()
_allocbench
printf '%s\n' "${COMPREPLY[@]}"
EOS
    [ "$(bash "$OUT/ask" "$OUT/completion" re | tr '\n' ' ')" = "replay report record " ]
    [ "$(bash "$OUT/ask" "$OUT/completion" replay --touch = p)" = page ]
    [ "$(bash "$OUT/ask" "$OUT/completion" replay x.abt --gate arena : rep | tail -1)" = replay/ ]
    [ "$(bash "$OUT/ask" "$OUT/completion" run -b glibc,je)" = glibc,jemalloc ]
    [ -z "$(bash "$OUT/ask" "$OUT/completion" run x.y)" ]
}

@test "zsh: the script is valid and asks for the words up to the cursor" {
    command -v zsh >/dev/null || skip "no zsh"
    allocbench --completion zsh 3>&- >"$OUT/_allocbench"
    zsh -n "$OUT/_allocbench"
    cat >"$OUT/ask.zsh" <<'EOS'
compdef() { :; }
compadd() { while [[ $1 != -- ]]; do shift; done; shift; print -rl -- "$@"; }
_files() { print FILES; }
source $1; shift
words=(allocbench "$@")
CURRENT=$#words
_allocbench
EOS
    [ "$(zsh -f "$OUT/ask.zsh" "$OUT/_allocbench" re | tr '\n' ' ')" = "replay report record " ] ||
        fail "$(zsh -f "$OUT/ask.zsh" "$OUT/_allocbench" re)"
    [ "$(zsh -f "$OUT/ask.zsh" "$OUT/_allocbench" replay --touch=p)" = "--touch=page" ]
    [ "$(zsh -f "$OUT/ask.zsh" "$OUT/_allocbench" run x.y)" = FILES ]
}

@test "zsh: a tab in a terminal completes" {
    command -v zsh >/dev/null || skip "no zsh"
    mkdir "$OUT/functions"
    allocbench --completion zsh 3>&- >"$OUT/functions/_allocbench"
    cat >"$OUT/tab.zsh" <<'EOS'
zmodload zsh/zpty
zpty z "env TERM=dumb zsh -f -i"
zpty -w z "fpath=($1 \$fpath); autoload -U compinit; compinit -u -D; allocbench() { print -r -- GOT\${(j:|:)@}END }; print REA''DY"
zpty -m -r z line '*READY*'
zpty -n -w z $'allocbench repl\t--tou\tpag\t\n'
zpty -m -r z line '*GOT*END*'
print -r -- $line
zpty -d z
EOS
    sed -i 's|\$words\[1\] --complete|'"$BUILD"'/allocbench --complete|' "$OUT/functions/_allocbench"
    run timeout 60 zsh -f "$OUT/tab.zsh" "$OUT/functions" 3>&-
    [[ $output == *"GOTreplay|--touch|page"*END* ]] || fail "$output"
}

@test "fish: the script is valid and completes" {
    command -v fish >/dev/null || skip "no fish"
    export HOME=$OUT XDG_CONFIG_HOME=$OUT XDG_DATA_HOME=$OUT XDG_RUNTIME_DIR=$OUT
    allocbench --completion fish 3>&- >"$OUT/allocbench.fish"
    fish -n "$OUT/allocbench.fish"
    [ "$(fish -c "source $OUT/allocbench.fish; complete -C 'allocbench replay --touch pa'" 3>&-)" = page ]
    [ "$(fish -c "source $OUT/allocbench.fish; complete -C 'allocbench ver'" 3>&-)" = verify ]
}

@test "another shell is refused" {
    bench --completion tcsh
    expect_code 2
    expect_error 'bash, zsh and fish'
}
