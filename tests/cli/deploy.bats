#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# deploy: the lines that start a program with an allocator as it was measured.
# tests: cmd_deploy.c snippet.c

load helpers

# A stored result of glibc and a library, with settings: $RES/r.json.
a_result() { # BACKENDS
    RES=$BATS_TEST_TMPDIR/res
    export ALLOCBENCH_RESULTS=$RES
    bench run "$WORKLOADS/small.yaml" -b "$1" --rounds 1
    expect_code 0
}

@test "settings and preload for shell, systemd and Docker; the shell line works" {
    need_library jemalloc
    a_result 'glibc,jemalloc{MALLOC_CONF=narenas:2}'
    bench deploy 'jemalloc{MALLOC_CONF=narenas:2}'
    expect_code 0
    grep -q "^  MALLOC_CONF=narenas:2 LD_PRELOAD=$library ./your-program$" "$OUT/stdout"
    grep -q '^  Environment=MALLOC_CONF=narenas:2$' "$OUT/stdout"
    grep -q "^  Environment=LD_PRELOAD=$library$" "$OUT/stdout"
    grep -q '^      apt-get install -y --no-install-recommends libjemalloc2' "$OUT/stdout"
    grep -q '^  ENV LD_PRELOAD=libjemalloc.so.2$' "$OUT/stdout"
    ! [ -s "$OUT/stderr" ]
    local line
    line=$(grep your-program "$OUT/stdout")
    printf '#!/bin/sh\nexec grep -c jemalloc /proc/self/maps\n' >your-program
    chmod +x your-program
    [ "$(sh -c "$line")" -gt 0 ]
    [ "$(LD_PRELOAD=libjemalloc.so.2 ./your-program)" -gt 0 ]
}

@test "the C library needs nothing, but its settings do" {
    a_result 'glibc,glibc{MALLOC_ARENA_MAX=1}'
    bench deploy glibc
    expect_code 0
    grep -q '^nothing to set' "$OUT/stdout"
    bench deploy 'glibc{MALLOC_ARENA_MAX=1}' @last
    grep -q '^  MALLOC_ARENA_MAX=1 ./your-program$' "$OUT/stdout"
    ! grep -q LD_PRELOAD "$OUT/stdout"
}

@test "without a winner one has to be named; the only allocator is the winner" {
    a_result glibc,slab
    bench deploy
    expect_code 2
    expect_error 'names no winner; name an allocator: allocbench deploy NAME\. '
    a_result glibc
    bench deploy
    expect_code 0
}

