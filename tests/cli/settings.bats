#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# A setting of the environment is read back: proven, not proven, or the row fails.
# tests: setting_proof.c setting_judge.c

load helpers

rows() { # LIST [OPTION…]: two rounds would say the same
    bench run "$WORKLOADS/small.yaml" --rounds 1 --passes memory:1 --drain 0 -b "$1" \
        --json "$OUT/r.json" "${@:2}"
}

proof() { # NAME: its proofs, "setting proof" a line
    jq -r --arg b "$1" '.backends[] | select(.name == $b) | .proofs[] | .setting + " " + .proof' "$OUT/r.json"
}

expect_ignored() { # NAME{…} REGEX
    rows "$1"
    expect_code 4
    jq -e --arg why "$2" '.backends[0] | .status == "wrong_library" and (.reason | test($why))' \
        "$OUT/r.json" >/dev/null || fail "$(jq -c '.backends[0] | [.status, .reason]' "$OUT/r.json")"
    expect_json '[.backends[0].proofs[] | select(.proof == "ignored")] | length == 1' "$OUT/r.json"
    expect_json '.results == []' "$OUT/r.json"
}

@test "jemalloc: each option is proven; a wrong name, a wrong value and one out of range fail the row" {
    need_library jemalloc
    rows 'jemalloc{MALLOC_CONF=narenas:1,dirty_decay_ms:0,background_thread:true}'
    expect_code 0
    [ "$(proof 'jemalloc{MALLOC_CONF=narenas:1,dirty_decay_ms:0,background_thread:true}')" = \
        "MALLOC_CONF=narenas:1 proven
MALLOC_CONF=dirty_decay_ms:0 proven
MALLOC_CONF=background_thread:true proven" ] || fail "$(jq -c '.backends[0].proofs' "$OUT/r.json")"
    ! grep -q 'not proven' "$OUT/stdout" || fail "a note without a reason"
    expect_ignored 'jemalloc{MALLOC_CONF=narena:1}' 'no option .narena.; did you mean .narenas.'
    expect_ignored 'jemalloc{MALLOC_CONF=dirty_decay_ms:soon}' 'refuses this value'
    expect_ignored 'jemalloc{MALLOC_CONF=narenas:1,percpu_arena:percpu}' 'MALLOC_CONF=narenas:1: [0-9]+ is in force'
    expect_ignored 'jemalloc{MALLOC_CONFIG=narenas:1}' 'reads no variable MALLOC_CONFIG; did you mean .MALLOC_CONF.'
}

@test "mimalloc: options of the version that is installed" {
    need_library mimalloc
    rows 'mimalloc{MIMALLOC_EAGER_COMMIT=0;MIMALLOC_RESERVE_OS_MEMORY=67108864}'
    expect_code 0
    expect_json '[.backends[0].proofs[].proof] == ["proven", "proven"]' "$OUT/r.json"
    expect_ignored 'mimalloc{MIMALLOC_EAGER_COMIT=0}' 'no option .eager_comit.; did you mean .eager_commit.'
    expect_ignored 'mimalloc{MIMALLOC_EAGER_COMMIT=perhaps}' 'refuses this value'
    expect_ignored 'mimalloc{TCMALLOC_RELEASE_RATE=1}' 'begin with MIMALLOC_'
}

@test "tcmalloc: what it says is proven, what it only reads is not, and the row says so" {
    need_library tcmalloc
    rows 'tcmalloc{TCMALLOC_RELEASE_RATE=10;TCMALLOC_AGGRESSIVE_DECOMMIT=1},tcmalloc{TCMALLOC_TRANSFER_NUM_OBJ=512}'
    expect_code 0
    expect_json '[.backends[].proofs[].proof] == ["proven", "proven", "not proven"]' "$OUT/r.json"
    [ "$(tr -s '\n ' ' ' <"$OUT/stdout" | grep -o 'settings not proven[^:]*: [^ ]*')" = \
        "settings not proven, the library does not say what is in force: tcmalloc{2}" ] ||
        fail "not said once: $(cat "$OUT/stdout")"
    grep -qxF 'tcmalloc{2}: tcmalloc{TCMALLOC_TRANSFER_NUM_OBJ=512}' "$OUT/stdout" || fail "$(cat "$OUT/stdout")"
    expect_ignored 'tcmalloc{TCMALLOC_TRANSFER_NUM_OBJS=512}' 'did you mean .TCMALLOC_TRANSFER_NUM_OBJ.'
    expect_ignored 'tcmalloc{TCMALLOC_MAX_TOTAL_THREAD_CACHE_BYTES=1}' '524288 is in force'
}

@test "glibc: tunables, and the variables that stand for them" {
    rows 'glibc{GLIBC_TUNABLES=glibc.malloc.arena_max=1:glibc.malloc.mxfast=0},glibc{MALLOC_ARENA_MAX=2}'
    expect_code 0
    expect_json '[.backends[].proofs[].proof] == ["proven", "proven", "proven"]' "$OUT/r.json"
    expect_ignored 'glibc{GLIBC_TUNABLES=glibc.malloc.arena_maxx=1}' 'did you mean .glibc.malloc.arena_max.'
    expect_ignored 'glibc{GLIBC_TUNABLES=glibc.malloc.perturb=999}' '0 is in force'
    expect_ignored 'glibc{MALLOC_CONF=narenas:1}' 'reads no variable MALLOC_CONF'
    expect_ignored 'arena{GLIBC_TUNABLES=glibc.malloc.arena_max=1}' 'another serves this row'
    expect_ignored 'arena{MALLOC_CONF=narenas:1}' 'a built-in allocator reads no variables'
}

@test "an option that is listed but has no effect is not proven" {
    # Each is in the loader's list with this value, and changes nothing.
    [ "$(getconf GNU_LIBC_VERSION | cut -d. -f2)" -ge 34 ] || skip "an older glibc"
    expect_ignored 'glibc{MALLOC_CHECK_=3}' 'no effect without libc_malloc_debug'
    expect_ignored 'glibc{GLIBC_TUNABLES=glibc.malloc.check=1}' 'no effect without libc_malloc_debug'
    expect_ignored 'glibc{GLIBC_TUNABLES=glibc.malloc.mxfast=1000}' 'values above 160 have no effect'
    expect_ignored 'glibc{GLIBC_TUNABLES=glibc.malloc.tcache_count=65536}' 'values above 65535'
    expect_ignored 'glibc{GLIBC_TUNABLES=glibc.malloc.tcache_max=2000}' 'values above 1032'
    rows 'glibc{GLIBC_TUNABLES=glibc.malloc.mxfast=160:glibc.malloc.tcache_max=1032}'
    expect_json '[.backends[0].proofs[].proof] == ["proven", "proven"]' "$OUT/r.json"
}

@test "an option that acts only with another one, or that is a relic, is not proven" {
    need_library jemalloc
    expect_ignored 'jemalloc{MALLOC_CONF=tcache:false,tcache_max:16384}' 'no effect without tcache:true'
    need_library mimalloc
    rows 'mimalloc{MIMALLOC_OS_TAG=101}'
    expect_json '[.backends[0].proofs[] | .proof, .reason] == ["not proven", "the library lists it, which does not show that it acts"]' "$OUT/r.json"
}

# bats test_tags=installed
@test "scudo: what it does not recognize fails, the rest is not proven" {
    need_library scudo
    rows 'scudo{SCUDO_OPTIONS=zero_contents=1:release_to_os_interval_ms=0}'
    expect_code 0
    expect_json '[.backends[0].proofs[].proof] == ["not proven", "not proven"]' "$OUT/r.json"
    expect_ignored 'scudo{SCUDO_OPTIONS=zero_content=1}' 'no option .zero_content.'
}

@test "a program runs under a row only with the settings that it took" {
    bench exec -b 'glibc,glibc{GLIBC_TUNABLES=glibc.malloc.arena_mx=1},glibc{GLIBC_TUNABLES=glibc.malloc.arena_max=1}' \
        --rounds 1 --json "$OUT/r.json" -- /bin/true
    expect_code 4
    expect_json '[.backends[].status] == ["ok", "wrong_library", "ok"]' "$OUT/r.json"
    expect_json '.backends[2].proofs == [{setting: "GLIBC_TUNABLES=glibc.malloc.arena_max=1", proof: "proven", reason: null}]' \
        "$OUT/r.json"
}

# bats test_tags=installed
@test "the usual settings of what is installed are all taken" {
    local name names
    names=$(installed_backends '.kind != "builtin" and .sweep != null and .sweep != []')
    for name in ${names//,/ }; do
        bench run "$WORKLOADS/small.yaml" --sweep "$name" --rounds 1 --passes memory:1 --drain 0 --json "$OUT/r.json"
        expect_code 0
        expect_json '[.backends[].proofs[]? | select(.proof == "ignored")] == []' "$OUT/r.json"
    done
}

@test "giving memory back by the clock needs work that has times" {
    rows 'glibc,glibc:trim=60s'
    expect_code 2
    expect_error 'glibc:trim=60s: the work has no times'
    bench exec -b 'glibc:trim=60s' --rounds 1 -- /bin/true
    expect_code 2
    expect_error 'giving memory back is not asked of a real program'
}
