#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# One stream of ops served by several heaps: `via` of sets and --map, as rows of their own that do the
# same work, with a null of their own.
# tests: placement_rows.c pass_placed.c pass_placed_inline.c rules.c placed.c

load helpers

# A region that dies at once while other blocks live, and what moves from size to size.
write_workload() { # VIA of the region
    cat >frames.yaml <<Y
allocbench: 1
name: frames
seed: 3
params:
  - {name: rounds, value: 20}
sizes:
  - {name: small, dist: "uniform(16, 400)"}
sets:
  - {name: frame, kind: region$1}
  - {name: parts, count: 300}
  - {name: grown, count: 50}
phases:
  - name: load
    measure: false
    do:
      - {alloc: parts, size: 48, count: all}
      - {alloc: grown, size: 100, count: all}
  - name: frames
    until: iters(\$rounds)
    do:
      - {alloc: frame, size: small, count: 200, touch: all}
      - {replace: parts, at: random, size: 48, count: 60}
      - {resize: grown, at: random, size: small, count: 20}
      - {reset: frame}
Y
}

# What the two rows did and what lived, to the byte; *_2m and page faults depend on where the
# system maps.
expect_same_work() { # ROW ROW FILE
    expect_json "def of(\$b): [.results[] | select(.backend == \$b) | [.phase, .op, .n_ops, .tail.n]];
        of(\"$1\") == of(\"$2\") and (of(\"$1\") | length) > 3" "$3"
    expect_json "def of(\$b): [.memory[] | select(.backend == \$b) | del(.backend, .faults_minor, .heaps)
            | with_entries(select(.key | contains(\"2m\") | not))];
        of(\"$1\") == of(\"$2\") and (of(\"$1\") | length) > 0" "$3"
}

@test "all mapped to one back end gives the numbers of that back end" {
    write_workload
    bench run frames.yaml --rounds 1 -b pool,slab --map '*=pool' --map 'frame=slab,*=slab' --json "$OUT/r.json"
    expect_code 0
    expect_json '[.backends[] | [.name, .status, .boundary]] == [["pool", "ok", "heap"],
        ["slab", "ok", "heap"], ["@map", "ok", "routed"], ["@map2", "ok", "routed"]]' "$OUT/r.json"
    expect_same_work pool @map "$OUT/r.json"
    expect_same_work slab @map2 "$OUT/r.json"
    expect_json '[.timer.null[].boundary] | unique == ["heap", "routed"]' "$OUT/r.json"
}

@test "each mapping has the null of its own harness, and those that do the same share one" {
    write_workload
    bench run frames.yaml --rounds 2 -b pool --map 'frame=arena,*=glibc' --map 'frame=slab,*=pool' \
        --map 'frame=slab,parts=pool,*=glibc' --json "$OUT/r.json"
    expect_code 0
    expect_json '[.backends[].map | .placement?] | .[0] == null and .[1] == .[2] and .[3] != .[2]
        and (.[1] | length) == 64' "$OUT/r.json"
    expect_json '(.timer.null | length) == 2 * 3
        and ([.timer.null[] | [.boundary, .placement, .round]] | unique | length) == 2 * 3
        and ([.timer.null[].placement] | unique) == ([.backends[].map.placement?] | unique)
        and all(.timer.null[]; .ns_per_op > 0)' "$OUT/r.json"
    grep -q 'harness (@map, @map2) ' "$OUT/stdout" && grep -q 'harness (@map3) ' "$OUT/stdout" || fail "no rows"
    bench report "$OUT/r.json" -v time
    grep -q 'ns/op (@map3)' "$OUT/stdout" || fail "no null of it"
    jq 'del(.checksum, .timer.null[].placement, .backends[].map.placement?)' "$OUT/r.json" >old.json
    bench report old.json
    expect_code 0
    grep -q 'harness (routed) ' "$OUT/stdout" || fail "of an older result"
}

@test "instructions of a mapping are without its own harness, not that of the first" {
    command -v valgrind >/dev/null || skip "no valgrind here"
    write_workload
    bench run frames.yaml --rounds 1 --drain 0 -b slab --instr --map 'frame=arena,*=slab' --map '*=slab' \
        --json "$OUT/r.json"
    expect_code 0
    expect_json '[.timer.null[] | select(.boundary == "routed").instr_per_op] | length == 2
        and (.[0] - .[1] | fabs) > 1' "$OUT/r.json"
    expect_json '[.results[] | select(.op == "all") | {key: .backend, value: .instr_per_op}] | from_entries
        | (.["@map2"] - .slab | fabs) < 0.01' "$OUT/r.json"
}

@test "a resize of a block of 0 bytes that is NULL is a request of its heap" {
    cat >empty.yaml <<Y
allocbench: 1
name: empty
seed: 3
sets:
  - {name: empty, count: 8}
  - {name: parts, count: 4}
  - {name: large, count: 20}
phases:
  - name: all
    do:
      - {alloc: empty, size: 0, count: all}
      - {resize: empty, size: 40, count: all}
      - {alloc: parts, size: 48, count: all}
      - {alloc: large, size: 400, count: all}
Y
    bench run empty.yaml --rounds 1 -b glibc --json "$OUT/r.json" \
        --map "empty=$GUESTS/libprefix.so:prefix=none_,parts=pool,*=glibc"
    expect_code 0
    expect_json '.backends[1] | .name == "@map" and .status == "ok"
        and ([.map.heaps[].n_requests] == [16, 4, 20])' "$OUT/r.json"
}

@test "a region in an arena dies at once while other blocks live" {
    write_workload ", via: arena"
    bench run frames.yaml --rounds 1 -b glibc,arena --json "$OUT/r.json"
    expect_code 0
    expect_json '.backends[2] | .name == "@map" and .status == "ok" and .has_reset
        and .map.rules == "frame=arena,*=glibc"
        and [.map.heaps[] | [.name, .n_requests, .live_peak_blocks]]
            == [["arena", 4000, 200], ["glibc", 1950, 350]]' "$OUT/r.json"
    # Nothing is given back in the arena alone; beside a general allocator it holds one frame.
    expect_json 'def peak($b): .memory[] | select(.backend == $b and .phase == "frames")
            | .rss_peak_bytes;
        peak("@map") * 3 < peak("arena")' "$OUT/r.json"
    grep -q '@map' "$OUT/stdout" || fail "no row"
    bench report "$OUT/r.json" -v
    expect_code 0
    tr -s '\n ' '  ' <"$OUT/stdout" >"$OUT/notes"
    grep -q '@map: arena 4.00 k requests of [0-9.]* KiB, up to [0-9.]* KiB live; glibc 1.95 k requests' "$OUT/notes" ||
        fail "no note of what each serves"
    grep -q 'Rules: frame=arena,\*=glibc' "$OUT/notes" || fail "no rules"
}

@test "a region in two heaps empties both" {
    write_workload
    bench run frames.yaml --rounds 1 -b arena --set rounds=200 --map 'frame=arena' \
        --map 'parts=glibc,grown=glibc,size:1-100=arena,frame=arena:reserve=64MiB' --json "$OUT/r.json"
    expect_code 0
    expect_json '.backends[2].map.heaps | map(.n_requests) | min > 5000' "$OUT/r.json"
    # Both hold one frame, not all of them.
    expect_json 'def peak($b): .memory[] | select(.backend == $b and .phase == "frames")
            | .rss_peak_bytes;
        peak("@map2") < 2 * peak("@map") and peak("@map2") * 10 < peak("arena")' "$OUT/r.json"
}

@test "the work is the same with and without a mapping" {
    write_workload
    bench check frames.yaml --json "$OUT/plain.json"
    expect_code 0
    bench run frames.yaml --rounds 1 -b slab --map 'frame=arena' --json "$OUT/r.json"
    expect_code 0
    bench run frames.yaml --rounds 1 -b slab --json "$OUT/s.json"
    expect_code 0
    [ "$(jq -r .config.tape_sha256 "$OUT/r.json")" = "$(jq -r .config.tape_sha256 "$OUT/s.json")" ] ||
        fail "another digest"
    [ "$(jq -r .config.tape_sha256 "$OUT/r.json")" != null ] || fail "no digest"
}

@test "--map takes the place of via, and rules come from a file" {
    write_workload ", via: slab"
    printf '# found\nframe=arena\nsize:1-64 = pool\n' >found.map
    bench run frames.yaml --rounds 1 -b slab --map @found.map --json "$OUT/r.json" -q
    expect_code 0
    expect_json '[.backends[].name] == ["slab", "@found"]
        and .backends[1].map.rules == "frame=arena,size:1-64=pool,*=glibc"' "$OUT/r.json"
}

@test "a result with a mapping is read again, and its rounds can go on" {
    write_workload ", via: arena"
    bench run frames.yaml --rounds 3 -b slab --shard 1/3 --json "$OUT/r.json" -q
    expect_code 0
    bench report "$OUT/r.json" --json "$OUT/again.json" -q
    expect_code 0
    expect_json '.backends[1].map.heaps | length == 2' "$OUT/again.json"
    cmp <(jq .backends "$OUT/r.json") <(jq .backends "$OUT/again.json") || fail "not the same"
}

@test "a result opens no file of rules: they are given again" {
    write_workload
    printf 'frame=arena\n*=slab\n' >frames.map
    bench run frames.yaml --rounds 1 -b slab --map @frames.map --json whole.json -q
    expect_code 0
    jq 'del(.checksum) | .complete = false | .config.rounds_planned = 3' whole.json >half.json
    bench run --resume half.json -q
    expect_code 2
    expect_error 'its row @frames has rules from a file or a library given by path'
    jq '(.backends[] | select(.map != null)) |= (.name = "@map" | .map.rules = "@/etc/passwd")
        | (.. | objects | select(.backend? == "@frames")).backend = "@map"
        | (.rounds[].order) |= map(if . == "@frames" then "@map" else . end)' half.json >hostile.json
    bench run --resume hostile.json -q
    expect_code 2
    expect_error 'its row @map has rules from a file'
    bench run --resume half.json --map @frames.map -q
    expect_code 0
}

@test "one malloc a process; functions with a prefix are another" {
    need_library mimalloc
    write_workload
    bench run frames.yaml --rounds 1 --map 'frame=mimalloc'
    expect_code 2
    expect_error "mimalloc and glibc are both the process's malloc"
    bench run frames.yaml --rounds 1 -b slab --map 'frame=arena,*=mimalloc' \
        --map "parts=$library:prefix=mi_,frame=arena" --json "$OUT/r.json" -q
    expect_code 0
    expect_json '[.backends[].status] == ["ok", "ok", "ok"]' "$OUT/r.json"
    expect_json '.backends[2].map.heaps | length == 3' "$OUT/r.json"
}

@test "threads: a heap of one thread may be any, a heap of several must be safe" {
    bench run "$ROOT/configs/exchange.yaml" --set rounds=500 --rounds 1 -b slab \
        --map 'table=slab' --map 'lane:0-1=slab,lane:2=pool,*=slab' --json "$OUT/r.json" -q
    expect_code 0
    expect_json '[.backends[].status] == ["ok", "ok", "ok"]' "$OUT/r.json"
    bench run "$ROOT/configs/exchange.yaml" --set rounds=500 --rounds 1 -b slab \
        --map '*=pool:threads=none' --json "$OUT/r.json" -q
    expect_code 4
    expect_error '@map: .*pool:threads=none: threads=none is for one thread'
}

@test "threads with heaps of their own: what all of them hold, and all are purged" {
    bench run "$ROOT/configs/classics/threadtest.yaml" --rounds 1 -b slab:threads=local \
        --map '*=slab:threads=local' --json "$OUT/r.json" -q
    expect_code 0
    expect_json 'def of($b): [.memory[] | select(.backend == $b)
            | [.allocated_bytes, .mapped_bytes, .drained_bytes.purge]];
        of("@map") == of("slab:threads=local") and (of("@map") | length) > 0
        and (of("@map") | flatten | map(. != null) | any)' "$OUT/r.json"
}

@test "what frees in one heap does not never free, and what cannot purge has no number for it" {
    write_workload
    bench run frames.yaml --rounds 1 -b slab --map 'frame=arena' --map '*=arena' --json "$OUT/r.json" -q
    expect_code 0
    expect_json '[.backends[].never_frees] == [false, false, true]' "$OUT/r.json"
    expect_json 'def of($b): [.memory[] | select(.backend == $b) | .drained_bytes.purge]
            | map(. != null) | any;
        [of("slab"), of("@map"), of("@map2")] == [true, false, true]' "$OUT/r.json"
    bench report "$OUT/r.json"
    ! grep -q '@map never frees' "$OUT/stdout" || fail "its glibc does"
}

@test "two libraries of one file name are not one" {
    write_workload
    mkdir a b
    cp "$GUESTS/libplug_good.so" a/libx.so
    cp "$GUESTS/libplug_good.so" b/libx.so
    bench run frames.yaml --rounds 1 -b slab --map 'frame=./a/libx.so,parts=./b/libx.so'
    expect_code 2
    expect_error 'rename one: NAME=PATH'
    bench run frames.yaml --rounds 1 -b slab --map 'frame=./a/libx.so,parts=y=./b/libx.so' \
        --json "$OUT/r.json" -q
    expect_code 0
    expect_json '[.backends[1].map.heaps[].name] == ["x", "y", "glibc"]' "$OUT/r.json"
}

@test "rows of other rules are not compared" {
    write_workload
    bench run frames.yaml --rounds 2 -b slab --map 'frame=arena' --json "$OUT/a.json" -q
    bench run frames.yaml --rounds 2 -b slab --map 'parts=pool' --json "$OUT/b.json" -q
    bench compare "$OUT/a.json" "$OUT/b.json" --json "$OUT/c.json"
    tr -s '\n ' '  ' <"$OUT/stdout" >"$OUT/text"
    grep -q '@map has other rules: frame=arena,\*=glibc, now parts=pool,\*=glibc: not compared' "$OUT/text" ||
        fail "not said"
    ! grep -q '^@map ' "$OUT/stdout" || fail "compared"
}

@test "a trace is mapped by size" {
    local trace=$ROOT/traces/perl-words.abt
    bench replay "$trace" --rounds 1 -b slab --map '*=slab' --map 'size:1-64=pool' --json "$OUT/r.json" -q
    expect_code 0
    expect_json '[.backends[].status] == ["ok", "ok", "ok"]' "$OUT/r.json"
    expect_same_work slab @map "$OUT/r.json"
    expect_json '.backends[2].map.heaps | map(.n_requests) | min > 1000' "$OUT/r.json"
}

@test "what cannot be mapped is refused where it stands" {
    write_workload ", via: arenna"
    bench run frames.yaml --rounds 1 -b slab
    expect_code 2
    expect_error 'frames.yaml:9:38: via: unknown back end "arenna"; did you mean "arena"'
    bench check frames.yaml
    expect_code 2
    expect_error 'frames.yaml:9:38: via: unknown back end "arenna"; did you mean "arena"'
    write_workload ", via: ./lib.so"
    : >lib.so
    bench run frames.yaml --rounds 1 -b slab
    expect_code 2
    expect_error 'allow-plugins'
    write_workload ", via: 'glibc{HEAPPROFILE=x}'"
    bench run frames.yaml --rounds 1 -b slab
    expect_code 2
    expect_error 'frames.yaml:9:39: via: the workload sets HEAPPROFILE=x .*--allow-plugins'
    bench run frames.yaml --rounds 1 -b slab --map 'frme=arena'
    expect_code 2
    expect_error "did you mean 'frame'"
    bench run frames.yaml --rounds 1 -b slab --map @nothing.map
    expect_code 3
    bench verify slab --map '*=slab'
    expect_code 2
}
