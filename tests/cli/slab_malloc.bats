# SPDX-License-Identifier: MIT
#
# liballocbench-slab.so: a back end like the others, and the malloc of real programs, which do with
# it what they do without it.
# tests: malloc.c

load helpers

slab_setup() {
    library=$BUILD/liballocbench-slab.so
    [ -e "$library" ]
}

# The same command with and without the library: output, messages and exit code.
same_output() { # COMMAND…
    slab_setup
    local plain=0 ours=0
    "$@" >"$OUT/plain.out" 2>"$OUT/plain.err" 3>&- </dev/null || plain=$?
    LD_PRELOAD=$library "$@" >"$OUT/ours.out" 2>"$OUT/ours.err" 3>&- </dev/null || ours=$?
    [ "$plain" -eq "$ours" ] || fail "exit code $ours, without the library $plain: $(head -c 300 "$OUT/ours.err")"
    cmp "$OUT/plain.out" "$OUT/ours.out"
    cmp "$OUT/plain.err" "$OUT/ours.err"
    [ -s "$OUT/ours.out" ] || fail "no output: $*"
}

need_program() {
    command -v "$1" >/dev/null || skip "$1 is not installed"
}

@test "it is found beside the program, and proven to serve malloc" {
    slab_setup
    bench run "$WORKLOADS/settings.yaml" --rounds 1 -b slab_malloc --json -
    expect_code 0
    expect_json '.backends[0] | .name == "slab_malloc" and .status == "ok" and .boundary == "malloc"'
    [ "$(jq -r '.backends[0].path' "$OUT/stdout")" -ef "$library" ]
    allocbench list backends | grep -Eq "^  slab_malloc +[0-9.]+ +$library\$"
}

@test "it is not measured unless it is named" {
    bench run "$WORKLOADS/small.yaml" --rounds 1 --json -
    expect_code 0
    expect_json '[.backends[].name] | index("glibc") != null and index("slab_malloc") == null'
}

@test "verify: conforming, and wrong frees are detected" {
    slab_setup
    bench verify slab_malloc
    expect_code 0
    grep -q 'slab_malloc: conforming: 17 ok, 0 failed' "$OUT/stdout"
    [ "$(grep -Ec '^  (double-free|late-double-free|invalid-free) +detected' "$OUT/stdout")" -eq 3 ]
}

@test "it exports the malloc family and nothing else" {
    slab_setup
    nm -D --defined-only "$library" | awk '{print $3}' | sort >"$OUT/names"
    printf '%s\n' aligned_alloc calloc cfree free free_aligned_sized free_sized malloc malloc_trim \
        malloc_usable_size memalign posix_memalign pvalloc realloc reallocarray valloc | diff - "$OUT/names"
    # What it calls may not call malloc.
    [ -z "$(nm -D --undefined-only "$library" | grep -E ' (dlsym|fopen|f?printf|strdup|qsort)(@|$)')" ]
}

@test "threads that come and go, remote frees, forks: every block is what it was, memory is bounded" {
    slab_setup
    local line
    line=$(LD_PRELOAD=$library "$GUESTS/prog_malloc_stress" 2000000 1000 20 4)
    echo "$line"
    awk '{ exit !($2 == 2000000 && $4 == 1000 && $6 >= 20 && $10 < 1.5 * $8 + 40960 && $12 < 16384) }' \
        <<<"$line"
}

# bats test_tags=full
@test "10,000 threads at the same time, of which 20 fork: every block is what it was" {
    slab_setup
    local line
    line=$(LD_PRELOAD=$library "$GUESTS/prog_malloc_stress" 400000 10000 20 10000 2>&1) || true
    [[ $line != *"no thread"* ]] || skip "this system does not allow for 10,000 threads"
    [[ $line == "ops 400000 threads 10000 forks 20 "* ]] || fail "$line"
}

@test "a fork waits for a library whose thread waits for memory" {
    slab_setup
    timeout -s KILL 60 env LD_PRELOAD="$library $GUESTS/libforkorder.so" \
        bash -c 'for i in {1..20}; do (exit 3); [ $? = 3 ] || exit 1; done; echo done' >"$OUT/forked" 3>&-
    [ "$(cat "$OUT/forked")" = done ]
}

@test "bash does the same" {
    same_output bash -c 'for i in $(seq 3000); do a[$i]="x$i$(( i * 7 ))"; done
        echo "${a[*]}" | md5sum; for i in 1 2 3; do (echo "$i $(seq $i | wc -l)"); done; exit 3'
}

