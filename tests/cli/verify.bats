#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# `verify`: what conforms, what does not and how that is told; the pre-flight of every run; the
# decorators. That each check can fail is in mutants.bats.
# tests: behavior_free.c behavior_policy.c check_blocks.c check_handles.c check_heap.c
# tests: check_limits.c check_process.c check_resize.c checks.c cmd_verify.c decorate.c crash.c
# tests: run_checks.c trial.c result_store.c app/verify_backends.c result/verify_record.c

load helpers

MUTANT=$BUILD/mutants/libmutant.so

has() { # the back ends are installed
    local name
    for name in "$@"; do
        allocbench list backends --json - 3>&- |
            jq -e --arg n "$name" '.backends[] | select(.name == $n) | .status == "ok"' \
                >/dev/null || skip "$name is not installed"
    done
}

all_conform() {
    expect_code 0
    expect_one_document
    expect_json '.schema == "allocbench-verify/1"'
    expect_json '[.backends[].status] | unique == ["conforming"]'
    expect_json '[.backends[].checks[] | select(.kind == "required") | .verdict] | unique
        | . - ["ok", "skipped", "info"] == []'
    # Nothing held for want of work.
    expect_json '[.backends[].checks[] | select(.verdict == "ok" and .work < 10)] == []'
}

@test "the built-in back ends conform" {
    bench verify arena pool slab system skeleton --json -
    all_conform
    expect_nothing_left
}

@test "glibc conforms, and nothing but its heaps' checks is skipped" {
    bench verify glibc --json -
    all_conform
    expect_json '[.backends[0].checks[] | select(.kind == "required" and .verdict == "skipped") | .check]
        == ["statistics", "reset", "mark", "handles"]'
}

# bats test_tags=installed
@test "jemalloc, tcmalloc and scudo conform" {
    has jemalloc tcmalloc scudo
    bench verify jemalloc tcmalloc scudo --json -
    all_conform
}

# bats test_tags=full
@test "any seed will do" {
    for seed in 2 3 4; do
        bench verify glibc slab arena --check required --seed $seed --json -
        all_conform
    done
}

@test "the real bug: mimalloc 2.0.9 does not align memalign(256, 256)" {
    has mimalloc
    allocbench list backends --json - 3>&- | jq -e '.backends[] | select(.name == "mimalloc")
        | .version | startswith("2.0.9")' >/dev/null || skip "another mimalloc"
    bench verify mimalloc --check required --json -
    expect_code 4
    expect_json '.backends[0] | .status == "nonconforming" and .failed == 1'
    expect_json '.backends[0].checks[] | select(.verdict == "failed") | .check == "alignment"
        and (.reason | test("^(memalign|aligned_alloc|posix_memalign)\\([0-9]+, [0-9]+\\) returned "
            + "0x[0-9a-f]+, not aligned to (256|512|1024)$"))'
}

@test "what dies in one check is judged by all the others" {
    bench verify "$MUTANT{MUTANT=37}" --check required --json -
    expect_code 4
    expect_json '[.backends[0].checks[] | select(.verdict != "ok" and .verdict != "skipped")
        | [.check, .verdict]] == [["zero-size", "crashed"]]'
}

@test "the table names each failure and the call that shows it" {
    bench verify "$MUTANT{MUTANT=5}" slab
    expect_code 4
    grep -Eq '^ +zeroed +FAILED +ok$' "$OUT/stdout"
    grep -Eq 'zeroed: a zeroed block is not zero: calloc\(' "$OUT/stdout"
    grep -Eq '^mutant\{MUTANT=5\}: NONCONFORMING: [0-9]+ ok, 1 failed' "$OUT/stdout"
    grep -Eq '^slab: conforming: ' "$OUT/stdout"
}

@test "how it acts where the standards leave it open fails nothing" {
    bench verify glibc --check info --json -
    expect_code 0
    expect_json '[.backends[0].checks[] | select(.check == "double-free")][0]
        | .verdict == "info" and .answer == "detected" and .kind == "info" and .work == null'
}

