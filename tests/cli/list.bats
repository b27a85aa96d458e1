#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# list workloads and list metrics; list backends is in backends.bats.

load helpers

# The program in a source tree of its own: its workloads are those of $TREE/configs.
a_tree() {
    TREE=$BATS_TEST_TMPDIR/tree
    mkdir -p "$TREE/build/release"
    cp "$BUILD/allocbench" "$TREE/build/release"
    cp -r "$ROOT/configs" "$TREE/configs"
    PATH=$TREE/build/release:$PATH
}

@test "each workload has the first sentence of its comment, and every one can be checked by that name" {
    local names name
    a_tree
    bench list workloads --json -
    expect_code 0
    expect_one_document
    expect_json '.schema == "allocbench-workloads/1" and (.workloads | length) == '"$(find "$TREE/configs" -name '*.yaml' | wc -l)"
    expect_json '[.workloads[] | select(.summary == null)] == []'
    expect_json '.workloads[] | select(.name == "churn") | .summary == "Cache-resident churn: 1,000 small blocks, one of them at random replaced again and again"'
    names=$(jq -r '.workloads[].name' "$OUT/stdout")
    for name in $names; do
        [ -f "$TREE/configs/$name.yaml" ] || fail "no $name"
    done
    bench list workloads
    expect_code 0
    [ "$(awk 'length > 80' "$OUT/stdout" | grep -vc "$TREE")" -eq 0 ] || fail "too wide"
    grep -q '^  @seeds/random-free ' "$OUT/stdout"
}

@test "a workload without a comment, or with a hostile one, is listed all the same" {
    a_tree
    rm "$TREE"/configs/*.yaml
    printf 'allocbench: 1\n' >"$TREE/configs/bare.yaml"
    printf '# red \033[31m text. More.\nallocbench: 1\n' >"$TREE/configs/red.yaml"
    bench list workloads --json -
    expect_json '.workloads[] | select(.name == "bare") | .summary == null'
    expect_json '.workloads[] | select(.name == "red") | .summary == "red \\x1b[31m text"'
}

@test "metrics: unit and direction of every number, under the names of the fields" {
    local names
    bench list metrics --json -
    expect_code 0
    expect_one_document
    expect_json '.schema == "allocbench-metrics/1"'
    expect_json '.metrics[] | select(.name == "ops_per_s") | .better == "higher" and .unit == "1/s" and .gate == "PHASE/all/ops_per_s"'
    expect_json '.metrics[] | select(.name == "rss_peak_bytes") | .gate == "PHASE/memory/rss_peak" and .better == "lower"'
    expect_json '.metrics[] | select(.name == "n") | .better == null'
    expect_json '[.metrics[] | select(.meaning == null)] == []'
    names=$(grep -c '^AB_\(MEMORY_\(WALK_\|LATER_\)\?\)\?FIELD(' "$ROOT"/src/result/result_fields.def "$ROOT"/src/result/memory_fields.def |
        awk -F: '{n += $2} END {print n}')
    expect_json "[.metrics[] | select(.group == \"time and ops\" or .group == \"program\" or .group == \"memory\")] | length == $names"
    bench list metrics
    expect_code 0
    [ -z "$(awk 'length > 80' "$OUT/stdout")" ] || fail "too wide"
    bench list metrics -v
    grep -q 'median of one op.s service time' "$OUT/stdout"
}

@test "a gate can be written as the list of metrics says" {
    local gate gates=() unit
    while IFS=$'\t' read -r gate unit; do
        gate=${gate/PHASE/churn}
        gate=${gate/OP/free}
        gate=${gate/ITERATION/frame}
        case $unit in
        ns) gates+=(--gate "$gate < 10s") ;;
        bytes) gates+=(--gate "$gate < 1GiB") ;;
        percent) gates+=(--gate "$gate < 99%") ;;
        *) gates+=(--gate "$gate < 1000000") ;;
        esac
    done < <(allocbench list metrics --json - 3>&- |
        jq -r '.metrics[] | select(.group != "program") | [.gate, .unit] | @tsv')
    [ "${#gates[@]}" -gt 100 ]
    sed 's/^  - name: churn/&\n    each: {name: frame, budget: 1ms}/' "$WORKLOADS/small.yaml" >small.yaml
    bench check small.yaml "${gates[@]}"
    expect_code 0
    bench check "$WORKLOADS/small.yaml" --gate 'churn/memory/rss_peek < 1GiB'
    expect_code 2
}

@test "a topic that is none names those there are" {
    bench list workload
    expect_code 2
    expect_error 'did you mean "workloads"'
    bench list nothing
    expect_error 'allowed: backends \(or allocators\), workloads, metrics'
    bench list metrics --json /nowhere/x.json
    expect_code 2
}

# What `list backends` calls the packages of a release.
packages_of() { # os-release
    printf '%b' "$1" >"$OUT/os-release"
    ALLOCBENCH_TEST_OS_RELEASE=$OUT/os-release bench list backends --json -
    expect_code 0
    jq -r '[.backends[] | select(.name | test("^(tcmalloc|mimalloc)$")) | .package] | join(" ")' "$OUT/stdout"
}

@test "packages have the names of this release, and their versions are found by either" {
    [ "$(packages_of 'ID=debian\nVERSION_ID="12"\n')" = "libgoogle-perftools4 libmimalloc2.0" ]
    [ "$(packages_of 'ID=debian\nVERSION_ID="13"\n')" = "libgoogle-perftools4t64 libmimalloc3" ]
    [ "$(packages_of 'ID=debian\nVERSION_CODENAME=forky\n')" = "libgoogle-perftools4t64 libmimalloc3" ]
    [ "$(packages_of 'ID=ubuntu\nVERSION_ID="24.04"\n')" = "libgoogle-perftools4t64 libmimalloc2.0" ]
    [ "$(packages_of 'ID=ubuntu\nVERSION_ID="22.04"\n')" = "libgoogle-perftools4 libmimalloc2.0" ]
    [ "$(packages_of '')" = "libgoogle-perftools4 libmimalloc2.0" ]
    need_library mimalloc
    printf 'Package: libmimalloc3\nStatus: install ok installed\nVersion: 9.8.7\n' >"$OUT/status"
    ALLOCBENCH_TEST_DPKG_STATUS=$OUT/status bench list backends --json -
    expect_json '.backends[] | select(.name == "mimalloc") | .version == "9.8.7"'
}

@test "schema: the file of the sources, on standard output and by --json" {
    bench list schema
    expect_code 0
    cmp "$OUT/stdout" "$ROOT/results/allocbench-2.schema.json"
    bench list schema --json -
    expect_one_document
    expect_json '.title == "allocbench/2" and (.required | index("results") != null)'
}
