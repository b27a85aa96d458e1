#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# scripts/check-layers can fail: each rule is broken once, in a small tree of its own.

load helpers

tree() { # FILE LINE…
    rm -rf src allocators
    mkdir -p src/base src/core src/report allocators/x "$(dirname "$1")"
    printf '#include <stdint.h>\n' >src/base/a.h
    printf '#include "base/a.h"\nint x;\n' >src/report/b.c
    printf '#include "allocators/ab_backend.h"\n' >allocators/x/x.c
    local file=$1
    shift
    printf '%s\n' "$@" >"$file"
    "$ROOT/scripts/check-layers" "$BUILD" "$PWD" >"$OUT/stdout" 2>"$OUT/stderr"
}

violates() { # PATTERN FILE LINE…
    local pattern=$1
    shift
    ! tree "$@" || fail "passes: $*"
    expect_line "$pattern"
}

expect_line() { # PATTERN
    grep -Eq -- "$1" "$OUT/stdout" || fail "another reason"
}

check_again() {
    ! "$ROOT/scripts/check-layers" "$BUILD" "$PWD" >"$OUT/stdout" 2>"$OUT/stderr" || fail "passes"
}

@test "a tree that keeps the rules passes" {
    tree src/report/c.c '#include "result/result.h"' '/* printf( stdout exit(1) */' \
        'const char *s = "exit(1) stdout";' 'void f(void) __attribute__((format(printf, 1, 2)));'
}

@test "an include against the order of the rooms is found, with its line" {
    violates 'src/core/c.c:2: core may not include "tape/op.h"' \
        src/core/c.c '' '#include "tape/op.h"'
    violates 'report may not include "runner/run.h"' src/report/c.c ' #  include "runner/run.h"'
    violates 'report may not include "wire/run_page.h"' src/report/table/c.c '#include "wire/run_page.h"'
    violates 'worker may not include "workload/config.h"' src/worker/c.c '#include "workload/config.h"'
    violates 'worker may not include "core/text.h"' src/worker/c.c '#include "core/text.h"'
    violates 'wire may not include "result/result.h"' src/wire/c.h '#include "result/result.h"'
    violates 'record may not include "wire/run_page.h"' src/record/c.c '#include "wire/run_page.h"'
    violates 'record/preload may not include "core/text.h"' src/record/preload/c.c '#include "core/text.h"'
    violates 'runner may not include "worker/worker.h"' src/runner/c.c '#include "worker/worker.h"'
    violates 'runner may not include "app/request.h"' src/runner/c.c '#include "app/request.h"'
    violates 'allocators may not include "base/bits.h"' allocators/x/x.c '#include "base/bits.h"'
}

@test "the options of the command line outside of cli, and a copy of them, are found" {
    violates 'src/app/c.c:1: names the options of the command line; only cli does' \
        src/app/c.c 'struct ab_options;'
    violates 'src/cli/c.c:2: one is a copy of the options; make a request' \
        src/cli/c.c 'void f(const struct ab_options *o)' '{ struct ab_options one = *o; }'
    violates 'src/cli/advise/c.c:1: staged is a copy of the options; make a request' \
        src/cli/advise/c.c 'struct work { struct ab_options staged; };'
}

@test "a renderer that works out a number is found" {
    tree src/report/table/c.c 'void f(void) { ab_middle(1); }' || fail "a call of nothing known"
    mkdir -p src/stats
    printf '%s\n' 'double ab_middle(int x)' '{' '    return x;' '}' >src/stats/middle.c
    check_again
    expect_line 'src/report/table/c.c:1: works out a number with ab_middle; answer does'
    mkdir -p src/answer
    mv src/report/table/c.c src/answer/c.c
    "$ROOT/scripts/check-layers" "$BUILD" "$PWD" >"$OUT/stdout" || fail "the view may: $(cat "$OUT/stdout")"
}

@test "a renderer that joins numbers of a record or of the view is found, one that draws them is not" {
    mkdir -p src/result
    measured() { # LINE
        tree src/report/html/c.c "$1"
        mkdir -p src/result
        printf '%s\n' 'struct ab_seen {' '    double a_ns, *b_bytes;' '};' >src/result/seen.h
    }
    for line in 'x->a_ns / 2' 'y + x->a_ns' 'y * (double)x[1].b_bytes[2]' 'x->seen.a_ns - y'; do
        measured "double f(void) { return $line; }"
        check_again
        expect_line 'src/report/html/c.c:1: works out a number from [ab]_(ns|bytes); answer does'
    done
    measured 'double f(void) { return s->timelines[0].n; }' || :
    check_again
    expect_line 'src/report/html/c.c:1: works out a number from timelines; answer does'
    measured 'double f(void) { put(x->a_ns, 100 * x->a_ns, p->from + 2); }'
    "$ROOT/scripts/check-layers" "$BUILD" "$PWD" >"$OUT/stdout" || fail "drawing: $(cat "$OUT/stdout")"
}

