#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# What CI services read: every form is read by a parser that is not ours, in a locale with a decimal
# comma as well, and with names that were made to break it. And the examples of configs/ci.
# tests: checks_json.c

load helpers

# One run of a well-behaved and a library that crashes (missing), and one that has a hostile name, into $OUT.
write_forms() { # OPTION…
    bench run "$WORKLOADS/tiny.yaml" --rounds 2 --no-store -q --json "$OUT/r.json" \
        --junit "$OUT/j.xml" --markdown "$OUT/s.md" --benchmark-json "$OUT/b.json" --github "$@"
}

make_hostile_library() { # sets $hostile, a value for -b
    hostile=$'./a]]><&|"`%\033\n'.so
    cp "$GUESTS/libtoy.so" "$hostile"
}

# Four verdicts: a gate that holds, one that does not, one that cannot be evaluated, a missing one.
write_mixed() {
    make_hostile_library
    write_forms -b "glibc,$hostile,missing=$GUESTS/libctorcrash.so" --gate 'glibc:churn/alloc/p99 < 1s' \
        --gate 'glibc:churn/all/ns_per_op < 0.1ns' --gate 'missing:churn/alloc/p99 < 1s'
    expect_code 4
}

# de_DE.UTF-8 in a folder of its own, so that it is there on every machine.
use_german() {
    command -v localedef >/dev/null || skip "no localedef"
    mkdir "$OUT/locale"
    localedef -i de_DE -f UTF-8 --no-archive "$OUT/locale/de_DE.UTF-8" >/dev/null 2>&1 ||
        [ -d "$OUT/locale/de_DE.UTF-8" ] || skip "localedef cannot make de_DE.UTF-8"
    export LOCPATH=$OUT/locale LC_ALL=de_DE.UTF-8
    [ "$(locale decimal_point)" = , ] || skip "no German decimal point"
}

# The scripts of configs/ci call allocbench themselves: with one process a round instead of up to 12.
use_few_processes() {
    mkdir "$OUT/bin"
    cat >"$OUT/bin/allocbench" <<SH
#!/bin/sh
command=\$1
shift
[ "\$command" != run ] || set -- --processes 1 --drain 0 "\$@"
exec "$BUILD/allocbench" "\$command" "\$@"
SH
    chmod +x "$OUT/bin/allocbench"
    PATH=$OUT/bin:$PATH
}

# Little work, for what does not become better by more.
make_tiny_workload() {
    cat >tiny.yaml <<'YAML'
allocbench: 1
name: tiny
sets: [{name: heap, count: 100}]
phases:
  - name: churn
    do:
      - {alloc: heap, size: 64, count: all}
      - {replace: heap, at: random, size: 64, count: 4000}
YAML
}

# ---- readers that are not ours ----

read_junit() { # FILE
    python3 - "$1" "$ROOT/tests/interop/junit.xsd" <<'PY'
import sys, xml.etree.ElementTree as tree
root = tree.parse(sys.argv[1]).getroot()
assert root.tag == "testsuites"
for node in [root] + list(root):
    cases = node.findall(".//testcase")
    for key, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        assert int(node.get(key)) == sum(c.find(tag) is not None for c in cases), (node.tag, key)
    assert int(node.get("tests")) == len(cases) > 0
    float(node.get("time"))
for problem in root.iterfind(".//testcase/*"):
    assert len(problem.text.split()) > 3, problem.text   # GitLab shows the body alone
PY
    if command -v xmllint >/dev/null; then
        xmllint --noout --schema "$ROOT/tests/interop/junit.xsd" "$1" 2>"$OUT/xmllint" ||
            fail "$(cat "$OUT/xmllint")"
    fi
}

