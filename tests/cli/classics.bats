#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# configs/classics, configs/fragmentation and configs/time: what the files promise, and that heaps break in them as
# they are known to.

load helpers

FOLDERS="$ROOT/configs/classics $ROOT/configs/fragmentation $ROOT/configs/time"

@test "each does as many ops as its comment says" {
    # shellcheck disable=SC2086 # two folders
    python3 "$ROOT/tests/cli/op_counts.py" $(find $FOLDERS -name '*.yaml') >"$OUT/stdout" || fail 'wrong'
    # the test itself: one op more is seen
    sed 's/^\(# Ops of run: .*\)/\1 + 1/' "$ROOT/configs/classics/threadtest.yaml" >off.yaml
    ! python3 "$ROOT/tests/cli/op_counts.py" off.yaml >"$OUT/stdout" || fail "a wrong count passes"
    grep -q 'Ops of run: 2000000, but' "$OUT/stdout"
}

@test "their tapes are those that they were, and notes are only on what they are meant to be" {
    local file
    for file in $(cd "$ROOT" && find configs/classics configs/fragmentation configs/time -name '*.yaml' | LC_ALL=C sort); do
        bench check "$ROOT/$file" --json -
        expect_code 0
        jq -r --arg file "$file" '.tape_sha256 + "  " + $file' "$OUT/stdout" >>"$OUT/digests"
        expect_json '[.lints[].id] - ["few-ops", "few-samples", "small", "align"] == []'
    done
    [ -z "${AB_UPDATE_GOLDEN-}" ] || cp "$OUT/digests" "$ROOT/tests/golden/classics.sha256"
    diff "$ROOT/tests/golden/classics.sha256" "$OUT/digests"
}

@test "each says what it stresses and what not, its source, and how faithful it is" {
    local file
    for file in $(find $FOLDERS -name '*.yaml'); do
        for word in '# Stresses: ' ' not stress: ' '# Source: '; do
            grep -q -- "$word" "$file" || fail "$file: no $word"
        done
        grep -Fq "$(basename "$file" .yaml)" "$ROOT/configs/README.md" || fail "$file is not in the table"
    done
}

# bats test_tags=full
@test "each runs to its end on every malloc" {
    local file
    for file in $(find $FOLDERS -name '*.yaml'); do
        bench run "$file" -b glibc,jemalloc,tcmalloc,mimalloc,slab --rounds 1 --passes throughput \
            --drain 0 --no-store --json - -q
        expect_code 0
        expect_json '[.backends[] | select(.status != "ok" and .status != "absent")] == []'
    done
}

@test "threads end where those of the originals do, and the main thread stays" {
    local line
    for line in 'classics/larson 8' 'classics/larson-sized 8' 'classics/mleak 990' 'classics/mstress 12' \
        'fragmentation/arena-retention 7'; do
        bench check "$ROOT/configs/${line% *}.yaml"
        grep -Eqx "renew    threads of (run|jobs): ${line#* } end" "$OUT/stdout" || fail "$line: $(cat "$OUT/stdout")"
    done
}

# ---- the memory pass alone, and ratios ----