@test "what would bind the library of allocators to the rest is found" {
    mkdir -p allocators/arena allocators/common
    printf '#include <stddef.h>\n' >allocators/arena/arena.h
    printf '#include "../arena/arena.h"\n#include "pages.h"\n' >allocators/common/pages.h
    cp -r allocators kept
    library() { # PATTERN LINE
        rm -rf src allocators
        cp -r kept allocators
        ! tree_beside allocators/arena/arena.c "$2" || fail "passes: $2"
        expect_line "$1"
    }
    tree_beside() { # FILE LINE
        mkdir -p src/base
        printf '%s\n' "$2" >"$1"
        "$ROOT/scripts/check-layers" "$BUILD" "$PWD" >"$OUT/stdout" 2>"$OUT/stderr"
    }
    library 'arena.c:1: the library of allocators may not include "allocators/ab_backend.h"' \
        '#include "allocators/ab_backend.h"'
    library 'arena.c:1: the library of allocators may not include "../glue.h"' \
        '#include "../glue.h"'
    library 'arena.c:1: the library of allocators may not include "allocators/common/pages.h"' \
        '#include "allocators/common/pages.h"'
    library 'arena.c:1: allocators may not include "../../src/base/bits.h"' \
        '#include "../../src/base/bits.h"'
    library 'arena.c:1: <sys/mman.h> belongs to allocators/common/pages.c alone' \
        '#include <sys/mman.h>'
    tree_beside allocators/arena/arena.c '#include "../common/pages.h"' || true
    ! grep arena.c "$OUT/stdout" || fail "an include of the library is refused"
    tree_beside allocators/arena/arena_backend.c '#include "allocators/ab_backend.h"' || true
    ! grep arena_backend.c "$OUT/stdout" || fail "the glue may include the contract"
}

@test "a folder that is no room is found" {
    violates 'src/misc is no room' src/misc/c.c '#include "core/a.h"'
}

@test "libcyaml outside its one file is found" {
    violates 'cyaml/cyaml.h> belongs to' src/workload/values.c '#include <cyaml/cyaml.h>'
}

@test "sources that call each other in a circle are found" {
    tree src/core/c.c 'void ab_c(void)' '{' '    ab_d();' '}'
    printf 'void ab_d(void)\n{\n    ab_c();\n}\n' >src/core/d.c
    check_again
    expect_line 'a circle: src/core/c.c calls src/core/d.c calls src/core/c.c'
    printf 'void ab_d(void)\n{\n    /* ab_c(); */\n}\n' >src/core/d.c
    "$ROOT/scripts/check-layers" "$BUILD" "$PWD"
}

@test "folders that include each other in a circle are found" {
    tree src/cli/y.h 'int y;'
    mkdir src/cli/x
    printf '#include "cli/y.h"\n' >src/cli/x/z.c
    printf 'int x;\n' >src/cli/x/z.h
    "$ROOT/scripts/check-layers" "$BUILD" "$PWD"
    printf '#include "cli/x/z.h"\n' >src/cli/y.h
    check_again
    expect_line 'a circle: src/cli includes src/cli/x includes src/cli'
}

@test "a prototype in the header of another source is found" {
    tree src/core/c.c 'void ab_c(void)' '{' '}'
    printf 'void ab_c(void);\n' >src/core/other.h
    check_again
    expect_line 'src/core/other.h:1: declares ab_c of src/core/c.c'
    mv src/core/other.h src/core/c.h
    printf 'void d(void)\n{\n    ab_c();\n}\n' >src/report/user.c
    "$ROOT/scripts/check-layers" "$BUILD" "$PWD"
    mv src/core/c.h src/core/core.h # the header of the folder
    "$ROOT/scripts/check-layers" "$BUILD" "$PWD"
}

@test "a function in a header that no other source uses is found" {
    tree src/core/c.c 'void ab_c(void)' '{' '    ab_c();' '}'
    printf 'void ab_c(void);\n' >src/core/c.h
    check_again
    expect_line 'src/core/c.h:1: ab_c is used by its own source alone'
    printf 'static inline void f(void) { ab_c(); }\n' >>src/core/c.h
    "$ROOT/scripts/check-layers" "$BUILD" "$PWD"
}

@test "more functions with one caller than before are found" {
    mkdir -p "$OUT/tree"
    cp -r "$ROOT/scripts" "$ROOT/src" "$ROOT/allocators" "$ROOT/tests" "$OUT/tree/"
    sed -i 's/^ONE_CALLER_MOST = .*/ONE_CALLER_MOST = 10/' "$OUT/tree/scripts/check-layers"
    ! "$OUT/tree/scripts/check-layers" "$BUILD" >"$OUT/stdout" 2>&1 || fail "passes"
    expect_line 'functions of headers have one calling source, at most 10 may'
}

@test "a document whose keys stand in no table is found" {
    tree src/report/c.c 'void f(void) { ab_json_put(o, m->key, ab_json_string("x")); /* (o, "k", 1) */ }'
    local line='void f(void) { ab_json_put(o, "a", 0); json_object_get(g(x, h(y)), "b"); ab_json_whole(r, o, "c"); }'
    violates 'src/report/c.c:2: names the key "b": of 9 calls that do, at most' \
        src/report/c.c '' "$line" "$line" "$line"
}

