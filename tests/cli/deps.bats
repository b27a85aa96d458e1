#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# scripts/deps against a Debian made of stubs: PATH holds only what the script may call, dpkg-query
# answers from a list, apt-get writes down how it was called.

load helpers

setup() {
    OUT=$BATS_TEST_TMPDIR
    BIN=$OUT/bin
    mkdir "$BIN"
    for tool in sh grep sed ls cat env; do
        ln -s "$(command -v $tool)" "$BIN/$tool"
    done
    for tool in cc make bats jq valgrind strace sqlite3 perl python3; do
        stub $tool 'exit 0'
    done
    stub id 'echo ${FAKE_UID:-0}'
    stub dpkg-query 'for p; do :; done; grep -qx "$p" '"$OUT"'/missing && exit 1; echo installed'
    stub apt-cache 'exit 0'
    stub apt-get 'echo "apt-get $*" >>'"$OUT"'/log; case "$*" in *"${FAKE_BROKEN:-none}"*) exit 100 ;; esac'
    stub sudo 'echo sudo >>'"$OUT"'/log; exec "$@"'
    : >"$OUT/missing"
    : >"$OUT/log"
}

stub() { # NAME BODY
    printf '#!/bin/sh\n%s\n' "$2" >"$BIN/$1"
    chmod +x "$BIN/$1"
}

deps() {
    code=0
    env -u CC PATH="$BIN" sh "$ROOT/scripts/deps" "$@" >"$OUT/stdout" 2>"$OUT/stderr" || code=$?
}

@test "nothing is asked of apt when all is there" {
    deps build
    expect_code 0
    deps test
    expect_code 0
    [ ! -s "$OUT/log" ] && [ ! -s "$OUT/stdout" ] && [ ! -s "$OUT/stderr" ]
}

@test "only what is missing is installed, after one update" {
    printf 'libcyaml-dev\nlibmd-dev\nlibjemalloc2\n' >"$OUT/missing"
    deps build
    expect_code 0
    [ "$(grep -c update "$OUT/log")" -eq 1 ]
    head -1 "$OUT/log" | grep -q update
    [ "$(grep -c ' install ' "$OUT/log")" -eq 2 ]
    grep -q 'install .* libcyaml-dev libmd-dev$' "$OUT/log"
    grep -q 'install .* libjemalloc2$' "$OUT/log"
    ! grep -q sudo "$OUT/log"
}

@test "compiler and make count as missing when there is none" {
    rm "$BIN/cc" "$BIN/make"
    deps build
    expect_code 0
    grep -q 'install .* gcc make$' "$OUT/log"
}

@test "the tests' packages are installed for the tests alone" {
    printf 'libcmocka-dev\ncmark-gfm\n' >"$OUT/missing"
    deps build
    [ ! -s "$OUT/log" ]
    deps test
    grep -q 'libcmocka-dev' "$OUT/log"
    grep -q 'cmark-gfm' "$OUT/log"
}

@test "sudo is used by others than root, and its absence is told" {
    echo libmd-dev >"$OUT/missing"
    FAKE_UID=1000 deps build
    expect_code 0
    [ "$(head -1 "$OUT/log")" = sudo ]
    rm "$BIN/sudo"
    : >"$OUT/log"
    FAKE_UID=1000 deps build
    expect_code 1
    [ ! -s "$OUT/log" ]
    expect_error 'by root: apt-get install libmd-dev'
}

@test "an allocator that cannot be installed is only a warning" {
    echo libjemalloc2 >"$OUT/missing"
    FAKE_BROKEN=libjemalloc2 deps build
    expect_code 0
    expect_error 'libjemalloc2 cannot be installed; going on without it'
}

@test "a library that is needed and cannot be installed is an error" {
    echo libcyaml-dev >"$OUT/missing"
    FAKE_BROKEN=libcyaml-dev deps build
    expect_code 1
    expect_error 'cannot install libcyaml-dev'
}

@test "an allocator that the package lists do not know is not asked for again and again" {
    ls /var/lib/apt/lists/*_Packages* >/dev/null 2>&1 || skip "no package lists here"
    echo libjemalloc2 >"$OUT/missing"
    stub apt-cache 'exit 100'
    deps build
    expect_code 0
    [ ! -s "$OUT/log" ]
    expect_error 'libjemalloc2 is not in this system'
}

@test "an allocator is installed by the name that this release has for it" {
    printf 'libmimalloc2.0\nlibmimalloc3\nlibtcmalloc-minimal4\nlibtcmalloc-minimal4t64\n' >"$OUT/missing"
    stub apt-cache 'case "$2" in libmimalloc2.0 | libtcmalloc-minimal4) exit 100 ;; esac'
    deps build
    expect_code 0
    expect_error '^scripts/deps: installing libtcmalloc-minimal4t64 libmimalloc3$'
    grep -q 'install .* libmimalloc3$' "$OUT/log"
    grep -q 'install .* libtcmalloc-minimal4t64$' "$OUT/log"
    ! grep -q 'libmimalloc2.0\|minimal4$' "$OUT/log" || fail "$(cat "$OUT/log")"
    # either name will do
    printf 'libmimalloc2.0\nlibtcmalloc-minimal4\n' >"$OUT/missing"
    : >"$OUT/log"
    deps build
    expect_code 0
    [ ! -s "$OUT/log" ] || fail "$(cat "$OUT/log")"
}

@test "another system than Debian is told what is needed, and goes on" {
    rm "$BIN/dpkg-query"
    deps build
    expect_code 0
    expect_error 'no Debian; needed.*libcyaml-dev'
}

@test "Slurm is installed only where it is asked for" {
    printf 'munge\nslurmctld\n' >"$OUT/missing"
    deps test
    expect_code 0
    [ ! -s "$OUT/log" ]
    deps slurm
    expect_code 0
    grep -q 'install .* slurmctld munge$' "$OUT/log"
}

@test "a wrong argument is a usage error" {
    deps
    expect_code 2
    deps everything
    expect_code 2
}

@test "scripts/fuzz without clang, or with one that has no libFuzzer, says what to install" {
    for tool in dirname mkdir printf cut; do
        ln -s "$(command -v $tool)" "$BIN/$tool"
    done
    cp -r "$ROOT/scripts" "$OUT/scripts"
    code=0
    PATH="$BIN" sh "$OUT/scripts/fuzz" 1 >"$OUT/stdout" 2>"$OUT/stderr" || code=$?
    expect_code 77
    grep -q 'no clang: skipped' "$OUT/stderr" || fail "not said"
    stub clang 'case "$*" in
        -dumpversion) echo 14.0.6 ;;
        *-fsanitize=fuzzer*) echo "ld: cannot find libclang_rt.fuzzer.a" >&2; exit 1 ;;
        esac'
    code=0
    PATH="$BIN" sh "$OUT/scripts/fuzz" 1 >"$OUT/stdout" 2>"$OUT/stderr" || code=$?
    expect_code 77
    grep -q 'apt-get install libclang-rt-14-dev): skipped' "$OUT/stderr" || fail "not said"
    grep -q 'cannot find libclang_rt.fuzzer.a' "$OUT/stderr" || fail "clang is not quoted"
}
