# SPDX-License-Identifier: MIT
#
# Real programs under the recorder: they do what they do without it, and an independent witness
# behind the recorder saw as many calls of each kind as the trace says.

load helpers
load recording

@test "sqlite3: the witness saw what was recorded" {
    need sqlite3
    cat >"$OUT/q.sql" <<'SQL'
create table t(a integer primary key, b text);
with recursive n(i) as (select 1 union all select i+1 from n where i<20000)
insert into t select i, 'row ' || i from n;
create index tb on t(b);
select count(*), min(b), max(b) from t where b like '%7%';
SQL
    record_with_witness sqlite3 sqlite3 :memory: ".read $OUT/q.sql"
    expect_code 0
    [ "$(events "$OUT/t.abt")" -gt 50000 ]
}

@test "perl: the witness saw what was recorded" {
    need perl
    cat >"$OUT/p.pl" <<'PERL'
my %h;
for (1 .. 20000) { $h{$_ * 7 % 3001} .= "x$_"; }
print join(",", map { length $h{$_} } sort keys %h), "\n";
print STDERR "a message\n";
exit 3;
PERL
    export PERL_HASH_SEED=0
    record_with_witness perl perl "$OUT/p.pl"
    expect_code 3
    [ "$(events "$OUT/t.abt")" -gt 10000 ]
}

@test "cc1: the witness saw what was recorded" {
    need gcc
    cc1=$(gcc -print-prog-name=cc1)
    [ -x "$cc1" ] || skip "gcc without cc1"
    gcc -E -o "$OUT/a.i" -I"$ROOT/src" -I"$ROOT" -D_GNU_SOURCE "$ROOT/src/core/text.c"
    record_with_witness cc1 "$cc1" -quiet -O2 "$OUT/a.i" -o -
    expect_code 0
    [ "$(events "$OUT/t.abt")" -gt 50000 ]
    grep -q ab_text_addf "$OUT/stdout"
}

# Its own pool would hide its blocks.
@test "python3: the witness saw what was recorded" {
    need python3
    local python
    python=$(python3 -c 'import sys; print(sys.executable)')
    cat >"$OUT/p.py" <<'PY'
import collections, re, sys
counts = collections.Counter()
for i in range(20000):
    counts["w%d" % (i * 7 % 977)] += i
print(sorted(counts.items())[:50], len(re.findall("[0-9]+", "a1b22" * 500)))
sys.exit(9)
PY
    export PYTHONMALLOC=malloc PYTHONHASHSEED=0 PYTHONDONTWRITEBYTECODE=1
    record_with_witness "$(basename "$python")" "$python" "$OUT/p.py"
    expect_code 9
    [ "$(events "$OUT/t.abt")" -gt 50000 ]
}

@test "git log: the witness saw what was recorded" {
    need git
    git init -q "$OUT/repo"
    local i
    for i in $(seq 20); do
        seq $((i * 40)) >"$OUT/repo/file$((i % 4))"
        git -C "$OUT/repo" add .
        git -C "$OUT/repo" -c user.name=n -c user.email=e commit -qm "change $i"
    done
    record_with_witness git git -C "$OUT/repo" log -p --stat
    expect_code 0
    [ "$(grep -c '^commit' "$OUT/stdout")" -eq 20 ]
    [ "$(events "$OUT/t.abt")" -gt 2000 ]
}

@test "zstd on two threads: the witness saw what was recorded" {
    need zstd
    seq 600000 >"$OUT/numbers"
    record_with_witness zstd zstd -q -T2 -B524288 -c "$OUT/numbers"
    expect_code 0
    zstd -dc "$OUT/stdout" | cmp - "$OUT/numbers"
    [ "$(allocbench trace info --json - "$OUT/t.abt" | jq .threads)" -ge 2 ]
}

@test "threads that free each other's blocks: the witness saw what was recorded" {
    record_with_witness prog_pingpong "$GUESTS/prog_pingpong" 4 20000
    expect_code 0
    [ "$(allocbench trace info --json - "$OUT/t.abt" | jq .remote_frees)" -gt 40000 ]
}
