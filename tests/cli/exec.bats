#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# A real program under each allocator: numbers only from runs that are proven, nothing left behind.
# tests: exec.c closes.c unasked.c asked.c

load helpers

PROG=$GUESTS/prog_exec
TOY=$GUESTS/libtoy.so # a malloc of our own

execute() { # ARGUMENT…: of exec, two rounds unless said
    bench exec --rounds 2 "$@"
}

programs() {
    command find /proc/[0-9]*/exe -maxdepth 0 -lname "$PROG" 2>/dev/null | cut -d/ -f3
}

expect_no_program() {
    [ -z "$(programs)" ] || fail "programs left: $(programs)"
    expect_nothing_left
}

has_program() {
    [ -n "$(programs)" ]
}

has_no_program() {
    ! has_program
}

@test "a result has no word of the command line where that may be secret" {
    bench exec -b glibc --rounds 1 --no-store --json "$OUT/open.json" --prepare ': secret0' -- sh -c ': secret1'
    expect_code 0
    grep -q secret0 "$OUT/open.json" && grep -q secret1 "$OUT/open.json"
    bench exec -b glibc --rounds 1 --results "$OUT/r" --no-command-line --json "$OUT/r.json" --html "$OUT/r.html" \
        --embed none --markdown "$OUT/r.md" --junit "$OUT/r.xml" --prepare ': secret0' -- sh -c ': secret1'
    expect_code 0
    ! grep -lr secret "$OUT/r" "$OUT"/r.* || fail "it is there"
    expect_json '.config.command_line == "allocbench exec --no-command-line"' "$OUT/r.json"
    bench report "$OUT/r.json"
    expect_code 0
    bench run "$WORKLOADS/tiny.yaml" -b glibc --rounds 1 --no-store --no-command-line --json "$OUT/run.json"
    expect_code 0
    expect_json '.config.command_line == "allocbench run --no-command-line"' "$OUT/run.json"
}

@test "every back end has every number, in every round" {
    execute -q -b "glibc,toy=$TOY" --json - -- "$PROG" holds 8
    expect_code 0
    expect_json '.config.kind == "exec" and .config.phases == ["program"] and .complete'
    expect_json '[.results[] | [.backend, .round]] | sort == [["glibc",0],["glibc",1],["toy",0],["toy",1]]'
    expect_json '[.results[].program | .wall_ns, .cpu_ns, .user_ns, .system_ns, .resident_peak_bytes,
        .resident_mean_bytes, .faults_major, .switches_voluntary] | all(. != null)'
    expect_json '[.results[] | .ns_per_op == .program.wall_ns and .n_ops == 1 and .faults_minor > 2000] | all'
    expect_json '[.results[].program | .cpu_ns == .user_ns + .system_ns] | all'
    expect_no_program
}

@test "memory is that of the program: 24 MiB that are held are seen, by peak and by mean" {
    execute -q -b glibc --json - -- "$PROG" holds 24
    expect_json '[.results[].program | .resident_peak_bytes / 1048576 | . > 24 and . < 30] | all'
    expect_json '[.results[].program | .resident_mean_bytes / 1048576 | . > 12 and . < 30] | all'
    execute -q -b glibc --json - -- "$PROG" works 10 # we are larger than it, and not in its peak
    expect_json '[.results[].program | .resident_peak_bytes / 1048576 | . < 4] | all'
    expect_json '[.results[].program.resident_mean_bytes] | all(. == null)'
}

@test "children count: memory of all together, time of those that were waited for" {
    execute -q -b glibc --json - -- "$PROG" forks 20
    expect_code 0
    expect_json '[.results[].program | .resident_peak_bytes / 1048576 | . > 40 and . < 55] | all'
    expect_no_program
}

@test "a program that shares its CPU with another one waited for it, and that is said" {
    local cpu other
    [ "$(cut -d' ' -f3 /proc/self/schedstat 2>/dev/null || echo 0)" -gt 0 ] || skip "no schedstat"
    cpu=$(taskset -pc $$ | grep -oE '[0-9]+' | sed -n 2p)
    taskset -c "$cpu" sh -c 'while :; do :; done' 3>&- &
    other=$!
    code=0
    taskset -c "$cpu" allocbench exec --rounds 2 --no-store -b glibc --json "$OUT/r.json" -- \
        python3 -c 'sum(range(3 * 10 ** 6))' >"$OUT/stdout" 2>"$OUT/stderr" 3>&- || code=$?
    kill "$other"
    expect_code 0
    expect_json '[.results[].program | .run_delay_ns > 0 and
        .cpu_ns + .run_delay_ns < 1.1 * .wall_ns] | all' "$OUT/r.json"
    tr -s '\n ' '  ' <"$OUT/stdout" | grep -qE '[12] of 2 runs waited for a CPU that something else used' ||
        fail "$(cat "$OUT/stdout")"
}

@test "the output must be the same under all" {
    execute -b "glibc,toy=$TOY" -- "$PROG" differs
    expect_code 4
    expect_error 'toy: failed_check: the program printed something else than under glibc: [0-9]+ bytes, not 6'
    execute -q -b "glibc,toy=$TOY" --no-check-output -- "$PROG" differs
    expect_code 0
    execute -q -b "glibc,toy=$TOY" -- "$PROG" random
    expect_code 4
    expect_error 'output differed between two runs under glibc .* use --no-check-output'
}

