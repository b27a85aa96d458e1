# SPDX-License-Identifier: MIT
#
# Programs that are hard to record, each with a number of calls that is known beforehand or seen by
# the witness. tests/README.md says which kinds of guests there are and where each is.
# tests: spool_summary.c record/bypass.c preload_libraries.c preload_calls.c anonymous.c

load helpers
load recording

HARD=$GUESTS/prog_hard
MODULES=$GUESTS/prog_modules

# How many calls of the trace asked for so many bytes.
of_size() { # BYTES [FILE]
    allocbench trace dump "${2:-$OUT/t.abt}" | awk -v "size=$1" '$4 == size { n++ } END { print n + 0 }'
}

expect_ops() { # ALLOC ZEROED ALIGNED RESIZE FREE
    [ "$(ops)" = "$*" ] || fail "$(ops), expected $*"
    expect_clean "$OUT/t.abt"
    expect_error 'complete recording'
    expect_nothing_left
}

# All calls of a program of several threads: the C library's of pthread_create too.
hard_with_witness() { # HOW N
    record_counted -- "$HARD" "$@"
    expect_code 0
    expect_witnessed prog_hard
    expect_clean "$OUT/t.abt"
    expect_error 'complete recording'
    expect_nothing_left
}

@test "calls before every constructor, in a hundred of them and in a destructor are on record" {
    record -- "$GUESTS/prog_early"
    expect_code 0
    expect_ops 102 0 0 50 102
}

@test "a dlsym that allocates gets memory that stays good for ever" {
    export LD_PRELOAD=$GUESTS/libdlsym.so
    record -- "$LIFE" exit 100
    unset LD_PRELOAD
    expect_code 0
    expect_ops 101 0 0 50 37 # with the block that moves into the heap when it is resized
}

@test "twenty libraries with thread-local memory, opened late: the witness saw what was recorded" {
    local i
    mkdir "$OUT/tls"
    for i in $(seq 20); do cp "$GUESTS/libtls.so" "$OUT/tls/$i.so"; done
    record_with_witness prog_modules "$MODULES" tls "$OUT/tls" 20
    expect_code 0
    [ "$(ops | cut -d ' ' -f 1)" -gt 80 ] || fail "$(ops)" # that of each library in each thread
    [ "$(allocbench trace info --json - "$OUT/t.abt" | jq .threads)" -eq 5 ]
}

# Each child's trace is whole, whatever the other threads were in the middle of.
many_forks() { # N
    record --follow -- "$HARD" forks "$1"
    expect_code 0
    [ "$(ls "$OUT"/t.*.abt | wc -l)" -eq "$1" ] || fail "$(ls "$OUT" | wc -l) traces"
    expect_clean "$OUT"/t*.abt
    ! grep -q 'omitted\|unrecorded path' "$OUT/stderr" || fail "conflicts"
    local trace
    for trace in "$OUT"/t.*.abt; do
        [ "$(of_size 7001 "$trace")" -eq 10 ] || fail "$trace: $(of_size 7001 "$trace")"
    done
    expect_nothing_left
}

@test "forks while four threads allocate: each child has its own calls, all of them" {
    many_forks 20
}

# bats test_tags=full
@test "a thousand forks while four threads allocate: each child has its own calls, all of them" {
    many_forks 1000
}

@test "children that share the memory of their parent count as its calls" {
    record -- "$HARD" clone 300
    expect_code 0
    expect_ops 301 0 0 0 301
}

@test "a fork in a signal handler disturbs nothing, and its children are recorded on request" {
    record -- "$HARD" handler 100
    expect_code 0
    expect_ops 100 0 0 0 100
    record --follow -- "$HARD" handler 10
    expect_code 0
    [ "$(of_size 7001)" -eq 10 ]
    expect_clean "$OUT"/t*.abt
}

@test "a fork after any instruction of a call: the child writes nothing into its parent's stream" {
    [ "$(uname -m)" = x86_64 ] || skip "steps are taken on x86-64 only"
    for sites in "" --sites=4; do
        # shellcheck disable=SC2086 # one word or none
        record $sites -- "$HARD" steps 2
        expect_code 0
        expect_ops 3 0 0 0 3
    done
}

