#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# exec --instr: what is counted of a program is exact, so bounds here are narrow.
# tests: program_instr.c callgrind_file.c instr_view.c

load helpers

setup_file() {
    command -v valgrind >/dev/null || skip "no valgrind here"
}

PROG=$GUESTS/prog_inside # 5,000 calls of each kind

instr() { # BACKENDS COMMAND…: the document
    local backends=$1
    shift
    bench exec -q --instr --rounds 1 -b "$backends" --json "$OUT/r.json" -- "$@"
}

of() { # BACKEND KEY
    jq --arg b "$1" "[.results[] | select(.backend == \$b).program.$2 | values][0]" "$OUT/r.json"
}

@test "instructions that an allocator has more are inside, each one, and outside is the same" {
    lib=$GUESTS/libextra.so
    instr "none=$lib{EXTRA=0},more=$lib{EXTRA=50}" "$PROG"
    expect_code 0
    none=$(of none instr_inside) more=$(of more instr_inside)
    over=$((more - none - 5000 * 100)) # its constructor reads one digit more
    [ $over -ge 0 ] && [ $over -lt 50 ] || fail "$none, $more: not 100 a call"
    [ "$(of none instr_outside)" = "$(of more instr_outside)" ] || fail "outside differs"
}

@test "the same twice is the same number, with the caches that the result names" {
    instr glibc "$PROG"
    first=$(jq -c '[.results[].program | .instr_inside, .instr_outside, .d1_misses_inside, .ll_misses_outside]' "$OUT/r.json")
    instr glibc "$PROG"
    [ "$first" = "$(jq -c '[.results[].program | .instr_inside, .instr_outside, .d1_misses_inside, .ll_misses_outside]' "$OUT/r.json")" ] ||
        fail "$first, then another"
    expect_json '.counting.method == "callgrind" and .counting.reason == null' "$OUT/r.json"
    expect_json '[.config.settings[] | select(startswith("instr=I1=32768,8,64 "))] | length == 1' "$OUT/r.json"
    expect_json '.results[0].program | .refs_inside > .d1_misses_inside and .d1_misses_inside >= .ll_misses_inside' "$OUT/r.json"
}

@test "outside of glibc is what it is outside of a preloaded malloc, but for its loading" {
    instr "glibc,none=$GUESTS/libextra.so{EXTRA=0}" "$PROG"
    expect_code 0
    glibc=$(of glibc instr_outside) none=$(of none instr_outside)
    jq -en "($none - $glibc) | . > 0 and . < 40000" >/dev/null || fail "$glibc and $none"
}

@test "processes are added up: of forks what they do themselves, of an exec the new program" {
    instr glibc "$PROG"
    one=$(of glibc instr_inside)
    instr glibc "$PROG" forks # five times the calls, in four processes
    forks=$(of glibc instr_inside)
    jq -en "$forks / $one | . > 4.5 and . < 7.5" >/dev/null || fail "$one alone, $forks of forks"
    instr glibc sh -c "'$PROG' & '$PROG'; wait"
    two=$(of glibc instr_inside)
    jq -en "$two / $one | . > 1.98 and . < 2.1" >/dev/null || fail "$one once, $two twice"
}

@test "a malloc that gives each block a page has more misses outside" {
    cat >"$OUT/walk.c" <<'END'
#include <stdlib.h>
int main(void) { static char *p[300]; for (int i = 0; i < 300; i++) p[i] = malloc(16);
    for (int r = 0; r < 200; r++) for (int i = 0; i < 300; i++) p[i][0]++;
    for (int i = 0; i < 300; i++) free(p[i]); return 0; }
END
    cc -O1 -fno-builtin -o "$OUT/walk" "$OUT/walk.c" || skip "no compiler"
    instr "glibc,page=$GUESTS/libpagewise.so" "$OUT/walk"
    expect_code 0
    jq -en "$(of page d1_misses_outside) > 3 * $(of glibc d1_misses_outside)" >/dev/null || fail "no more"
    jq -en "$(of page instr_outside) < 1.05 * $(of glibc instr_outside)" >/dev/null || fail "more instructions outside"
}

@test "the cost is said before, the table and the page have the counts, gates take them" {
    bench exec --instr --rounds 1 -b glibc --json "$OUT/r.json" --html "$OUT/r.html" \
        --gate 'program/all/instr_inside < 100M' --gate 'program/all/d1_misses_outside < 1' -- "$PROG"
    expect_code 1
    grep -q 'once under callgrind, some 50 to 100 times' "$OUT/stderr"
    grep -q '^under callgrind  *instr in' "$OUT/stdout"
    grep -q 'Counted under callgrind' "$OUT/r.html"
    [ "$(grep -c 'd1_misses_outside' "$OUT/stdout")" -ge 1 ]
}

@test "what is not known has its reason: no valgrind, a process ended by SIGKILL, not asked for" {
    PATH=/none "$BUILD/allocbench" exec --no-store --instr --rounds 1 -b glibc --json "$OUT/r.json" -- "$PROG" \
        >"$OUT/stdout" 2>"$OUT/stderr" 3>&- || fail "failed"
    expect_json '.counting.method == null and (.counting.reason | test("package valgrind"))' "$OUT/r.json"
    expect_json '.results[0].program.instr_inside == null' "$OUT/r.json"
    grep -q 'package valgrind' "$OUT/stdout" || fail "the table does not say it"
    instr glibc sh -c 'sleep 9 & sleep 2; kill -KILL $!; wait; exit 0'
    expect_code 0
    expect_json '.results[0].program.instr_inside == null' "$OUT/r.json"
    expect_json '.backends[0].uncounted | test("ended before callgrind had written")' "$OUT/r.json"
    bench exec --rounds 1 -b glibc --gate 'program/all/ll_misses_inside < 9' -- true
    expect_code 1
    grep -q 'counted only with --instr' "$OUT/stdout" || fail "no reason"
    bench exec --instr --server --ready tcp:9 --load true -b glibc -- true
    expect_code 2
    expect_error '--instr and --server are mutually exclusive'
    expect_nothing_left
}

@test "a row on a heap that is not fresh has no counts, and the reason" {
    bench exec -q --instr --rounds 1 -b glibc,glibc:litter=0.5 --json "$OUT/r.json" -- "$PROG"
    expect_code 0
    expect_json '[.results[] | select(.backend == "glibc").program.instr_inside | values] | length == 1' "$OUT/r.json"
    expect_json '[.results[] | select(.backend != "glibc").program.instr_inside | values] == []' "$OUT/r.json"
    expect_json '[.backends[] | select(.name != "glibc") | tostring | contains("fresh heap")] == [true]' "$OUT/r.json"
}