@test "where the winner cannot be preloaded, the fastest that can be is taken, and it is said" {
    need_library jemalloc
    a_result glibc,slab,jemalloc
    # made up: what the machine measures may change
    local file=("$RES"/*.json)
    jq -c '.rounds[0] as $r | .results as $all | .config.rounds_planned = 8 | .complete = true
        | .rounds = [range(8) | . as $i | $r | .index = $i]
        | .results = [range(8) as $i | $all[] | .round = $i
            | if .op == "all" then .ns_per_op = {glibc: 30, slab: 10, jemalloc: 20}[.backend] + $i / 100 else . end]
        | .memory = [] | .timelines = [] | .size_classes = [] | .windows = []
        | del(.ratios, .checksum, .noise)' "${file[0]}" >made.json
    bench deploy made.json
    expect_code 0
    expect_error '^slab is the fastest, but .*of those that can be preloaded:$'
    grep -q '^jemalloc ' "$OUT/stdout" || fail "not jemalloc"
    rm made.json
}

@test "what cannot be preloaded, is unknown or failed is refused" {
    a_result "glibc,slab,$GUESTS/libtoy.so"
    bench deploy slab
    expect_code 2
    expect_error 'slab cannot be preloaded'
    bench deploy glbc
    expect_code 2
    expect_error 'no back end glbc; did you mean glibc\?'
    bench deploy glibc slab
    expect_code 2
    bench deploy @last~9
    expect_code 3
    bench deploy "$ROOT/traces/perl-words.abt"
    expect_code 2
    expect_error 'is a trace, not a result'
}

@test "a hostile result gives no line that a shell would run" {
    a_result 'glibc{MALLOC_ARENA_MAX=1}'
    jq 'del(.checksum)' "$RES"/*.json >whole.json # whoever alters it makes another one
    sed 's/MALLOC_ARENA_MAX=1/A=`id`/' whole.json >evil.json
    bench deploy evil.json
    expect_code 2
    expect_error 'cannot be written in a shell, systemd and Docker alike'
    sed 's/MALLOC_ARENA_MAX=1/A=x y/' whole.json >evil.json
    bench deploy evil.json
    expect_code 2
    for setting in reboot '~' 'A=~\/x' '1A=b' '=b'; do # a command, or what a shell expands
        sed "s/MALLOC_ARENA_MAX=1/$setting/" whole.json >evil.json
        bench deploy evil.json
        expect_code 2
        ! grep -q your-program "$OUT/stdout" || fail "$setting: $(cat "$OUT/stdout")"
    done
    rm evil.json whole.json
}

@test "a result that was altered says nothing about what to deploy" {
    a_result 'glibc{MALLOC_ARENA_MAX=1}'
    sed '0,/"ns_per_op": [0-9.]*/s//"ns_per_op": 1.5/' "$RES"/*.json >altered.json
    bench deploy glibc altered.json
    expect_code 3
    expect_error 'altered.json was altered after it was written'
    rm altered.json
}

@test "a library that is gone or another build since is named" {
    need_library jemalloc
    cp "$library" ./libmine.so
    a_result "$PWD/libmine.so"
    bench deploy
    expect_code 0
    grep -q '^  COPY libmine.so /usr/local/lib/$' "$OUT/stdout"
    ! [ -s "$OUT/stderr" ]
    cp "$GUESTS/libtoy.so" libmine.so
    bench deploy
    expect_error 'is another build than the one measured'
    rm libmine.so
    bench deploy
    expect_error 'is not on this machine'
}

@test "an allocator that deviates from the standards is deployed with a warning" {
    need_library jemalloc
    a_result glibc,jemalloc
    local file=("$RES"/*.json)
    jq 'del(.checksum) | .backends |= map(if .name == "jemalloc" then .caveat = "memalign is wrong" else . end)' \
        "${file[0]}" >made.json
    bench deploy jemalloc made.json
    expect_code 0
    expect_error 'warning: jemalloc deviates from the standards: memalign is wrong; allocbench verify jemalloc'
    rm made.json
}

@test "a result in which every back end failed is not the newest, and that is said" {
    a_result glibc
    local good
    good=$(echo "$RES"/*.json)
    bench exec --rounds 1 -b glibc,glibc{MALLOC_ARENA_MAX=1} -- sh -c 'exit 3'
    expect_code 4
    grep -q '^The program itself fails' "$OUT/stdout" || fail "not said"
    ! grep -q 'identical output' "$OUT/stdout" || fail "of no output"
    ! grep -q 'allocbench verify' "$OUT/stdout" || fail "no library can be blamed"
    bench deploy
    expect_code 0
    expect_error '1 newer result was left out'
    grep -q "measured in $good" "$OUT/stdout" || fail "not the one with numbers"
    rm "$good"
    bench report @last
    expect_code 3
    expect_error 'no stored result with numbers .*1 without'
}

@test "the library of allocbench is in no package: the image gets the file, and a build says so" {
    a_result glibc,slab_malloc
    bench deploy slab_malloc
    expect_code 0
    ! grep -q apt-get "$OUT/stdout" || fail "no archive has it"
    grep -q '^  COPY liballocbench-slab.so /usr/local/lib/$' "$OUT/stdout" || fail "no copy"
    grep -q '^  ENV LD_PRELOAD=/usr/local/lib/liballocbench-slab.so$' "$OUT/stdout" || fail "no preload"
    grep -q '^This is the file of a build: make install ' "$OUT/stdout" || fail "no word of the folder"
}