@test "a program that waits for signals gets them all, and has no thread more than without" {
    record -- "$HARD" sigwait 200
    expect_code 0
    [ "$(of_size 7001)" -eq 200 ] || fail "$(of_size 7001)"
    expect_clean "$OUT/t.abt"
}

@test "a chain of programs, with an exec that fails before each: each is a trace of its own" {
    local trace n=0
    record --follow -- "$HARD" execs 5
    expect_code 0
    for trace in "$OUT"/t*.abt; do
        [ "$(ops "$trace")" = "2 0 0 0 2" ] || fail "$trace: $(ops "$trace")"
        n=$((n + 1))
    done
    [ $n -eq 5 ] || fail "$n traces"
    expect_clean "$OUT"/t*.abt
    record -- "$HARD" execs 5
    expect_code 0
    [ "$(ops)" = "2 0 0 0 2" ] || fail "$(ops)"
    expect_error 'called exec 4 times'
}

ends_of() { # TRACE
    allocbench trace info --json - "$1" | jq -c '[.threads, .thread_ends]'
}

@test "a thread ends in the trace where it ended, also when no other one takes its place" {
    record -- "$GUESTS/prog_short_threads" 0 2000 8
    expect_code 0
    [ "$(ends_of "$OUT/t.abt")" = "[9,8]" ] || fail "$(ends_of "$OUT/t.abt")"
    # The thread that lives frees some 500 blocks after the ends: they are in the stretch before.
    bench trace cut "$OUT/t.abt" -o "$OUT/cut.abt" --events 0..1500
    expect_code 0
    [ "$(ends_of "$OUT/cut.abt")" = "[9,8]" ] || fail "$(ends_of "$OUT/cut.abt")"
}

@test "what the destructors of keys do is the thread's, and comes ahead of its end" {
    record -- "$HARD" keys 300
    expect_code 0
    [ "$(ends_of "$OUT/t.abt")" = "[301,300]" ] || fail "$(ends_of "$OUT/t.abt")"
    record --follow -- "$HARD" cancel 50
    expect_code 0
    [ "$(ends_of "$OUT/t.abt")" = "[51,50]" ] || fail "$(ends_of "$OUT/t.abt")"
}

@test "threads that are cancelled while they allocate: the witness saw what was recorded" {
    hard_with_witness cancel 50
}

@test "detached threads whose keys' destructors allocate: the witness saw what was recorded" {
    hard_with_witness keys 300
    [ "$(of_size 7001)" -eq 600 ] || fail "$(of_size 7001)"
}

@test "calls on a signal stack of 16 KiB are on record, and leave it room" {
    record -- "$HARD" altstack 3000 # more than a half of the buffer: it turns there
    expect_code 0
    expect_ops 3000 0 0 0 3000
}

@test "100 coroutines with stacks of 4 KiB are recorded whole, and nothing is written below them" {
    record -- "$GUESTS/prog_coroutines" run 400 # so many events that the buffer goes into the file
    expect_code 0
    expect_ops 40000 100 0 40000 40000
}

# first, all, usual, child: bytes of stack, with a malloc behind the recorder that needs next to none.
stack_taken() { # OPTIONS of record
    LD_PRELOAD=$GUESTS/libbump.so "$GUESTS/prog_coroutines" depth 100000 >"$OUT/alone"
    LD_PRELOAD=$GUESTS/libbump.so allocbench record -q --follow "$@" -o "$OUT/depth" -- \
        "$GUESTS/prog_coroutines" depth 100000 3>&- >"$OUT/recorded"
    paste -d ' ' "$OUT/alone" "$OUT/recorded" | awk '{ print $1, $4 - $2 }'
}

# The bounds of traces/README.md.
@test "the recorder takes no more of a thread's stack than is documented" {
    stack_taken >"$OUT/taken"
    awk '{ n++ } $2 > ($1 == "usual" ? 128 : 1024) { exit 1 } END { exit n != 4 }' "$OUT/taken" ||
        fail "$(cat "$OUT/taken")"
    stack_taken --sites=64 >"$OUT/taken"
    awk '{ n++ } $2 > 1536 { exit 1 } END { exit n != 4 }' "$OUT/taken" || fail "$(cat "$OUT/taken")"
}

