#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# What the Makefile promises: the user's flags follow ours and never replace them, other flags and
# changed headers rebuild, and the caller's -j is passed on. Built into a folder of its own.

load helpers

setup_file() {
    unset MAKEFLAGS MFLAGS MAKELEVEL CC CFLAGS CPPFLAGS LDFLAGS LDLIBS
}

run_make() { # ARGUMENT…
    make -C "$ROOT" --no-print-directory B="$OUT/build" "$@" >"$OUT/made" 2>&1 ||
        fail "make $*: $(cat "$OUT/made")"
}

# What would be compiled and linked for every target: one command a line.
commands() { # VARIABLE=VALUE…
    run_make -n V=1 "$@" all guests fuzz-bins "$OUT/build/tests/unit/test_core_text"
    sed -e ':join' -e '/\\$/{N;s/\\\n//;b join' -e '}' "$OUT/made" | grep ' -o ' >"$OUT/commands"
    grep -E ' (src|allocators)/[^ ]*[.]c( |$)' "$OUT/commands" >"$OUT/compiled"
    grep -E ' -o [^ ]*/(allocbench|fuzz/[a-z_]+|tests/unit/[a-z_]+) ' "$OUT/commands" >"$OUT/linked"
    [ "$(wc -l <"$OUT/compiled")" -gt 100 ] || fail "too few are compiled"
    [ "$(wc -l <"$OUT/linked")" -ge 9 ] || fail "too few are linked"
}

# Every line of a file matches.
all_match() { # REGEX FILE
    local other
    other=$(grep -Ev -m 1 -e "$1" "$2") || return 0
    fail "no \"$1\" in: $other"
}

expect_ours_and_the_users() {
    all_match '-std=gnu17.* -fno-strict-aliasing -ffp-contract=off .*-O2 .*-O3 -fno-plt ' \
        "$OUT/compiled"
    all_match '-Wconversion' "$OUT/compiled"
    all_match '-fno-builtin(-malloc -fno-builtin-free)? ' "$OUT/compiled"
    all_match '-D_GNU_SOURCE .*-Isrc .*-DUSER=1 ' "$OUT/compiled"
    all_match ' -pie .*-Wl,-z,relro.* -Wl,-O1 .*-lcyaml .*-lm -latomic$' "$OUT/linked"
    grep -Eq -e '-pie .*-Wl,-O1 -o [^ ]*/allocbench-worker .*-latomic$' "$OUT/commands" ||
        fail "the worker is linked otherwise"
    grep -Eq -e '-shared .*-Wl,-O1 +-o [^ ]*/liballocbench-record.so .*-latomic$' "$OUT/commands" ||
        fail "the recorder is linked otherwise"
}

@test "the user's flags follow ours on the command line of make" {
    commands CFLAGS='-O3 -fno-plt' CPPFLAGS=-DUSER=1 LDFLAGS=-Wl,-O1 LDLIBS=-latomic
    expect_ours_and_the_users
}

@test "the user's flags follow ours from the environment" {
    CFLAGS='-O3 -fno-plt' CPPFLAGS=-DUSER=1 LDFLAGS=-Wl,-O1 LDLIBS=-latomic commands
    expect_ours_and_the_users
    commands
    ! grep -q -e -O3 -e USER -e atomic "$OUT/commands" || fail "flags from nowhere"
}

@test "the build that a result names includes the user's flags" {
    run_make CFLAGS='-O1 -fno-plt' V=1 "$OUT/build/obj/src/cli/version.o"
    grep -Eq 'AB_FLAGS=.*-std=gnu17 .*-ffp-contract=off .*-O2 .*-O1 -fno-plt"' "$OUT/made" ||
        fail "$(cat "$OUT/made")"
}

compile() { # VARIABLE=VALUE…
    run_make "$@" "$OUT/build/obj/src/base/units.o"
}

expect_compiled() {
    grep -q 'CC .*units.c' "$OUT/made" || fail "not compiled again"
}

