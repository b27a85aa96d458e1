#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Call sites: what `record --sites` knows of where each call came from, whatever the code is like,
# and what `trace info --sites` says of it.
# tests: cmd_trace_sites.c trace_facts_sites.c option_table.c preload_sites.c site_match.c

load helpers

# The stacks of allocations of SIZE, the innermost function first, those that were inlined left out:
# "calls end: f < g < main".
stacks() { # TRACE SIZE
    run_ok allocbench trace info --sites=1000000 --json sites.json "$1"
    jq -r --argjson size "$2" '.sites[] | select(.size_least == $size and .size_most == $size)
        | "\(.calls) \(.stack_end): " + ([.stack[] | select(.inlined | not) | .function //
            (if .module then "unnamed" else "no module" end)] | join(" < "))' sites.json
}

run_ok() {
    run "$@"
    [ "$status" -eq 0 ] || { echo "$output"; return 1; }
}

record_sites() { # WHAT [OPTION…]
    what=$1
    shift
    run_ok allocbench record "${@:---sites=16}" -o t.abt -- "$GUESTS/prog_sites" $what
    run_ok allocbench trace check t.abt
}

main="main < __libc_start_call_main < __libc_start_main@@GLIBC_2.34 < _start"

@test "sites: every frame of code without frame pointers, aligned and varying ones too" {
    record_sites depth
    run stacks t.abt 1001
    [ "$output" = "1 whole: allocate < site_innermost < site_middle < site_varying < site_aligned < depth < $main" ]
}

@test "sites: a deep stack ends at the depth that was asked for, the caller is always there" {
    record_sites depth --sites=3
    run stacks t.abt 1002
    [ "$output" = "1 depth: allocate < recurse < recurse" ]
    record_sites depth --sites=1
    run_ok allocbench trace info --sites --json one.json t.abt
    [ "$(jq -c '[.sites[] | [.calls, (.stack | length), .stack[0].function]]' one.json)" = '[[2,1,"allocate"]]' ]
    record_sites depth --sites=64
    run stacks t.abt 1002
    [[ "$output" == "1 depth: allocate < recurse < "* ]]
    [ "$(grep -o recurse <<<"$output" | wc -l)" = 63 ]
}

@test "sites: each function of the malloc family, and strdup of the C library" {
    record_sites kinds
    for size in 1101 1102 1103 1104 1105 1106 1107; do
        run stacks t.abt $size
        [ "$output" = "1 whole: kinds < $main" ]
    done
    run stacks t.abt 60
    [ "$output" = "1 whole: __strdup < kinds < $main" ]
}

@test "sites: through a signal handler to what it interrupted, on this stack and on another" {
    record_sites signals
    for size in 1201 1202; do
        run stacks t.abt $size
        [[ "$output" == "1 whole: allocate < handle < "*" < site_raising < signals < $main" ]]
    done
}

@test "sites: handlers that come at any instruction have whole stacks, and so has the program" {
    record_sites async
    run stacks t.abt 1301
    [ -n "$output" ]
    [ -z "$(grep -v -E ': allocate < handle_often < ' <<<"$output")" ]
    [ "$(jq '[.sites[] | select(.size_least == 1301 and (.stack_end == "whole" or .stack_end == "depth")) | .calls] | add' sites.json)" -ge 90 ]
    # All of the program's own: the same stack, as far as 16 calls go.
    [ "$(jq '[.sites[] | select(.size_least >= 1302 and .size_most < 1400)] | length' sites.json)" = 1 ]
}

@test "sites: damaged stacks, a coroutine, and code without tables are cut short, and it is said" {
    record_sites broken
    [[ "$output" == *"ok,"* ]]
    run stacks t.abt 1401
    [ -z "$(grep -v ': allocate < site_of_corrupt' <<<"$output")" ]
    [ "$(awk '{ n += $1 } END { print n }' <<<"$output")" = 6 ]
    run stacks t.abt 1402
    [[ "$output" == *": allocate < site_of_coroutine"* ]]
    if [ "$(uname -m)" = x86_64 ]; then
        run stacks t.abt 1403
        [ "$output" = "1 no tables: no module" ]
    fi
    run allocbench record --sites -o u.abt -- "$GUESTS/prog_sites" broken
    [[ "$output" =~ "the stack of "[0-9.]+" % of the calls is incomplete" ]]
    run allocbench record --sites -o u.abt -- "$GUESTS/prog_sites" threads
    [[ "$output" != *"calls is incomplete"* ]]
}

