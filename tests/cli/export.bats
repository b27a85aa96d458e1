#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# What leaves the tool as files for other tools: complete, in agreement with the JSON, in every
# locale, and safe with any name.
# tests: outputs.c

load helpers

# Runs a workload with every output into $OUT.
export_all() { # WORKLOAD BACKENDS OPTION…
    local workload=$1 backends=$2
    shift 2
    bench run "$WORKLOADS/$workload.yaml" -b "$backends" --no-store -q --json "$OUT/r.json" \
        --csv "$OUT/r.csv" --csv-hist "$OUT/hist.csv" --csv-timeline "$OUT/timeline.csv" \
        --hlog "$OUT/r.hlog" --hgrm "$OUT/r" "$@"
    expect_code 0
}

# Counters of hist.csv, summed a histogram, in the order of the document.
hist_sums() {
    awk -F, 'NR > 1 { key = $2 " " $3 " " $4 " " $5 " " $6
                      if (!(key in n)) order[++k] = key
                      n[key] += $9; last[key] = $10 + 0 }
             END { for (i = 1; i <= k; i++) print order[i], n[order[i]], last[order[i]] }' \
        "$OUT/hist.csv"
}

@test "the histograms as CSV add up to the numbers of the JSON" {
    export_all small glibc,arena --rounds 2
    jq -r '(.results[] | select(.n > 0) | "\(.round) \(.backend) \(.phase) \(.op)  \(.n) \(.n)"),
        (.size_classes[] | "\(.round) \(.backend) \(.phase) \(.op) \(.le_bytes) \(.n) \(.n)")' \
        "$OUT/r.json" >"$OUT/wanted"
    hist_sums >"$OUT/sums"
    [ "$(wc -l <"$OUT/sums")" -gt 10 ]
    diff "$OUT/wanted" "$OUT/sums" || fail "sums differ"
}

@test "size classes add up to their op, and windows to the fair sample of all ops" {
    export_all small glibc --rounds 2
    expect_json '. as $d | [.results[] | select(.op != "all" and .op != "reset")] | length > 2 and all(
        . as $r | .n == ([$d.size_classes[] | select(.phase == $r.phase and .op == $r.op
            and .round == $r.round) | .n] | add))' "$OUT/r.json"
    expect_json '. as $d | [.results[] | select(.op == "all")] | length > 1 and all(
        . as $r | .n == ([$d.windows[] | select(.phase == $r.phase and .round == $r.round) | .n]
            | add))' "$OUT/r.json"
}

@test "lanes have size classes and windows too" {
    export_all pipeline glibc --rounds 1
    expect_json '.config.tape.lanes > 1' "$OUT/r.json"
    expect_json '. as $d | [.results[] | select(.op == "free")] | length > 0 and all(
        . as $r | .n == ([$d.size_classes[] | select(.phase == $r.phase and .op == "free") | .n]
            | add))' "$OUT/r.json"
    expect_json '[.windows[].n] | add > 0' "$OUT/r.json"
}

@test "a block's size is known when it is freed" {
    export_all memory glibc --rounds 1 --set size=1000
    expect_json '[.size_classes[] | select(.op == "free")] | length > 0
        and all(.le_bytes == 1024)' "$OUT/r.json"
    expect_json '[.results[] | select(.op == "free") | .tail.worst[] | .size]
        | any(. == 1000) and all(. == 1000 or . == null)' \
        "$OUT/r.json"
}

@test "the CSV has the numbers of the memory records, by place" {
    export_all small glibc --rounds 1
    jq -r '.memory[] | . as $m | to_entries[]
        | select((.value | type) == "number" and (.key | IN("round", "position") | not))
        | "\($m.phase) \($m.at) \(.key) \(.value)"' "$OUT/r.json" | sort >"$OUT/wanted"
    awk -F, '$6 ~ /^(footprint_peak|live_peak|end)$/ && $7 !~ /^drained/ { print $5, $6, $7, $8 }' \
        "$OUT/r.csv" | sort >"$OUT/rows"
    [ "$(wc -l <"$OUT/rows")" -gt 20 ]
    # numbers as numbers: jq and we spell 1e-05 differently
    paste -d' ' "$OUT/wanted" "$OUT/rows" | awk '{ d = $4 - $8; if (d < 0) d = -d; s = $4 < 0 ? -$4 : $4 }
        $1 != $5 || $2 != $6 || $3 != $7 || d > 1e-9 * s { print; bad = 1 } END { exit bad }'
    [ "$(wc -l <"$OUT/wanted")" -eq "$(wc -l <"$OUT/rows")" ]
    grep -q ',end,drained_0s,[0-9.e+]*,bytes' "$OUT/r.csv"
}