@test "a program that fails under one allocator has no numbers there, and all there are elsewhere" {
    for how in fails-with crashes-with; do
        execute -q -b "glibc,toy=$TOY" --json "$OUT/r.json" -- "$PROG" $how libtoy
        expect_code 4
        expect_json '[.results[].backend] == ["glibc", "glibc"]' "$OUT/r.json"
    done
    expect_error 'toy: crashed: the program was ended by signal 11'
    expect_json '.backends[1].status == "crashed"' "$OUT/r.json"
}

@test "more output than a pipe or memory holds is hashed as it comes" {
    execute -q -b glibc --json - -- "$PROG" floods 64
    expect_code 0
    expect_json ".config.settings | index(\"output_bytes=$((64 << 20))\") == null" # and "done"
    expect_json ".config.settings | index(\"output_bytes=$(((64 << 20) + 5))\") != null"
}

@test "the allocator is proven: not in a static program, nor behind a malloc of its own" {
    command -v cc >/dev/null || skip "no compiler"
    echo 'int main(void) { return 0; }' >"$OUT/s.c"
    cc -o "$OUT/static" -static "$OUT/s.c" || skip "no static libc"
    execute -b glibc -- "$OUT/static"
    expect_code 2
    expect_error 'static is statically linked: an allocator cannot be preloaded'
    execute -b "glibc,toy=$TOY" -- sh -c "$OUT/static"
    expect_code 4
    expect_error "glibc: wrong_library: static does not use the C library's malloc"
    expect_error 'toy: wrong_library: static has not loaded .*libtoy.so: LD_PRELOAD was removed'
    cc -w -fno-builtin -o "$OUT/own" "$ROOT/tests/guests/libbump.c" "$OUT/s.c" || skip "no compiler"
    execute -b "glibc,toy=$TOY" -- "$OUT/own"
    expect_code 4
    expect_error 'glibc: wrong_library: own has a malloc of its own'
    expect_error 'toy: wrong_library: own has a malloc of its own'
}

@test "the allocator is proven: LD_PRELOAD that is dropped on the way is seen, however short the rest" {
    execute -b "glibc,toy=$TOY" --json "$OUT/r.json" -- "$PROG" clean
    expect_code 4
    expect_error 'toy: wrong_library: prog_exec has not loaded'
    expect_json '[.results[].backend] | unique == ["glibc"]' "$OUT/r.json"
    execute -b "toy=$TOY" -- sh -c 'env -i /bin/true; sleep 0.05'
    expect_code 4
    expect_error 'toy: wrong_library: true has not loaded'
}

# bats test_tags=full
@test "the allocator is proven in a program that changes its root, and has numbers under glibc too" {
    [ "$(id -u)" = 0 ] || skip "needs root"
    cat >"$OUT/jail.c" <<'END'
#include <stdlib.h>
#include <unistd.h>
int main(int n, char **words) { free(malloc(10)); return n < 2 || chroot(words[1]) != 0 || chdir("/") != 0; }
END
    cc -O1 -o "$OUT/jail" "$OUT/jail.c" 2>"$OUT/log" || skip "no compiler"
    mkdir "$OUT/root"
    bench exec -q -b "glibc,toy=$GUESTS/libtoy.so" --rounds 2 --json "$OUT/r.json" -- "$OUT/jail" "$OUT/root"
    expect_code 0
    expect_json '[.backends[].status] == ["ok", "ok"] and (.results | length) == 4' "$OUT/r.json"
    bench exec -q --inside -b "glibc,toy=$GUESTS/libtoy.so" --rounds 1 --json "$OUT/r.json" -- "$OUT/jail" "$OUT/root"
    expect_code 0
    expect_json '[.backends[] | has("not_inside")] == [false, false]' "$OUT/r.json"
}

@test "the allocator is proven in 300 processes that run side by side, and in one of them it is missed" {
    local all="for i in \$(seq 300); do '$PROG' works 100 & done"
    execute -b "glibc,toy=$TOY" --json "$OUT/r.json" -- sh -c "$all; wait"
    expect_code 0
    execute -b "glibc,toy=$TOY" -- sh -c "$all; env -u LD_PRELOAD '$PROG' works 100; wait"
    expect_code 4
    expect_error 'toy: wrong_library: prog_exec has not loaded'
    expect_no_program
}

@test "the allocator is proven: a second one beside it is not called, or it is refused" {
    LD_PRELOAD=$GUESTS/libbump.so execute -b "glibc,toy=$TOY" -- "$PROG"
    expect_code 0
    execute -b "toy=$TOY" -- env "LD_PRELOAD=$GUESTS/libbump.so:$TOY" "$PROG"
    expect_code 4
    expect_error 'toy: wrong_library: prog_exec has .*libbump.so mapped as well, which defines malloc too, and calls'
}

