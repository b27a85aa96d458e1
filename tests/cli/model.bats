# SPDX-License-Identifier: MIT
#
# `trace model`: how near the workload is to the trace, by what other commands count of both.
# tests: trace_modeling.c

load helpers

ab() {
    allocbench "$@" 3>&-
}

model() { # TRACE NAME
    bench trace model "$1" -o "$OUT/$2.yaml"
    expect_code 0
    ab check --json "$OUT/$2.json" "$OUT/$2.yaml" >/dev/null
    ab trace info --json "$OUT/$2.trace" "$1" >/dev/null
}

# The distances of the screen are those of the file, and within the bounds.
expect_near() { # NAME [PERCENT]: the live peak
    sed -n 's/^#   //p' "$OUT/$1.yaml" >"$OUT/comments"
    sed -n '/^  size: .* larger than the trace/q; s/^  //p' "$OUT/stdout" | diff "$OUT/comments" -
    awk '/^sizes/ { found = 1; exit !($4 <= 2) } END { if (!found) exit 1 }' "$OUT/comments"
    jq -e --argjson off "${2:-5}" --slurpfile t "$OUT/$1.trace" '.live_peak_bytes as $peak | ([.phases[].ops[]] | add) as $calls |
        $calls > 0.99 * $t[0].events and $calls < 1.01 * $t[0].events and ($peak / $t[0].live_peak_bytes - 1 | fabs) < $off / 100' \
        "$OUT/$1.json" >/dev/null || fail "$(jq -c 'del(.phases)' "$OUT/$1.json" | head -c 900)"
}

@test "model: files larger than the trace are said to be" {
    bench trace model "$ROOT/traces/perl-words.abt" -o "$OUT/large.yaml"
    expect_code 0
    local all of
    all=$(cat "$OUT"/large.yaml "$OUT"/large-*.csv | wc -c)
    of=$(stat -c %s "$ROOT/traces/perl-words.abt")
    if [ "$all" -gt "$of" ]; then
        grep -q 'larger than the trace' "$OUT/stdout" || fail "$all bytes of $of"
    else
        ! grep -q 'larger than the trace' "$OUT/stdout" || fail "$all bytes of $of"
    fi
    i=0
    for n in $(seq 300); do # no two sizes alike: the tables have a row for each
        echo "a $i $((n * 37 % 4001 + n))"; i=$((i + 1))
    done | { echo 0; echo 300; echo 300; echo 1; cat; } >"$OUT/odd.rep"
    allocbench trace import -q "$OUT/odd.rep" -o "$OUT/odd.abt" 3>&-
    bench trace model "$OUT/odd.abt" -o "$OUT/odd.yaml"
    expect_code 0
    grep -q 'size: .*, larger than the trace' "$OUT/stdout" || fail "$(cat "$OUT/stdout")"
}

@test "model: sizes, live peak and calls are near those of the sample traces" {
    for trace in perl-words sqlite-index; do
        model "$ROOT/traces/$trace.abt" $trace
        expect_near $trace
    done
}

@test "model: the same trace gives the same files, which say nothing of where it was" {
    model "$ROOT/traces/sqlite-index.abt" a
    mkdir "$OUT/b"
    cp "$ROOT/traces/sqlite-index.abt" "$OUT/t.abt"
    ab trace model -q "$OUT/t.abt" -o "$OUT/b/a.yaml"
    for file in a.yaml a-blocks.csv a-sequence.csv; do
        cmp "$OUT/$file" "$OUT/b/$file"
    done
    ! grep -q sqlite "$OUT"/b/a* || fail "a name is left"
}

@test "model: memory under glibc is that of the trace, to a tenth" {
    model "$ROOT/traces/sqlite-index.abt" m
    ab run -q -b glibc --rounds 1 --json "$OUT/m.result" "$OUT/m.yaml" >/dev/null
    ab replay -q -b glibc --rounds 1 --json "$OUT/t.result" "$ROOT/traces/sqlite-index.abt" >/dev/null
    overhead='[.memory[].overhead_peak | numbers] | max'
    jq -e --argjson trace "$(jq "$overhead" "$OUT/t.result")" \
        "($overhead) as \$model | \$model > 0.9 * \$trace and \$model < 1.1 * \$trace" \
        "$OUT/m.result" >/dev/null || fail "$(jq "$overhead" "$OUT/t.result" "$OUT/m.result")"
}

@test "model: threads that hand blocks on do so in the model, and it runs" {
    ab record -q -o "$OUT/ball.abt" -- "$GUESTS/prog_pingpong" 3 2000
    model "$OUT/ball.abt" ball
    expect_near ball 10
    ab check "$OUT/ball.yaml" >"$OUT/plan"
    remote=$(sed -n 's/.* \([0-9]*\) frees and resizes of blocks of another.*/\1/p' "$OUT/plan")
    recorded=$(ab trace dump "$OUT/ball.abt" | awk '$3 ~ /^alloc/ { by[$6] = $2 }
        $3 == "free" && by[$6] != $2 { n++ } END { print n + 0 }')
    [ "$recorded" -gt 100 ]
    [ "$remote" -eq "$recorded" ] || fail "$remote of $recorded"
    ab run -q -b glibc --rounds 1 --json - "$OUT/ball.yaml" | jq -e '.results | length > 0' >/dev/null
}

@test "model: mistakes leave no file" {
    cp "$ROOT/traces/sqlite-index.abt" "$OUT/t.abt"
    head -c 5000 "$OUT/t.abt" >"$OUT/cut.abt"
    cd "$OUT"
    while IFS=: read -r options code why; do
        # shellcheck disable=SC2086
        bench trace model $options
        expect_code "$code"
        expect_error "$why"
        [ "$(grep -c . "$OUT/stderr")" = 1 ]
    done <<'MISTAKES'
t.abt:2:needs -o NAME.yaml
t.abt -o m.txt:2:needs -o NAME.yaml
t.abt -o -:2:needs -o NAME.yaml
- -o m.yaml:2:several times
absent.abt -o m.yaml:3:absent.abt
cut.abt -o m.yaml:3:cut.abt
MISTAKES
    for file in m*; do
        [ ! -e "$file" ] || fail "$file is left"
    done
}

# Resident memory of allocbench at its peak, in KiB.
peak_kib() { # ARGUMENT…
    python3 -c 'import resource, subprocess, sys
subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)' allocbench "$@" 3>&-
}

@test "memory is for the live blocks: ten times as many events take no more" {
    command -v python3 >/dev/null || skip "no python3"
    local few many
    allocbench record -q -o few.abt -- "$GUESTS/prog_exec" works 200000 >/dev/null 3>&-
    allocbench record -q -o many.abt -- "$GUESTS/prog_exec" works 2000000 >/dev/null 3>&-
    few=$(peak_kib trace model few.abt -o few.yaml)
    many=$(peak_kib trace model many.abt -o many.yaml)
    [ "$many" -lt $((few + 6000)) ] || fail "$few KiB for 400,000 events, $many KiB for 4 million"
}
