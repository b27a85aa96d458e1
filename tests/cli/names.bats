#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# Names of back ends: paths with characters that mean something in -b, names of one's own, libraries
# that a workload names, and names that would turn the terminal's text round.

load helpers

# A plug-in and a malloc library under paths that -b would take apart.
@test "a path may hold what ends a name, each with a backslash, and settings still follow it" {
    mkdir 'a:b'
    cp "$GUESTS/libplug_params.so" './a:b/libodd,one{x}.so'
    cp "$GUESTS/libtoy.so" './libtoy=a,b.so'
    bench run "$WORKLOADS/small.yaml" --rounds 1 --json - \
        -b 'glibc,./a:b/libodd\,one\{x\}.so:size=64KiB:n=12:mode=fast:check=on,./libtoy\=a\,b.so{A=1}'
    expect_code 0
    expect_json '[.backends[].name] == ["glibc", "odd_one_x_:size=64KiB:n=12:mode=fast:check=on", "toy_a_b{A=1}"]'
    expect_json 'all(.backends[]; .status == "ok")'
    expect_json '.backends[1].path | endswith("/a:b/libodd,one{x}.so")'
    bench run "$WORKLOADS/small.yaml" -b './libtoy=a,b.so,glibc' # without: two names
    expect_code 4
    expect_error 'toy_a: no such file'
}

@test "the same in a workload, with settings as lists" {
    cp "$GUESTS/libtoy.so" './libtoy,1.so'
    { sed '/^phases/,$d' "$WORKLOADS/small.yaml"
      printf '%s\n' 'backends:' "  - {name: './libtoy\\,1.so', env: [A=1]}"
      sed -n '/^phases/,$p' "$WORKLOADS/small.yaml"; } >w.yaml
    bench run w.yaml --rounds 1 --allow-plugins --json -
    expect_code 0
    expect_json '[.backends[] | .name, .status] == ["toy_1{A=1}", "ok"]'
}

@test "two files of one name can be measured, each under a name of its own" {
    mkdir old new
    cp "$GUESTS/libtoy.so" old/libmine.so
    cp "$GUESTS/libtoy.so" new/libmine.so
    bench run "$WORKLOADS/small.yaml" -b old/libmine.so,new/libmine.so
    expect_code 2
    expect_error 'two back ends are named mine \(.*old/libmine\.so and .*new/libmine\.so\).*NAME=PATH'
    bench run "$WORKLOADS/small.yaml" --rounds 2 --json - -b old=old/libmine.so,new=./new/libmine.so \
        --gate 'new:fill/all/ns_per_op < 1000000x old'
    expect_code 0
    expect_json '[.backends[].name] == ["old", "new"] and all(.backends[]; .status == "ok")'
    expect_json '[.backends[].path | split("/")[-2]] == ["old", "new"]'
    expect_json '.gates[0].entries[0].backend == "new" or (.gates[0] | tostring | contains("new"))'
    bench run "$WORKLOADS/small.yaml" --rounds 1 --json - -b checked+new=./new/libmine.so
    expect_json '.backends[0].name == "checked+new"'
}

# Wherever settings can be given: on the command line, in workloads, in suites; and with everything that
# names a back end: gates, --base, reports of stored results.
@test "settings can have a name, which tables, pages, gates and suites use" {
    long='MALLOC_CONF=background_thread:true,dirty_decay_ms:1000,muzzy_decay_ms:0,narenas:2'
    bench run "$WORKLOADS/small.yaml" --rounds 1 --json r.json --html r.html --base bg \
        -b "glibc,bg=jemalloc{$long},big=arena:reserve=1GiB" --gate 'bg:fill/all/ns_per_op < 1000000x big'
    expect_code 0
    expect_json '[.backends[] | .name, .full_name] == ["glibc", null, "bg", "jemalloc{'"$long"'}", "big", "arena:reserve=1GiB"]' r.json
    expect_json '.backends[1].settings == ["'"$long"'"] and .gates[0].verdict == "pass"' r.json
    legend() { # a line that is longer than the screen goes on in the next one
        sed -n '/^bg: /,$p' "$OUT/stdout" | sed -n ':a;N;s/\n  //;ta;P;q' | grep -qxF "bg: jemalloc{$long}" ||
            fail "$(cat "$OUT/stdout")"
    }
    legend
    grep -q '^  bg  *[0-9]' "$OUT/stdout" || fail "$(cat "$OUT/stdout")"
    grep -q "<code>bg: jemalloc{$long}</code>" r.html || fail "no legend in the page"
    bench report r.json
    legend
    { sed '/^phases/,$d' "$WORKLOADS/small.yaml"
      printf '%s\n' 'backends:' '  - {name: glibc}' '  - {name: bg=jemalloc, env: ["MALLOC_CONF=narenas:1"]}'
      sed -n '/^phases/,$p' "$WORKLOADS/small.yaml"; } >named.yaml
    bench run named.yaml --rounds 1 --json w.json
    expect_code 0
    expect_json '[.backends[].name] == ["glibc", "bg"]' w.json
    bench run named.yaml "$WORKLOADS/small.yaml" --rounds 1 -b 'glibc,bg=jemalloc{MALLOC_CONF=narenas:1}'
    expect_code 0
    grep -q '^bg: jemalloc{MALLOC_CONF=narenas:1}$' "$OUT/stdout" || fail "$(cat "$OUT/stdout")"
}