@test "what cannot serve a program is refused before anything runs" {
    for name in arena null checked+glibc fault+glibc:n=3; do
        execute -b $name -- true
        expect_code 2
    done
    execute -b arena -- true
    expect_error 'arena cannot serve a real program'
    mkdir "$OUT/a b"
    cp "$TOY" "$OUT/a b/"
    execute -b "$OUT/a b/libtoy.so" -- true
    expect_code 2
    expect_error 'LD_PRELOAD cannot hold a path with a space'
    execute -b glibc
    expect_code 2
    expect_error 'exec needs a command'
    execute -b glibc -- no-such-program
    expect_code 2
    expect_error 'no-such-program: no such program'
    execute -b glibc --stdin "$OUT/none" -- cat
    expect_code 3
    expect_error '--stdin: cannot read .*none'
}

@test "a timeout ends the program, also one that ignores SIGTERM, and says what it said last" {
    execute -b glibc --timeout 300ms -- "$PROG" deaf
    expect_code 4
    expect_error 'glibc: timeout: ran longer than --timeout 300 ms and was stopped; it ignored SIGTERM; its last words: not yet'
    expect_no_program
}

@test "processes that outlive the program are ended" {
    execute -b glibc -- "$PROG" leaves
    expect_code 0
    grep -q 'Up to 1 processes of the program still ran after its end' "$OUT/stdout" || fail "not said"
    expect_no_program
}

@test "an interruption ends the program and all that it started" {
    start_bench exec -b glibc --rounds 3 --json "$OUT/r.json" -- sh -c "'$PROG' deaf & '$PROG' deaf"
    wait_until has_program || fail "it does not start"
    kill -INT "$pid"
    await_bench
    expect_code 130
    wait_until has_no_program || fail "programs live on"
    [ ! -e "$OUT/r.json" ] || fail "a result of nothing"
    expect_nothing_left
}

# In the group of the program, in a session of its own without its environment, and as an orphan of that.
starts_three() {
    cat >"$OUT/three" <<END
cat /proc/\$PPID/comm >"$OUT/parent"
'$PROG' deaf 3600 &
setsid sh -c "env -i '$PROG' deaf 3600 & exit"
exec '$PROG' deaf 3600
END
}

has_three() {
    [ "$(programs | wc -l)" -eq 3 ]
}

@test "when exec is killed all that its program has started ends, whatever its group, session and parent" {
    starts_three
    start_bench exec -b glibc -- sh "$OUT/three"
    wait_until has_three || fail "it does not start"
    [ "$(cat "$OUT/parent")" = allocbench ] || fail "the program has another parent"
    kill -KILL "$pid"
    await_bench 2>/dev/null
    expect_code 137
    wait_until has_no_program || fail "programs live on"
}

@test "when exec is killed what --prepare, --server and --load have started ends too" {
    for stage in prepare load; do
        case $stage in
        prepare) start_bench exec -b glibc --prepare "'$PROG' deaf 3600 & '$PROG' deaf 3600" -- "$PROG" ;;
        load) start_bench exec -b glibc --server --ready "cmd:test -e '$OUT/up'" \
            --load "'$PROG' deaf 3600 & '$PROG' deaf 3600" -- sh -c "touch '$OUT/up'; '$PROG' deaf 3600 & sleep 3671.5" ;;
        esac
        wait_until has_program || fail "$stage: it does not start"
        kill -KILL "$pid"
        await_bench 2>/dev/null
        expect_code 137
        wait_until has_no_program || fail "$stage: programs live on"
        ! pgrep -f '^sleep 3671.5$' || fail "the server lives on"
    done
}

@test "when exec ends what else runs on is left alone, also a child that it had before" {
    "$PROG" deaf &
    other=$!
    sh -c "'$PROG' deaf & echo \$! >'$OUT/child'; exec allocbench exec -b glibc --rounds 2 -- '$PROG'" \
        >"$OUT/stdout" 2>"$OUT/stderr" 3>&- || fail "it failed"
    sleep 0.3
    kill -0 "$other" || fail "an unrelated program was ended"
    kill -0 "$(cat "$OUT/child")" || fail "a child of before was ended"
    kill -KILL "$other" "$(cat "$OUT/child")"
}

@test "what the proof of processes takes is in no wall time where all others wait, and is said where not" {
    command -v bash >/dev/null || skip "no bash"
    cat >"$OUT/turns" <<'END'
begin=$EPOCHREALTIME
for i in {1..300}; do /bin/true; done
end=$EPOCHREALTIME
echo $((${end/./} - ${begin/./})) >"$1"
END
    bench exec -q -b glibc --rounds 1 --json "$OUT/r.json" -- bash "$OUT/turns" "$OUT/us"
    expect_code 0
    # by its own clock it took as long as it did, the proof included
    expect_json ".results[0] | .program.proof_ns > 300 * 10000 and .program.proof_beside_ns < .program.proof_ns and
        .program.wall_ns < $(cat "$OUT/us") * 1000 - .program.proof_ns / 2" "$OUT/r.json"
    bench report "$OUT/r.json"
    ! grep -q 'parallel processes' "$OUT/stdout" || fail "$(cat "$OUT/stdout")"
    bench exec -q -b glibc --rounds 1 --json "$OUT/r.json" -- sh -c \
        'i=0; while [ $i -lt 100 ]; do /bin/true & i=$((i + 1)); done; wait'
    expect_json '.results[0].program | .proof_beside_ns > 0 and .proof_ns != null' "$OUT/r.json"
    jq '.results[0].program.proof_beside_ns = .results[0].program.wall_ns / 2 | del(.checksum)' "$OUT/r.json" >"$OUT/half.json"
    bench report "$OUT/half.json"
    grep -q 'parallel processes waited at their end while their allocator was checked: that may be up to 50 % of a wall time' <(tr -s '\n ' '  ' <"$OUT/stdout") ||
        fail "$(cat "$OUT/stdout")"
}