expect_not_compiled() {
    ! grep -q 'CC .*units.c' "$OUT/made" || fail "compiled again"
}

@test "other flags and another compiler rebuild, the same do not" {
    local word="-DUSER='\"two words\"'"
    compile
    expect_compiled
    compile
    expect_not_compiled
    compile WERROR=1 # makes no other object
    expect_not_compiled
    compile CFLAGS=-O1
    expect_compiled
    CFLAGS=-O1 compile
    expect_not_compiled
    compile CFLAGS=-O1 CPPFLAGS="$word"
    expect_compiled
    compile CFLAGS=-O1 CPPFLAGS="$word"
    expect_not_compiled
    ln -s "$(command -v cc)" "$OUT/other-cc"
    compile CFLAGS=-O1 CPPFLAGS="$word" CC="$OUT/other-cc"
    expect_compiled
}

# Made once, and made again where a header counts as changed.
expect_depends() { # TARGET HEADER
    run_make "$OUT/build/$1"
    run_make "$OUT/build/$1"
    ! grep -q "$1" "$OUT/made" || fail "made twice: $(cat "$OUT/made")"
    run_make V=1 -W "$2" "$OUT/build/$1"
    grep -q -e "-o [^ ]*$1" "$OUT/made" || fail "$1 does not depend on $2"
}

@test "what includes a header is rebuilt with it: guests, mutants, fuzz targets, the recorder" {
    expect_depends guests/libplug_good.so allocators/ab_backend.h
    expect_depends guests/libtoy.so tests/guests/toy.h
    expect_depends mutants/libmutant.so tests/mutants/base.h
    expect_depends obj/tests/fuzz/fuzz_trace.o tests/fuzz/input_file.h
    expect_depends unchecked/src/trace/reader.o src/trace/reader.h
    expect_depends recorder/src/record/preload/preload.o src/record/preload/spool.h
    expect_depends recorder1/src/record/preload/spool_codec.o src/record/preload/spool.h
}