# As a list of the rows' cells of each table, by a parser of GitHub's Markdown.
read_markdown() { # FILE
    if command -v cmark-gfm >/dev/null; then
        cmark-gfm --unsafe -e table -e strikethrough -e autolink --to xml "$1" >"$OUT/s.xml"
        python3 - "$OUT/s.xml" <<'PY'
import sys, xml.etree.ElementTree as tree
root = tree.parse(sys.argv[1]).getroot()
name = lambda node: node.tag.split("}")[1]
kinds = [name(node) for node in root]
assert kinds[0] == "heading", kinds
assert kinds.count("table") >= 3, kinds
for table in root:
    if name(table) == "table":
        assert len({len(row) for row in table}) == 1
html = [node.text.strip() for node in root if name(node) == "html_block"]
allowed = ("<details>\n<summary>", "</details>")
assert html and all(h.startswith(allowed) for h in html), html
assert sum(h.count("<details>") for h in html) == sum(h.count("</details>") for h in html)
loose = [node.text for node in root.iter() if name(node) in ("html_inline", "link", "code")]
assert loose == [], loose
PY
    fi
    python3 - "$1" <<'PY'
import re, sys
text = open(sys.argv[1], encoding="utf-8").read()
assert len(text.encode()) < 900000
assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f]", text)
columns = 0
for line in text.split("\n"):
    n = len(re.findall(r"(?<!\\)\|", line))
    columns = 0 if not line.startswith("|") else columns or n
    assert n == columns, line
PY
}

read_benchmarks() { # FILE
    jq -e -f "$ROOT/tests/interop/github-action-benchmark.jq" "$1" >/dev/null || fail "$1"
    jq -e 'length > 5' "$1" >/dev/null || fail "few numbers: $1"
}

read_annotations() { # FILE
    python3 - "$1" <<'PY'
import re, sys
lines = open(sys.argv[1], encoding="utf-8").read().splitlines()
assert lines
for line in lines:
    m = re.fullmatch(r"::(error|warning) ([^:]*)::(.+)", line)
    assert m, line
    keys = [p.split("=", 1)[0] for p in m.group(2).split(",")]
    assert "title" in keys and set(keys) <= {"file", "line", "col", "title"}, keys
PY
}

read_all() {
    read_junit "$OUT/j.xml"
    read_markdown "$OUT/s.md"
    read_benchmarks "$OUT/b.json"
    read_annotations "$OUT/stdout"
}

# ---- forms ----

@test "every form is read by another parser, with hostile names" {
    write_mixed
    read_all
    grep -q '^<testsuites .*failures="1" errors="' "$OUT/j.xml"
    grep -q '::error title=allocbench gate%3A glibc%3Achurn/all/ns_per_op' "$OUT/stdout"
    grep -q '::error title=allocbench back end%3A missing' "$OUT/stdout"
    head -n 1 "$OUT/s.md" | grep -q 'failed$'
}

@test "every form is read in a locale with a decimal comma, and says the same" {
    write_mixed
    mkdir "$OUT/c"
    cp "$OUT"/{j.xml,s.md,b.json,stdout} "$OUT/c"
    use_german
    write_mixed
    read_all
    bench report "$OUT/r.json" --benchmark-json "$OUT/again.json"
    cmp "$OUT/again.json" "$OUT/b.json"
}

@test "a run in which all is well has no annotation and no failure" {
    write_forms -b glibc --gate 'churn/alloc/p99 < 1s'
    expect_code 0
    [ ! -s "$OUT/stdout" ]
    read_junit "$OUT/j.xml"
    read_markdown "$OUT/s.md"
    python3 - "$OUT/j.xml" <<'PY'
import sys, xml.etree.ElementTree as tree
root = tree.parse(sys.argv[1]).getroot()
assert (root.get("failures"), root.get("errors"), root.get("skipped")) == ("0", "0", "0")
PY
    head -n 1 "$OUT/s.md" | grep -q 'passed$'
}

@test "exec writes every form: its verdicts, its times and memory" {
    bench exec --rounds 2 --no-store -q -b "glibc,toy=$GUESTS/libtoy.so,missing=$GUESTS/libctorcrash.so" \
        --gate 'toy:program/all/wall_ns < 1ns' --junit "$OUT/j.xml" --markdown "$OUT/s.md" \
        --benchmark-json "$OUT/b.json" --github -- true
    expect_code 4
    read_all
    grep -q '^<testsuites .*failures="1" errors="1"' "$OUT/j.xml" || fail "not the verdicts"
    grep -q 'The back end glibc was measured: ' "$OUT/j.xml" || fail "no time"
    grep -q '::error title=allocbench gate%3A toy%3Aprogram/all/wall_ns' "$OUT/stdout" || fail "no annotation"
    expect_json 'map(.name) | any(. == "glibc: program/all/wall_ns") and any(. == "toy: program/all/resident_peak_bytes")' \
        "$OUT/b.json"
}

