#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# A recorded program served by several heaps: by the scope that a block dies in and by where it was
# called from; an arena begins anew when its last block is dead.
# tests: placement_rows.c

load helpers

setup_file() {
    cd "$BATS_FILE_TMPDIR" || return 1
    "$BUILD/allocbench" record --sites=8 -q -o places.abt -- "$GUESTS/prog_places"
}

# [name, requests, blocks at the peak] of each heap of a row
heaps_of() { # ROW
    jq -c ".backends[] | select(.name == \"$1\") | [.map.heaps[] | [.name, .n_requests, .live_peak_blocks]]" \
        "$OUT/r.json"
}

@test "what dies in its scope is in the arena, which begins anew with each" {
    local trace=$BATS_FILE_TMPDIR/places.abt
    bench replay "$trace" --rounds 1 -b slab,arena --map 'scope=arena' --map 'scope&size:300=arena' \
        --json "$OUT/r.json" -q
    expect_code 0
    expect_json '[.backends[].status] == ["ok", "ok", "ok", "ok"]' "$OUT/r.json"
    [ "$(heaps_of @map)" = '[["arena",6600,30],["glibc",900,104]]' ] || fail "$(heaps_of @map)"
    # A resize goes by its own size, and from heap to heap.
    [ "$(heaps_of @map2)" = '[["arena",600,3],["glibc",6900,131]]' ] || fail "$(heaps_of @map2)"
    # 468,000 bytes of labels pass through it, and one frame's are there at a time.
    expect_json 'def peak($b): .memory[] | select(.backend == $b) | .rss_peak_bytes;
        peak("@map") + 300000 < peak("arena")' "$OUT/r.json"
    expect_json '.backends[2].never_frees == false' "$OUT/r.json"
}

@test "two heaps in turn" {
    local trace=$BATS_FILE_TMPDIR/places.abt
    bench replay "$trace" --rounds 1 -b slab --map 'scope=slab,size:72=2*arena' --json "$OUT/r.json" -q
    expect_code 0
    # Shown as one: parts of one frame and of the next.
    [ "$(heaps_of @map)" = '[["slab",6600,30],["2*arena",800,4],["glibc",100,100]]' ] ||
        fail "$(heaps_of @map)"
    # In turn they are empty again and again, and one alone never is: there is always a part.
    bench replay "$trace" --rounds 1 -b slab --map 'scope=slab,size:72=arena:commit=4KiB' \
        --map 'scope=slab,size:72=2*arena:commit=4KiB' --json "$OUT/r.json" -q
    expect_json 'def peak($b): .memory[] | select(.backend == $b) | .rss_peak_bytes;
        peak("@map") - peak("@map2") > 30000' "$OUT/r.json"
    bench replay "$trace" --rounds 1 -b slab --map 'scope=3*arena' -q
    expect_code 2
    expect_error "'3\*arena': two heaps take turns, as 2\*BACKEND"
    bench replay "$trace" --rounds 1 -b slab --map 'scope=2*glibc' -q
    expect_code 2
    expect_error "'glibc' has one heap, not two"
}

@test "the rules of a heap are told as far as there is room" {
    local trace=$BATS_FILE_TMPDIR/places.abt long stars
    stars=$(printf '%0230d' 0 | tr 0 '*')
    long="site:make_label$stars&size:1-64"
    bench replay "$trace" --rounds 1 -b slab --map "$long=arena,site:main=arena,size:72=slab,${long/64/65}=slab,size:1=slab" \
        --json "$OUT/r.json" -q
    expect_code 0
    expect_json '[.backends[1].map.heaps[].keys] | .[0] == "site:make_label'"$stars"'&size…"
        and .[1] == "size:72, …"' "$OUT/r.json"
}

