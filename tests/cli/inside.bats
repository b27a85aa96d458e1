#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# exec --inside: every call of the real program is counted, and times are of the allocator.
# tests: inside.c program_inside.c site_grid.c proof.c

load helpers

PROG=$GUESTS/prog_inside

inside() { # BACKENDS ARGUMENT…: the document of two rounds
    local backends=$1
    shift
    bench exec -q --inside --rounds 2 -b "$backends" --json "$OUT/r.json" -- "$@"
}

# The last run of a session has the interposer: what the library saw behind it is its counts, exactly.
expect_counts() { # LIBRARY ARGUMENT…
    local library=$1 seen
    shift
    export COUNT_FILE=$OUT/counts
    inside "seen=$GUESTS/$library" "$PROG" "$@"
    expect_code 0
    seen=$(od -An -v -td8 -N40 "$OUT/counts.prog_inside" | tr -s ' \n' ' ')
    [ "$(jq -r '[.results[] | select(.round == 1)] as $r | ["alloc", "alloc_zeroed", "alloc_aligned",
        "resize", "free"] | map(. as $o | $r[] | select(.op == $o).n_calls) | " \(join(" ")) "' \
        "$OUT/r.json")" = "$seen" ] || fail "$(jq -c '.results[] | [.op, .n_calls]' "$OUT/r.json"); seen: $seen"
    jq -e --argjson n "$resizes" '[.results[] | select(.op == "resize").n_calls] | length == 2 and all(. >= $n and
        (. == $n or $n == 1))' "$OUT/r.json"
}

@test "counts are those of an independent counter: one thread, ten threads, forks, an end by a signal" {
    resizes=5000 expect_counts libcount.so
    resizes=55000 expect_counts libcount.so threads
    resizes=30000 expect_counts libcount.so forks
    resizes=10000 expect_counts libcount.so signal
}

@test "counts are exact over 300 threads, 200 children, and signal handlers that allocate" {
    resizes=1505000 expect_counts libtruth.so many
    resizes=1005000 expect_counts libtruth.so storm
    resizes=1 expect_counts libtruth.so handlers
    expect_json '[.results[] | select(.op == "alloc_zeroed").n_calls % 100 == 0] | all' "$OUT/r.json"
}

@test "programs that the program starts count as well" {
    inside glibc sh -c "'$PROG' >'$OUT/first'; '$PROG' forks"
    expect_code 0
    expect_json '[.results[] | select(.op == "alloc_aligned").n_calls] == [35000, 35000]' "$OUT/r.json"
}

@test "one call in 128 is timed, and sums are those of the kinds" {
    inside glibc "$PROG" threads
    expect_json '[.results[] | select(.op == "free") | .n / .n_calls * 128 / (15 / 16) | . > 0.8 and . < 1.2] | all' "$OUT/r.json"
    expect_json '.results | group_by(.round) | all((map(select(.op != "all").n_calls) | add) ==
        (map(select(.op == "all").n_calls) | add))' "$OUT/r.json"
    expect_json '[.results[] | select(.op == "all").program | .inside_ns > 0 and .interposer_ns > 0 and
        .interposer_ns < .inside_ns and .outside_ns < .inside_ns and .blocked_ns != null] | all' "$OUT/r.json"
}

@test "a malloc of 1 us is one, and what it takes is inside" {
    inside "glibc,slow=$GUESTS/libslow1us.so" "$PROG"
    expect_code 0
    expect_json '[.results[] | select(.op == "alloc")] | (map(select(.backend == "slow").quantiles.p50) | min) >
        5 * (map(select(.backend == "glibc").quantiles.p50) | min)' "$OUT/r.json"
    expect_json '[.results[] | select(.op == "alloc" and .backend == "slow").quantiles.p50 | . > 900 and . < 2000] | all' "$OUT/r.json"
    expect_json '[.results[] | select(.op == "all" and .backend == "slow").program |
        .inside_ns > 5000 * 900] | all' "$OUT/r.json"
}