@test "input, preparation and environment reach the program" {
    printf 'a\nb\n' >"$OUT/in"
    execute -q -b glibc --stdin "$OUT/in" --json - -- "$PROG" copies
    expect_code 0
    expect_json '.config.settings | index("output_bytes=9") != null'
    execute -q -b glibc --prepare "echo x >>'$OUT/log'" -- "$PROG"
    expect_code 0
    [ "$(wc -l <"$OUT/log")" -eq 3 ] || fail "$(wc -l <"$OUT/log") preparations of 3 runs"
    execute -b glibc --prepare 'exit 9' -- "$PROG"
    expect_code 4
    expect_error -- '--prepare failed: exit status 9'
    execute -q -b "toy=$TOY"'{WORD=seen}' --json - -- sh -c 'test "$WORD" = seen'
    expect_code 0
}

@test "gates judge it, and other statistics are an error" {
    execute -q -b "glibc,toy=$TOY" --gate 'program/all/wall_ns < 1000s' \
        --gate 'toy:program/all/resident_peak_bytes < 10x glibc' -- "$PROG" works 1000
    expect_code 0
    execute -b "glibc,toy=$TOY" --gate 'program/all/resident_peak_bytes < 4KiB' -- "$PROG"
    expect_code 1
    execute -b glibc --gate 'program/all/wall < 1000s' -- "$PROG"
    expect_code 2
    expect_error "unknown statistic 'wall'; did you mean 'wall_ns'\? Allowed are faults_minor, switches_involuntary, wall_ns, cpu_ns"
    execute -b glibc --gate 'program/memory/rss_peak < 1000s' -- "$PROG"
    expect_code 2
    bench run "$WORKLOADS/small.yaml" -b glibc --gate 'work/all/resident_mean_bytes < 1'
    expect_code 2
}

@test "a trace of the program is replayed, and its prediction stands beside the program" {
    allocbench record -q -o "$OUT/t.abt" -- "$PROG" works 20000 3>&-
    calls=$(allocbench trace info --json - "$OUT/t.abt" | jq .events)
    bench exec --rounds 6 -b "glibc,slow=$GUESTS/libslow1us.so" --trace "$OUT/t.abt" --json "$OUT/r.json" \
        --results "$OUT/kept" -- "$PROG" works 20000
    expect_code 0
    [ "$(ls "$OUT/kept" | wc -l)" = 1 ] || fail "not only the program's result is stored: $(ls "$OUT/kept")"
    expect_json "[.results[].program | select(. != null).calls] | length == 12 and all(. == $calls)" "$OUT/r.json"
    expect_json '[.results[].program | select(. != null) | .replay_ns_per_call, .replay_warm_ns_per_call, .replay_cold_ns_per_call, .inside_ns_per_call] | all(. > 0)' "$OUT/r.json"
    # a malloc that takes a microsecond more: half a microsecond a call, in replay and program
    difference=$(sed -n '/replay, ns.call/,$p' "$OUT/stdout" | awk -F'  +' '$2 == "slow"')
    echo "$difference" | awk -F'  +' '$2 == "slow" && $3 + 0 > 200 && $4 + 0 > 200 { ok = 1 } END { exit !ok }' ||
        fail "no such difference: $difference"
    expect_nothing_left
    jq -c 'del(.checksum)' "$OUT/r.json" >"$OUT/unsealed.json"
    bench report "$OUT/unsealed.json"
    grep -q 'replay, ns/call' "$OUT/stdout" || fail "a stored result does not show it"
    # fields of earlier results are read over
    jq -c 'del(.checksum) | (.results[].program | select(. != null)) += {replay_cache_bytes: 65536, replay_cache_ns_per_call: 9}' \
        "$OUT/r.json" >"$OUT/old.json"
    cp "$OUT/stdout" "$OUT/shown"
    bench report "$OUT/old.json"
    expect_code 0
    sed '$d' "$OUT/shown" | diff - <(sed '$d' "$OUT/stdout") || fail "another report"
    # where calls could not be timed, the prediction is held against the whole program
    jq -c 'del(.checksum) | (.results[] | select(.op == "all").program) |= del(.inside_ns_per_call)' \
        "$OUT/r.json" >"$OUT/whole.json"
    bench report "$OUT/whole.json"
    grep -Eq '^  slow .* (agrees|same direction|not measurable) \(program\)$' "$OUT/stdout" || fail "$(cat "$OUT/stdout")"
    echo x >"$OUT/bad.abt"
    execute -b glibc --trace "$OUT/bad.abt" -- "$PROG"
    expect_code 3
    expect_nothing_left
}