@test "by where it was called from: the function, one that called it, a line" {
    local trace=$BATS_FILE_TMPDIR/places.abt line
    line=$(grep -n 'get(72)' "$ROOT/tests/guests/prog_places.c" | cut -d: -f1)
    printf '%s\n' '# found' "site:prog_places.c:$line = 2*arena" 'site:make_label&size:1-64=slab' >found.map
    bench replay "$trace" --rounds 1 -b slab --map 'site:make_label=arena,site:make_part=2*arena' \
        --map 'site:make_*&site:ge?&size:72=slab,site:main=pool' --map @found.map --json "$OUT/r.json" -q
    expect_code 0
    expect_json '.backends[1].map.rule_requests == [6600, 800, 100]
        and .backends[2].map.rule_requests == [800, 6700, 0]' "$OUT/r.json"
    bench report "$OUT/r.json" -v
    tr -s '\n ' '  ' <"$OUT/stdout" >"$OUT/notes"
    grep -qF '2*arena,*=glibc (88.0 %, 10.7 %, 1.3 % of the requests)' "$OUT/notes" || fail "no shares"
    # A resize is of the site that allocated its block.
    [ "$(heaps_of @map)" = '[["arena",6600,30],["2*arena",800,4],["glibc",100,100]]' ] ||
        fail "$(heaps_of @map)"
    [ "$(heaps_of @map2)" = '[["slab",800,4],["pool",6700,130],["glibc",0,0]]' ] || fail "$(heaps_of @map2)"
    [ "$(heaps_of @found)" = '[["2*arena",800,4],["slab",4800,21],["glibc",1900,109]]' ] ||
        fail "$(heaps_of @found)"
}