@test "a claim that is not kept fails" {
    bench verify "$BUILD/mutants/libmutantheap.so:mutant=51" --check double-free --json -
    expect_code 4
    expect_json '.backends[0].checks[0].verdict == "failed"'
    bench verify "$BUILD/mutants/libmutantheap.so" --check double-free --json -
    expect_code 0
    expect_json '.backends[0].checks[0].answer == "harmless"'
}

@test "a handle of another heap, a stale one and a forged one change nothing" {
    bench verify handle handle:threads=mutex --json -
    all_conform
    expect_json '[.backends[].checks[] | select(.check | test("^(late-)?double-free|invalid-free"))
        | .answer] | unique == ["harmless"]'
    expect_json '[.backends[].checks[] | select(.check == "foreign-handle") | .answer]
        == ["refused", "refused"]'
    bench list backends --json -
    expect_json '.backends[] | select(.name == "handle") | .traits | index("detects_misuse") != null'
    bench verify "$BUILD/mutants/libmutantheap.so:mutant=90" --check foreign-handle,handles --json -
    expect_code 4
    expect_json '[.backends[0].checks[] | [.check, .verdict]]
        == [["handles", "ok"], ["foreign-handle", "failed"]]'
}

@test "a capacity that settings fixed is no defect, and no proof" {
    bench verify pool:slots=1:grow=off slab:reserve=64KiB arena:reserve=4KiB handle:versions=3 \
        handle:capacity=4 "$WORKLOADS/small.yaml" --json -
    expect_code 4
    expect_json '[.backends[].status] | unique == ["unproven"]'
    expect_json '.backends | all(.failed == .not_proven and .failed > 3)'
    expect_json '[.backends[].checks[] | select(.kind == "required") | .verdict] | unique
        == ["not_proven", "ok", "skipped"]'
    expect_json '[.backends[].checks[] | select(.verdict == "not_proven" and .check != "exhaustion")
        | .reason] | all(test("^capacity: .*NULL.*; with the default settings the check passes$"))'
    expect_json '.backends[4].checks[] | select(.check == "content")
        | .reason | test("^capacity: 4 blocks: alloc")'
    expect_json '.backends[4].checks[] | select(.check == "work")
        | .reason | test("^capacity: 4 blocks: .* returned NULL [(]op [0-9]+[)]; with")'
    bench verify pool:slots=1:grow=off --check content
    expect_code 4
    grep -Eq '^pool:slots=1:grow=off: UNPROVEN: 0 ok, 0 failed, 1 not proven,' "$OUT/stdout"
    grep -Eq '^ +content +NOT PROVEN$' "$OUT/stdout"
    expect_nothing_left
}

@test "a NULL that settings are not to blame for is a failure" {
    bench verify "$GUESTS/libreturnsnull.so" --check required --json -
    expect_code 4
    expect_json '.backends[0].status == "nonconforming"'
    bench verify "$BUILD/mutants/libmutantheap.so:mutant=48" pool:slots=1:grow=off \
        --check threads,content --json -
    expect_code 4
    expect_json '[.backends[].status] == ["nonconforming", "unproven"]'
}

@test "a workload and a trace run through the checker, every op of them" {
    bench verify slab glibc "$ROOT/traces/perl-words.abt" --check overflow --json -
    expect_code 0
    expect_json '[.backends[].checks[] | select(.check == "work") | .verdict] == ["ok", "ok"]'
    n=$(allocbench trace info "$ROOT/traces/perl-words.abt" --json - 3>&- | jq .events)
    expect_json ".backends[0].checks[1].work >= $n / 2"
    bench verify slab "$ROOT/configs/classics/threadtest.yaml" --check overflow --json -
    expect_code 0
    expect_json '[.backends[0].checks[] | select(.check | startswith("work")) | .verdict]
        == ["ok", "ok"]'
    bench verify "$GUESTS/liboverlap.so" "$WORKLOADS/small.yaml" --check overflow --json -
    expect_code 4
    expect_json '.backends[0].checks[] | select(.check == "work") | .verdict == "failed"
        and (.reason | test("inside a live block"))'
}