short_threads() { # N
    record --no-convert -- "$HARD" threads "$1"
    expect_code 0
    [ "$(ls "$OUT"/t.abt/spool | wc -l)" -le 40 ] || fail "$(ls "$OUT"/t.abt/spool | wc -l) files"
    bench trace recover "$OUT/t.abt" -o "$OUT/r.abt"
    expect_code 0
    expect_clean "$OUT/r.abt"
    [ "$(of_size 7001 "$OUT/r.abt")" -eq "$1" ] || fail "$(of_size 7001 "$OUT/r.abt")"
    [ "$(allocbench trace info --json - "$OUT/r.abt" | jq .threads)" -eq $(($1 + 1)) ]
}

@test "short threads use the same few files one after the other" {
    short_threads 1000
}

# bats test_tags=full
@test "a hundred thousand short threads use the same few files one after the other" {
    short_threads 100000
}

@test "a program that is linked with a malloc of its own is recorded through it" {
    need gcc
    local library linked
    for library in libjemalloc.so.2 libtcmalloc_minimal.so.4 libmimalloc.so.2; do
        linked=$(ldconfig -p | awk -v "l=$library" '$1 == l { print $NF; exit }')
        [ -n "$linked" ] || continue
        gcc -O0 -fno-builtin -pthread -o "$OUT/linked" "$ROOT/tests/guests/prog_life.c" \
            -Wl,--no-as-needed "$linked"
        record_counted -q -- "$OUT/linked" exit 20000
        expect_code 0
        expect_clean "$OUT/t.abt"
        # The witness knows no operators of C++, which some of the libraries call at their start.
        set -- $(witnessed linked) $(ops)
        [ $(($6 - $1)) -ge 0 ] && [ $(($6 - $1)) -le 10 ] || fail "$library: $*"
        [ "$2 $3 $4 $5" = "$7 $8 $9 ${10}" ] || fail "$library: $*"
        # the program's own, and what the library's start asks itself for
        [ "$(allocbench trace info --json - "$OUT/t.abt" | jq .not_seen)" = null ] || fail "$library"
        [ "$(events "$OUT/t.abt")" -ge 49936 ] || fail "$library: $(events "$OUT/t.abt")"
        [ "$(events "$OUT/t.abt")" -le 50036 ] || fail "$library: $(events "$OUT/t.abt")"
    done
    [ -n "${linked-}" ] || skip "no such malloc here"
}

# ---- operator new and delete ----

SO=/usr/lib/$(uname -m)-linux-gnu

operators() { # COMPILER FLAG…: $OUT/operators
    need "$1"
    "$1" -std=c++17 -g -O1 -fsized-deallocation -o "$OUT/operators" "$ROOT/tests/guests/operators.cpp" \
        -Wl,--no-as-needed "${@:2}" || fail "cannot be built"
}

# Of each form as many as were called, as often as it is deleted, and what the library's start and the
# end of the program make; and the program says and does the same.
expect_operators() { # N COMMAND…
    local plain=0 n=$1 size
    shift
    "$@" "$n" >"$OUT/plain" 2>&1 || plain=$?
    record -- "$@" "$n"
    expect_code "$plain"
    cmp "$OUT/plain" "$OUT/stdout" || fail "another output"
    expect_clean "$OUT/t.abt"
    expect_error 'complete recording'
    for size in 7001 7002 7005 7006 7009 7010; do
        [ "$(of_size "$size")" -eq "$n" ] || fail "$size: $(of_size "$size")"
    done
    set -- $(ops)
    [ $(($1 + $2 + $3)) -ge $((12 * n)) ] && [ $(($1 + $2 + $3)) -le $((12 * n + 60)) ] || fail "$*"
    [ "$3" -ge $((6 * n)) ] && [ "$3" -le $((6 * n + 5)) ] || fail "$*"
    [ "$5" -ge $((12 * n)) ] && [ "$5" -le $((12 * n + 20)) ] || fail "$*"
}

