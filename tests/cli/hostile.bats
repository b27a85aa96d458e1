#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# Every hostile library runs beside glibc. Its status names what happened, it has no numbers, glibc
# has all of its own, the exit code is 4, and neither a process nor a file is left behind.

load helpers

guest_is_refused() { # NAME REASON
    bench run "$WORKLOADS/small.yaml" -b "glibc,$GUESTS/lib$1.so" --json "$OUT/r.json"
    expect_code 4
    expect_error "^allocbench: $1: $2"
    [ ! -s "$OUT/stdout" ] && [ ! -e "$OUT/r.json" ] && [ ! -e "$OUT/results" ]
}

guest_fails() { # NAME STATUS REASON [OPTION…]
    local name=$1 status=$2 reason=$3
    shift 3
    bench run "$WORKLOADS/small.yaml" --rounds 2 --drain 0 -b "glibc,$GUESTS/lib$name.so" --json - "$@"
    expect_one_document
    jq -r --arg name "$name" '.backends[] | select(.name == $name) | .status, .reason' \
        "$OUT/stdout" >"$OUT/verdict"
    [ "$(head -1 "$OUT/verdict")" = "$status" ] || fail "$(cat "$OUT/verdict")"
    tail -1 "$OUT/verdict" | grep -Eq -- "$reason" || fail "$(cat "$OUT/verdict")"
    expect_json ".results | map(select(.backend == \"$name\")) | length == 0"
    glibc_is_whole
    expect_error "^allocbench: error: $name: $status: "
    expect_code 4
    expect_nothing_left
}

glibc_is_whole() {
    expect_json '.complete'
    expect_json '.backends[] | select(.name == "glibc") | .status == "ok"'
    expect_json '[.results[] | select(.backend == "glibc" and .op == "all")]
        | length == 8 and all(.ns_per_op > 0 and .n > 0)'
}

guest_works() { # NAME
    bench run "$WORKLOADS/small.yaml" --rounds 2 --drain 0 -b "glibc,$GUESTS/lib$1.so" --json -
    expect_code 0
    expect_one_document
    expect_json ".backends[] | select(.name == \"$1\") | .status == \"ok\" and .reason == null"
    expect_json "[.results[] | select(.backend == \"$1\" and .op == \"all\")]
        | length == 8 and all(.ns_per_op > 0)"
    glibc_is_whole
    expect_nothing_left
}

@test "the toy allocator that all guests share has no vice of its own" {
    guest_works toy
}

@test "a library without any malloc is no back end" {
    guest_is_refused nomalloc 'has no malloc and no ab_backend_v1: nothing to measure; nothing was measured'
}

@test "a library with malloc alone is refused and what it lacks is named" {
    guest_is_refused mallocalone '.*not free, calloc, realloc.*malloc_usable_size'
}

@test "a crash in the constructor is told from one in the work" {
    guest_fails ctorcrash crashed 'SIGSEGV before main'
}

@test "a crash in the n-th malloc names signal, op and phase" {
    guest_fails nthcrash crashed 'SIGSEGV in op [0-9]+ \(alloc of [0-9]+ bytes, phase fill\)'
}

@test "the crash lies where it happened: the 5000th malloc is op 4999 of a tape of mallocs" {
    bench run "$WORKLOADS/truth.yaml" --rounds 1 -b "$GUESTS/libnthcrash.so" --json -
    expect_code 4
    n=$(jq -r '.backends[0].reason | capture("in op (?<n>[0-9]+) ").n' "$OUT/stdout")
    # the C library's own start may have called malloc a few times before
    [ "$n" -le 4999 ] && [ "$n" -ge 4980 ] || fail "op $n"
}

@test "a crash in a timed pass leaves no numbers from before it" {
    guest_fails latecrash crashed 'SIGSEGV (between ops [0-9]+ and [0-9]+|in op [0-9]+)'
}

@test "an endless loop ends at the deadline" {
    guest_fails hang timeout 'timed out after 3.00 s, last seen in op [0-9]+' --timeout 3s
}

@test "what ignores SIGTERM is killed" {
    guest_fails ignoreterm timeout 'ignored SIGTERM, killed' --timeout 3s
}

@test "exit(3) within malloc is a crash, not a result" {
    guest_fails exits crashed 'exited with status 3 in op [0-9]+'
}

@test "exit(0) in the constructor is no success" {
    guest_fails exitsctor crashed 'exited with status 0 before main'
}

@test "exit(124) in the constructor takes only its own back end down" {
    guest_fails exits124 crashed 'exited with status 124'
}

@test "processes left behind are found, killed and held against the guest" {
    guest_fails forks failed_check 'left 2 child processes running'
}