@test "annotations name the line of a workload's gate, and go beside a document" {
    sed '/^phases:/,$d' "$WORKLOADS/tiny.yaml" >gated.yaml
    printf 'gates:\n  - "glibc:churn/all/ns_per_op < 0.1ns"\n' >>gated.yaml
    sed -n '/^phases:/,$p' "$WORKLOADS/tiny.yaml" >>gated.yaml
    line=$(grep -n '0.1ns' gated.yaml | cut -d: -f1)
    bench run gated.yaml -b glibc --rounds 1 --no-store -q --github --json -
    expect_code 1
    expect_one_document
    grep -q "^::error file=gated.yaml,line=$line,col=[0-9]*,title=allocbench gate%3A " "$OUT/stderr"
}

@test "report writes the verdicts that a stored result holds" {
    write_mixed
    bench report "$OUT/r.json" --junit "$OUT/again.xml" --github
    expect_code 0
    read_junit "$OUT/again.xml"
    diff <(sed 's/ timestamp="[^"]*"//' "$OUT/j.xml") "$OUT/again.xml" || fail "not the same"
    [ "$(grep -c '^::error' "$OUT/stdout")" -eq 3 ]
    jq '.gates[0].verdict = "perhaps"' "$OUT/r.json" >"$OUT/bad.json"
    bench report "$OUT/bad.json"
    expect_code 3
    expect_error 'gates\[0\].verdict'
    jq '.gates[0].exit_code = 77' "$OUT/r.json" >"$OUT/bad.json"
    bench report "$OUT/bad.json"
    expect_code 3
    jq '.gates[0].backend = "nobody"' "$OUT/r.json" >"$OUT/bad.json"
    bench report "$OUT/bad.json"
    expect_code 3
}

@test "the form of Google Benchmark was removed, and the message says what serves" {
    bench report --google-benchmark "$OUT/g.json"
    expect_code 2
    expect_error 'report: --google-benchmark was removed: --benchmark-json'
}

# ---- configs/ci ----

@test "the CI example passes with a library that is not slower, and says so in every file" {
    use_few_processes
    make_tiny_workload
    cp "$GUESTS/libtoy.so" old.so
    cp "$GUESTS/libtoy.so" new.so
    env GITHUB_ACTIONS=true "GITHUB_STEP_SUMMARY=$OUT/summary" LIMIT=50 ROUNDS=6 OUT=ci \
        "$ROOT/configs/ci/compare-libraries.sh" old.so new.so tiny.yaml 3>&- ||
        fail "exit code $?"
    read_junit ci/junit.xml
    cmp ci/summary.md "$OUT/summary"
    grep -q 'passed$' "$OUT/summary"
    jq -e '.checks | length > 20' ci/doctor.json >/dev/null
    jq -e -f "$ROOT/tests/interop/github-action-benchmark.jq" ci/benchmark.json >/dev/null
}

@test "the CI example fails with exit code 1 when a slow library is put in" {
    use_few_processes
    uname -m | grep -q x86_64 || skip "the slow library reads the counter of x86-64"
    make_tiny_workload
    code=0
    GITHUB_ACTIONS=true ROUNDS=6 OUT=ci "$ROOT/configs/ci/compare-libraries.sh" \
        "$GUESTS/libtoy.so" "$GUESTS/libslow1us.so" tiny.yaml \
        >"$OUT/stdout" 2>"$OUT/stderr" 3>&- || code=$?
    expect_code 1
    grep -q '^::error title=allocbench' "$OUT/stdout"
    read_junit ci/junit.xml
    grep -q '<failure ' ci/junit.xml
    head -n 1 ci/summary.md | grep -q 'failed$'
}

# bats test_tags=full
@test "the CI example fails when a library is missing or the command line is wrong" {
    make_tiny_workload
    for arguments in "" "one" "/nonexistent.so $GUESTS/libtoy.so"; do
        code=0
        # shellcheck disable=SC2086 # words
        OUT=ci "$ROOT/configs/ci/compare-libraries.sh" $arguments >"$OUT/stdout" 2>"$OUT/stderr" || code=$?
        [ "$code" -ge 1 ] || fail "passes with '$arguments'"
    done
    code=0
    OUT=ci "$ROOT/configs/ci/compare-libraries.sh" "$GUESTS/libtoy.so" "$GUESTS/libnomalloc.so" \
        tiny.yaml >"$OUT/stdout" 2>"$OUT/stderr" 3>&- || code=$?
    expect_code 4
}