@test "sites: threads one after the other, and the child of a fork" {
    record_sites threads
    run stacks t.abt 1501
    [[ "$output" == "4 whole: allocate < site_of_thread < start_thread < "* ]] ||
        [[ "$output" == "" ]] # one site for all eight sizes
    [ "$(jq '[.sites[] | select(.size_least == 1501 and .size_most == 1508)][0].calls' sites.json)" = 32 ]
    run_ok allocbench record --follow --sites=16 -o family/ -- "$GUESTS/prog_sites" forked
    for trace in family/*.abt; do
        stacks "$trace" 1602
    done >all
    [ "$(cat all)" = "1 whole: allocate < recurse < recurse < recurse < recurse < forked < $main" ]
}

told_apart() { # WHAT
    run_ok allocbench record --sites=16 -o t.abt -- "$GUESTS/prog_sites" "$1" "$GUESTS"
    [[ "$output" == *"same place"* ]] || skip "the linker put them to different places"
    run stacks t.abt 1701
    [ "$output" = "3 whole: allocate_in_one < site_of_library < load < $main" ]
    run stacks t.abt 1702
    [ "$output" = "3 whole: allocate_in_two < site_of_library < load < $main" ]
}

@test "sites: a module that is unloaded, and another at its place, are told apart" {
    told_apart modules
}

@test "sites: so they are after a thousand that came and went" {
    told_apart unloads
}

@test "sites: a child that a signal handler forks at any instruction goes on" {
    for option in --sites=16 -q; do
        run_ok allocbench record $option -o t.abt -- "$GUESTS/prog_sites" forking
        [[ "$output" =~ ^0\ of\ [0-9]+\ children\ died ]] || { echo "$option: $output"; return 1; }
    done
}

@test "sites: the calls are the same with them and without; the digest is that of the calls" {
    record_sites depth
    run_ok allocbench trace info --digest --json with.json t.abt
    record_sites depth -q
    run_ok allocbench trace info --digest --json without.json t.abt
    [ "$(jq -r .digest with.json)" = "$(jq -r .digest without.json)" ]
    [ "$(jq .has_sites with.json)" = true ]
    [ "$(jq .has_sites without.json)" = false ]
}

@test "sites: --max-events counts calls, not sites" {
    for option in --sites -q; do
        run_ok allocbench record $option --max-events 20000 -o t.abt -- "$GUESTS/prog_life" exit 60000
        run_ok allocbench trace info --json info$option.json t.abt
    done
    with=$(jq .events info--sites.json) without=$(jq .events info-q.json)
    [ "$without" -gt 10000 ]
    [ $((with - without)) -ge -1100 ] && [ $((with - without)) -le 1100 ]
}

@test "sites: C++ new is told from malloc, and the site is who wrote it" {
    command -v g++ || skip "no g++"
    cat >new.cc <<'END'
#include <cstdlib>
#include <string>
struct wide { char room[1801]; };
static void *volatile kept;
static __attribute__((noinline)) void by_new() { kept = new wide; }
static __attribute__((noinline)) void by_malloc() { kept = malloc(1802); }
int main() { by_new(); by_malloc(); }
END
    g++ -O1 -g -fno-builtin -o new new.cc
    run_ok allocbench record --sites -o t.abt -- ./new
    run_ok allocbench trace info --sites=100 --json sites.json t.abt
    [ "$(jq '.sites[] | select(.size_most == 1801).cxx_new' sites.json)" = true ]
    [ "$(jq '.sites[] | select(.size_most == 1802).cxx_new' sites.json)" = false ]
    [ "$(jq -r '.sites[] | select(.size_most == 1801).stack[1] | "\(.function) \(.line)"' sites.json)" = "by_new() 5" ]
    run_ok allocbench trace info --sites=100 t.abt
    [[ "$output" == *"new in by_new()  new.cc:5"* ]]
    [[ "$output" == *"    by_malloc()  new.cc:6"* ]]
}

@test "sites: frames of the C++ library are short, and a stack that ends in it begins with the outermost" {
    command -v g++ || skip "no g++"
    cat >map.cc <<'END'
#include <map>
#include <string>
static std::map<std::string, int> words;
static std::string text;
static void add(int i) { words[std::to_string(i)] = i; }
int main() {
    for (int i = 0; i < 100; i++) add(i);
    text.append(100, 'x');
}
END
    g++ -O0 -g -o map map.cc
    run_ok allocbench record --sites 20 -o t.abt -- ./map
    run_ok allocbench trace info --sites t.abt
    [[ "$output" == *"    new in add(int)  map.cc:5"* ]]
    run_ok allocbench record --sites 3 -o t.abt -- ./map
    run_ok allocbench trace info --sites t.abt
    [[ "$output" == *"    new in std::"* ]]
    [[ "$output" == *"    new in std::string::"* ]]
    ! grep -q 'std::[^ ]*<' <<<"$output"
}

@test "sites: order, and numbers that can be counted" {
    record_sites depth
    for key in calls bytes peak never-freed temporary; do
        run_ok allocbench trace info --sites=1 --sort $key t.abt
    done
    run_ok allocbench trace info --sites=9 --sort temporary --json sites.json t.abt
    [ "$(jq -c '.sites[0] | [.calls, .temporary, .frees, .never_freed_bytes, .peak_bytes]' sites.json)" = "[1,1,1,0,0]" ] ||
        [ "$(jq -c '.sites[1] | [.calls, .temporary, .frees, .never_freed_bytes]' sites.json)" = "[1,1,1,0]" ]
}

@test "sites: a file that has changed since gives no names" {
    cp "$GUESTS/prog_sites" own
    run_ok allocbench record --sites -o t.abt -- ./own depth
    run_ok allocbench trace info --sites t.abt
    [[ "$output" == *"site_innermost"* ]]
    cp "$GUESTS/prog_life" own
    run_ok allocbench trace info --sites t.abt
    [[ "$output" != *"site_innermost"* ]]
    [[ "$output" == *"own+0x"* ]]
    # what is no file any more is not waited for
    rm own
    mkfifo own
    run_ok timeout 20 "$BUILD/allocbench" trace info --sites t.abt
    [[ "$output" == *"own+0x"* ]]
}

# What every site of a trace did, and where it is: lines that can be compared.
all_sites() { # TRACE
    run_ok allocbench trace info --sites=1000000 --json sites.json "$1"
    jq -c '.sites[] | {calls, bytes, size_least, size_most, stack_end, stack}' sites.json | sort
}

@test "sites: filter and merge keep them, share does not" {
    record_sites depth
    run_ok allocbench trace filter -q --size 1001..1003 t.abt -o f.abt
    run_ok allocbench trace check f.abt
    all_sites t.abt | jq -c 'select(.size_least == .size_most and
        (.size_least == 1001 or .size_least == 1002))' >expected
    [ -s expected ]
    all_sites f.abt | diff expected -
    mv t.abt first.abt
    record_sites kinds
    mv t.abt second.abt
    for how in "" --serial; do
        run_ok allocbench trace merge -q $how first.abt second.abt first.abt -o m.abt
        run_ok allocbench trace check m.abt
        # the same stack in two of them is one site, with the calls of both
        { all_sites first.abt; all_sites first.abt; all_sites second.abt; } | jq -s -c 'group_by([.stack_end, .stack])[] |
            {calls: (map(.calls) | add), bytes: (map(.bytes) | add),
             size_least: (map(.size_least) | min), size_most: (map(.size_most) | max),
             stack_end: .[0].stack_end, stack: .[0].stack}' | sort >expected
        all_sites m.abt | diff expected -
    done
    run_ok allocbench trace share first.abt -o a.abt
    [[ "$output" == *"removed: the call sites"* ]]
    run_ok allocbench trace info --json a.json a.abt
    [ "$(jq .has_sites a.json)" = false ]
}

@test "sites: mistakes" {
    run allocbench record --sites=0 -- true
    [ "$status" -ne 0 ]
    [[ "$output" == *"--sites 0: must be from 1 to 64"* ]]
    run allocbench record --sites=65 -- true
    [[ "$output" == *"must be from 1 to 64"* ]]
    run_ok allocbench record -o t.abt -- "$GUESTS/prog_sites" depth
    run allocbench trace info --sites t.abt
    [ "$status" -eq 2 ]
    [[ "$output" == *"has no call sites; record with --sites"* ]]
    run allocbench trace info --sites --sort size t.abt
    [ "$status" -eq 2 ]
    run allocbench trace info --sort bytes t.abt
    [ "$status" -eq 2 ]
    [[ "$output" == *"--sort needs --sites"* ]]
    run allocbench trace dump --sites t.abt
    [ "$status" -eq 2 ]
    [[ "$output" == *"trace dump does not take --sites"* ]]
    run allocbench trace check --sort bytes t.abt
    [ "$status" -eq 2 ]
    [[ "$output" == *"trace check does not take --sort"* ]]
}
