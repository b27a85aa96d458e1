#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# scripts/faithful: the programs that the classics are held against, and what it says of the two.

load helpers

@test "each program counts what it did and says which file serves malloc" {
    need_compilers
    need_library mimalloc
    local line name
    for line in 'larson 2 20 100 5' 'threadtest 2 3 100 64' 'cache_scratch 2 5 1 20' 'xmalloc 1 20 64' \
        'alloc_test 2 1000 2048' 'mstress 3 100 2' 'rptest 2 10' 'glibc_simple 1600 0' 'glibc_simple 1600 64' \
        'glibc_thread 2 20'; do
        name=${line%% *}
        compile_once "$name" cc -std=gnu17 -O2 -D_GNU_SOURCE -Wall -Wextra -Werror -fno-builtin-malloc \
            -fno-builtin-free -pthread "tests/faithful/$name.c"
        # shellcheck disable=SC2086 # the arguments
        LD_PRELOAD=$library "./$name" ${line#* } >"$OUT/stdout"
        expect_json '.ops > 100 and .seconds > 0 and .stack_bytes >= 0 and (.malloc | test("mimalloc"))'
        case $line in # what can be counted beforehand
        threadtest*) expect_json '.ops == 2 * 3 * 100' ;;
        cache_scratch*) expect_json '.ops == 2 * (1 + 5 * (2 + 10))' ;;
        alloc_test*) expect_json '.ops == 2000' ;;
        glibc_simple*64) expect_json '.ops == 2 * 3 * 4 * 1600' ;;
        glibc_simple*) expect_json '.ops == 2 * 3 * 3 * 4 * 1600' ;;
        esac
        rm "$name"
    done
}

# A round of every workload: glibc takes 2, mimalloc as given; resident 100 MiB, mimalloc's as given.
some_rounds() { # PROGRAM WORKLOAD MIB
    local name
    mkdir -p kept
    for name in larson threadtest cache-scratch xmalloc alloc-test mstress rptest glibc-simple glibc-thread; do
        jq -n --argjson p "$1" --argjson w "$2" --argjson m "$3" '
            def of($t; $m): {time: $t, cpu: $t, memory: ($m * 1048576)};
            {program: {glibc: of(2; 100), mimalloc: of($p; 100)}, workload: {glibc: of(2; 100), mimalloc: of($w; $m)}}' \
            >"kept/$name.0.json"
    done
}

judge() { # AGREEING NEAR
    echo old >doc.txt
    "$ROOT/scripts/faithful" --table --rounds 1 --keep kept --into doc.txt
    grep -Fq "| \`glibc-simple\` | time | 1 | " doc.txt || fail "$(cat doc.txt)"
    [ "$(grep -c "| $1 of 1 | $2 of 2 |\$" doc.txt)" = 9 ] || fail "not $1 and $2: $(cat doc.txt)"
}

@test "a pair agrees where order and ratio do, and is equal within noise where the program has no difference" {
    some_rounds 1 1.2 114
    judge 1 2
    ! grep -q '^What is not within' doc.txt || fail "says that something is not within"
    [ "$(head -1 doc.txt)" = "$(head -1 "$ROOT/docs/data/faithful.txt")" ]
    ! grep -q '^old$' doc.txt || fail "the old text is still there"
    some_rounds 1 1.4 100 # 2.00 and 1.43
    judge 0 2
    grep -Fq -- '- `larson`, time: glibc to mimalloc: 2.00 in the program, 1.43 here (not explained).' doc.txt
    some_rounds 1.7 2.1 100 # 1.18 and 0.95: within 25 %, equal within noise
    judge 1 2
    some_rounds 1.7 2.25 100 # 1.18 and 0.89: the other way around
    judge 0 2
    some_rounds 1.9 2.25 100 # 1.05 and 0.89: no difference in the program
    judge 1 2
}

@test "the resident set agrees within 15 %, and what is known of a difference is said" {
    some_rounds 1 1 116
    judge 1 1
    grep -Fq -- '- `larson`, resident: mimalloc: 100.0 MiB in the program, 116.0 here (the program runs' doc.txt
    grep -Fq -- '- `glibc-simple`, resident: mimalloc: 100.0 MiB in the program, 116.0 here (not explained).' doc.txt
}

@test "wrong usage is told" {
    local code=0
    "$ROOT/scripts/faithful" --only larsen 2>"$OUT/stderr" || code=$?
    expect_code 2
    expect_error '^faithful: --only larsen: must be of larson, threadtest'
    "$ROOT/scripts/faithful" --table --keep none 2>"$OUT/stderr" || code=$?
    expect_code 2
    expect_error 'nothing is measured in none'
}