@test "functions of C++ are one call each, whoever defines them" {
    command -v c++ >/dev/null || skip "no compiler"
    cat >"$OUT/new.cpp" <<'END'
#include <new>
int main() { for (int i = 0; i < 3000; i++) { int *volatile p = new int[9]; delete[] p;
    try { p = static_cast<int *>(operator new(~std::size_t(0) / 4)); } catch (const std::bad_alloc &) {} } }
END
    c++ -O1 -o "$OUT/new" "$OUT/new.cpp" 2>"$OUT/log" || skip "no C++"
    inside glibc "$OUT/new"
    expect_code 0
    expect_json '[.results[] | select(.op == "alloc").n_calls | . >= 6000 and . < 6020] | all' "$OUT/r.json"
}

@test "the table has both columns, a gate one of the calls; without the option neither is known" {
    bench exec --inside --rounds 6 -b "glibc,slow=$GUESTS/libslow1us.so" --json "$OUT/r.json" \
        --markdown "$OUT/r.md" --html "$OUT/r.html" --csv "$OUT/r.csv" \
        --gate 'glibc:program/alloc/p50 < 500ms' -- "$PROG"
    expect_code 0
    local said='slow: [0-9.]+ ms more CPU time \[[0-9.]+ ms, [0-9.]+ ms\](: |, of which )[0-9.]+ ms (more )?in malloc'
    tr -s '\n ' '  ' <"$OUT/stdout" >"$OUT/words"
    grep -qE "$said" "$OUT/words" || fail "$(cat "$OUT/stdout")"
    grep -qE 'in malloc, in all glibc .* slow [0-9.]+ ms \[.*\] [0-9.]+ ms more \[' "$OUT/words" || fail "$(cat "$OUT/stdout")"
    grep -qE 'The interposer, which times the calls, took up to [0-9.]+ us per run \([0-9.]+ ns per call, including its start\). This is [0-9.]+ % of the CPU time' "$OUT/words" || fail "$(cat "$OUT/stdout")"
    tr -d '\\' <"$OUT/r.md" | grep -qE "^- $said" || fail "$(cat "$OUT/r.md")"
    grep -qF '| allocator | in malloc, a call | in malloc | outside | together |' "$OUT/r.md" || fail "$(cat "$OUT/r.md")"
    grep -qE "<p>$said" "$OUT/r.html" || fail "no sentence in the page"
    grep -qF 'Calls of alloc_aligned in the program' "$OUT/r.html" || fail "no calls in the page"
    grep -qE '^[^,]*,0,[12],slow,program,all,outside_ns,' "$OUT/r.csv" || fail "$(grep outside "$OUT/r.csv")"
    bench compare "$OUT/r.json" "$OUT/r.json"
    grep -qE 'program outside_ns +.*\+0.0 %' "$OUT/stdout" || fail "$(cat "$OUT/stdout")"
    bench exec --rounds 2 -b glibc --gate 'program/alloc/p50 < 500ms' -- "$PROG"
    expect_code 2
    bench exec -q --rounds 2 -b glibc --json - -- "$PROG"
    expect_json '[.results[] | .op == "all" and .program.inside_ns == null] | all'
}

@test "the longest call has its place" {
    TRUTH_SLOW=1 bench exec -q --inside --rounds 3 -b "truth=$GUESTS/libtruth.so" --json "$OUT/r.json" -- "$PROG" longest
    expect_code 0
    expect_json '[.results[] | select(.op == "alloc") | .max > 1e5 and .inside.max_call <= 5010 and
        .inside.max_at_ns > 1e6] | length == 3 and all' "$OUT/r.json"
    # where the system did not take longer for another one
    expect_json '[.results[] | select(.op == "alloc").inside | .max_thread == 2 and .max_call % 2 == 0 and
        .max_size_bytes == 1048576 and .max_call <= 2001] | any' "$OUT/r.json"
    bench report -v "$OUT/r.json"
    grep -qE 'truth .* #[0-9]+ of thread [0-9]+, [0-9.]+ [KM]?i?B, at ' "$OUT/stdout" || fail "$(cat "$OUT/stdout")"
}