@test "python3 does the same" {
    need_program python3
    cat >"$OUT/p.py" <<'PY'
import collections, json, re, subprocess, sys, threading, zlib
counts = collections.Counter()
for i in range(50000):
    counts["w%d" % (i * 7 % 9777)] += i
def work(n, out):
    out[n] = sum(len(str(j) * (j % 50)) for j in range(n * 1000, n * 1000 + 5000))
out = {}
threads = [threading.Thread(target=work, args=(n, out)) for n in range(8)]
[t.start() for t in threads]; [t.join() for t in threads]
data = json.dumps(counts.most_common(3000)).encode() * 40
print(zlib.crc32(zlib.compress(data)), sorted(out.items()), len(re.findall("[0-9]+", "a1b22" * 500)))
print(subprocess.run([sys.executable, "-c", "print(sum(map(len, map(str, range(99999)))))"],
                     stdout=subprocess.PIPE, check=True).stdout)
sys.exit(9)
PY
    PYTHONMALLOC=malloc PYTHONHASHSEED=0 PYTHONDONTWRITEBYTECODE=1 same_output python3 "$OUT/p.py"
}

@test "perl does the same" {
    need_program perl
    PERL_HASH_SEED=0 same_output perl -e 'my %h; for (1 .. 60000) { $h{$_ * 7 % 3001} .= "x$_"; }
        print join(",", map { length $h{$_} } sort keys %h), "\n"; print STDERR "a message\n"; exit 3'
}

@test "sqlite3 does the same" {
    need_program sqlite3
    cat >"$OUT/q.sql" <<'SQL'
create table t(a integer primary key, b text);
with recursive n(i) as (select 1 union all select i+1 from n where i<20000)
insert into t select i, 'row ' || i from n;
create index tb on t(b);
select count(*), min(b), max(b), sum(length(b)) from t where b like '%7%';
SQL
    same_output sqlite3 :memory: ".read $OUT/q.sql"
}

@test "gcc compiles to the same assembly" {
    need_program gcc
    same_output gcc -std=gnu17 -D_GNU_SOURCE -I"$ROOT/src" -I"$ROOT" -O2 -S -o - "$ROOT/src/core/text.c"
}

@test "redis-server answers the same" {
    need_program redis-server
    slab_setup
    ask() {
        redis-cli -s "$OUT/redis" "$@"
    }
    answers() {
        ask ping >/dev/null 2>&1
    }
    serve() { # OUTPUT PRELOAD
        LD_PRELOAD=$2 redis-server --port 0 --unixsocket "$OUT/redis" --save '' --dir "$OUT" >/dev/null 3>&- &
        local server=$! # mapped: lines of its memory map that are the library's
        wait_until answers || fail "redis-server does not answer"
        mapped=$(grep -c "$library" "/proc/$server/maps" || true)
        { ask eval 'for i = 1, 20000 do redis.call("set", "k" .. i, string.rep("v", i % 300)) end
            for i = 1, 20000, 3 do redis.call("del", "k" .. i) end return redis.call("dbsize")' 0
          ask strlen k299; ask get k13; ask save; } >"$1"
        ask shutdown nosave >/dev/null 2>&1 || true
        wait "$server"
    }
    serve "$OUT/plain" ""
    [ "$mapped" -eq 0 ]
    serve "$OUT/ours" "$library"
    [ "$mapped" -gt 0 ]
    cmp "$OUT/plain" "$OUT/ours"
    grep -q 13333 "$OUT/ours"
}

@test "a JVM does the same" {
    need_program java
    same_output java -Xmx256m -XX:+UseParallelGC --version
    cat >"$OUT/T.java" <<'JAVA'
public class T {
    public static void main(String[] a) throws Exception {
        java.util.Map<Integer, String> m = new java.util.TreeMap<>();
        Thread[] t = new Thread[20];
        for (int i = 0; i < t.length; i++) {
            t[i] = new Thread(() -> java.nio.ByteBuffer.allocateDirect(1 << 20));
            t[i].start();
        }
        for (Thread x : t) x.join();
        for (int i = 0; i < 100000; i++) m.put(i * 7 % 9973, "v" + i);
        System.out.println(m.size() + " " + m.hashCode());
    }
}
JAVA
    java -version 2>&1 | head -1
    same_output java -Xmx256m "$OUT/T.java"
}