@test "a program that crashes under preloaded allocators alone: RTLD_DEEPBIND is named as a cause" {
    execute -b "glibc,toy=$TOY,slab_malloc" -- "$GUESTS/prog_modules" deep "$GUESTS/libdeep.so" 100
    expect_code 4
    tr -s ' \n' ' ' <"$OUT/stdout" >"$OUT/words"
    grep -q 'may load libraries with RTLD_DEEPBIND.* -> allocbench record -- COMMAND names the libraries that are loaded this way' "$OUT/words" ||
        fail "$(cat "$OUT/stdout")"
    execute -b "glibc,toy=$TOY" -- "$GUESTS/prog_modules" open "$GUESTS/libdeep.so" 100
    expect_code 0
    ! grep -q RTLD_DEEPBIND "$OUT/stdout" || fail "$(cat "$OUT/stdout")"
    expect_nothing_left
}

@test "libraries that go on calling the C library's malloc are named, and stored, where the program works all the same" {
    local says="warning: calls of libdeep.so go to the C library's malloc, not to toy, because of RTLD_DEEPBIND or dlmopen ->"
    for how in 'deep 0' 'own 100'; do
        execute -b "glibc,toy=$TOY" --json "$OUT/r.json" -- "$GUESTS/prog_modules" "${how% *}" "$GUESTS/libdeep.so" "${how#* }"
        expect_code 0
        tr -s ' \n' ' ' <"$OUT/stdout" | grep -qF "$says" || fail "$(cat "$OUT/stdout")"
        expect_json '[.backends[].deepbound] == [null, "libdeep.so"]' "$OUT/r.json"
        bench report "$OUT/r.json"
        tr -s ' \n' ' ' <"$OUT/stdout" | grep -qF "$says" || fail "$(cat "$OUT/stdout")"
    done
}

# FILE HOW LIBRARY…: opens each library in turn, has it make calls, and closes it again. Writes to FILE what was
# preloaded, a line.
closes() {
    command -v cc >/dev/null || skip "no compiler"
    cat >"$OUT/closes.c" <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
static void use(const char *how, const char *path)
{
    int flags = RTLD_NOW | (strstr(how, "deep") != NULL ? RTLD_DEEPBIND : 0);
    void *library = strstr(how, "own") != NULL ? dlmopen(LM_ID_NEWLM, path, flags) : dlopen(path, flags);
    void (*work)(long) = library != NULL ? (void (*)(long))dlsym(library, "deep_work") : NULL;
    errno = 7;
    if (work == NULL || (work(10), dlclose(library)) != 0 || errno != 7)
        _exit(9);
}
int main(int n, char **words)
{
    FILE *f = fopen(words[1], "a");
    if (f == NULL || fprintf(f, "%s\n", getenv("LD_PRELOAD")) < 0 || fclose(f) != 0)
        return 8;
    pid_t child = strstr(words[2], "child") != NULL ? fork() : 0;
    for (int i = 3; i < n && child == 0; i++)
        use(words[2], words[i]);
    if (child == 0)
        _exit(0);
    int status = 0;
    return waitpid(child, &status, 0) != child || status != 0;
}
END
    cc -w -o "$OUT/closes" "$OUT/closes.c" || fail "cc"
    for i in $(seq 12); do cp "$GUESTS/libdeep.so" "$OUT/lib$i.so"; done
}

@test "libraries that were closed again are named: RTLD_DEEPBIND, dlmopen, of a child; in no measured run is it looked for" {
    closes
    local each
    each=$(seq -s ', ' -f 'lib%g.so' 12)
    for how in deep own deep-child own-child; do
        rm -f "$OUT/preloaded"
        execute -b "glibc,toy=$TOY" --json "$OUT/r.json" -- "$OUT/closes" "$OUT/preloaded" $how "$OUT"/lib{1..12}.so
        expect_code 0
        expect_json "[.backends[].deepbound] == [null, \"$each\"]" "$OUT/r.json"
        # once before, then two rounds: the libraries that show it come behind the allocator, or in front of
        # the C library's, and only once
        [ "$(sed 's|[^:]*/||g' "$OUT/preloaded" | sort | uniq -c | tr -s ' \n' ' ')" = \
            " 2 (null) 1 liballocbench-asked.so 2 libtoy.so 1 libtoy.so:liballocbench-closes.so " ] || fail "$(cat "$OUT/preloaded")"
    done
    execute -b "toy=$TOY" --json "$OUT/r.json" -- "$OUT/closes" "$OUT/preloaded" plain "$OUT"/lib{1..12}.so
    expect_code 0
    expect_json '[.backends[].deepbound] == [null]' "$OUT/r.json"
    # behind the interposer, also where nothing else is preloaded
    bench exec --inside --rounds 1 -b glibc --json "$OUT/r.json" -- "$OUT/closes" "$OUT/preloaded" deep "$OUT"/lib{1..12}.so
    expect_code 0
    expect_json "[.backends[].deepbound] == [\"$each\"]" "$OUT/r.json"
    expect_nothing_left
}