@test "calls that enter the kernel are estimated, from looks at 1 in 2048" {
    inside "pagewise=$GUESTS/libpagewise.so" "$PROG" slow
    expect_json '[.results[] | select(.op == "alloc") | .inside.n_looked > 30 and .inside.n_looked < 200 and
        .inside.n_entered > .inside.n_looked * 0.9 and .inside.entered_calls > .n_calls * 0.9] | length == 2 and all' "$OUT/r.json"
    expect_json '[.results[] | select(.op == "free").inside.entered_calls < 20000] | length == 2 and all' "$OUT/r.json"
    bench exec --inside --rounds 2 -b "pagewise=$GUESTS/libpagewise.so" --gate 'program/alloc/entered_calls < 1000' -- "$PROG" slow
    expect_code 1
}

# The library adds up the CPU time of its own mallocs, from within: what it takes to get there is more.
@test "what a malloc of known latency takes is inside, and nothing of it outside" {
    local truth
    COUNT_FILE=$OUT/counts TRUTH_SLOW=1 bench exec -q --inside --rounds 4 -b "truth=$GUESTS/libtruth.so" \
        --json "$OUT/slow.json" -- "$PROG" slow
    truth=$(od -An -v -td8 -j40 -N8 "$OUT/counts.prog_inside" | tr -d ' ')
    inside "truth=$GUESTS/libtruth.so" "$PROG" slow
    jq -e --argjson truth "$truth" --slurpfile fast "$OUT/r.json" '
        def of($d; $f): [$d.results[] | select(.op == "all").program[$f]] | add / length;
        (of(.; "inside_ns") - of($fast[0]; "inside_ns")) as $in |
        (of(.; "outside_ns") - of($fast[0]; "outside_ns")) as $out |
        ($in / ($in + $out) | . > 0.8 and . < 1.2) and ($in / $truth | . > 0.85 and . < 1.6)' "$OUT/slow.json" ||
        fail "$truth $(jq -c '.results[] | select(.op == "all").program' "$OUT/slow.json" "$OUT/r.json")"
}

@test "what is lost because each block lies on a page of its own is outside" {
    inside "truth=$GUESTS/libtruth.so" "$PROG" chase
    cp "$OUT/r.json" "$OUT/dense.json"
    TRUTH_PAGES=1 inside "truth=$GUESTS/libtruth.so" "$PROG" chase
    jq -e --slurpfile dense "$OUT/dense.json" '
        def of($d; $f): [$d.results[] | select(.op == "all").program[$f]] | add / length;
        def p50($d): [$d.results[] | select(.op == "alloc").quantiles.p50] | min;
        of(.; "outside_ns") > 1.5 * of($dense[0]; "outside_ns") and p50(.) < 2 * p50($dense[0]) and
        (of(.; "inside_ns") - of($dense[0]; "inside_ns")) < # a realloc touches the page that it moves to
            of(.; "outside_ns") - of($dense[0]; "outside_ns")' "$OUT/r.json" ||
        fail "$(jq -c '.results[] | select(.op == "all").program' "$OUT/dense.json" "$OUT/r.json")"
}

@test "--sites adds the calls of all processes up by the line that calls" {
    bench exec -q --inside --sites --rounds 2 -b glibc --json "$OUT/r.json" --html "$OUT/r.html" -- "$PROG" storm
    expect_code 0
    expect_json '[.call_sites[] | select(.function == "call") | .file | endswith("prog_inside.c")] | length >= 14 and all' "$OUT/r.json"
    # 201 processes, 5,000 calls a line each; in one of the rounds
    expect_json '[.call_sites[] | select(.function == "call" and .round == 1).calls | . / 1005000 | . > 0.9 and . < 1.1] | length == 7 and all' "$OUT/r.json"
    expect_json '. as $d | [0, 1] | all(. as $r | ([$d.call_sites[] | select(.round == $r).calls] | add) /
        ($d.results[] | select(.op == "all" and .round == $r).n_calls) | . > 0.99 and . < 1.001)' "$OUT/r.json"
    expect_json '. as $d | [0, 1] | all(. as $r | ([$d.call_sites[] | select(.round == $r).inside_ns] | add) /
        ($d.results[] | select(.op == "all" and .round == $r).program.inside_ns) | . > 0.8 and . < 1.25)' "$OUT/r.json"
    grep -qE 'call \(prog_inside.c:[0-9]+\)' "$OUT/r.html" || fail "no places in the page"
    bench report "$OUT/r.json"
    grep -qE 'call \(prog_inside.c:[0-9]+\) +[0-9.]+ [kM] +[0-9.]+ ns' "$OUT/stdout" || fail "$(cat "$OUT/stdout")"
}

