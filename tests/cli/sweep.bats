#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# --sweep: the usual settings of an allocator as rows, and that they reach it.
# tests: arguments.c

load helpers

rows() { # NAME: the spellings of the table, as JSON
    allocbench list backends --json - 3>&- | jq -c ".backends[] | select(.name == \"$1\") | [.sweep[].backend]"
}

# Number of the memory record at the end of the last phase.
drained() { # BACKEND
    jq --arg b "$1" '[.memory[] | select(.backend == $b and .drained_bytes["0s"] != null) | .drained_bytes["0s"]] | max' "$OUT/r.json"
}

@test "a name becomes the rows of its table, which results list with their settings" {
    need_library jemalloc
    bench run "$WORKLOADS/small.yaml" --sweep jemalloc --rounds 1 --passes memory:1 --drain 0 --json "$OUT/r.json"
    expect_code 0
    jq -e --argjson rows "$(rows jemalloc)" '[.backends[] | select(.name != "null") | .name] == $rows' \
        "$OUT/r.json" >/dev/null || fail "$(jq -c '[.backends[].name]' "$OUT/r.json")"
    expect_json '[.backends[] | select(.status != "ok")] == []' "$OUT/r.json"
    expect_json '.backends[] | select(.name == "jemalloc{MALLOC_CONF=dirty_decay_ms:-1}")
        | .settings == ["MALLOC_CONF=dirty_decay_ms:-1"]' "$OUT/r.json"
    # What is counted without a clock: pages that are kept, or returned at once.
    local kept gone
    kept=$(drained 'jemalloc{MALLOC_CONF=dirty_decay_ms:-1}')
    gone=$(drained 'jemalloc{MALLOC_CONF=dirty_decay_ms:0,muzzy_decay_ms:0}')
    [ "$((gone + 500000))" -lt "$kept" ] || fail "returned at once leaves $gone bytes, kept for ever $kept"
    expect_nothing_left
}

@test "-b comes first, what it has already is no second row, and names can be listed" {
    bench check "$WORKLOADS/small.yaml" -b 'skeleton,slab:keep=0' --sweep slab,pool --json -
    expect_code 0
    jq -e --argjson slab "$(rows slab)" --argjson pool "$(rows pool)" \
        '.cost.backends == ["skeleton", "slab:keep=0"] + ($slab - ["slab:keep=0"]) + $pool' \
        "$OUT/stdout" >/dev/null || fail "$(jq -c .cost.backends "$OUT/stdout")"
    bench check "$WORKLOADS/small.yaml" --sweep slab --sweep pool --json -
    jq -e --argjson slab "$(rows slab)" --argjson pool "$(rows pool)" '.cost.backends == $slab + $pool' \
        "$OUT/stdout" >/dev/null || fail "twice"
}

@test "the rows of the built-in allocators run" {
    bench run "$WORKLOADS/small.yaml" --sweep arena,pool,slab,paged --rounds 1 --passes memory:1 --drain 0 \
        --json "$OUT/r.json" -q
    expect_code 0
    expect_json '[.backends[] | select(.status != "ok")] == []' "$OUT/r.json"
}

@test "the cache of glibc's threads is off where the row says so" {
    # Without it a block that was freed is not handed out next from the thread's own list: more
    # instructions a call. By callgrind, no clock in it.
    command -v valgrind >/dev/null || skip "no valgrind"
    bench run "$WORKLOADS/small.yaml" --sweep glibc --rounds 1 --passes memory:1 --drain 0 --instr \
        --instr-ops 20k --json "$OUT/r.json"
    expect_code 0
    expect_json '[.backends[] | select(.status != "ok")] == []' "$OUT/r.json"
    local plain off
    plain=$(jq '[.results[] | select(.backend == "glibc" and .op == "all" and .phase == "churn") | .instr_per_op] | max' "$OUT/r.json")
    off=$(jq '[.results[] | select((.backend | test("tcache_count=0")) and .op == "all" and .phase == "churn") | .instr_per_op] | max' "$OUT/r.json")
    [ "$plain" != null ] || fail "not counted: $(jq -c .counting "$OUT/r.json")"
    jq -en "$off > $plain * 1.2" >/dev/null || fail "$plain with the cache, $off without it"
}

