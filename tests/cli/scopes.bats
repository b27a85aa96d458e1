#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Scopes and call sites of a program whose frames are known (tests/guests/prog_frames.c): 40 frames
# of 31 blocks, after 20 assets that stay.
# tests: cmd_trace_info.c

load helpers

run_ok() {
    run "$@"
    [ "$status" -eq 0 ] || { echo "$output"; return 1; }
}

record_frames() {
    run_ok allocbench record --sites -o t.abt -- "$GUESTS/prog_frames"
}

@test "scopes: the frames of a program are found, with what they hold" {
    record_frames
    run_ok allocbench trace info --scopes t.abt
    [[ "$output" == *"scopes     40, found: a scope ends where no short-lived block is alive; median 62 calls"* ]]
    [[ "$output" == *"% of allocations are freed in the scope that made them, at most 900 B in one"* ]]
    run_ok allocbench trace info --scopes --json s.json t.abt
    [ "$(jq -c '.scopes | [.from, .mark, .thread, .count, .median_calls, .freed_in_scope]' s.json)" = '["found",null,null,40,62,1240]' ]
    [ "$(jq '.scopes | .freed_in_scope_ratio == .freed_in_scope / .allocs' s.json)" = true ]
    [ "$(jq '.scopes.most_freed_bytes' s.json)" = 900 ] # 30 * 8 + 6 * (20 + 21 + 22 + 23 + 24)
    run_ok allocbench trace info --json s.json t.abt # passes of their own are asked for
    [[ "$output" != *"scopes "* ]]
    [ "$(jq 'has("scopes")' s.json)" = false ]
}

@test "scopes: a program without any has none; what can be read only once is refused" {
    record_frames
    run_ok allocbench trace filter --site load_assets -q t.abt -o a.abt
    run_ok allocbench trace info --scopes --json j.json a.abt
    [[ "$output" == *"scopes     none found"* ]]
    [ "$(jq -c '[has("scopes"), .scopes]' j.json)" = '[true,null]' ]
    run bash -c 'allocbench trace info --scopes - < t.abt'
    [ "$status" -eq 2 ]
    [[ "$output" == *"standard input or a pipe"* ]]
    run bash -c 'allocbench trace info --scopes <(cat t.abt)'
    [ "$status" -eq 2 ]
    run_ok bash -c 'allocbench trace info <(cat t.abt)'
    [[ "$output" == *"events "* ]]
}

@test "scopes: sizes against lifetimes have each block once" {
    record_frames
    run_ok allocbench trace info --sites --json s.json t.abt
    [[ "$output" == *"sizes (rows) against lifetimes"*"% of 1260 blocks"* ]]
    [[ "$output" == *"      32 B       .       .    95.2       ."* ]] # 1200 of 1260
    [ "$(jq '([.size_lifetimes[].blocks] | add) == (.ops | .alloc + .alloc_zeroed + .alloc_aligned)' s.json)" = true ]
    # The assets, which are never freed; items, with 29 calls between.
    [ "$(jq '[.size_lifetimes[] | select(.size_to == 4096 and .life_to == null).blocks] | add' s.json)" -ge 20 ]
    [ "$(jq '[.size_lifetimes[] | select(.size_to == 32 and .life_to == 31).blocks] | add' s.json)" -ge 1200 ]
}