@test "a recorded program runs through the checker, whatever its file is called" {
    allocbench record -o "$OUT/true.abt" -- "$GUESTS/prog_calls" >/dev/null 2>&1 3>&-
    cp "$OUT/true.abt" "$OUT/true.trace"
    for name in true.abt true.trace; do
        bench verify glibc slab arena "$OUT/$name" --check work --json -
        expect_code 0
        expect_json '[.backends[].checks[] | [.check, .verdict]] | unique
            == [["work", "ok"], ["work-lanes", "skipped"]]' # it has one lane
        expect_json '.backends | length == 3 and all(.checks[0].work > 10)'
    done
}

@test "ops that a back end cannot serve are told, not passed over" {
    bench verify "$GUESTS/libplug_noresize.so" "$ROOT/configs/realloc-growth.yaml" --check work
    expect_code 0
    grep -q '^plug_noresize: work: cannot resize: these ops were omitted$' "$OUT/stdout"
}

@test "what cannot be verified is told, and the others are" {
    bench verify glibc "$GUESTS/libnomalloc.so" "$GUESTS/libctorcrash.so" --check usable --json -
    expect_code 4
    expect_json '[.backends[].status] == ["conforming", "wrong_library", "crashed"]'
    expect_nothing_left
}

@test "mistakes end before anything runs" {
    bench verify
    expect_code 2
    expect_error 'verify needs a back end'
    bench verify slub
    expect_code 2
    expect_error 'did you mean "slab"'
    bench verify slab --check algnment
    expect_code 2
    expect_error 'unknown check algnment; did you mean alignment\?'
    bench verify slab a.yaml b.abt
    expect_code 2
    expect_error "one workload or trace; unexpected 'b.abt'"
    bench verify slab nowhere.abt
    expect_code 3
    bench verify slab fault+slab
    expect_code 2
    expect_error 'fault\+NAME:n=100'
    for name in checked+slab fault+slab:n=3; do
        bench verify glibc "$name"
        expect_code 2
        expect_error 'give the back end alone'
    done
    bench verify checked+checked+slab
    expect_code 2
    expect_error 'one of checked\+, fault\+, inline\+ and cursor\+ may precede a name'
    bench verify slab:threads=mutex:shards=4
    expect_code 2
    expect_error 'slab:shards: has no effect with threads=mutex, only with threads=sharded'
    bench verify slab:threads=sharded:shards=1025
    expect_code 2
    expect_error 'must be from 0 to 1024$'
    bench verify slab --timeout 1ns
    expect_code 2
    expect_error 'at least 10ms'
    bench verify slab --check work
    expect_code 2
    expect_error 'no workload or trace'
    bench verify slab --set n=1 "$ROOT/traces/perl-words.abt"
    expect_code 2
    expect_error '--set is for the params of a workload; there is a trace'
}

# ---- before every run ----

@test "what the work asks for late is proven before it is timed" {
    bench run "$WORKLOADS/aligned256.yaml" --rounds 1 -b "glibc,$MUTANT{MUTANT=33}" --json -
    expect_code 4
    expect_json '.backends[1] | .status == "failed_check"
        and (.reason | test("^memalign\\(256, 256\\) returned 0x[0-9a-f]+, not aligned to 256$"))'
    expect_json '[.results[].backend] | unique == ["glibc"]'
}

@test "with --allow-broken it is timed, marked, and compared with nobody" {
    bench run "$WORKLOADS/aligned256.yaml" --rounds 1 -b "glibc,$MUTANT{MUTANT=33}" --allow-broken \
        --json "$OUT/result.json"
    expect_code 0
    expect_json '.backends[1].status == "nonconforming"' "$OUT/result.json"
    expect_json '[.results[].backend] | unique == ["glibc", "mutant{MUTANT=33}"]' \
        "$OUT/result.json"
    grep -q '(nonconforming)' "$OUT/stdout"
    if grep -E 'mutant\{MUTANT=33\}.* [0-9.]+x( |$)' "$OUT/stdout"; then fail "it is compared"; fi
    bench report "$OUT/result.json"
    expect_code 0
    grep -q '(nonconforming)' "$OUT/stdout"
}

