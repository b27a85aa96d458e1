# SPDX-License-Identifier: MIT
#
# What the tests of the recorder share: traces against the counts of a witness that is preloaded
# behind the recorder (tests/guests/libcount.c).

# Further options for every recording: --sites=8 in tests/cli/sites-guests.bats.
AB_RECORD_WITH=${AB_RECORD_WITH-}
LIFE=$GUESTS/prog_life
ENDS=$GUESTS/prog_ends

need() {
    command -v "$1" >/dev/null || skip "no $1 here"
}

record() {
    bench record $AB_RECORD_WITH -o "$OUT/t.abt" "$@"
}

# Records a command with the witness behind the recorder: stdout and exit code as with `bench`.
record_counted() { # COMMAND…, --follow before it
    code=0
    COUNT_FILE=$OUT/count LD_PRELOAD=$GUESTS/libcount.so \
        allocbench record $AB_RECORD_WITH -o "$OUT/t.abt" "$@" >"$OUT/stdout" 2>"$OUT/stderr" 3>&- || code=$?
}

# alloc zeroed aligned resize free
ops() { # [FILE]
    allocbench trace info --json - "${1:-$OUT/t.abt}" | jq -r '[.ops[]] | join(" ")'
}

# Without the allocations of what a forked child inherited, which it never called.
ops_made() { # FILE
    local n
    n=$(allocbench trace info --json - "$1" | jq .inherited)
    {
        ops "$1"
        [ "$n" -eq 0 ] || allocbench trace dump "$1" --events "..$n"
    } | awk 'NR == 1 { split($0, n) }
        $3 == "alloc" { n[1]-- }
        $3 == "alloc_zeroed" { n[2]-- }
        $3 == "alloc_aligned" { n[3]-- }
        END { print n[1], n[2], n[3], n[4], n[5] }'
}

is_gone() {
    ! kill -0 "$1" 2>/dev/null
}

events() {
    allocbench trace info --json - "$1" | jq .events
}

witnessed() { # PROGRAM
    [ -f "$OUT/count.$1" ] || fail "no counts of $1"
    od -An -v -tu8 -w40 "$OUT/count.$1" | head -1 | xargs
}

expect_witnessed() { # PROGRAM
    local seen recorded
    seen=$(witnessed "$1")
    recorded=$(ops)
    [ "$seen" = "$recorded" ] || fail "the witness saw $seen, the trace says $recorded"
}

# Each thread may have been cut off in one call that the witness saw: so many calls at most are
# missing from the traces together, and none is there that the witness did not see but a free,
# which is noted first.
expect_cut_off_at_most() { # N PROGRAM TRACE…
    local most=$1 program=$2 trace differences
    shift 2
    differences=$(
        {
            witnessed "$program"
            for trace in "$@"; do ops_made "$trace"; done
        } | awk 'NR == 1 { for (i = 1; i <= 5; i++) d[i] = $i; next }
            { for (i = 1; i <= 5; i++) d[i] -= $i }
            END { for (i = 1; i <= 5; i++) sum += d[i] < 0 ? -d[i] : d[i]
                  print sum, d[1], d[2], d[3], d[4], d[5] }'
    )
    [ "${differences%% *}" -le "$most" ] || fail "differences to the witness: $differences"
}

expect_clean() { # TRACE…
    local trace
    for trace in "$@"; do
        allocbench trace check "$trace" >"$OUT/check" 2>&1 || fail "$(cat "$OUT/check")"
        grep -q ': ok, ' "$OUT/check" || fail "$(cat "$OUT/check")"
    done
}

# Runs a command as it is and recorded, with the witness behind the recorder: same output, same
# exit code; as many calls of each kind in the trace as the witness saw; the trace is clean.
record_with_witness() { # PROGRAM COMMAND…
    local program=$1 plain=0
    shift
    "$@" >"$OUT/plain" 2>"$OUT/plain.err" || plain=$?
    record_counted -q -- "$@"
    expect_code "$plain"
    cmp "$OUT/plain" "$OUT/stdout" || fail "another output"
    cmp "$OUT/plain.err" "$OUT/stderr" || fail "other messages"
    expect_witnessed "$program"
    expect_clean "$OUT/t.abt"
}
