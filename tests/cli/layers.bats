#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# scripts/check-layers can fail: each rule is broken once, in a small tree of its own.

load helpers

tree() { # FILE LINE…
    rm -rf src allocators
    mkdir -p src/core src/report allocators/x "$(dirname "$1")"
    printf '#include <stdint.h>\n' >src/core/a.h
    printf '#include "core/a.h"\nint x;\n' >src/report/b.c
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
    grep -Eq -- "$pattern" "$OUT/stdout" || fail "another reason"
}

@test "a tree that keeps the rules passes" {
    tree src/report/c.c '#include "result/result.h"' '/* printf( stdout exit(1) */' \
        'const char *s = "exit(1) stdout";' 'void f(void) __attribute__((format(printf, 1, 2)));'
}

@test "an include against the order of the layers is found, with its line" {
    violates 'src/core/c.c:2: core may not include "tape/op.h"' \
        src/core/c.c '' '#include "tape/op.h"'
    violates 'report may not include "runner/run.h"' src/report/c.c ' #  include "runner/run.h"'
    violates 'worker may not include "workload/config.h"' src/worker/c.c '#include "workload/config.h"'
    violates 'measure may not include "trace/reader.h"' src/measure/c.c '#include "trace/reader.h"'
    violates 'record may not include "wire/run.h"' src/record/c.c '#include "wire/run.h"'
    violates 'stats may not include "wire/run.h"' src/stats/c.c '#include "wire/run.h"'
    violates 'runner may not include "cli/options.h"' src/runner/c.c '#include "cli/options.h"'
    violates 'allocators may not include "base/bits.h"' allocators/x/x.c '#include "base/bits.h"'
}

@test "a folder that is no layer is found" {
    violates 'src/misc is no layer' src/misc/c.c '#include "core/a.h"'
}

@test "libcyaml outside its one file is found" {
    violates 'cyaml/cyaml.h> belongs to' src/workload/values.c '#include <cyaml/cyaml.h>'
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

@test "a worker that is not supported is a failure, not a pass" {
    mkdir -p "$OUT/none"
    ! "$ROOT/scripts/check-layers" "$OUT/none" >"$OUT/stdout" 2>&1 || fail "passes"
    grep -q 'not supported' "$OUT/stdout" || fail "another reason"
}