@test "a name of one's own is no name that there is" {
    refused() { # PATTERN LIST
        bench run "$WORKLOADS/small.yaml" -b "$2"
        expect_code 2
        expect_error "$1"
    }
    refused 'this name belongs to a known back end' all=jemalloc
    refused 'two back ends are named a' 'a=jemalloc,a=glibc'
    refused 'a and b are the same back end' 'a=jemalloc{A=1},b=jemalloc{A=1}'
    refused 'this name belongs to a known back end' "jemalloc=$GUESTS/libtoy.so"
    refused 'this name belongs to a known back end' "null=$GUESTS/libtoy.so"
    refused 'a name has 1 to 64 letters' "a+b=$GUESTS/libtoy.so"
    refused 'are the same back end' "a=$GUESTS/libtoy.so,b=$GUESTS/libtoy.so"
}

foreign() { # a workload that names a library
    { sed '/^phases/,$d' "$WORKLOADS/small.yaml"
      printf '%s\n' 'backends:' "  - {name: glibc}" "  - {name: '$1'}"
      sed -n '/^phases/,$p' "$WORKLOADS/small.yaml"; } >foreign.yaml
}

@test "a library that the workload names is not run without --allow-plugins" {
    for name in "$GUESTS/libtoy.so" "checked+$GUESTS/libtoy.so" "x=$GUESTS/libtoy.so"; do
        foreign "$name"
        bench run foreign.yaml --rounds 1 --json -
        expect_code 2
        expect_error "the workload names the library [a-z+]+ as a back end.*--allow-plugins"
        [ ! -s "$OUT/stdout" ]
    done
    foreign "$GUESTS/libtoy.so"
    bench check foreign.yaml
    expect_code 0
    grep -q '^run refuses this: the workload names the library toy .*--allow-plugins' "$OUT/stdout"
    bench run foreign.yaml --rounds 1 --json - --allow-plugins
    expect_code 0
    expect_json '[.backends[].name] == ["glibc", "toy"]'
    bench run foreign.yaml --rounds 1 --json - -b "$GUESTS/libtoy.so" # who names it wants it
    expect_code 0
}

with_variable() { # a workload that sets a variable for a back end
    { sed '/^phases/,$d' "$WORKLOADS/small.yaml"
      printf '%s\n' 'backends:' "  - {name: glibc, env: ['$1']}"
      sed -n '/^phases/,$p' "$WORKLOADS/small.yaml"; } >set.yaml
}

@test "a workload sets only variables that cannot name a file" {
    for variable in HEAPPROFILE=written MALLOC_CONF=prof_prefix:written TMPDIR=. \
        TCMALLOC_MEMFS_MALLOC_PATH=written MIMALLOC_VERBOSE=./written; do
        with_variable "$variable"
        bench run set.yaml --rounds 1 --json -
        expect_code 2
        expect_error "the workload sets $variable for the back end glibc; it may only set variables"
        [ ! -s "$OUT/stdout" ]
        bench check set.yaml
        expect_code 0
        grep -q "^run refuses this: the workload sets $variable " "$OUT/stdout"
        bench run set.yaml --rounds 1 --json - -b glibc
        expect_code 0
    done
    bench run set.yaml --rounds 1 --json - --allow-plugins
    ! grep -q 'may only set' "$OUT/stderr" || fail "$(cat "$OUT/stderr")"
    with_variable MALLOC_ARENA_MAX=1
    bench run set.yaml --rounds 1 --json -
    expect_code 0
}

# U+202E, U+2066, U+200F: not seen, but what follows is read backwards.
@test "a name that turns the direction of text is escaped wherever it is shown" {
    turning=$(printf 'a\342\200\256b\342\201\246c\342\200\217d')
    cp "$ROOT/traces/perl-words.abt" "$turning.abt"
    bench trace info "$turning.abt" nowhere-"$turning".abt
    cat "$OUT/stdout" "$OUT/stderr" >all
    bench run "$turning.yaml"
    cat "$OUT/stderr" >>all
    bench run "$WORKLOADS/small.yaml" -b "$turning"
    cat "$OUT/stderr" >>all
    jq --arg name "$turning" '.workload.name = $name | .schema = $name' \
        "$ROOT/tests/golden/results/good/run.json" >bad.json
    bench report bad.json
    expect_code 3
    cat "$OUT/stderr" >>all
    grep -q 'a\\xe2\\x80\\xaeb' all || fail "$(cat all)"
    ! LC_ALL=C grep -q "$(printf '\342\200\256\|\342\201\246\|\342\200\217')" all || fail "came through"
}