@test "a crash is timed by no option" {
    bench run "$WORKLOADS/small.yaml" --rounds 1 -b "$GUESTS/libnthcrash.so" --allow-broken --json -
    expect_code 4
    expect_json '.backends[0].status == "crashed"'
}

@test "a defect that the work never meets is a caveat of a row that is ok" {
    bench run "$WORKLOADS/small.yaml" --rounds 1 -v -b "glibc,$MUTANT{MUTANT=33}" \
        --json "$OUT/result.json"
    expect_code 0
    expect_json '.backends[0].caveat == null' "$OUT/result.json"
    expect_json '.backends[1] | .status == "ok" and (.caveat | test("^memalign\\(256, 256\\) "))' \
        "$OUT/result.json"
    tr -s '\n ' ' ' <"$OUT/stdout" | grep -q 'in ways that this work does not depend on: memalign(256, 256)'
    bench report -v "$OUT/result.json"
    tr -s '\n ' ' ' <"$OUT/stdout" | grep -q 'in ways that this work does not depend on: memalign(256, 256)'
}

@test "a library that was given by its path is said to be checked with this workload only" {
    cp "$GUESTS/libtoy.so" "$OUT/libmine.so"
    bench run "$WORKLOADS/small.yaml" --rounds 1 --drain 0 --json "$OUT/result.json" \
        -b "glibc,arena,$GUESTS/libtoy.so,$GUESTS/libnthcrash.so,$OUT/libmine.so"
    expect_code 4
    note="warning: not verified: toy, mine -> allocbench verify $GUESTS/libtoy.so $OUT/libmine.so"
    grep -q "^Not verified: toy, mine\.$" "$OUT/stdout" || fail "not in the answer"
    tr -s ' \n' ' ' <"$OUT/stdout" | grep -qF "$note" || fail "not said"
    cp "$OUT/stdout" "$OUT/table"
    bench report "$OUT/result.json"
    expect_code 0
    cmp "$OUT/table" "$OUT/stdout"
    bench run "$WORKLOADS/small.yaml" --rounds 1 --drain 0 -b glibc,arena
    expect_code 0
    ! grep -qi 'not verified' "$OUT/stdout" || fail "said of those that are known"
}

@test "a library that passed verify is not said to be unverified, until another build of it comes" {
    export ALLOCBENCH_RESULTS=$OUT/results
    cp "$MUTANT" "$OUT/libmine.so" # without a defect
    mine() { bench run "$WORKLOADS/small.yaml" --rounds 1 --drain 0 -b "glibc,$OUT/libmine.so" "$@"; }
    bench verify "$OUT/libmine.so" --check required
    mine
    grep -q '^Not verified: mine' "$OUT/stdout" || fail "one check was enough"
    bench verify "$OUT/libmine.so"
    expect_code 0
    mine --json "$OUT/out.json"
    expect_code 0
    ! grep -qi 'not verified' "$OUT/stdout" || fail "it was verified"
    expect_json '.backends[] | select(.name == "mine") | .verified' "$OUT/out.json"
    bench report "$OUT/out.json"
    ! grep -qi 'not verified' "$OUT/stdout" || fail "the stored result forgot it"
    set_build_id "$OUT/libmine.so" another
    mine
    grep -q '^Not verified: mine' "$OUT/stdout" || fail "another build was taken for it"
}