@test "a program that prints what is preloaded prints the same in all measured runs; one that prints the time does not" {
    execute -b "toy=$TOY" --json "$OUT/r.json" -- sh -c 'echo "$LD_PRELOAD"'
    expect_code 0
    expect_json ".config.settings | index(\"output_bytes=$((${#TOY} + 1))\") != null" "$OUT/r.json"
    execute -b "toy=$TOY" -- date +%N
    expect_code 4
    expect_error "the program's output differed between two runs under toy"
}

@test "libraries that are closed again, where no filter of system calls is allowed: the program runs as it does" {
    closes
    bench_in() { "$GUESTS/prog_nofilter" allocbench "$@" >"$OUT/stdout" 2>"$OUT/stderr"; }
    run bench_in exec --rounds 1 -b "toy=$TOY" -- sh -c "'$OUT/closes' '$OUT/preloaded' deep '$OUT'/lib1.so && sleep 0.3"
    [ "$status" -eq 0 ] || [ "$status" -eq 4 ] || fail "status $status: $(cat "$OUT/stderr")"
    ! grep -q 'exit status' "$OUT/stderr" || fail "$(cat "$OUT/stderr")"
    [ "$(grep -c liballocbench-closes "$OUT/preloaded")" -eq 1 ] || fail "$(cat "$OUT/preloaded")"
}

@test "the replay of a long trace names its progress, and is of its beginning where the time is short" {
    command -v script >/dev/null || skip "no script here"
    allocbench record -q -o "$OUT/t.abt" -- "$PROG" works 3000000 3>&-
    cp "$TOY" "$OUT/libagain.so"
    bench exec --time-budget 1s -b "glibc,toy=$TOY,again=$OUT/libagain.so" --trace "$OUT/t.abt" \
        --json "$OUT/r.json" -- "$PROG" works 2000
    expect_code 0
    expect_error '^replay, warm \[ 1/'
    expect_error '^replay, cold \[ 1/'
    expect_error '^program \[ 1/'
    expect_json '[.results[].program | select(. != null and .replay_ns_per_call > 0)] | length >= 18' "$OUT/r.json"
    # and of one that is too long for that, the beginning; its calls are all the same those of the trace
    expect_error 'replaying the first 1.00 M of [3-9].* calls'
    calls=$(allocbench trace info --json - "$OUT/t.abt" | jq .events)
    expect_json "[.results[].program | select(. != null).calls] | all(. == $calls)" "$OUT/r.json"
    expect_json "[.config.settings[] | select(. == \"replayed=the first 1000000 of $calls calls\")] | length == 1" "$OUT/r.json"
    TERM=xterm script -qec "allocbench exec --rounds 1 -b glibc,toy=$TOY --trace $OUT/t.abt -- $PROG works 2000" \
        "$OUT/typescript" </dev/null >/dev/null 3>&-
    grep -aq 'replay, cold: round 1 ' "$OUT/typescript" || fail "no progress on a terminal"
    expect_nothing_left
}

@test "a stored result reads back as it was, and fits the schema" {
    bench exec --rounds 6 -b "glibc,toy=$TOY" --json "$OUT/r.json" --csv "$OUT/r.csv" -- "$PROG" works 1000
    expect_code 0
    sed -n '1,/90 % interval/p' "$OUT/stdout" >"$OUT/first"
    grep -q '.low, high.: 90 % interval' "$OUT/first" || fail "no legend"
    bench report "$OUT/r.json" --json "$OUT/again.json"
    bench report "$OUT/r.json"
    sed -n '1,/90 % interval/p' "$OUT/stdout" | diff "$OUT/first" - || fail "another table"
    grep -Eq '^  toy .*[0-9.]+x (faster|slower) \[[0-9.]+, [0-9.]+\]' "$OUT/first" || fail "no interval"
    expect_json '([.timelines[] | [.backend, .round]] | sort) == ([.results[] | [.backend, .round]] | sort)' "$OUT/r.json"
    cmp "$OUT/r.json" "$OUT/again.json" || fail "another document"
    [ "$(grep -c ',program,all,resident_peak_bytes,' "$OUT/r.csv")" -eq 12 ] || fail "no CSV rows"
    python3 -c 'import jsonschema' 2>/dev/null || skip "no jsonschema for python3"
    python3 -c 'import json,sys,jsonschema; jsonschema.validate(json.load(open(sys.argv[1])), json.load(open(sys.argv[2])))' \
        "$OUT/r.json" "$ROOT/results/allocbench-2.schema.json"
}

@test "memory over time is kept: few points in ascending ms, with what was held" {
    execute -q -b glibc --json "$OUT/r.json" --html "$OUT/r.html" -- "$PROG" holds 24
    expect_code 0
    expect_json '[.timelines[] | [.points[][0]] | . == sort and length > 5 and length <= 100] | all' "$OUT/r.json"
    expect_json '[.timelines[] | [.points[][3]] | max / 1048576 | . > 24 and . < 30] | all' "$OUT/r.json"
    expect_json '[.timelines[].points[][1, 2]] | all(. == null)' "$OUT/r.json"
    expect_json '[.timelines[].points[][3]] | all(. > 0)' "$OUT/r.json" # none of what has ended
    grep -q 'Resident memory over time' "$OUT/r.html" || fail "the report does not draw it"
    bench report "$OUT/r.html" --html "$OUT/again.html" # of the first round
    grep -q 'Resident memory over time' "$OUT/again.html" || fail "it is not read back"
}