@test "a tag with two meanings is found" {
    tree src/core/c.h 'struct ab_lane {' '    int a;' '};'
    printf 'struct ab_lane {\n    int b;\n};\n' >src/report/d.h
    check_again
    expect_line 'src/report/d.h:1: struct ab_lane is another in src/core/c.h'
}

@test "a file that is named like one of another folder is found" {
    tree src/core/c.c 'int c;'
    printf 'int d;\n' >src/core/c.h
    "$ROOT/scripts/check-layers" "$BUILD" "$PWD"
    printf 'int e;\n' >src/report/c.h
    check_again
    expect_line 'src/report/c.h:1: a file of another folder has this name: src/core/c.[ch]'
}

@test "printing, standard streams and exits below cli are found" {
    violates 'report/c.c:1: prints' src/report/c.c 'int f(void) { return printf("x"); }'
    violates 'standard stream' src/report/c.c 'void f(void) { fputs("x", stdout); }'
    violates 'ends the process' src/core/c.c '/* a */ void f(void) { exit(1); }'
    violates 'ends the process' src/core/c.c 'void f(void) { abort(); }'
    tree src/core/c.c 'void f(void) { _exit(1); fprintf(to, "x"); }'
}

@test "a symbol that the worker may not import is found" {
    mkdir -p "$OUT/build"
    printf 'int printf(const char *, ...);\nint main(void) { return printf("%%d", 1); }\n' >"$OUT/w.c"
    ${CC:-cc} -fno-builtin -o "$OUT/build/allocbench-worker" "$OUT/w.c"
    ! "$ROOT/scripts/check-layers" "$OUT/build" >"$OUT/stdout" 2>&1 || fail "passes"
    grep -q 'imports printf, which is not in' "$OUT/stdout" || fail "another reason"
}

@test "a worker that is not built is a failure, not a pass" {
    mkdir -p "$OUT/none"
    ! "$ROOT/scripts/check-layers" "$OUT/none" >"$OUT/stdout" 2>&1 || fail "passes"
    grep -q 'not built' "$OUT/stdout" || fail "another reason"
}

@test "a walk along a parameter counts the files, the climbs and the returns" {
    walk() { # EXPECTED ARGUMENT…
        local expected=$1
        shift
        "$ROOT/scripts/walk-rooms" "$@" --tree "$PWD" >"$OUT/stdout" 2>"$OUT/stderr" || fail "ends with $?"
        expect_line "$expected"
    }
    # By hand: top -> low/b -> top -> low/b, where base.h stands lowest, and low/c is never reached.
    tree src/report/top.c '#include "core/low.h"' 'static int own(int n, int other)' '{' \
        '    return ab_low(n) + ab_never(other);' '}' '' 'int ab_top(const struct a *o, int other)' '{' \
        '    int kept = o->size; /* ab_low(o); */' '    ab_low(other);' '    if (ab_low(o->n))' \
        '        return own(kept, 1);' '    return puts("ab_never(o)");' '}' || true
    printf 'int ab_low(int n)\n{\n    return ab_base(n);\n}\n' >src/core/low.c
    printf '#include "base/base.h"\n' >src/core/low.h
    printf 'static inline int ab_base(int n)\n{\n    return n;\n}\n' >src/base/base.h
    printf 'int ab_never(int n)\n{\n    return n;\n}\n' >src/core/never.c
    walk '^ab_top o: 6 events, 3 rooms, 1 climbs, 2 returns$' ab_top
    walk '^ab_top other: 3 events, 3 rooms, 0 climbs, 0 returns$' ab_top other
    walk '^ab_top o: 3 events \(cut\), 2 rooms, 0 climbs, 0 returns$' ab_top o --events 3
    walk '^ +2    0    ab_low \(src/core/low.c:1\)$' ab_top --calls
    ! "$ROOT/scripts/walk-rooms" ab_top size --tree "$PWD" 2>"$OUT/stdout" || fail "passes"
    expect_line 'ab_top has no parameter size, only: o other'
}

@test "a comment without a subject, or longer than a line, is found" {
    tree src/report/c.c '/* Returns what is left. */' 'const char *s = "/* What it is. */";' \
        "/* $(printf '%094d' 0) */" || fail "refuses: $(cat "$OUT/stdout")"
    for word in What Of Where How As Those Who Which; do
        violates "src/report/c.c:2: a comment begins with $word" src/report/c.c '' "/* $word it is. */"
    done
    violates 'src/report/c.c:1: a comment begins with What' src/report/c.c 'int x; // What x is.'
    violates 'allocators/x/x.hpp:2: a comment begins with Of' allocators/x/x.hpp '' '/* SPDX */ /* Of it. */'
    violates 'src/report/c.c:2: a comment of more than 100 columns' src/report/c.c '/* first' \
        " * $(printf '%098d' 0) */"
}