# bats test_tags=installed
@test "every variable of a row is one that the installed library knows" {
    local name path keys
    command -v strings >/dev/null || skip "no strings"
    allocbench list backends --json - 3>&- | jq -r '.backends[] | select(.status == "ok" and .kind == "library")
        | [.name, .path] | join(" ")' >"$OUT/libraries"
    while read -r name path; do
        case $name in
        glibc) # the loader lists them
            "$(ldd /bin/true | awk '/ld-linux/ {print $1}')" --list-tunables | sed 's/:.*//' >"$OUT/known"
            keys=$(rows glibc | jq -r '.[]' | sed -n 's/.*GLIBC_TUNABLES=\([a-z_.]*\)=.*/\1/p')
            ;;
        jemalloc) # a value that it does not know ends the process
            for keys in $(rows jemalloc | jq -r '.[]' | sed -n 's/.*MALLOC_CONF=\(.*\)}/\1/p'); do
                MALLOC_CONF=abort_conf:true,$keys LD_PRELOAD=$path /bin/true || fail "jemalloc: $keys"
            done
            ! MALLOC_CONF=abort_conf:true,bogus:1 LD_PRELOAD=$path /bin/true 2>/dev/null || fail "it takes anything"
            continue
            ;;
        mimalloc)
            MIMALLOC_VERBOSE=1 LD_PRELOAD=$path /bin/true 2>&1 |
                sed -n "s/^mimalloc: option '\(.*\)':.*/MIMALLOC_\U\1/p" >"$OUT/known"
            keys=$(rows mimalloc | jq -r '.[]' | sed -n 's/.*{\([A-Z_]*\)=.*/\1/p')
            ;;
        scudo)
            strings -n 4 "$path" >"$OUT/known"
            keys="SCUDO_OPTIONS $(rows scudo | jq -r '.[]' | sed -n 's/.*SCUDO_OPTIONS=\(.*\)}/\1/p' | tr : '\n' | sed 's/=.*//')"
            ;;
        tcmalloc | tbb)
            strings -n 4 "$path" "${path/_proxy/}" >"$OUT/known"
            keys=$(rows "$name" | jq -r '.[]' | sed -n 's/.*{\([A-Z_]*\)=.*/\1/p')
            ;;
        *) continue ;;
        esac
        [ -n "$keys" ] || fail "no keys of $name"
        for key in $keys; do
            grep -q "$key" "$OUT/known" || fail "$name does not know $key"
        done
    done <"$OUT/libraries"
}

@test "a name without settings is refused, with the nearest and the list" {
    bench run "$WORKLOADS/small.yaml" --sweep jemaloc
    expect_code 2
    expect_error 'did you mean "jemalloc"\? Known: glibc, jemalloc, tcmalloc'
    bench run "$WORKLOADS/small.yaml" --sweep jemalloc,
    expect_code 2
    bench exec --sweep slab -- true
    expect_code 2
    expect_error 'slab cannot serve a real program'
}

@test "list backends -v says what each row does, and the help names all that have rows" {
    local names
    bench list backends -v
    expect_code 0
    grep -q 'sweep .*{MALLOC_CONF=narenas:1}: one arena for all threads' "$OUT/stdout"
    grep -q ':classes=fine: 49 size classes' "$OUT/stdout"
    names=$(allocbench list backends --json - 3>&- | jq -r '[.backends[] | select(.sweep != []) | .name] | sort | join(" ")')
    bench run --help-all
    [ "$(sed -n '/--sweep/,/list backends/p' "$OUT/stdout" | grep -oE '\b(glibc|jemalloc|tcmalloc|mimalloc|scudo|tbb|arena|pool|slab|paged)\b' | sort | paste -sd' ')" = "$names" ] ||
        fail "the help has other names than $names"
}