# Objects of sources that are gone may lie there from an earlier build.
readers_of() { # FILE
    local list
    find "$BUILD/obj/src" -name '*.o.d' -exec grep -lE "(^| )$1( |\$)" {} + | while read -r list; do
        local source=${list#"$BUILD/obj/"}
        [ ! -e "$ROOT/${source%.o.d}.c" ] || echo "$list"
    done
}

@test "a field of a result rebuilds at most 60 objects, a sentence about it one" {
    local table readers
    for table in result_fields memory_fields; do
        readers=$(readers_of "build/fields/$table.inc" | wc -l)
        [ "$readers" -gt 2 ] && [ "$readers" -le 60 ] || fail "$table: $readers objects"
        readers=$(readers_of "src/result/$table.def")
        [ "$readers" = "$BUILD/obj/src/result/result_fields.o.d" ] || fail "$table: $readers"
        grep -q ',)$' "$ROOT/build/fields/$table.inc" || fail "$table has no rows"
        ! grep -q '[a-z]")$' "$ROOT/build/fields/$table.inc" || fail "$table has sentences"
    done
}

@test "a release compiles no source of the worker twice" {
    commands
    grep -o ' -c -o [^ ]*/build/\(obj\|plain\)/.* [^ ]*[.]c$' "$OUT/commands" | sed 's/.* //' |
        sort | uniq -d >"$OUT/twice"
    [ ! -s "$OUT/twice" ] || fail "$(head -3 "$OUT/twice")"
    grep -q ' -o [^ ]*/allocbench-worker .*obj/src/worker/worker_main.o' "$OUT/commands" ||
        fail "the worker has other objects"
}

# A make in place of those that test-bins calls: says how it was called, and whether the jobs of
# its caller reach it.
stub_make() {
    printf 'all:\n\t@echo "jobs: $(MAKEFLAGS)"\n' >"$OUT/stub.mk"
    printf '#!/bin/sh\necho "called: $*"\nexec make -f %s\n' "$OUT/stub.mk" >"$OUT/stub"
    chmod +x "$OUT/stub"
}

@test "test-bins-full passes the caller's -j on, and takes all CPUs where none is given" {
    stub_make
    run_make -j3 MAKE="$OUT/stub" test-bins-full
    [ "$(grep -c '^called:' "$OUT/made")" -eq 3 ] || fail "$(cat "$OUT/made")"
    ! grep -q 'called:.* -j' "$OUT/made" || fail "another -j"
    [ "$(grep -c 'jobs: .*-j3' "$OUT/made")" -eq 3 ] || fail "$(cat "$OUT/made")"
    ! grep -q 'jobserver unavailable' "$OUT/made" || fail "the jobs do not reach it"
    run_make MAKE="$OUT/stub" test-bins-full
    [ "$(grep -c "called: -j$(nproc) " "$OUT/made")" -eq 3 ] || fail "$(cat "$OUT/made")"
}

@test "uninstall takes away all that install put there" {
    make -C "$ROOT" --no-print-directory B="$BUILD" PREFIX="$OUT/prefix" install >"$OUT/made" 2>&1
    [ -x "$OUT/prefix/bin/allocbench" ]
    for command in $(sed -n 's/^AB_COMMAND([A-Z]*, \([a-z]*\),.*/\1/p' "$ROOT/src/cli/commands.def"); do
        [ -s "$OUT/prefix/share/man/man1/allocbench-$command.1" ] || fail "no page of $command"
    done
    for file in man/man1/allocbench.1 man/man5/allocbench-workload.5 man/man5/allocbench-trace.5 \
        man/man7/allocbench-allocators.7 man/man7/allocbench-glossary.7 bash-completion/completions/allocbench \
        zsh/site-functions/_allocbench fish/vendor_completions.d/allocbench.fish; do
        [ -s "$OUT/prefix/share/$file" ] || fail "no $file"
    done
    [ -s "$OUT/prefix/lib/liballocbench-heaps.so" ] || fail "no library of allocators"
    make -C "$ROOT" --no-print-directory B="$BUILD" PREFIX="$OUT/prefix" uninstall
    [ -z "$(find "$OUT/prefix" ! -type d)" ] || fail "$(find "$OUT/prefix" ! -type d)"
}

@test "each link of the installed pages leads somewhere, and each page that the tool names is there" {
    make -C "$ROOT" --no-print-directory B="$BUILD" PREFIX="$OUT/prefix" install-share >"$OUT/made" 2>&1
    cd "$OUT/prefix/share/doc/allocbench"
    find . -name '*.md' | while read -r page; do
        grep -o '](\([^) ]*\))' "$page" | sed 's/^](//; s/)$//; s/#.*//' | sort -u | while read -r target; do
            case $target in '' | *://*) continue ;; esac
            [ -e "$(dirname "$page")/$target" ] || echo "$page: $target"
        done
    done >"$OUT/dead"
    [ ! -s "$OUT/dead" ] || fail "$(cat "$OUT/dead")"
    [ "$(grep -o '](' README.md | wc -l)" -gt 10 ] || fail "the links are gone"
    "$BUILD/allocbench" explain --json - | jq -r '.words[].see' | grep -o '[A-Za-z/-]*\.md' | sort -u >"$OUT/named"
    grep -rhoE '\b(docs|configs|allocators|results|traces)/[A-Za-z-]+\.md' "$ROOT/src/cli" --include='*.c' >>"$OUT/named"
    [ "$(wc -l <"$OUT/named")" -gt 10 ]
    while read -r page; do
        [ -s "$page" ] || fail "there is no $page"
    done <"$OUT/named"
}

@test "each installed example is built against the installed library by its own command" {
    command -v pkg-config >/dev/null || skip "no pkg-config"
    make -C "$ROOT" --no-print-directory B="$BUILD" PREFIX="$OUT/prefix" install-share install-heaps \
        >"$OUT/made" 2>&1
    cd "$OUT/prefix/share/doc/allocbench"
    export PKG_CONFIG_PATH=$OUT/prefix/lib/pkgconfig LD_LIBRARY_PATH=$OUT/prefix/lib
    grep -l pkg-config {allocators,tests}/examples/*.c >"$OUT/examples"
    [ "$(wc -l <"$OUT/examples")" -eq "$(ls {allocators,tests}/examples/*.c | wc -l)" ] || fail "$(cat "$OUT/examples")"
    while read -r source; do
        grep -o ' cc .*pkg-config.*' "$source" | sed "s@ -o [a-z_]* @ -o '$OUT'/program @" >"$OUT/command"
        sh -e "$OUT/command" 2>"$OUT/stderr" || fail "$source: it does not build"
        "$OUT/program" >"$OUT/stdout" 2>"$OUT/stderr" || fail "$source: it does not run"
    done <"$OUT/examples"
    grep -rhoE '(allocators|tests)/examples/[a-z_-]+\.c' --include='*.md' --include='*.h' . "$OUT/prefix/include" |
        sort -u | while read -r source; do [ -e "$source" ] || echo "$source"; done >"$OUT/dead"
    [ ! -s "$OUT/dead" ] || fail "named and not installed: $(cat "$OUT/dead")"
}

@test "the template of a back end compiles against what is installed, and is measured by it" {
    make -C "$ROOT" --no-print-directory B="$BUILD" PREFIX="$OUT/prefix" install >"$OUT/made" 2>&1
    # what pkg-config would say, where there is none
    flags=$(sed -n "s|^Cflags: ||p" "$OUT/prefix/share/pkgconfig/allocbench.pc")
    flags=${flags/'${prefix}'/$OUT/prefix}
    if command -v pkg-config >/dev/null; then
        PKG_CONFIG_PATH=$OUT/prefix/share/pkgconfig pkg-config --cflags allocbench | grep -q -e "$flags"
    fi
    # shellcheck disable=SC2086 # words
    cc -std=gnu17 -O2 -Wall -Werror -fPIC -shared $flags -o "$OUT/libmine.so" \
        "$OUT/prefix/share/allocbench/skeleton/skeleton.c"
    "$OUT/prefix/bin/allocbench" verify "$OUT/libmine.so" >"$OUT/verified" || fail "$(cat "$OUT/verified")"
}

@test "compile_commands.json knows every source" {
    run_make -n compile_commands.json V=1
    for source in src/cli/main.c src/worker/worker_main.c src/record/preload/preload.c \
        allocators/arena/arena.c tests/support/heap_model.c tests/unit/test_base_rng.c; do
        grep -q "'$source'" "$OUT/made" || fail "$source is missing"
    done
}

@test "the packages are built without lintian too, and that nothing judged them is said" {
    git -C "$ROOT" rev-parse HEAD >/dev/null 2>&1 || skip "no git"
    mkdir "$OUT/bin"
    for tool in sh dirname mkdir sed mktemp rm git tar cp cat tail mv ls touch; do
        ln -s "$(command -v $tool)" "$OUT/bin"
    done
    printf '#!/bin/sh\ntouch ../allocbench_1_amd64.deb ../allocbench_1_amd64.changes ../allocbench_1_amd64.buildinfo\n' \
        >"$OUT/bin/dpkg-buildpackage"
    chmod +x "$OUT/bin/dpkg-buildpackage"
    PATH=$OUT/bin sh "$ROOT/scripts/package/build-deb" "$OUT/packages" >"$OUT/stdout" 2>"$OUT/stderr" ||
        fail "it ends with $?"
    expect_error 'there is no lintian'
    grep -q '/allocbench_1_amd64.deb$' "$OUT/stdout" || fail "it names no package"
    printf '#!/bin/sh\nexit 3\n' >"$OUT/bin/lintian"
    chmod +x "$OUT/bin/lintian"
    ! PATH=$OUT/bin sh "$ROOT/scripts/package/build-deb" "$OUT/packages" >"$OUT/stdout" 2>"$OUT/stderr" ||
        fail "what lintian finds does not count"
}
