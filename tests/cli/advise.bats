#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# `advise`: what is found in a recorded program, what is measured of it, and that the rules it writes
# are those that replay reads. Whether a proposal pays depends on the machine: no test asks that.
# tests: cmd_advise.c advising.c

load helpers

TRACE=$ROOT/traces/sqlite-index.abt

@test "what cannot be advised on is refused" {
    bench advise
    expect_code 2
    bench advise - </dev/null
    expect_code 2
    expect_error 'standard input can be read only once; name a file'
    echo nonsense >"$OUT/broken.abt"
    bench advise "$OUT/broken.abt"
    expect_code 3
    bench advise "$TRACE" -b nosuch
    expect_code 2
    expect_error nosuch
    bench advise "$TRACE" -o "$OUT/a" --json "$OUT/a"
    expect_code 2
    expect_error 'name the same file'
    cp "$TRACE" "$OUT/t.abt"
    bench advise "$OUT/t.abt" -o "$OUT/./t.abt"
    expect_code 2
    expect_error 'would replace the file that is read'
    cmp "$TRACE" "$OUT/t.abt"
    bench advise "$TRACE" --html "$OUT/a"
    expect_code 2
    expect_error 'advise: --html was removed: the advice is printed, and --json FILE has all of it; allocbench trace info TRACE --html FILE draws flame graphs'
    bench advise "$TRACE" --budget 5
    expect_code 2
    bench advise "$TRACE" --limit 5
    expect_code 2
    expect_error 'expected a percentage such as 5%'
    [ ! -e "$OUT/a" ]
}

# One round has no intervals: nothing is advised, whatever was found.
@test "a trace without its end is advised on with --partial, and refused without" {
    head -c $(($(stat -c %s "$TRACE") - 200)) "$TRACE" >"$OUT/partial.abt"
    bench advise -q "$OUT/partial.abt" --rounds 1 --processes 1
    expect_code 3
    expect_error 'without its end mark'
    bench advise -q --partial "$OUT/partial.abt" -b glibc,arena --rounds 1 --processes 1
    expect_code 0
}

@test "an advice by size: rules, JSON and the screen say the same" {
    bench trace cut "$TRACE" --events 0..20000 -o "$OUT/part.abt"
    expect_code 0
    bench advise "$OUT/part.abt" --rounds 1 -b glibc,slab --budget 1ms -o "$OUT/a.map" \
        --code "$OUT/a.h" --json "$OUT/a.json"
    expect_code 0
    expect_json '.schema == "allocbench-advice/1" and .by == "size" and .calls > 1000' "$OUT/a.json"
    expect_json '([.groups[].calls] | add) == .calls' "$OUT/a.json"
    expect_json '[.generals[].name] == ["slab"] and .base.name == "glibc" and .base.time_ns > 0' "$OUT/a.json"
    expect_json '(.heaps | length > 0) and (.heaps | all((.advised | not) and .alone.speed_low == null
        and .alone.time_ns > 0 and .alone.reason == null))' "$OUT/a.json"
    expect_json '.map == "*=glibc" and .together == null' "$OUT/a.json"
    expect_json '.budget_ns == 1000000' "$OUT/a.json"
    expect_json '.budget | .after == null and .before.worst_ns == null and .before.n == null
        and .before.reason == "the trace has no scopes"' "$OUT/a.json"
    grep -q '^budget of 1.00 ms a scope: n/a: the trace has no scopes' "$OUT/stdout"
    expect_json '.answer == "open" and .limit == 0.05' "$OUT/a.json"
    grep -q '^Advice: none: 1 round cannot show what is faster' "$OUT/stdout"
    grep -qx '\*=glibc' "$OUT/a.map"
    for name in $(jq -r '.heaps[].name' "$OUT/a.json"); do
        grep -q "^$name  " "$OUT/stdout" || fail "$name is not on the screen"
    done
    bench replay "$OUT/part.abt" --rounds 1 -b glibc --map "@$OUT/a.map" --passes throughput
    expect_code 0
}

@test "a trace in bursts has the advice of the whole" {
    for n in 0 1000; do
        bench advise "$TRACE" --rounds 1 --processes 3 -b slab --burst $n --json "$OUT/$n.json" -q
        expect_code 0
        expect_json '.heaps | length > 0 and all(.alone.reason == null and .alone.memory_bytes > 0)' "$OUT/$n.json"
        jq 'del(.. | .time_ns?, .memory_bytes?, .speed?, .alone?, .refusal?, .together?, .base?, .generals?)' \
            "$OUT/$n.json" >"$OUT/$n.advice"
    done
    diff "$OUT/0.advice" "$OUT/1000.advice" || fail "another advice"
    [ "$(wc -l <"$OUT/0.advice")" -gt 50 ] || fail "nothing was compared"
}