@test "filter --site: by function, pattern, line and address" {
    record_frames
    run_ok allocbench trace filter --site 'parse_*' t.abt -o f.abt
    [[ "$output" == *"f.abt: 2400 of"* ]]
    run_ok allocbench trace filter --site run_frame -q t.abt -o f.abt # a frame further out
    [ "$(allocbench trace info --json - f.abt | jq .ops.alloc)" = 1240 ]
    run_ok allocbench trace filter --site build_list --site load_assets -q t.abt -o f.abt
    [ "$(allocbench trace info --json - f.abt | jq .ops.alloc)" = 60 ]
    run_ok allocbench trace info --sites --json s.json t.abt
    place=$(jq -r '[.sites[].stack[0] | select(.function == "parse_item")][0] | "prog_frames+0x" +
        (.address | [recurse(if . < 16 then empty else . / 16 | floor end) % 16] | reverse
         | map("0123456789abcdef"[.:. + 1]) | add)' s.json)
    run_ok allocbench trace filter --site "$place" -q t.abt -o f.abt
    [ "$(allocbench trace info --json - f.abt | jq .ops.alloc)" = 1200 ]
    allocbench trace check f.abt
}

@test "filter --site: what is none, a trace without sites, and what nothing has" {
    record_frames
    run allocbench trace filter --site 'a.c:' t.abt -o f.abt
    [ "$status" -eq 2 ]
    [[ "$output" == *"--site: 'a.c:' is not a call site: expected FUNCTION"* ]]
    run allocbench trace filter --site no_such_function t.abt -o f.abt
    [ "$status" -eq 2 ]
    [[ "$output" == *"none of its"* ]]
    run allocbench trace filter --site parse_item --site prase_item t.abt -o f.abt
    [ "$status" -eq 2 ]
    [[ "$output" == *"--site: 'prase_item' fits no allocation of the trace"* ]]
    run_ok allocbench record -o p.abt -- "$GUESTS/prog_frames"
    run allocbench trace filter --site parse_item p.abt -o f.abt
    [ "$status" -eq 2 ]
    [[ "$output" == *"--site: the trace has no call sites"* ]]
    [ ! -e f.abt ]
}

@test "info --flame, --folded: every call is in the stacks" {
    record_frames
    run_ok allocbench trace info --sites --folded s.txt --flame s.svg --json s.json t.abt
    grep -q '^_start;.*;main;run_frame;parse_item 1200$' s.txt
    [ "$(awk '{ n += $NF } END { print n }' s.txt)" = "$(jq '[.sites[].calls] | add' s.json)" ]
    xmllint --noout s.svg 2>/dev/null || python3 -c 'import xml.dom.minidom as m; m.parse("s.svg")'
    grep -q '<title>parse_item: 1200 calls' s.svg
    run_ok allocbench trace info --sites --folded l.txt --flame-by live t.abt
    [ "$(awk '{ n += $NF } END { print n }' l.txt)" = "$(jq .live_peak_bytes s.json)" ]
    run_ok allocbench trace info --sites --folded b.txt --flame-by bytes t.abt
    grep -q ';load_assets 80000$' b.txt
}

@test "info --flame: needs the stacks, and --flame-by a file" {
    record_frames
    run allocbench trace info --flame s.svg t.abt
    [ "$status" -eq 2 ]
    [[ "$output" == *"need --sites"* ]]
    run allocbench trace info --sites --flame-by bytes t.abt
    [ "$status" -eq 2 ]
    run allocbench trace info --sites --flame s.svg t.abt t.abt
    [ "$status" -eq 2 ]
    run allocbench trace info --sites --flame s.svg --folded ./s.svg t.abt
    [ "$status" -eq 2 ]
    [[ "$output" == *"two of --json, --flame, --folded and --html name the same file"* ]]
    run allocbench trace info --sites --flame no-such-folder/s.svg no-such-trace.abt
    [[ "$output" == *"no-such-folder"* ]] # before the trace is read
    [ ! -e s.svg ]
    run_ok allocbench trace info --sites --folded - t.abt
    [ "$(grep -cv ' [1-9][0-9]*$' <<<"$output")" -eq 0 ] # lines of stacks alone
}

@test "options of info and filter are refused by other words" {
    record_frames
    for option in --flame=x.svg --folded=x.txt --flame-by=bytes --scopes; do
        for word in check dump "filter --size 0.. -o o.abt"; do
            run allocbench trace $word "$option" t.abt
            [ "$status" -eq 2 ]
            [[ "$output" == *"does not take ${option%%=*};"* ]]
        done
    done
    for word in info check dump "cut --events 1.. -o o.abt"; do
        run allocbench trace $word --site main t.abt
        [ "$status" -eq 2 ]
        [[ "$output" == *"does not take --site;"* ]]
    done
    [ ! -e o.abt ]
}

@test "where scopes were found, two heaps that may be one are named" {
    need_compilers gcc
    cat >"$OUT/turn.c" <<'EOF'
#include <stdlib.h>
static void *volatile own[50], *volatile next[50];
static __attribute__((noinline)) void frame(void)
{
    for (int i = 0; i < 50; i++)
        own[i] = malloc(40);
    for (int i = 0; i < 50; i++)
        free(own[i]);
}
static __attribute__((noinline)) void turn(void)
{
    for (int i = 0; i < 20; i++) {
        void *old = next[i];
        next[i] = malloc(20 + 37 * i);
        free(old);
    }
}
int main(void)
{
    for (int f = 0; f < 500; f++) {
        turn();
        frame();
    }
    for (int i = 0; i < 20; i++)
        free(next[i]);
}
EOF
    gcc -O1 -g -o "$OUT/turn" "$OUT/turn.c"
    bench record --sites -q -o "$OUT/turn.abt" -- "$OUT/turn"
    expect_code 0
    bench advise "$OUT/turn.abt" --rounds 1 -b glibc,slab
    expect_code 0
    tr -s '\n ' '  ' <"$OUT/stdout" |
        grep -q 'Scopes that were found, not marked, can end too early: with marks, heaps A and B may be one'
}

@test "a budget is of scopes that were marked, that --scope names, or of the only ones that were found" {
    need_compilers gcc
    gcc -O2 -g -o "$OUT/game" "$ROOT/allocators/examples/frame-game/frame_game.c"
    bench record --sites --time -q -o "$OUT/game.abt" -- "$OUT/game"
    expect_code 0
    bench advise "$OUT/game.abt" --rounds 1 -b glibc,slab --budget 1ms
    expect_code 0
    grep -q '^budget of 1.00 ms a scope: ' "$OUT/stdout"
    bench trace info --scopes --scope nested "$OUT/game.abt"
    expect_code 0
    tr '\n' ' ' <"$OUT/stdout" | grep -Eq 'Found [0-9]+ scopes of about [0-9]+ calls and [0-9.]+ .s\. If these are your frames, mark'
    cat >"$OUT/levels.c" <<'EOF'
#include <stdlib.h>
int main(void)
{
    static void *volatile level[6000], *volatile frame[50];
    for (int l = 0; l < 20; l++) {
        for (int i = 0; i < 6000; i++)
            level[i] = malloc(40);
        for (int f = 0; f < 200; f++) {
            for (int i = 0; i < 50; i++)
                frame[i] = malloc(40);
            for (int i = 0; i < 50; i++)
                free(frame[i]);
        }
        for (int i = 0; i < 6000; i++)
            free(level[i]);
    }
}
EOF
    gcc -O1 -g -o "$OUT/levels" "$OUT/levels.c"
    bench record --sites -q -o "$OUT/levels.abt" -- "$OUT/levels"
    bench advise "$OUT/levels.abt" --rounds 1 -b glibc,slab --budget 1ms
    expect_code 2
    expect_error 'which scopes is it for.* Add --scope nested or --scope outer: the trace has no marks'
    expect_error '--scope nested: 4[0-9]* scopes|--scope outer: 2[0-9] scopes'
    expect_error 'allocbench_mark'
    bench advise "$OUT/levels.abt" --rounds 1 -b glibc,slab --budget 1ms --scope outer
    expect_code 0
    bench trace info --scopes --scope inner "$OUT/game.abt"
    expect_code 2
    expect_error 'must be best, nested or outer'
}
