#!/bin/sh
# Is the new build of a malloc library slower than the old one? Runs both on one workload, in turns,
# and leaves what CI services read in $OUT.
#
# usage: compare-libraries.sh OLD.so NEW.so [WORKLOAD.yaml]
#
# LIMIT    how much longer than the old one the new one may take: 1.10 is 10 % (default: 1.10)
# PHASE    the phase that is judged (default: each)
# ROUNDS   how often each runs (default: 10)
# OUT      folder for the files (default: allocbench-ci)
#
# Exit code: 0 not slower than that, or inconclusive; 1 slower; 2 usage; 3 unreadable input; 4 a library could not be
# measured.
set -eu

if [ $# -lt 2 ] || [ $# -gt 3 ]; then
    echo "usage: $0 OLD.so NEW.so [WORKLOAD.yaml]" >&2
    exit 2
fi
old=$(realpath -- "$1")
new=$(realpath -- "$2")
workload=${3:-$(dirname -- "$0")/../churn.yaml}
out=${OUT:-allocbench-ci}
mkdir -p -- "$out"

# What on this machine disturbs: for the log, it fails nothing.
allocbench doctor --json "$out/doctor.json"

set -- -b "old=$old,new=$new" --rounds "${ROUNDS:-10}" --no-store \
    --gate "new:${PHASE:-*}/all/ns_per_op < ${LIMIT:-1.10}x old" \
    --json "$out/result.json" --junit "$out/junit.xml" --markdown "$out/summary.md" \
    --benchmark-json "$out/benchmark.json"
if [ -n "${GITHUB_ACTIONS:-}" ]; then
    set -- "$@" --github
fi
code=0
allocbench run "$workload" "$@" || code=$?

# Whatever came out, it is shown.
if [ -n "${GITHUB_STEP_SUMMARY:-}" ] && [ -f "$out/summary.md" ]; then
    cat -- "$out/summary.md" >>"$GITHUB_STEP_SUMMARY"
fi
exit "$code"