@test "progress names the stages, and what is left is that of all of them" {
    command -v script >/dev/null || skip "no script here"
    bench trace cut "$TRACE" --events 0..20000 -o "$OUT/part.abt"
    bench advise "$OUT/part.abt" --rounds 2 -b glibc,slab
    expect_code 0
    expect_error '^stage 2 of 4: placements \[ 2/2\] [0-9]+ s, [0-9]+ s left '
    expect_error '^stage 2 of 4: placements, memory \[ 1/1\] '
    expect_error '^stage 1: who pins the pages '
    ! grep -v '^stage [2-4] of 4: \|^stage 1: who pins the pages ' "$OUT/stderr" || fail "a line without its stage"
    sed -n 's/^stage \([0-9]\).*/\1/p' "$OUT/stderr" | sort -c || fail "the numbers go back"
    TERM=xterm script -qec "allocbench advise $OUT/part.abt --rounds 2 -b glibc,slab -o $OUT/a.map" \
        "$OUT/typescript" </dev/null >/dev/null 3>&-
    grep -aq 'stage 2 of 4: placements: round 1 of 2 ' "$OUT/typescript" || fail "no progress on a terminal"
    grep -aq 'stage 2 of 4: placements, memory: round 1 of 1 ' "$OUT/typescript" || fail "$(cat "$OUT/typescript")"
}

@test "with a single name in -b that one is compared with, and keeps the rest" {
    bench trace cut "$TRACE" --events 0..2000 -o "$OUT/part.abt"
    bench advise "$OUT/part.abt" --rounds 1 -b slab --json - -q
    expect_code 0
    expect_json '.base.name == "slab" and .map == "*=slab"'
    expect_json '[.generals[].name] | contains(["glibc"])'
}

# What is pinned by blocks that stay alone on their pages is what a heap of their own frees.
@test "who pins the pages gets a heap of its own, and that holds what was predicted" {
    allocbench record --sites=8 -o t.abt -- "$GUESTS/prog_pins" 1 alone >/dev/null 2>&1
    bench advise t.abt -b glibc,mimalloc --rounds 6 --json a.json
    expect_code 0
    expect_json '(.groups[] | select(.function == "keep_header")) as $g
        | .heaps[] | select(.name == $g.heap) | .kind == "pool"
        and ((.alone.base_held_bytes - .alone.held_bytes) / $g.pinned_bytes | . > 0.9 and . < 1.1)' a.json
    expect_json '[.groups[] | select(.function != "keep_header") | .pinned_bytes] | add < 1e5' a.json
    grep -q '^   pins 9[.0-9]* MiB of 1[0-9.]* MiB resident under glibc (at op [0-9]*)$' "$OUT/stdout"
    grep -q 'held by live' "$OUT/stdout"
}

# Ten times as fast is more than any replay of these calls: malloc is kept, whatever was measured, but
# for what takes less memory.
# bats test_tags=full
@test "what gains less than --limit is not advised, and said" {
    bench trace cut "$TRACE" --events 0..20000 -o "$OUT/part.abt"
    bench advise "$OUT/part.abt" --rounds 6 -b glibc,slab --limit 1000% --json "$OUT/a.json"
    expect_code 0
    if jq -e .by_memory "$OUT/a.json"; then
        expect_json '.answer == "heaps" and .together.memory_bytes + 65536 <= .together.base_memory_bytes' "$OUT/a.json"
        grep -q '^Advice: .*(memory ' "$OUT/stdout"
        return
    fi
    expect_json '.limit == 10 and .map == "*=glibc" and (.heaps | all(.advised | not))' "$OUT/a.json"
    expect_json 'if .answer == "small_gain" then .together.speed_low > 1 elif .answer == "keep" then .together == null else .answer == "open" end' "$OUT/a.json"
    grep -Eq '^Advice: (keep malloc: |none: in fewer than 6 of the 6 rounds)' "$OUT/stdout"
}