memory_of() { # FILE BACKENDS OPTION…
    bench run "$ROOT"/configs/*/"$1.yaml" -b "$2" "${@:3}" --rounds 1 --passes memory --drain 0 \
        --no-store -q --json "$OUT/r.json"
    expect_code 0
}

# The number at a place of a phase, of each back end.
expect_memory() { # PHASE AT CONDITION
    expect_json "[.memory[] | select(.phase == \"$1\" and .at == \"$2\") | $3] | (length > 0 and all)" "$OUT/r.json"
}

@test "mesh: half of each class stays in holes, external" {
    memory_of mesh glibc,jemalloc,mimalloc
    expect_memory c512 end '.external_ratio < 0.2'
    expect_memory c8192 footprint_peak '.overhead_peak > 1.6 and .external_ratio > 0.5'
    expect_memory c8192 footprint_peak '.external_bytes > 3 * (.internal_bytes + .retained_bytes)'
}

@test "blowup: each lane keeps what it once held, retained; a heap that all share does not" {
    memory_of blowup glibc,slab:threads=local
    expect_memory turns end '.footprint_bytes > 3 * .live_bytes and .retained_bytes > 2 * .external_bytes'
    memory_of blowup slab:threads=mutex
    expect_memory turns end '.footprint_bytes < 2 * .live_bytes'
}

@test "hole-punch: what is freed between blocks that live serves no larger request, external" {
    memory_of hole-punch glibc,jemalloc
    expect_memory fill end '.external_ratio < 0.15'
    expect_memory punch end '.external_ratio > 0.6 and .external_bytes > 5 * .retained_bytes'
    expect_memory refill end '.external_ratio > 0.3'
}

@test "remote-reclaimer: blocks that another thread frees pile up, although as many live" {
    memory_of remote-reclaimer glibc,jemalloc,mimalloc
    expect_memory run footprint_peak '.live_peak_bytes < 6.5e6 and .overhead_peak < 1.5' # as many live
    expect_memory run end '.external_bytes > 0.1 * .live_bytes' # all blocks have one size: only lag makes holes
    memory_of remote-reclaimer jemalloc,mimalloc
    expect_memory run footprint_peak '.overhead_peak > 1.2'
}

# What is held beside the live blocks, by back end.
mleak_overheads() { # ROUNDS
    memory_of mleak glibc,jemalloc,tcmalloc,mimalloc --set "rounds=$1"
    jq '[.memory[] | select(.phase == "run" and .at == "end") | {(.backend): (.footprint_bytes - .live_bytes)}]
        | add' "$OUT/r.json" >"overheads.$1"
}

@test "mleak: what threads held that have ended serves others, however many there were" {
    mleak_overheads 50
    mleak_overheads 250
    jq -e -n --slurpfile few overheads.50 --slurpfile many overheads.250 '$few[0] | length > 0 and
        ([to_entries[] | $many[0][.key] - .value < 64 * 2000] | all)' || fail "$(cat overheads.*)" # a thread
    expect_memory run end '.live_bytes < 128 * 1000 + 80'
}

@test "arena-retention: each heap that glibc shares among threads keeps a job, all of it retained" {
    memory_of arena-retention 'glibc{GLIBC_TUNABLES=glibc.malloc.arena_max=4}'
    expect_memory jobs end '.live_bytes < 1000 and .retained_bytes > 3 * 8 * 866916'
    memory_of arena-retention glibc # one that is free serves the next thread
    expect_memory jobs end '.footprint_bytes < 2 * 8 * 866916'
}

@test "trim-pinned: a burst below one block stays, retained" {
    memory_of trim-pinned glibc
    expect_memory burst end '.retained_ratio < 0.1'
    expect_memory after end '.retained_bytes > 0.8 * 20000000'
}

@test "fast14: memory of one size does not serve another, and its kind is named" {
    local work
    for work in w2 w3 w8; do
        memory_of fast14 jemalloc,tcmalloc,mimalloc --set work=$work
        expect_memory before end '.external_ratio + .retained_ratio < 0.2'
        expect_memory after footprint_peak '.overhead_peak > 1.8'
        expect_memory after footprint_peak '.external_bytes + .retained_bytes > 3 * .internal_bytes'
        [ $work = w8 ] || expect_memory after footprint_peak '.external_bytes > 0.25 * .live_bytes'
    done
    expect_memory after footprint_peak '.retained_bytes > 2 * .external_bytes' # w8: large ones take new pages
    memory_of fast14 jemalloc,tcmalloc,mimalloc --set work=w1 # nothing changes
    expect_memory after end '.overhead_peak < 1.3'
}

@test "first-fit-worst: each class adds to what is resident" {
    memory_of first-fit-worst glibc,jemalloc,mimalloc
    expect_memory classes end '.overhead_peak > 2.5'
}