@test "a library that failed verify is said to have failed, first of all" {
    export ALLOCBENCH_RESULTS=$OUT/results
    cp "$GUESTS/libtoy.so" "$OUT/libmym.so"
    mine() { bench run "$WORKLOADS/tiny.yaml" --rounds 6 --drain 0 -b "glibc,$OUT/libmym.so" "$@"; }
    bench verify "$OUT/libmym.so"
    expect_code 4
    mine --json "$OUT/out.json"
    expect_code 0
    sed -n 2p "$OUT/stdout" | grep -q '^mym FAILED verify ([a-z]' || fail "not first: $(cat "$OUT/stdout")"
    ! grep -q 'Not verified' "$OUT/stdout" || fail "it was looked at"
    ! grep -q '^next: .*LD_PRELOAD=' "$OUT/stdout" || fail "recommended: $(cat "$OUT/stdout")"
    expect_json '.backends[] | select(.name == "mym") | .verify_failed | length >= 1' "$OUT/out.json"
    cp "$OUT/stdout" "$OUT/said"
    bench report "$OUT/out.json"
    cmp "$OUT/said" "$OUT/stdout" || fail "the stored result forgot it"
}

# ---- decorators ----

@test "checked+NAME proves every op, with its lanes, and is no measurement" {
    bench run "$ROOT/configs/classics/threadtest.yaml" --rounds 1 -b checked+slab,checked+glibc,slab --json -
    expect_code 0
    expect_json '[.backends[].status] == ["decorated", "decorated", "ok"]'
    expect_json '[.results[] | select(.op == "all") | .backend] | unique
        == ["checked+glibc", "checked+slab", "slab"]'
    expect_nothing_left
}

@test "checked+NAME finds behind the pre-flight what only lanes show" {
    bench run "$ROOT/configs/classics/threadtest.yaml" --rounds 3 -b "checked+$MUTANT{MUTANT=19}" --json -
    expect_code 4
    expect_json '.backends[0] | (.status == "failed_check" or .status == "crashed"
        or .status == "timeout")'
}

@test "fault+NAME fails the call that was named" {
    bench run "$WORKLOADS/small.yaml" --rounds 1 -b fault+slab:keep=8:n=100 --json -
    expect_code 4
    expect_json '.backends[0] | .status == "oom" and (.reason | test("^alloc[(][0-9]+[)] returned"
        + " NULL [(]op [0-9]+[)]: allocation #100, injected by fault.+$"))'
    bench run "$ROOT/configs/classics/threadtest.yaml" --rounds 1 -b fault+glibc:n=20000 --json -
    expect_code 4
    expect_json '.backends[0].reason | test("^malloc.* [(]op [0-9]+, lane [0-3][)]: allocation #20000, injected")'
    bench run "$ROOT/configs/realloc-growth.yaml" --rounds 1 -b fault+glibc:n=3000 --json -
    expect_code 4
    expect_json '.backends[0].reason | test("^(re|m)alloc[(][0-9 >-]+[)] returned NULL [(]op ")'
    bench run "$WORKLOADS/small.yaml" --rounds 1 -b fault+glibc:n=1G --json -
    expect_code 0
    expect_json '.backends[0].status == "decorated"'
}

# ---- what is reported of a crash ----

DIES=$BUILD/guests/libdies.so

dies() { # WAY CHECK VERDICT
    bench verify "$DIES{DIES=$1}" --check "$2" --json -
    expect_code 4
    expect_json ".backends[0].checks[0] | .check == \"$2\" and .verdict == \"$3\""
}

of_check() { # KEY EXTENDED-REGULAR-EXPRESSION: holds for that text of the check
    jq -e --arg re "$2" ".backends[0].checks[0].$1 // \"\" | test(\$re)" "$OUT/stdout" >/dev/null ||
        fail "$1 is not like $2: $(jq -c ".backends[0].checks[0].$1" "$OUT/stdout")"
}