# The commands of a job, run as the service would: in a checkout in which allocbench/ is this tree
# and both libraries are built.
run_job() { # LANGUAGE
    use_few_processes
    mkdir -p job/old job/allocbench/configs
    ln -s "$ROOT/configs/ci" job/allocbench/configs/ci
    ln -s "$ROOT/configs/churn.yaml" job/allocbench/configs/churn.yaml
    cp "$GUESTS/libtoy.so" job/old/libmine.so
    cp "$GUESTS/libtoy.so" job/libmine.so
    python3 - "$ROOT/configs/ci/$1.yml" >job/commands <<'PY'
import sys, yaml
job = yaml.safe_load(open(sys.argv[1]))
if "jobs" in job:
    assert set(job) - {True} == {"name", "permissions", "jobs"}, list(job) # `on` is true in YAML 1.1
    job = job["jobs"]["allocbench"]
    assert all(("run" in s) != ("uses" in s) for s in job["steps"])
    print(next(s["run"] for s in job["steps"] if s.get("id") == "measure"))
else:
    job = job["allocbench"]
    assert job["artifacts"]["reports"]["junit"].startswith(job["variables"]["OUT"] + "/")
    print("\n".join(job["script"]))
PY
    (cd job && OUT=allocbench-ci LIMIT=50 ROUNDS=6 bash -e commands) >"$OUT/stdout" 2>"$OUT/stderr" 3>&- ||
        fail "the job of $1 fails"
    read_junit job/allocbench-ci/junit.xml
}

# bats test_tags=full
@test "the job for GitHub is YAML, and its measuring step runs" {
    python3 -c 'import yaml' 2>/dev/null || skip "no PyYAML"
    run_job github
}

# bats test_tags=full
@test "the job for GitLab is YAML, and its script runs" {
    python3 -c 'import yaml' 2>/dev/null || skip "no PyYAML"
    run_job gitlab
}

# ---- comparisons ----

# The same back end, base and new, so that the new one is slower by far.
make_results() {
    make_tiny_workload
    bench run tiny.yaml -b "m=$GUESTS/libtoy.so" --rounds 6 --no-store -q --json base.json
    expect_code 0
    bench run tiny.yaml -b "m=$1" --rounds 6 --no-store -q --json new.json
    expect_code 0
}

@test "a comparison is in every form" {
    uname -m | grep -q x86_64 || skip "the slow library reads the counter of x86-64"
    make_results "$GUESTS/libslow1us.so"
    bench compare base.json new.json -q --junit "$OUT/j.xml" --markdown "$OUT/s.md" \
        --benchmark-json "$OUT/b.json" --github
    expect_code 1
    read_all
    grep -q '<failure type="regressed"' "$OUT/j.xml"
    [ "$(grep -c '^::error title=allocbench comparison%3A time of the whole run' "$OUT/stdout")" -eq 1 ]
    grep -q 'regressed.*time of the whole run' "$OUT/s.md"
    jq -e 'any(.extra | test("worse: [0-9.]+x \\["))' "$OUT/b.json" >/dev/null
    bench compare base.json new.json --github --json -
    expect_code 1
    expect_one_document
    grep -q '^::error ' "$OUT/stderr"
}

@test "a comparison with another machine warns, and fails with --strict" {
    make_results "$GUESTS/libtoy.so"
    jq '.host.fingerprint = ("0" * 64) | .host.kernel = "Linux 1.0 x86_64" | del(.checksum)' base.json >other.json
    bench compare other.json new.json -q --junit "$OUT/j.xml" --github
    expect_code 0
    grep -q '^::warning .*The comparison is advisory and fails nothing' "$OUT/stdout"
    run ! grep -q "<failure" "$OUT/j.xml"
    bench compare other.json new.json -q --strict --junit "$OUT/j.xml" --github
    expect_code 1
    grep -q '^::error .*The comparison is advisory, and fails with --strict' "$OUT/stdout"
    grep -q '<failure type="advisory"' "$OUT/j.xml"
    read_junit "$OUT/j.xml"
}