@test "places in a library that is loaded elsewhere in each process are one; without --inside there are none" {
    bench exec -q --inside --sites --rounds 2 -b glibc --json "$OUT/r.json" -- sh -c \
        "'$GUESTS/prog_modules' open '$GUESTS/libdeep.so' 4000; '$GUESTS/prog_modules' open '$GUESTS/libdeep.so' 4000"
    expect_code 0
    expect_json '[.call_sites[] | select(.function == "deep_work" and .round == 1)] | length == 4 and
        (map(.object) | unique | length) == 1 and (map(.calls) | add | . > 25000 and . < 40000)' "$OUT/r.json"
    bench exec --sites -b glibc -- "$PROG"
    expect_code 2
    expect_error '--sites requires --inside'
}

@test "programs that nothing can be preloaded into have the reason" {
    printf '#include <stdlib.h>\nvoid *malloc(size_t n) { static char all[1 << 20], *at = all; at += n + 15 & ~15ul; return at; }\nvoid free(void *p) { (void)p; }\nint main(void) { return malloc(1) == 0; }\n' >"$OUT/own.c"
    cc -fno-builtin -rdynamic -o "$OUT/own" "$OUT/own.c" 2>/dev/null || skip "no compiler"
    bench exec --inside --rounds 2 -b glibc -- "$OUT/own"
    expect_code 4
    expect_error 'own has a malloc of its own'
    # its own malloc is a row, whose calls are not 0: nothing is known of them
    bench exec -q --inside --own-malloc --rounds 2 -b glibc --json "$OUT/r.json" -- "$OUT/own"
    expect_code 4
    expect_json '[.results[] | .backend, .n_calls, .program.inside_ns] == ["own-own", null, null, "own-own", null, null]' "$OUT/r.json"
    expect_report "own-own: --inside cannot time its calls in this program: own has a malloc of its own"
    echo 'int main(void) { return 0; }' >"$OUT/static.c"
    cc -static -o "$OUT/static" "$OUT/static.c" 2>/dev/null || skip "no static C library"
    bench exec --inside --rounds 2 -b glibc -- "$OUT/static"
    expect_code 2
    expect_error 'is statically linked'
    bench exec --inside --rounds 2 -b glibc -- sh -c "'$OUT/static'; true"
    expect_code 4
    expect_error "glibc: wrong_library: static does not use the C library's malloc"
}

expect_report() { # PATTERN: in what `report` says of the stored result, whatever its lines
    bench report "$OUT/r.json"
    expect_code 0
    tr -s ' \n' ' ' <"$OUT/stdout" | grep -qE "$1" || fail "$(cat "$OUT/stdout")"
}

@test "a process that is not counted, since it runs as another user, is named; there are no numbers without it" {
    [ "$(id -u)" -eq 0 ] || skip "needs root"
    command -v setpriv >/dev/null || skip "no setpriv"
    local as="setpriv --reuid 65534 --regid 65534 --clear-groups"
    $as test -r "$BUILD/liballocbench-inside.so" || skip "the build is not for everybody"
    bench exec --inside --rounds 1 -b glibc --json "$OUT/r.json" -- $as perl -e 'print 1'
    expect_code 0
    expect_json '[.results[] | select(.op == "all").program.inside_ns] == [null]' "$OUT/r.json"
    expect_json '.backends[0].not_inside | test("^perl was not counted: it runs as another user")' "$OUT/r.json"
    bench exec --inside --rounds 1 -b glibc --json "$OUT/r.json" -- sh -c "perl -e 'print 1'"
    expect_json '.backends[0].not_inside == null' "$OUT/r.json"
}