@test "the time line as CSV holds each point and window of the JSON" {
    export_all small glibc,arena --rounds 2
    for series in live usable footprint; do
        case $series in live) i=1 ;; usable) i=2 ;; footprint) i=3 ;; esac
        jq -r ".timelines[] | . as \$t | .points[] | select(.[$i] != null)
            | \"\\(\$t.round) \\(\$t.backend) \\(.[0])\"" "$OUT/r.json" >"$OUT/wanted"
        awk -F, -v s=$series '$4 == s { print $2, $3, $5 }' "$OUT/timeline.csv" >"$OUT/rows"
        diff "$OUT/wanted" "$OUT/rows" || fail "$series differs"
    done
    [ "$(awk -F, '$4 == "n" { n += $6 } END { print n }' "$OUT/timeline.csv")" -eq \
        "$(jq '[.windows[].n] | add' "$OUT/r.json")" ]
    [ "$(awk -F, '$4 == "max"' "$OUT/timeline.csv" | wc -l)" -eq \
        "$(jq '[.windows[] | select(.max != null)] | length' "$OUT/r.json")" ]
}

@test "a stored result gives the same files as the run itself" {
    export_all small glibc,arena --rounds 2
    bench report "$OUT/r.json" --csv-hist "$OUT/hist2.csv" --csv-timeline "$OUT/timeline2.csv" \
        --hlog "$OUT/r2.hlog" --hgrm "$OUT/again"
    expect_code 0
    cmp "$OUT/hist.csv" "$OUT/hist2.csv"
    cmp "$OUT/timeline.csv" "$OUT/timeline2.csv"
    diff <(grep -v StartTime "$OUT/r.hlog") <(grep -v StartTime "$OUT/r2.hlog")
    for file in "$OUT"/r.*.hgrm; do
        cmp "$file" "$OUT/again.${file##*/r.}"
    done
    [ "$(ls "$OUT"/r.*.hgrm | wc -l)" -gt 5 ]
}

@test "the files are the same in a locale with decimal commas" {
    command -v localedef >/dev/null || skip "no localedef"
    mkdir "$OUT/locale"
    localedef -i de_DE -f UTF-8 --no-archive "$OUT/locale/de_DE.UTF-8" >/dev/null 2>&1 ||
        [ -d "$OUT/locale/de_DE.UTF-8" ] || skip "localedef cannot make de_DE.UTF-8"
    export LOCPATH=$OUT/locale
    [ "$(LC_ALL=de_DE.UTF-8 locale decimal_point)" = , ] || skip "no German decimal point"
    export_all small glibc --rounds 1
    mkdir "$OUT/de"
    LC_ALL=de_DE.UTF-8 bench report "$OUT/r.json" --csv "$OUT/de/r.csv" --hgrm "$OUT/de/r" \
        --csv-hist "$OUT/de/hist.csv" --csv-timeline "$OUT/de/timeline.csv" --hlog "$OUT/de/r.hlog"
    expect_code 0
    for file in "$OUT"/*.csv "$OUT"/*.hgrm; do
        cmp "$file" "$OUT/de/${file##*/}"
    done
    diff <(grep -v StartTime "$OUT/r.hlog") <(grep -v StartTime "$OUT/de/r.hlog")
}

@test "a hostile name stays in its cell and makes no path" {
    mkdir "$OUT/lib"
    cp "$GUESTS/libtoy.so" "$OUT/lib/=evil \"\$(id)\" ..%.so"
    export_all small "$OUT/lib/=evil \"\$(id)\" ..%.so" --rounds 1
    for file in r hist timeline; do
        python3 - "$OUT/$file.csv" "$OUT/r.json" <<'EOF'
import csv, json, sys
rows = list(csv.DictReader(open(sys.argv[1], newline=""), strict=True))
name = json.load(open(sys.argv[2]))["backends"][0]["name"]
assert rows and all(None not in r and None not in r.values() for r in rows)
names = {r["backend"] for r in rows}
assert names == {"'" + name if name[0] in "=+-@" else name}, (names, name)
EOF
    done
    [ -z "$(find "$OUT" -name '*.hgrm' -not -path "$OUT/r.*")" ]
    # five fields a line in the log, whatever the name
    grep -v '^[#"]' "$OUT/r.hlog" | awk -F, 'NF != 5 || / / { exit 1 }'
}

