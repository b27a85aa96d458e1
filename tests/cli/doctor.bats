#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# `doctor` on this machine, and on made-up ones.
# tests: cmd_doctor.c document.c

load helpers

# A machine whose governor is powersave, and that says nothing else.
make_machine() {
    export ALLOCBENCH_DOCTOR_ROOT=$BATS_TEST_TMPDIR/machine
    mkdir -p "$ALLOCBENCH_DOCTOR_ROOT/sys/devices/system/cpu/cpu0/cpufreq" "$ALLOCBENCH_DOCTOR_ROOT/proc"
    echo "${1:-powersave}" >"$ALLOCBENCH_DOCTOR_ROOT/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"
}

@test "doctor lists each check once, with a state, and changes nothing" {
    bench doctor --json -
    expect_code 0
    expect_one_document
    expect_json '.schema == "allocbench-doctor/1"'
    expect_json '.checks | length > 20'
    expect_json '(.checks | map(.id)) as $ids | ($ids | unique | length) == ($ids | length)'
    expect_json '.checks | all((.state | IN("ok", "note", "warning", "unknown"))
        and (.found | length > 0) and (.why | length > 10))'
    expect_json '[.checks[] | select(.state == "warning" and .remedy == null)] == []'
    expect_json '.warnings == ([.checks[] | select(.state == "warning")] | length)'
    expect_json '.checks | map(.id) | contains(["governor", "turbo", "smt", "thp", "aslr", "swap",
        "memory-limit", "cpu-limit", "clock-source", "load", "virtualization", "valgrind"])'
    expect_nothing_left
}

@test "a warning comes with its reason and a command, and is exit 1 with --strict alone" {
    make_machine
    bench doctor
    expect_code 0
    grep -q '^  WARNING  governor  *powersave$' "$OUT/stdout"
    grep -q '^ *why: a clock that follows the load' "$OUT/stdout"
    grep -q '^ *try: sudo cpupower frequency-set -g performance$' "$OUT/stdout"
    grep -q '^1 warning, ' "$OUT/stdout"
    bench doctor --strict --json doctor.json
    expect_code 1
    expect_json '.warnings == 1' doctor.json
}

@test "doctor --strict is content with a machine that has no warning" {
    make_machine performance
    bench doctor --strict
    expect_code 0
    grep -q '^0 warnings, ' "$OUT/stdout"
}

@test "doctor refuses arguments and what it cannot write" {
    bench doctor governor
    expect_code 2
    expect_error 'doctor takes no arguments, but got "governor"'
    bench doctor --json /nonexistent/x.json
    [ "$code" -ne 0 ]
    expect_error '/nonexistent'
}

@test "doctor works without /proc and /sys, and says so" {
    export ALLOCBENCH_DOCTOR_ROOT=/nonexistent
    bench doctor --json -
    expect_code 0
    expect_json '[.checks[] | select(.state == "unknown")] | length > 10'
    expect_json '.warnings == 0'
}