@test "operator new and delete of a program that is linked with another malloc are on record, each once" {
    local library compiler linked
    for library in "" libjemalloc.so.2 libtcmalloc.so.4 libtcmalloc_minimal.so.4 libtbbmalloc_proxy.so.2; do
        [ -z "$library" ] || [ -e "$SO/$library" ] || continue
        linked=$library
        for compiler in "g++" "clang++" "g++ -Wl,-z,now" "g++ -static-libstdc++ -static-libgcc"; do
            operators $compiler ${library:+"$SO/$library"}
            expect_operators 100 "$OUT/operators"
        done
    done
    [ -n "$linked" ] || skip "no such malloc here"
}

@test "operators of a malloc that the user preloads are on record" {
    [ -e "$SO/libjemalloc.so.2" ] || skip "no jemalloc here"
    operators g++
    export LD_PRELOAD=$SO/libjemalloc.so.2
    expect_operators 100 "$OUT/operators"
}

# The library's operators call its malloc and free as everybody does: through the recorder.
@test "operators that call malloc themselves are one call each" {
    cat >"$OUT/new.cpp" <<'END'
#include <cstdlib>
#include <new>
void *operator new(std::size_t n) { return std::malloc(n); }
void operator delete(void *p) noexcept { std::free(p); }
void operator delete(void *p, std::size_t) noexcept { std::free(p); }
END
    gcc -O1 -fPIC -fno-builtin -c -o "$OUT/bump.o" "$ROOT/tests/guests/libbump.c"
    g++ -O1 -fPIC -shared -o "$OUT/libcxx.so" "$OUT/new.cpp" "$OUT/bump.o"
    cat >"$OUT/p.cpp" <<'END'
int main() { for (int i = 0; i < 100; i++) { delete new char[7001]; delete[] new char[7002]; } }
END
    g++ -O0 -w -o "$OUT/p" "$OUT/p.cpp" "$OUT/libcxx.so"
    record -- "$OUT/p"
    expect_code 0
    expect_clean "$OUT/t.abt"
    [ "$(of_size 7001) $(of_size 7002)" = "100 100" ] || fail "$(of_size 7001) $(of_size 7002)"
    set -- $(ops)
    [ "$5" -ge 200 ] && [ "$5" -le 210 ] || fail "$*"
}

@test "operators of the program's own are called as often as without the recorder" {
    operators g++ -DREPLACED
    "$OUT/operators" 50 >"$OUT/plain"
    record -- "$OUT/operators" 50
    expect_code 0
    cmp "$OUT/plain" "$OUT/stdout" || fail "$(cat "$OUT/plain")"
    expect_clean "$OUT/t.abt"
    [ "$(of_size 7001)" = 50 ] || fail "$(of_size 7001)"
}

# The host knows no C++: libstdc++ is in the sight of the library alone. Nothing of it is loaded before.
@test "a library in C++ that a program in C opens has its own operators, exceptions and handlers" {
    cat >"$OUT/host.c" <<'END'
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(int argc, char **argv)
{
    char line[4096];
    FILE *maps = fopen("/proc/self/maps", "r");
    while (fgets(line, sizeof line, maps) != NULL)
        if (strstr(line, "libstdc++") != NULL)
            return 3;
    if (dlerror() != NULL || dlsym(RTLD_DEFAULT, "_Znwm") != NULL)
        return 4;
    void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    int (*operators)(int) = (int (*)(int))dlsym(library, "operators");
    return argc < 3 || operators == NULL ? 5 : operators(atoi(argv[2]));
}
END
    gcc -O1 -w -o "$OUT/host" "$OUT/host.c"
    operators g++ -shared -fPIC
    expect_operators 100 "$OUT/host" "$OUT/operators"
    [ -e "$SO/libtcmalloc_minimal.so.4" ] || return 0
    operators g++ -shared -fPIC "$SO/libtcmalloc_minimal.so.4"
    record -- "$OUT/host" "$OUT/operators" 100
    expect_code 0
    expect_error 'lacks calls of .*operators.*bound to a malloc that the program contains'
}