# bats test_tags=full
@test "a time budget ends it after six rounds at least, precision when every interval is that narrow" {
    bench exec -b "glibc,toy=$TOY" --time-budget 1s --json "$OUT/r.json" -- "$PROG" works 1000
    expect_code 0
    expect_json '.complete and (.rounds | length) >= 6 and .config.rounds_planned == (.rounds | length)' "$OUT/r.json"
    expect_json '.config.stopping | .time_budget_s == 1 and .rounds_most == 100 and .spent_s > 0' "$OUT/r.json"
    tr -s ' \n' ' ' <"$OUT/stdout" | grep -Eq 'stopped (after|at the limit of) [0-9]+ rounds' || fail "no note"
    bench exec -b "glibc,slow=$GUESTS/libslow1us.so" --precision 50% --json "$OUT/r.json" -- "$PROG" works 20000
    expect_code 0
    expect_json '.config.stopping.ended == "precision" and (.rounds | length) >= 6 and (.rounds | length) < 100' "$OUT/r.json"
    tr -s ' \n' ' ' <"$OUT/stdout" | grep -q 'the ratio of each back end to its base is known to within 50 %' || fail "no note"
}

@test "rules that cannot be kept are refused as in run" {
    execute -b glibc --precision 2% -- true
    expect_code 2
    expect_error 'it needs at least two back ends'
    bench exec -b "glibc,toy=$TOY" --precision 2% --rounds 5 -- true
    expect_code 2
    expect_error 'needs at least 6 rounds, --rounds allows 5'
    execute -b glibc --limit 5% -- true
    expect_code 2
    expect_error '\-\-limit is about ratios: it needs two back ends, or a --baseline'
    execute -b "glibc,toy=$TOY" --limit 5 -- true
    expect_code 2
    execute -b "glibc,toy=$TOY" --strict -- true
    expect_code 2
    expect_error '\-\-strict requires --baseline'
    execute -b "glibc,toy=$TOY" --jointly -- true
    expect_code 2
    expect_error '\-\-jointly requires --limit or --baseline'
    execute -b "glibc,toy=$TOY" --base toi -- true
    expect_code 2
    expect_error "no back end 'toi' to compare with; did you mean 'toy'"
}

# bats test_tags=full
@test "a limit is a verdict on the wall time against the base: exit 1 when a slower one is confirmed" {
    local slow="slow=$GUESTS/libslow1us.so"
    bench exec --rounds 6 -b "glibc,$slow" --limit 10% --json "$OUT/r.json" --junit "$OUT/r.xml" -- "$PROG" works 50000
    expect_code 1
    expect_error '1 verdict to confirm: 6 more rounds'
    expect_json '[.comparison.cells[] | select(.limit != null)] | length == 1 and (.[0] | .backend == "slow" and
        .base_backend == "glibc" and .metric == "time" and .verdict == "regressed" and .confirm_rounds == 6)' "$OUT/r.json"
    # what is shown is the ratio of the two numbers beside it, as in the ranking
    expect_json '.comparison.cells[0] | (.ratio / (.new / .base) - 1 | fabs) < 1e-6' "$OUT/r.json"
    grep -q '^slow against glibc' "$OUT/stdout" || fail "no table"
    grep -q '<failure' "$OUT/r.xml" || fail "not in the JUnit file"
    bench report "$OUT/r.json"
    grep -Eq '^1 regressed' "$OUT/stdout" || fail "a stored result does not show it"
    bench exec --rounds 6 -b "glibc,$slow" --base slow --limit 10% -q -- "$PROG" works 50000
    expect_code 0
    bench exec --rounds 6 -b "glibc,$slow" --limit 1000% -q -- "$PROG" works 10
    expect_code 0
}

@test "what three rounds leave open says with how many to try again" {
    bench exec --rounds 3 -b "glibc,toy=$TOY" --limit 0.1% -- "$PROG" works 1000
    expect_code 0
    grep -Eq '^next: allocbench exec --rounds [0-9]+ -b ' "$OUT/stdout" || fail "no command"
    ! grep -q 'both results' "$OUT/stdout" || fail "there is one result"
    # Without "--" as well, the program's own options stay as they are.
    bench exec --rounds 3 -b "glibc,toy=$TOY" --limit 0.1% /bin/sh -c true x --rounds 7
    expect_code 0
    sed -n '/^next:/,$p' "$OUT/stdout" | sed 's/\\$//' | tr -s '\n ' ' ' > "$OUT/next"
    grep -q -- ' -- /bin/sh -c true x --rounds 7' "$OUT/next" || fail "$(cat "$OUT/next")"
}

# bats test_tags=full
@test "a stored result is a base as well: the same command, each allocator with itself" {
    cd "$OUT"
    bench exec --rounds 6 -b "glibc,x=$TOY" --json base.json -q -- "$PROG" works 20000
    expect_code 0
    bench exec --rounds 6 -b "x=$GUESTS/libslow1us.so" --baseline base.json --limit 10% --json r.json -- "$PROG" works 20000
    expect_code 1
    expect_json '.comparison | .base == "base.json" and ([.cells[] | select(.limit != null) | .verdict] == ["regressed"])' r.json
    bench exec --rounds 6 -b "x=$TOY" --baseline base.json -q -- "$PROG" works 30000
    expect_code 2
    expect_error 'different work'
}