@test "a crash names the signal, the call, the memory and the function" {
    dies malloc content crashed
    of_check reason '^SIGSEGV \(invalid memory access\) in malloc\([0-9]+\), call [0-9]+ of the check$'
    of_check call '^in malloc\([0-9]+\), call [0-9]+ of the check$'
    of_check memory '^(write|access) to 0x8: a null pointer \+ 8$'
    of_check function '^libdies\.so\+0x[0-9a-f]+ \((malloc|write_nowhere)\+0x[0-9a-f]+\)(, libdies\.c:[0-9]+)?$'
    dies free content crashed
    of_check call '^in free\(0x[0-9a-f]+\), call [0-9]+ of the check$'
    dies realloc prefix crashed
    of_check call '^in realloc\(0x[0-9a-f]+, [0-9]+\), call [0-9]+ of the check$'
    bench verify "$DIES{DIES=free}" --check content
    tr -s '\n ' ' ' <"$OUT/stdout" | grep -Eq \
        'dies\{DIES=free\}: content: SIGSEGV \(invalid memory access\) in free\(0x[0-9a-f]+\), call [0-9]+ of the check memory: (write|access) to 0x8: a null pointer \+ 8 function: libdies\.so\+0x[0-9a-f]+ \((free|write_nowhere)\+0x[0-9a-f]+\)(, libdies\.c:[0-9]+)? repeat: gdb -q -ex run --args ' ||
        fail "the screen does not say it"
    expect_nothing_left
}

@test "an allocator that aborts is reported with the function that did it" {
    dies abort prefix crashed
    of_check reason '^SIGABRT \(the process aborted itself\) in realloc\('
    expect_json '.backends[0].checks[0].memory == null'
    of_check function '^libc\.so\.6\+0x[0-9a-f]+.*, called from libdies\.so\+0x[0-9a-f]+ \(complain\+0x[0-9a-f]+\)$'
}

@test "a stack that is gone, a jump into nothing and a thread of the allocator's own have their place" {
    dies stack content crashed
    of_check memory '^(write|access) to 0x[0-9a-f]+: the stack has overflowed'
    of_check function '\(descend\+0x'
    dies stack threads crashed # below that of another thread is a guard, which cannot be read
    of_check memory '^(write|access) to 0x[0-9a-f]+: the stack has overflowed'
    of_check function '\(descend\+0x'
    dies smash content crashed
    of_check reason '^SIG(SEGV|BUS) .* in malloc\('
    of_check function '\((malloc|smash_stack)\+0x'
    dies jump content crashed
    of_check function '^0x123450, which is not code, called from libdies\.so\+0x[0-9a-f]+ \(malloc\+0x'
    dies thread content crashed
    of_check function '\((write_nowhere|die_elsewhere)\+0x'
    of_check call '^in malloc\([0-9]+\), call [0-9]+ of the check; another thread crashed, one of the allocator.s own$'
    dies overrun overlap crashed
    of_check memory '^(write|access) to 0x[0-9a-f]+: .* block of [0-9]+ bytes at 0x[0-9a-f]+; mapped without access$'
}

@test "the tables cut no name of a check, and say what their words mean" {
    bench verify glibc "$DIES" "$GUESTS/libtoy.so" "$GUESTS/libcount.so" "$GUESTS/libmisaligned.so" \
        "$GUESTS/libdirtycalloc.so" "$GUESTS/libround4096.so" "$GUESTS/libforgets.so" --check failed-resize,foreign-handle,double-free
    ! grep -q '…\|\.\.\.' "$OUT/stdout" || fail "cut"
    [ "$(grep -c '^  failed-resize ' "$OUT/stdout")" -ge 2 ] || fail "all in one"
    tr -s '\n ' ' ' <"$OUT/stdout" | grep -q 'detected: the process ended itself; corrupts: ' ||
        fail "no words"
    grep -q -- '-: skipped, nothing to check' "$OUT/stdout" || fail "no dash"
    bench verify glibc --check zeroed
    ! grep -q ' -: \|detected' "$OUT/stdout" || fail "words that are not there"
}

@test "a conduct that is held against a back end has no last call" {
    bench verify "$GUESTS/libprints.so" --check alignment --json -
    expect_code 4
    expect_json '.backends[0].checks[0] | .verdict == "failed" and .call == null'
}

@test "a crash before main has a place as well" {
    bench verify "$GUESTS/libctorcrash.so" --check usable --json -
    expect_code 4
    expect_json '.backends[0] | .status == "crashed" and (.reason | test("before main"))
        and (.memory | test("0x8: a null pointer [+] 8$"))
        and (.function | test("^libctorcrash.so[+]0x[0-9a-f]+ [(]crash[+]0x"))
        and (.repeat | test("--no-fork$"))'
}