@test "with call sites, that of an operator is where it was called" {
    [ -e "$SO/libjemalloc.so.2" ] || skip "no jemalloc here"
    operators g++ "$SO/libjemalloc.so.2"
    bench record --sites -o "$OUT/t.abt" -- "$OUT/operators" 10
    expect_code 0
    bench trace info --sites=100 --json - "$OUT/t.abt"
    expect_json '[.sites[] | select(.size_least == 7001 and .size_most == 7001) |
        [.calls, .stack[0].function]] == [[10, "by_new(unsigned long)"]]'
}

# ---- calls past the recorder ----

NOT_SEEN='.not_seen.module_names == ["libdeep.so"]'

# From its own side: 2 N pairs, N blocks given and N taken. The library's 4 N calls and its N
# allocations and N frees of the others' blocks are not there.
@test "a library that was loaded with RTLD_DEEPBIND is named, with what is missing and the way to it" {
    record -- "$MODULES" deep "$GUESTS/libdeep.so" 1000
    expect_code 0
    expect_clean "$OUT/t.abt"
    [ "$(of_size 7001) $(of_size 8001) $(of_size 6001)" = "1000 1000 0" ] || fail "$(ops)"
    expect_error '^allocbench: warning: .*t.abt lacks calls of libdeep.so \(loaded with RTLD_DEEPBIND'
    expect_error 'at least [0-9]+ calls?, probably more; at the end at most [0-9.]+ [KM]iB of memory'
    expect_error "load it first: LD_PRELOAD=$GUESTS/libdeep.so allocbench record$"
    ! grep -q 'complete recording' "$OUT/stderr" || fail "it says that nothing is missing"
    bench trace info "$OUT/t.abt"
    grep -q '^not seen .* of libdeep.so$' "$OUT/stdout" || fail "trace info is silent"
    bench trace info --json - "$OUT/t.abt"
    expect_json "$NOT_SEEN and .not_seen.least_calls >= 1 and .not_seen.modules == 1"
}

# $OUT/opens FLAG LIBRARY…: opens each, has it make calls, closes it, five times; by the name of the
# file alone, which only the program's RUNPATH finds, and from a library whose own finds another.
opens_and_closes() {
    need gcc
    mkdir -p "$OUT/of_program" "$OUT/of_library"
    cat >"$OUT/opens.c" <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
extern void *open_there(const char *name, int flags);
int main(int argc, char **argv)
{
    int flags = RTLD_NOW | (strcmp(argv[1], "deep") == 0 ? RTLD_DEEPBIND : 0);
    free(malloc(100));
    for (int i = 0; i < 5 * (argc - 2); i++) {
        const char *name = argv[2 + i % (argc - 2)];
        void *library = strcmp(argv[1], "own") == 0 ? dlmopen(LM_ID_NEWLM, name, flags) : dlopen(name, flags);
        void (*work)(long) = library != NULL ? (void (*)(long))dlsym(library, "deep_work") : NULL;
        if (work == NULL)
            return puts(dlerror()), 1;
        work(100);
        if (dlclose(library) != 0)
            return 2;
    }
    void *there = open_there("libthere.so", flags);
    return there == NULL || dlclose(there) != 0 || dlopen("libthere.so", flags) != NULL;
}
END
    printf '#include <dlfcn.h>\nvoid *open_there(const char *n, int f) { void *p = dlopen(n, f); return p; }' >"$OUT/there.c"
    gcc -O0 -shared -fPIC -o "$OUT/of_library/libthere.so" "$OUT/there.c"
    gcc -O0 -w -shared -fPIC -o "$OUT/libopener.so" "$OUT/there.c" "-Wl,-rpath,$OUT/of_library,--enable-new-dtags"
    gcc -O0 -w -o "$OUT/opens" "$OUT/opens.c" "$OUT/libopener.so" "-Wl,-rpath,$OUT/of_program:$OUT,--enable-new-dtags"
    cp "$GUESTS/libdeep.so" "$OUT/of_program/libone.so"
    cp "$GUESTS/libdeep.so" "$OUT/of_program/libtwo.so"
}

