#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# Several lanes, and CPU time that belongs to none of them.

load helpers

@test "CPU time of an allocator's own threads is told beside the lanes'" {
    bench run "$WORKLOADS/small.yaml" --reps 2 -b "$GUESTS/libbackground.so,glibc" --json -
    expect_code 0
    expect_json '[.results[] | select(.op == "all" and .backend == "background")]
        | map(.background_cpu_ns_per_op / .cpu_ns_per_op) | max > 0.2'
    expect_json '[.results[] | select(.op == "all" and .backend == "glibc")]
        | all(.background_cpu_ns_per_op == 0)'
}