@test "a hang names the call that it hangs in" {
    bench verify "$DIES{DIES=hang}" --check content --timeout 1s --json -
    expect_code 4
    expect_json '.backends[0].checks[0].verdict == "timeout"'
    of_check reason '^timed out after 1.00 s, last seen in malloc\([0-9]+\), call [0-9]+'
    of_check call '^in malloc\([0-9]+\), call [0-9]+ of the check$'
    expect_nothing_left
}

@test "a check that fails names the last call, its arguments and how to see it again" {
    bench verify "$MUTANT{MUTANT=5}" --check zeroed --json -
    expect_code 4
    of_check call '^calloc\([0-9]+, [0-9]+\), call [0-9]+ of the check$'
    expect_json '.backends[0].checks[0] | .memory == null and .function == null'
    of_check repeat '^gdb -q -ex run --args [^ ]*allocbench verify '
    bench verify glibc --check zeroed --json -
    expect_json '.backends[0].checks[0] | [.call, .memory, .function, .repeat]
        == [null, null, null, null]'
}

@test "the command that is printed shows the failure again, with gdb and without" {
    for case in "$DIES{DIES=free} content 139" "$MUTANT{MUTANT=5} zeroed 134" \
        "$BUILD/mutants/libmutantheap.so:mutant=48 threads 134"; do
        read -r name check signal <<<"$case"
        bench verify "$name" --check "$check" --json -
        expect_code 4
        jq -r '.backends[0].checks[0] | .call, .repeat' "$OUT/stdout" >"$OUT/told"
        { read -r call && read -r repeat; } <"$OUT/told"
        code=0
        bash -c "ulimit -c 0; ${repeat#gdb -q -ex run --args }" >"$OUT/stdout" 2>"$OUT/stderr" 3>&- || code=$?
        expect_code "$signal"
        [ "$signal" = 139 ] || expect_error '^allocbench-worker: .'
    done
    command -v gdb >/dev/null || skip "no gdb here"
    bench verify "$DIES{DIES=free}" --check content --json -
    repeat=$(jq -r '.backends[0].checks[0].repeat' "$OUT/stdout")
    bash -c "${repeat/-ex run/-batch -nx -ex run -ex bt}" >"$OUT/stdout" 2>"$OUT/stderr" \
        3>&- </dev/null || true
    grep -Eq 'received signal SIGSEGV' "$OUT/stdout" || fail "gdb does not stop"
    grep -Eq '(free|write_nowhere) \(' "$OUT/stdout" || fail "gdb does not show the function"
    bench verify "$BUILD/mutants/libmutantheap.so:mutant=48" --check threads --json -
    repeat=$(jq -r '.backends[0].checks[0].repeat' "$OUT/stdout")
    bash -c "${repeat/-ex run/-batch -nx -ex run -ex bt}" >"$OUT/stdout" 2>"$OUT/stderr" \
        3>&- </dev/null || true
    grep -Eq 'received signal SIGABRT' "$OUT/stdout" || fail "gdb does not stop at what failed"
    grep -Eq ' ab_worker_fail \(' "$OUT/stdout" || fail "gdb stops in another thread"
}

@test "--no-fork runs one check on one back end" {
    bench verify glibc --check zeroed --no-fork
    expect_code 0
    expect_error '^allocbench-worker: the check passed$'
    bench verify slab "$WORKLOADS/small.yaml" --check work --no-fork
    expect_code 0
    expect_error '^allocbench-worker: the check passed$'
    bench verify glibc --check reset --no-fork
    expect_code 0
    expect_error '^allocbench-worker: the check skipped: no reset$'
    for wrong in "glibc slab --check zeroed" "glibc" "glibc --check required" \
        "glibc --check zeroed,content"; do
        bench verify $wrong --no-fork
        expect_code 2
        expect_error '--no-fork takes one'
    done
    bench verify glibc --check zeroed --no-fork --json -
    expect_code 2
    expect_error '--no-fork writes no result; leave out --json'
    bench verify glibc --check zeroed --no-fork --mem-limit 1G
    expect_code 2
    expect_error '--no-fork has no limit of memory; leave out --mem-limit'
    bench verify nowhere/libmine.so --check zeroed --no-fork
    expect_code 4
}