# Frames of one size are what a budget is for; of frames within levels the user says which.
@test "a budget needs no --scope where only one kind of scope is found; else the counts of each are said" {
    need_compilers gcc
    printf '%s\n' '#include <stdlib.h>' 'static void *p[64], *l[64];' \
        'static void frame(void) { for (int i = 0; i < 40; i++) p[i] = malloc(16 + i * 8); for (int i = 0; i < 40; i++) free(p[i]); }' \
        'int main(void) { for (int v = 0; v < LEVELS; v++) {' \
        'for (int i = 0; i < 64 && LEVELS > 1; i++) l[i] = malloc(100 + i);' \
        'for (int f = 0; f < 600 / LEVELS; f++) frame();' \
        'for (int i = 0; i < 64 && LEVELS > 1; i++) free(l[i]); } return 0; }' >frames.c
    for levels in 1 20; do
        gcc -fno-builtin -DLEVELS=$levels -o frames frames.c
        bench record -q -o $levels.abt -- ./frames
    done
    bench advise 1.abt --rounds 1 -b glibc --budget 16ms --json "$OUT/a.json"
    expect_code 0
    expect_json '.scopes.n == 600 and .scopes.from == "found" and .budget_ns == 16e6' "$OUT/a.json"
    bench advise 20.abt --rounds 1 -b glibc --budget 16ms
    expect_code 2
    expect_error 'Add --scope nested or --scope outer: .* scopes of .*--scope (nested|outer): [0-9]+ scopes'
}

# bats test_tags=full
@test "of a game nobody marked: what its author would use, and the trails that outlive their frames" {
    need_compilers gcc
    gcc -O2 -g -o "$OUT/game" "$ROOT/allocators/examples/frame-game/frame_game.c"
    bench record --sites -q -o "$OUT/game.abt" -- "$OUT/game" --leaky-trail
    expect_code 0
    bench advise "$OUT/game.abt" --rounds 1 -b glibc,slab --budget 1ns --scope nested --json "$OUT/a.json"
    expect_code 0
    # No scope of some hundred calls takes no more than a nanosecond.
    expect_json '.budget | .after == null and .before.n > 0 and .before.n_over_budget == .before.n
        and .before.n + .before.n_scheduler == 6 * 300 and .before.worst_ns > 1' "$OUT/a.json"
    tr -s '\n ' ' ' <"$OUT/stdout" |
        grep -Eq 'budget of 1 ns a scope: allocation takes .* in the worst \(6 rounds\); ([0-9]+) of \1 scopes missed it'
    expect_json '.by == "site" and .scopes.n == 300 and .scopes.from == "found"' "$OUT/a.json"
    expect_json '[.groups[] | select(.kind != "keep") | [.function, .kind]] | sort ==
        [["build_draw_list", "frame"], ["build_labels", "frame"], ["find_visible", "frame"],
         ["spawn_particles", "pool"]]' "$OUT/a.json"
    expect_json '.groups[] | select(.function == "spawn_trail") | .file == "frame_game.c" and .line > 0
        and [.survivors[].born] == [41, 112, 204]' "$OUT/a.json"
    expect_json '.heaps | all(.alone.reason == null and .alone.time_ns > 0)' "$OUT/a.json"
    grep -q 'spawn_trail  96 B  scopes 41, 112, 204 -> malloc' "$OUT/stdout"
}

# Whether advice holds depends on the machine; that the script measures it again does not.
# bats test_tags=full
@test "scripts/check-advice replays what was advised" {
    run "$ROOT/scripts/check-advice" --rounds 6 jq 3>&-
    echo "$output" | grep -E '^jq +[0-9]+ .* (confirmed|not confirmed|keep)$' || fail "$output"
    run -2 "$ROOT/scripts/check-advice" --rounds 3 jq
}

# bats test_tags=full
@test "two allocations on one source line are two sites: one gets an arena, the other stays" {
    need_compilers gcc
    cat >line.c <<'C'
#include <stdlib.h>
struct node { struct node *next; };
int main(void)
{
    void *keep[64] = {0};
    struct node *first = NULL;
    for (unsigned f = 0; f < 400; f++) {
        for (int i = 0; i < 200; i++) { struct node *n = malloc(32); n->next = first; first = n; }
        for (struct node *n; (n = first) != NULL; free(n)) first = n->next;
        free(keep[f % 64]), keep[f % 64] = malloc(3000 + f), first = malloc(32), first->next = NULL;
    }
    return 0;
}
C
    gcc -O2 -g -fno-builtin -o "$OUT/line" line.c
    bench record -q --sites -o line.abt -- "$OUT/line"
    bench advise line.abt -b glibc --rounds 2 --json "$OUT/r.json"
    expect_json '[.groups[].rule | select(test("^site:line.c:10:[0-9]+$"))] | length == 2 and unique == sort' "$OUT/r.json"
    expect_json '[.groups[] | select(.line == 10) | .calls] == [400, 400]' "$OUT/r.json"
    local rule
    rule=$(jq -r '.groups[] | select(.line == 10 and .size_most == 32).rule' "$OUT/r.json")
    bench replay line.abt -b glibc --rounds 1 --passes throughput -q --json "$OUT/m.json" --map "$rule=arena"
    expect_code 0
    expect_json '.backends[] | select(.name == "@map") | .map.rule_requests[0] == 400' "$OUT/m.json"
}