# Where libstdc++ comes with the library that is opened, what fails throws, as it does without us.
@test "a library in C++ that a program in C opens throws what it throws without the interposer" {
    command -v g++ >/dev/null || skip "no C++"
    g++ -std=c++17 -O1 -fsized-deallocation -shared -fPIC -o "$OUT/operators.so" "$ROOT/tests/guests/operators.cpp"
    cat >"$OUT/host.c" <<'END'
#include <dlfcn.h>
int main(int argc, char **argv)
{
    int (*operators)(int) = (int (*)(int))dlsym(dlopen(argv[1], RTLD_NOW | RTLD_LOCAL), "operators");
    return argc > 1 && operators != 0 ? operators(1000) : 5;
}
END
    gcc -O1 -w -o "$OUT/host" "$OUT/host.c"
    inside glibc "$OUT/host" "$OUT/operators.so"
    expect_code 0
    expect_json '[.backends[].not_inside] == [null]' "$OUT/r.json"
    expect_json '[.results[] | select(.op == "alloc").n_calls | . >= 6000 and . < 6100] | all' "$OUT/r.json"
}

@test "libraries that call the C library behind the interposer are named: RTLD_DEEPBIND, dlmopen" {
    inside glibc "$GUESTS/prog_modules" deep "$GUESTS/libdeep.so" 100
    expect_code 0
    expect_json '.backends[0].deepbound == "libdeep.so"' "$OUT/r.json"
    expect_report "warning: calls of libdeep.so go to the C library's malloc, because of RTLD_DEEPBIND or dlmopen; --inside does not count these calls"
    inside "toy=$GUESTS/libtoy.so" "$GUESTS/prog_modules" own "$GUESTS/libdeep.so" 100
    expect_code 0
    expect_report "calls of libdeep.so go to the C library's malloc, not to toy, because .*; --inside does not count these calls"
    # not where it is loaded as others are, nor where it is loaded first
    inside "toy=$GUESTS/libtoy.so" "$GUESTS/prog_modules" open "$GUESTS/libdeep.so" 100
    expect_json '.backends[0] | has("deepbound") | not' "$OUT/r.json"
    LD_PRELOAD=$GUESTS/libdeep.so inside "toy=$GUESTS/libtoy.so" "$GUESTS/prog_modules" deep "$GUESTS/libdeep.so" 100
    expect_code 0
    expect_json '.backends[0] | has("deepbound") | not' "$OUT/r.json"
}

@test "a program that does not do the same with the interposer has the reason, and the plain numbers" {
    inside glibc sh -c 'case $LD_PRELOAD in *inside*) echo other ;; *) echo usual ;; esac'
    expect_code 0
    expect_json '[.results[] | .op] == ["all", "all"]' "$OUT/r.json"
    expect_report 'warning: glibc: --inside cannot time its calls in this program: with the interposer the program printed something else'
    inside glibc sh -c "env -u LD_PRELOAD '$PROG' once"
    expect_code 0
    expect_json '[.results[] | .op] == ["all", "all"]' "$OUT/r.json"
    expect_report 'in this program: prog_inside has not loaded .*liballocbench-inside.so'
}

@test "of a program with so few calls that none was timed, the time is not known" {
    bench exec --inside -b glibc --rounds 6 --json result.json -- "$GUESTS/prog_inside" once
    jq -e '[.results | group_by(.round)[] | {n: (map(select(.op != "all").n // 0) | add // 0),
        known: (map(select(.op == "all"))[0].program.inside_ns != null),
        calls: map(select(.op == "all"))[0].n_calls}]
        | any(.[]; .calls > 0 and .n == 0) and all(.[]; .known == (.n > 0 or .calls == 0))' result.json
}

@test "what is subtracted from each timed call is one number for the command, and one round has no median" {
    inside glibc "$PROG" threads
    expect_json '[.results[] | select(.op == "all").program] | (map(.inside_subtracted_ns) | unique | length) == 1 and
        all(.[]; .inside_subtracted_ns > .inside_empty_call_ns and .inside_empty_call_ns > 0)' "$OUT/r.json"
    bench report "$OUT/r.json"
    grep -q median "$OUT/stdout" || fail "$(cat "$OUT/stdout")"
    bench exec --inside --rounds 1 -b glibc -- "$PROG" threads
    ! grep -q median "$OUT/stdout" || fail "$(cat "$OUT/stdout")"
    grep -q '^in malloc, a call *one round' "$OUT/stdout" || fail "$(cat "$OUT/stdout")"
}
