# SPDX-License-Identifier: MIT
#
# What the command-line tests share. Each test runs in a folder of its own, with a TMPDIR of its
# own beside it, so that "nothing is left behind" can be seen; AB_BUILD names the build to test.

bats_require_minimum_version 1.5.0

ROOT=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
BUILD=$(cd "$ROOT" && realpath "${AB_BUILD:-build/release}")
GUESTS=$BUILD/guests
WORKLOADS=$ROOT/tests/cli/workloads

setup() {
    OUT=$BATS_TEST_TMPDIR/out # what a test itself writes
    mkdir "$OUT" "$BATS_TEST_TMPDIR/cwd" "$BATS_TEST_TMPDIR/tmp"
    export TMPDIR=$BATS_TEST_TMPDIR/tmp
    export PATH=$BUILD:$PATH
    export ALLOCBENCH_RESULTS= # nothing is stored, unless a test asks for it
    unset NO_COLOR COLUMNS LD_PRELOAD CLICOLOR_FORCE
    cd "$BATS_TEST_TMPDIR/cwd"
}

# Sets $command: with one process a round instead of up to 12, unless the test says how many.
few_processes() {
    command=("$@")
    case ${1-} in
    run | replay | advise) [[ " $* " == *" --processes "* ]] || command=("$1" --processes 1 "${@:2}") ;;
    esac
}

# Runs allocbench with standard output and standard error in files: output may be large, and what
# is on which stream matters. The exit code is in $code.
bench() {
    code=0
    few_processes "$@"
    allocbench "${command[@]}" >"$OUT/stdout" 2>"$OUT/stderr" 3>&- || code=$?
}

fail() {
    printf '%s\n' "$*"
    [ ! -s "$OUT/stderr" ] || { echo "-- stderr:"; head -c 2000 "$OUT/stderr"; }
    [ ! -s "$OUT/stdout" ] || [ -s "$OUT/stderr" ] || { echo "-- stdout:"; head -c 400 "$OUT/stdout"; }
    return 1
}

expect_code() {
    [ "$code" -eq "$1" ] || fail "exit code $code, expected $1"
}

# Standard error matches an extended regular expression.
expect_error() {
    grep -Eq -- "$1" "$OUT/stderr" || fail "no \"$1\" on standard error"
}

# A jq condition holds for a document (default: standard output).
expect_json() { # CONDITION [FILE]
    jq -e "$1" "${2:-$OUT/stdout}" >/dev/null || {
        fail "does not hold: $1"
    }
}

# Exactly one JSON document and nothing else.
expect_one_document() { # [FILE]
    local n
    n=$(jq -s length "${1:-$OUT/stdout}") || fail "not JSON"
    [ "$n" -eq 1 ] || fail "$n documents on standard output"
}

# What can be measured here, from `list backends`: names with commas between. Two names that stand
# for one file (tcmalloc, where only tcmalloc_minimal is installed) are one back end.
installed_backends() { # CONDITION
    allocbench list backends --json - 3>&- | jq -r "
        [.backends[] | select(.status == \"ok\" and ($1))]
        | unique_by(.path // .name) | map(.name) | join(\",\")"
}

# Sets $library to where a library of this name is; the test is skipped where it is not installed.
need_library() { # NAME
    library=$(allocbench list backends --json - 3>&- | jq -r --arg name "$1" \
        '.backends[] | select(.name == $name and .status == "ok") | .path')
    [ -n "$library" ] || skip "no $1 here"
}

# Pids of workers (and of what they forked) that run this build's worker. One look at all of them:
# a slower one would miss those that live for a moment.
workers() {
    command find /proc/[0-9]*/exe -maxdepth 0 -lname "$BUILD/allocbench-worker*" 2>/dev/null | cut -d/ -f3
}

# No process, and nothing in the working folder or TMPDIR.
expect_nothing_left() {
    local left
    left=$(workers)
    [ -z "$left" ] || fail "processes left: $left"
    left=$(ls -A "$BATS_TEST_TMPDIR/cwd" "$BATS_TEST_TMPDIR/tmp" | grep -v ':$' | tr -d '\n')
    [ -z "$left" ] || fail "files left: $left"
}

# Waits for a condition; on a busy machine anything may take long, so up to a minute.
wait_until() {
    local i
    for i in $(seq 1200); do
        if "$@"; then return 0; fi
        sleep 0.05
    done
    return 1
}

has_worker() {
    [ -n "$(workers)" ]
}

has_no_worker() {
    [ -z "$(workers)" ]
}

# Starts allocbench in the background ($pid) as a shell with job control would: SIGINT not ignored.
start_bench() {
    few_processes "$@"
    env --default-signal=INT allocbench "${command[@]}" >"$OUT/stdout" 2>"$OUT/stderr" 3>&- &
    pid=$!
}

# Sets $code to how $pid ended.
await_bench() {
    code=0
    wait "$pid" || code=$?
}

# ---- a run that is interrupted at a known place ----

# libholds.so in this folder: of its workers, so many work and the next one waits. A run has one of
# each library for the pre-flight, one that looks for the memory's peak, and four a round.
hold_after() { # WORKERS
    [ -e libholds.so ] || cp "$GUESTS/libholds.so" .
    rm -f libholds.so.runs
    head -c "$1" /dev/zero >libholds.so.most
}

is_held() {
    [ "$(stat -c %s libholds.so.runs 2>/dev/null || echo 0)" -gt "$(stat -c %s libholds.so.most)" ]
}

# Interrupts what start_bench has started once it is held.
interrupt_held() {
    wait_until is_held || fail "it does not come so far"
    kill -INT "$pid"
    await_bench
    expect_code 130
}

hold_no_more() {
    rm libholds.so.most
}

# Compiles in the root's folder, once for all tests of the file that want the same.
compile_once() { # PROGRAM COMMAND…
    local key made
    key=$(printf '%s\n' "${@:2}" | sha256sum)
    made=$BATS_FILE_TMPDIR/${key:0:16}
    [ -e "$made" ] || (cd "$ROOT" && "${@:2}" -o "$made")
    ln -f "$made" "$1"
}

# Skips the test where there is no C compiler, or none of these.
need_compilers() { # COMPILER…
    local tool
    for tool in cc "$@"; do command -v "$tool" >/dev/null || skip "no $tool"; done
}

# Another build of a library: its build id becomes one of TEXT.
set_build_id() { # FILE TEXT
    ID=$(sha1sum <<<"$2" | cut -c1-40) perl -0777 -pi -e \
        's/(\x14\0{3}\x03\0{3}GNU\0).{20}/$1 . pack("H40", $ENV{ID})/se' "$1"
}