@test "all mapped to one back end is that back end, with rules of scopes too" {
    bench replay "$BATS_FILE_TMPDIR/places.abt" --rounds 1 -b slab,pool --map 'scope&size:1-64=slab,*=slab' \
        --map 'site:make_label=pool,*=pool' --json "$OUT/r.json" -q
    expect_code 0
    local row
    for row in 'slab @map' 'pool @map2'; do
        expect_json "def of(\$b): [.memory[] | select(.backend == \$b) | del(.backend, .faults_minor, .heaps)
                | with_entries(select(.key | contains(\"2m\") | not))];
            of(\"${row% *}\") == of(\"${row#* }\") and (of(\"${row% *}\") | length) > 0" "$OUT/r.json"
    done
}

@test "heaps that are compiled into the loop do the same as those that are called" {
    local trace=$BATS_FILE_TMPDIR/places.abt row
    bench replay "$trace" --rounds 2 -b slab --map '*=pool' --map '*=inline+pool' --map '*=slab' --map '*=inline+slab' \
        --map 'scope=arena,size:1-64=pool' --map 'scope=inline+arena,size:1-64=inline+pool' --json "$OUT/r.json" -q
    expect_code 0
    expect_json '[.backends[].status] | unique == ["ok"]' "$OUT/r.json"
    for row in '@map @map2' '@map3 @map4' '@map5 @map6'; do
        # Which heap a page is of that has none of the blocks depends on where the kernel mapped it.
        expect_json "def of(\$b): [.memory[] | select(.backend == \$b and .round == 1) | del(.backend, .faults_minor)
                | with_entries(select(.key | contains(\"2m\") | not))
                | .heaps |= map((.heap |= ltrimstr(\"inline+\")) | del(.footprint_bytes, .retained_bytes, .drained_bytes))];
            of(\"${row% *}\") == of(\"${row#* }\") and (of(\"${row% *}\") | length) > 0" "$OUT/r.json"
        expect_json "def of(\$b): [.results[] | select(.backend == \$b and .round == 1) | [.phase, .op, .n_ops, .tail.n]];
            of(\"${row% *}\") == of(\"${row#* }\") and (of(\"${row% *}\") | length) > 3" "$OUT/r.json"
    done
    [ "$(heaps_of @map6)" = "$(heaps_of @map5 | sed 's/"arena"/"inline+arena"/; s/"pool"/"inline+pool"/')" ] ||
        fail "$(heaps_of @map6)"
    # What is compiled in has a harness of its own; that of the two called for all is one.
    expect_json '[.timer.null[] | select(.boundary == "routed" and .round == 1) | .placement] | length == 5' "$OUT/r.json"
}

@test "NULL that another heap gives for 0 bytes is no block of the arena" {
    local i f n=0 row
    for f in {1..200}; do # 20 blocks; among them one of 0 bytes comes and goes
        for i in {0..19}; do echo "a $i 100"; done
        echo "a 20 0"
        echo "f 20"
        echo "a 20 110"
        for i in {0..20}; do echo "f $i"; done
    done >ops
    n=$(wc -l <ops)
    { printf '%s\n' 0 21 "$n" 1 && cat ops; } >t.rep
    bench trace import rep t.rep -o t.abt
    expect_code 0
    bench replay t.abt --rounds 1 -b slab --json "$OUT/r.json" -q \
        --map "size:100-110=arena,*=$GUESTS/libprefix.so:prefix=none_" \
        --map "size:100-110=inline+arena,*=$GUESTS/libprefix.so:prefix=none_"
    expect_code 0
    expect_json '[.backends[].status] | unique == ["ok"]' "$OUT/r.json"
    # 442,400 bytes pass through it, 2,350 at a time.
    for row in @map @map2; do
        expect_json ".memory[] | select(.backend == \"$row\") | .heaps[0].footprint_bytes < 50000" "$OUT/r.json"
    done
}

@test "a heap that is compiled in refuses what its inline functions do not do" {
    local trace=$BATS_FILE_TMPDIR/places.abt
    bench replay "$trace" --rounds 1 -b slab --map 'scope=inline+null' -q
    expect_code 2
    expect_error "'inline\+null' is the price of the loop; arena, pool and slab can be mapped to"
    bench replay "$trace" --rounds 1 -b slab --map 'scope=inline+arena:threads=mutex' -q --json "$OUT/r.json"
    expect_json '.backends[1].status != "ok" and (.backends[1].reason | contains("inline+arena"))
        and (.backends[1].reason | contains("cannot be inlined"))' "$OUT/r.json"
    bench record -q -o threads.abt -- "$GUESTS/prog_threads"
    bench replay threads.abt --rounds 1 -b slab --map '*=inline+slab' -q --json "$OUT/r.json"
    expect_json '.backends[1].status != "ok" and (.backends[1].reason | contains("single-threaded"))' "$OUT/r.json"
}

@test "rules that cannot be are refused where they stand" {
    local trace=$BATS_FILE_TMPDIR/places.abt rule
    while IFS='|' read -r rule message; do
        bench replay "$trace" --rounds 1 -b slab --map "$rule" -q
        expect_code 2
        expect_error "$message"
    done <<'Y'
scpe=arena|unknown key 'scpe'; did you mean 'scope'
scope&scope=arena|'scope': asked for twice in one rule
size:1&size:2=arena|'size:2': asked for twice in one rule
size:1&scope=arena,size:1 & scope=slab|is mapped twice
site:=arena|is not a call site
site:a:b=arena|is not a call site
site:make_labl=arena|fits no allocation of the trace; did you mean 'make_label'?
site:nowhere.c:1=arena|trace info --sites
scope&=arena|unknown key ''
Y
    bench replay "$ROOT/traces/sqlite-index.abt" --rounds 1 -b slab --map 'site:main=arena' -q
    expect_code 2
    expect_error 'record --sites'
    bench replay "$ROOT/traces/sqlite-index.abt" --rounds 1 -b slab --map 'scope=arena' -q
    expect_code 2
    expect_error 'this trace has no scopes'
    cat >w.yaml <<'Y'
allocbench: 1
name: w
sets: [{name: a, count: 10}]
phases: [{name: p, do: [{alloc: a, size: 16, count: all}]}]
Y
    bench run w.yaml --rounds 1 -b slab --map 'a&scope=arena' -q
    expect_code 2
    expect_error 'only traces have call sites and scopes'
    bench run w.yaml --rounds 1 -b slab --map 'a&size:1-16=slab,*=pool' --json "$OUT/r.json" -q
    expect_code 0
    [ "$(heaps_of @map)" = '[["slab",10,10],["pool",0,0]]' ] || fail "$(heaps_of @map)"
}

@test "a resize of a block of 0 bytes puts no block of an arena at risk" {
    awk 'BEGIN {
        print 20000000; print 300; print 700; print 1
        for (id = 0; id < 300; id += 3) {
            print "a " id " 0"; print "a " id + 1 " 64"; print "r " id " 100"; print "f " id
            print "a " id + 2 " 64"; print "f " id + 1; print "f " id + 2
        }
    }' >empty.rep
    bench trace import rep empty.rep -o empty.abt
    bench replay empty.abt --rounds 1 -b glibc --map '*=arena' --passes throughput --json "$OUT/r.json"
    expect_code 0
    expect_json '.backends[1] | .name == "@map" and .status == "ok"' "$OUT/r.json"
}