@test "a back end that fails in the replay is reported once, and is exit 4" {
    allocbench record -q -o "$OUT/t.abt" -- "$PROG" works 2000 3>&-
    bench exec --rounds 2 -b "glibc,toy=$TOY,gone=$GUESTS/libctorcrash.so" --trace "$OUT/t.abt" -- "$PROG" works 2000
    expect_code 4
    [ "$(grep -c 'error: .*gone' "$OUT/stderr")" -eq 1 ] || fail "$(cat "$OUT/stderr")"
    # it serves the program, and not the replay: a number is missing that was asked for
    bench exec --rounds 2 -b "glibc,toy=$TOY,bad=$GUESTS/libmisaligned.so" --trace "$OUT/t.abt" --json "$OUT/r.json" -- "$PROG" works 2000
    expect_code 4
    [ "$(grep -c 'error: ' "$OUT/stderr")" -eq 1 ] || fail "$(cat "$OUT/stderr")"
    expect_error 'error: replay: bad: '
    expect_json '[.results[] | select(.backend == "bad" and .op == "all") | .program | .wall_ns > 0 and .replay_ns_per_call == null] == [true, true]' "$OUT/r.json"
}

# The inner one may not listen, because the outer one does.
@test "where ends cannot be watched, what runs long enough is proven all the same" {
    execute -q -b glibc --no-check-output -- allocbench exec -q --rounds 1 -b glibc --json "$OUT/in.json" \
        -- "$PROG" holds 4
    expect_code 0
    expect_json '[.results[].program.resident_peak_bytes / 1048576 | . > 4 and . < 8] == [true]' "$OUT/in.json"
    expect_nothing_left
}

@test "anonymous memory that malloc is not asked for is said, from the run that is not timed" {
    for kind in heap linked gone; do
        execute -b "glibc,toy=$TOY" --json "$OUT/$kind.json" -- "$GUESTS/prog_own_heap" $kind
        expect_code 0
        tr -s ' \n' ' ' <"$OUT/stdout" |
            grep -qE ' [1-4][0-9.]* MiB of [1-5][0-9.]* MiB of the program.s anonymous memory did not come from malloc: allocators' ||
            fail "$(cat "$OUT/stdout")"
    done
    expect_json '.config.unasked_bytes > 47 * 1048576 and .config.unasked_bytes < 49 * 1048576
        and .config.anonymous_bytes - .config.unasked_bytes < 4 * 1048576' "$OUT/heap.json"
    expect_json '.config.unasked_bytes > 38 * 1048576 and .config.unasked_bytes <= 41 * 1048576' "$OUT/linked.json"
    expect_json '.config.unasked_bytes > 8 * 1048576 and .config.unasked_bytes < 49 * 1048576' "$OUT/gone.json"
}

@test "memory that malloc was asked for, variables and stacks are not said, nor what is not known" {
    execute -b "glibc,toy=$TOY" --json "$OUT/v.json" -- "$GUESTS/prog_own_heap" variables
    expect_code 0
    ! grep -q 'did not come from malloc' "$OUT/stdout" || fail "$(cat "$OUT/stdout")"
    expect_json '.config.anonymous_bytes > 8 * 1048576 and .config.unasked_bytes < 1048576' "$OUT/v.json"
    execute -q -b "toy=$TOY" --json "$OUT/t.json" -- "$GUESTS/prog_own_heap" heap
    expect_json '.config | has("anonymous_bytes") or has("unasked_bytes") | not' "$OUT/t.json"
}

@test "a program that prints or does something else with the library in front of malloc is measured all the same" {
    execute -b glibc --json "$OUT/r.json" -- sh -c 'echo "$LD_PRELOAD"'
    expect_code 0
    expect_json '.results | length == 2' "$OUT/r.json"
    execute -b glibc --json "$OUT/r.json" -- sh -c '[ -z "$LD_PRELOAD" ]'
    expect_code 0
    expect_json '.results | length == 2' "$OUT/r.json"
    # what glibc prints with the library in front is held against no other
    execute -b "toy=$TOY,glibc" --json "$OUT/r.json" -- sh -c 'case $LD_PRELOAD in *-asked.so*) echo other ;; *) echo same ;; esac'
    expect_code 0
    expect_json '.results | length == 4' "$OUT/r.json"
}

@test "a system without /proc is named before anything is measured" {
    unshare -m mount -t tmpfs none /proc 2>/dev/null || skip "no mount namespace here"
    code=0
    unshare -m sh -c 'mount -t tmpfs none /proc && exec "$@"' sh "$(command -v allocbench)" \
        exec -b glibc -- true >"$OUT/stdout" 2>"$OUT/stderr" 3>&- || code=$?
    expect_code 4
    expect_error 'exec needs /proc, which shows what allocator serves a program'
    [ ! -s "$OUT/stdout" ]
}