@test "libraries that were closed again are named: RTLD_DEEPBIND, dlmopen; each finds what it opens" {
    opens_and_closes
    record -- "$OUT/opens" deep libone.so libtwo.so
    expect_code 0
    expect_error 'lacks calls of libone.so, libtwo.so \(loaded with RTLD_DEEPBIND'
    ! grep -q 'complete recording' "$OUT/stderr" || fail "it says that nothing is missing"
    record -- "$OUT/opens" own libone.so libtwo.so
    expect_code 0
    expect_error 'lacks calls of libone.so, libtwo.so \(loaded with dlmopen'
    record -- "$OUT/opens" plain libone.so libtwo.so
    expect_code 0
    expect_error 'complete recording'
}

@test "a library that allocates by reallocarray or valloc alone is named too" {
    need gcc
    cat >"$OUT/opens.c" <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    void *library = dlopen(argv[1], RTLD_NOW | RTLD_DEEPBIND);
    void *(*take)(void) = library != NULL ? (void *(*)(void))dlsym(library, "take") : NULL;
    if (take == NULL)
        return 1;
    free(take());
    return argc - 2;
}
END
    gcc -O0 -w -o "$OUT/opens" "$OUT/opens.c"
    for call in 'reallocarray(0, 100, 10)' 'valloc(1000)' 'pvalloc(1000)'; do
        printf '#define _GNU_SOURCE\n#include <malloc.h>\n#include <stdlib.h>\nvoid *take(void) { return %s; }' "$call" >"$OUT/take.c"
        gcc -O0 -shared -fPIC -o "$OUT/libtake.so" "$OUT/take.c"
        record -- "$OUT/opens" "$OUT/libtake.so"
        expect_code 0
        expect_error 'lacks calls of libtake.so \(loaded with RTLD_DEEPBIND'
    done
}

# Beside 256 MiB that are on record and were never touched: no memory.
@test "the memory of blocks that nobody saw is told, within what malloc and the program add to it" {
    record -- "$MODULES" hold "$GUESTS/libdeep.so" 4000 # 20,004,000 bytes that nobody saw
    expect_code 0
    bench trace info --json - "$OUT/t.abt"
    expect_json "$NOT_SEEN and .not_seen.most_bytes > 20004000 and .not_seen.most_bytes < 22000000"
}

@test "with the library loaded first, as the warning says, every call is on record" {
    export LD_PRELOAD=$GUESTS/libdeep.so
    record -- "$MODULES" deep "$GUESTS/libdeep.so" 1000
    unset LD_PRELOAD
    expect_code 0
    expect_error 'complete recording'
    ! grep -q 'lacks calls' "$OUT/stderr" || fail "a warning without reason"
    [ "$(of_size 7001) $(of_size 8001) $(of_size 6001)" = "1000 2000 2000" ] || fail "$(ops)"
    [ "$(allocbench trace info --json - "$OUT/t.abt" | jq .not_seen)" = null ]
}

@test "a library that was simply opened is on record, and nothing is warned of" {
    record -- "$MODULES" open "$GUESTS/libdeep.so" 1000
    expect_code 0
    expect_error 'complete recording'
    [ "$(of_size 7001) $(of_size 8001) $(of_size 6001)" = "1000 2000 2000" ] || fail "$(ops)"
}

@test "a library in a namespace of its own is named" {
    record -- "$MODULES" own "$GUESTS/libdeep.so" 1000
    expect_code 0
    [ "$(of_size 7001) $(of_size 6001)" = "1000 0" ] || fail "$(ops)"
    expect_error 'lacks calls of libdeep.so \(loaded with dlmopen.*an unknown number of calls'
    expect_error 'have the program use dlopen$'
}

@test "what a process that ends by _exit did not let be seen is not called nothing" {
    need gcc
    cat >"$OUT/e.c" <<'C'
#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    void *(*give)(size_t);
    void *library = dlopen(argv[argc - 1], RTLD_NOW | RTLD_DEEPBIND);
    *(void **)&give = library == NULL ? NULL : dlsym(library, "deep_give");
    for (int i = 0; give != NULL && i < 10; i++)
        free(give((size_t)i + 1));
    _exit(give == NULL);
}
C
    gcc -O0 -fno-builtin -o "$OUT/e" "$OUT/e.c"
    record -- "$OUT/e" "$GUESTS/libdeep.so"
    expect_code 0
    expect_error 'warning: .*t.abt lacks calls: at least 10 calls, probably more; how much memory is not known'
    [ "$(allocbench trace info --json - "$OUT/t.abt" | jq -c .not_seen)" = \
        '{"least_calls":10,"most_bytes":null,"modules":0,"module_names":[]}' ] || fail json
}