# All functions of a malloc over a bump pointer, each call of which takes a lock that no fork handler
# knows. gcc makes the calloc of it a call of itself.
make_recursive() { # FOLDER, options of gcc
    cat >"$1/mym.c" <<'C'
#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char *next, *end;
void *memalign(size_t align, size_t n)
{
    if (n > (size_t)1 << 40) { errno = ENOMEM; return NULL; }
    pthread_mutex_lock(&lock);
    uintptr_t at = ((uintptr_t)next + 16 + align - 1) & ~(uintptr_t)(align - 1);
    if (next == NULL || at + n > (uintptr_t)end) {
        size_t bytes = ((size_t)64 << 20) + n + align;
        char *more = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (more == MAP_FAILED) { pthread_mutex_unlock(&lock); errno = ENOMEM; return NULL; }
        next = more; end = more + bytes;
        at = ((uintptr_t)next + 16 + align - 1) & ~(uintptr_t)(align - 1);
    }
    *(size_t *)(at - 8) = n;
    next = (char *)at + n;
    pthread_mutex_unlock(&lock);
    return (void *)at;
}
void *malloc(size_t n) { return memalign(16, n); }
void free(void *p) { (void)p; }
size_t malloc_usable_size(void *p) { return p ? ((size_t *)p)[-1] : 0; }
void *realloc(void *p, size_t n)
{
    void *q = malloc(n);
    size_t old = malloc_usable_size(p);
    if (q && p) memcpy(q, p, old < n ? old : n);
    return q;
}
void *aligned_alloc(size_t align, size_t n) { return memalign(align, n); }
int posix_memalign(void **out, size_t align, size_t n)
{
    return (*out = memalign(align, n)) ? 0 : ENOMEM;
}
void *calloc(size_t n, size_t size)
{
    size_t bytes = n * size;
    void *p = malloc(bytes);
    if (p)
        memset(p, 0, bytes);
    return p;
}
C
    gcc -g -O2 -fPIC -shared -fno-optimize-sibling-calls -pthread "${@:2}" -o "$1/libmym.so" "$1/mym.c"
}

@test "checks that fail at one place are told once, with the line and the usual cause" {
    command -v gcc >/dev/null || skip "no gcc"
    make_recursive "$OUT"
    bench verify "$OUT/libmym.so" --check zeroed,overflow,usable
    expect_code 4
    tr -s '\n ' ' ' <"$OUT/stdout" >"$OUT/flat"
    [ "$(grep -c 'SIGSEGV' "$OUT/stdout")" -eq 1 ] || fail "$(cat "$OUT/stdout")"
    grep -qE 'usual cause: calloc calls itself: gcc makes malloc and memset a calloc; build with -fno-builtin' "$OUT/flat" ||
        fail "$(cat "$OUT/stdout")"
    grep -qE '\(calloc\+0x[0-9a-f]+\), mym\.c:[0-9]+' "$OUT/flat" || fail "no line"
    grep -q 'the same place: zeroed, overflow' "$OUT/flat" || fail "not grouped"
    make_recursive "$OUT" -fno-builtin
    bench verify "$OUT/libmym.so" --check zeroed,fork
    expect_code 4
    grep -qE '^ +zeroed +ok' "$OUT/stdout"
    tr -s '\n ' ' ' <"$OUT/stdout" | grep -q 'usual cause: another thread held the lock when the process forked; lock in pthread_atfork' ||
        fail "$(cat "$OUT/stdout")"
}

@test "requests of nothing: what each function gives is told" {
    bench verify glibc --check info --json -
    expect_code 0
    expect_json '[.backends[0].checks[] | select(.check == "calloc(0,8)" or .check == "realloc(NULL,0)" or
        .check == "aligned_alloc(64,0)") | .answer] == ["block", "block", "block"]'
}