@test "bad targets of every output fail before anything is measured" {
    mkdir "$OUT/folder" "$OUT/taken"
    touch "$OUT/taken/glibc.churn.all.hgrm"
    while read -r option path message; do
        bench run "$WORKLOADS/long.yaml" -b glibc --no-store "$option" "$path"
        expect_code 2
        expect_error "$message"
    done <<EOF
--csv-hist $OUT/none/x.csv cannot write
--csv-timeline $OUT/folder it is a directory
--hlog /dev/null/x cannot write
--hgrm $OUT/none/x cannot write to
--hgrm $OUT/none/ cannot write to
--hgrm - give a folder or a prefix
EOF
    bench run "$WORKLOADS/small.yaml" -b glibc --no-store --hgrm "$OUT/taken"
    expect_code 2
    expect_error 'glibc.churn.all.hgrm. already exists and will not be overwritten'
    [ ! -s "$OUT/taken/glibc.churn.all.hgrm" ]
    [ "$(ls -A "$OUT/taken" "$OUT/folder" | grep -c hgrm)" -eq 1 ]
    expect_nothing_left
}

@test "two outputs on standard output are refused, one is all that is there" {
    bench run "$WORKLOADS/small.yaml" -b glibc --no-store --csv-hist - --hlog -
    expect_code 2
    expect_error '--csv-hist - and --hlog - cannot both write to standard output'
    bench run "$WORKLOADS/small.yaml" -b glibc --no-store --rounds 1 --csv-timeline -
    expect_code 0
    [ "$(head -c 4 "$OUT/stdout")" = "run," ]
    [ "$(awk -F, '{ print NF }' "$OUT/stdout" | sort -u)" = 7 ]
}

@test "a file that is read is not replaced by what is written" {
    cp "$ROOT/traces/perl-words.abt" t.abt
    cp "$WORKLOADS/small.yaml" s.yaml
    bench replay t.abt -b glibc --rounds 1 --html ./t.abt
    expect_code 2
    expect_error "'./t.abt' would replace the file that is read"
    bench run s.yaml -b glibc --rounds 1 --json s.yaml
    expect_code 2
    cmp t.abt "$ROOT/traces/perl-words.abt"
    cmp s.yaml "$WORKLOADS/small.yaml"
}

@test "commands replace nothing that they read, rules and baselines included" {
    bench run "$WORKLOADS/tiny.yaml" -b glibc --no-store -q --rounds 6 --json "$OUT/r.json"
    cp "$OUT/r.json" "$OUT/a.json"
    cp "$OUT/r.json" "$OUT/b.json"
    cp "$WORKLOADS/tiny.yaml" "$OUT/w.yaml"
    ln "$OUT/b.json" "$OUT/link.json"
    echo '*=glibc' >"$OUT/rules.map"
    while read -r words; do
        # shellcheck disable=SC2086
        (cd "$OUT" && run -2 allocbench $words && [[ "$output" == *"would replace the file that is read"* ]]) || fail "$words"
    done <<'E'
report b.json --json ./b.json
report b.json --html link.json
report a.json b.json --html b.json
compare a.json b.json --json b.json
compare a.json b.json --html a.json
merge b.json -o link.json
check w.yaml --json w.yaml
run w.yaml -b glibc --no-store --map @rules.map --json rules.map
run w.yaml -b glibc --no-store --baseline b.json --csv link.json
exec -b glibc --no-store --stdin a.json --json a.json -- true
E
    [ "$(cat "$OUT/rules.map")" = '*=glibc' ]
    cmp "$OUT/r.json" "$OUT/a.json"
    cmp "$OUT/r.json" "$OUT/b.json"
    cmp "$WORKLOADS/tiny.yaml" "$OUT/w.yaml"
}