# ---- deaths ----

@test "killed at any point of its life, a program of four threads loses at most a call of each" {
    AB_BUILD=$BUILD "$ROOT/scripts/stress-kill" 20 1 >"$OUT/stdout" 2>"$OUT/stderr" || fail killed
    grep -q '^20 points, 0 failed; .* at most [01] of a thread$' "$OUT/stdout" || fail "$(cat "$OUT/stdout")"
}

# bats test_tags=full
@test "killed at two hundred points, a program of four threads loses at most a call of each" {
    AB_BUILD=$BUILD "$ROOT/scripts/stress-kill" 200 >"$OUT/stdout" 2>"$OUT/stderr" || fail killed
    grep -q '^200 points, 0 failed' "$OUT/stdout" || fail "$(cat "$OUT/stdout")"
}

@test "what a program asks beside blocks is recorded where it asked, and nobody is told of mallctl" {
    record -- "$GUESTS/prog_asks"
    expect_code 0
    grep -qx 'none none' "$OUT/stdout"
    grep -q 'other calls to the malloc library: malloc_trim: 2, mallopt: 2$' "$OUT/stderr" ||
        grep -q 'other calls to the malloc library: mallopt: 2, malloc_trim: 2$' "$OUT/stderr"
    bench trace info --json - "$OUT/t.abt"
    expect_json '.library_calls == {mallopt: 2, malloc_trim: 2}'
    bench trace dump "$OUT/t.abt"
    # After the last of 200 frees, and after the allocation that follows.
    awk '$3 == "request" { print $1 - free, $4, $7 } $3 == "free" && n++ < 200 { free = $1 }' \
        "$OUT/stdout" | tail -3 >"$OUT/asked"
    printf '1 0 malloc_trim\n2 1048576 malloc_trim\n2 0 mallopt\n' | cmp - "$OUT/asked"
}

@test "calls that only some libraries have are counted where one is there, as the program sees it" {
    LD_PRELOAD=$GUESTS/libmallctl.so "$GUESTS/prog_asks" | grep -qx 'mallctl mallctl'
    LD_PRELOAD=$GUESTS/libmallctl.so record -- "$GUESTS/prog_asks"
    expect_code 0
    grep -qx 'mallctl mallctl' "$OUT/stdout"
    bench trace info --json - "$OUT/t.abt"
    expect_json '.library_calls == {mallctl: 3, mallopt: 2, malloc_trim: 2}'
}

@test "memory that malloc was not asked for is said, variables and stacks and freed blocks are none" {
    record -- "$GUESTS/prog_own_heap" heap
    expect_code 0
    grep -qE "warning: .* anonymous memory 4[5-9].* MiB of (4[789]|5[0-2]).* MiB did not come from malloc" "$OUT/stderr"
    bench trace info --json - "$OUT/t.abt"
    expect_json '.unasked_bytes > 44 * 1048576 and .unasked_bytes <= 49 * 1048576'
    expect_json '.anonymous_bytes > 46 * 1048576 and .anonymous_bytes < 52 * 1048576'
    expect_json '.program_cpu_ns > 0 and .recorder_cpu_ns > 0 and .program_calls == .events'
    record -- "$GUESTS/prog_own_heap" variables
    expect_code 0
    ! grep -q 'did not come from malloc' "$OUT/stderr" || fail "says memory that is not there"
    bench trace info --json - "$OUT/t.abt"
    expect_json '.anonymous_bytes > 8 * 1048576 and .unasked_bytes < 1048576'
}

@test "memory that malloc was not asked for is looked at while the program has it, whatever its end" {
    record -- "$GUESTS/prog_own_heap" gone
    expect_code 0
    grep -q 'did not come from malloc' "$OUT/stderr"
    bench trace info --json - "$OUT/t.abt"
    expect_json '.unasked_bytes > 12 * 1048576 and .unasked_bytes <= 49 * 1048576 and .program_cpu_ns == null'
}