@test "what a guest prints stays out of our standard output" {
    guest_fails prints failed_check 'printed to standard output: "guest was here'
    ! grep -q '^guest was here' "$OUT/stdout"
}

@test "a signal that a guest sends us ends only the guest's own measurement" {
    guest_fails signalsparent failed_check 'sent SIGTERM to allocbench'
}

@test "a guest whose file is gone is not said to be served by itself" {
    cp "$GUESTS/libunlinks.so" "$OUT/"
    bench run "$WORKLOADS/small.yaml" --rounds 1 -b "glibc,$OUT/libunlinks.so" --json -
    expect_code 4
    expect_json '.backends[1] | .status == "wrong_library" and
        (.reason | test("its file .*/libunlinks.so is no longer visible.*No such file"))'
}

@test "a misaligned block is found" {
    guest_fails misaligned failed_check '^malloc\([0-9]+\) returned 0x[0-9a-f]+8, not aligned to 16 \(op [0-9]+\)'
}

@test "overlapping blocks are found" {
    guest_fails overlap failed_check 'returned 0x[0-9a-f]+, inside a live block: malloc\([0-9]+\) at 0x[0-9a-f]+ \(op [0-9]+\)'
}

@test "NULL is out of memory, with the op" {
    guest_fails returnsnull oom 'returned NULL \(op [0-9]+\)'
}

@test "a library that does not exist is refused before anything is measured" {
    guest_is_refused nowhere 'no such file: .*/libnowhere.so; nothing was measured'
    bench exec -b "glibc,$GUESTS/libnowhere.so" --json "$OUT/r.json" -- true
    expect_code 4
    expect_error 'nowhere: no such file'
    [ ! -e "$OUT/r.json" ]
}

@test "blocks rounded to 4096 bytes are slow, not wrong" {
    guest_works round4096
}

@test "a guest that closes foreign descriptors harms only itself" {
    guest_works closesfds
}

@test "a guest that closes our descriptors as it is loaded fails alone, in verify too" {
    guest_fails closesctor failed_check '^it closed descriptors of the process while it was loaded$'
    bench verify "$GUESTS/libclosesctor.so"
    expect_code 4
    grep -q 'it closed descriptors of the process while it was loaded' "$OUT/stdout" "$OUT/stderr" ||
        fail "verify says another reason"
}

@test "a guest that lowers a limit as it is loaded fails alone, with the name of the limit, in verify too" {
    while read -r limit name; do
        bench run "$WORKLOADS/small.yaml" --rounds 2 --drain 0 --json - \
            -b "glibc,$GUESTS/liblimitsctor.so{LIMIT=$limit}"
        expect_code 4
        expect_json ".backends[1] | .status == \"failed_check\" and
            (.reason | test(\"^it lowered the limit of the process on .*\\\\(RLIMIT_$name\\\\) while it was loaded\"))"
        glibc_is_whole
        bench verify "$GUESTS/liblimitsctor.so{LIMIT=$limit}"
        expect_code 4
        grep -q "RLIMIT_$name" "$OUT/stdout" "$OUT/stderr" || fail "verify says another reason"
    done <<'END'
files NOFILE
space AS
data DATA
END
}

@test "a guest that changes errno disturbs nothing" {
    guest_works changeserrno
}

@test "all hostile guests in one command: each has its own status, glibc its numbers" {
    local list=glibc name
    for name in ctorcrash nthcrash exits exitsctor forks prints misaligned overlap returnsnull; do
        list=$list,$GUESTS/lib$name.so
    done
    bench run "$WORKLOADS/small.yaml" --rounds 2 -b "$list" --json -
    expect_code 4
    expect_one_document
    glibc_is_whole
    expect_json '[.backends[].status] == ["ok", "crashed", "crashed", "crashed", "crashed",
        "failed_check", "failed_check", "failed_check", "failed_check", "oom"]'
    expect_json '[.results[].backend] | unique == ["glibc"]'
    expect_nothing_left
}

# A workload has no zeroed allocations in this version; a recorded program has.
@test "calloc that returns dirty memory is found" {
    trace=$ROOT/tests/golden/traces/good/perl-tiny.abt
    allocbench trace info "$trace" --json "$OUT/info.json" 3>&-
    expect_json '.ops.alloc_zeroed > 100' "$OUT/info.json"
    bench replay "$trace" --rounds 1 -b "glibc,$GUESTS/libdirtycalloc.so" --json -
    expect_code 4
    expect_json '.backends[0].status == "ok"'
    expect_json '.backends[1] | .status == "failed_check"
        and (.reason | test("a zeroed block is not zero: calloc\\([0-9, ]+\\), byte [0-9]+ \\(op [0-9]+\\)"))'
    expect_json '[.results[].backend] | unique == ["glibc"]'
}
