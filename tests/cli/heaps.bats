#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# The allocators as a library for programs: one header to copy, or installed and found by
# pkg-config; in strict C and in C++; alone, together, and after other headers.

load helpers

NAMES="arena pool slab paged handle"
STRICT="-Wall -Wextra -Wpedantic -Werror"
declare -gA USES

USES[arena]='
static int arena_works(void)
{
    struct ab_arena arena;
    struct ab_arena_options options;
    memset(&options, 0, sizeof options);
    options.reserve_bytes = 1 << 20;
    if (ab_arena_init(&arena, &options) != 0)
        return 1;
    int *numbers = AB_ARENA_ARRAY(&arena, int, 100);
    size_t used = ab_arena_used(&arena);
    {
        AB_ARENA_SCOPED(&arena);
        char *text = (char *)ab_arena_alloc(&arena, 5000);
        memset(text, 7, 5000);
    }
    numbers[99] = 7;
    int is_wrong = ab_arena_used(&arena) != used || numbers[99] != 7;
    ab_arena_fini(&arena);
    struct ab_arena_shared_options several;
    memset(&several, 0, sizeof several);
    several.arena = options;
    several.threads.mode = AB_SHARDS_LOCAL;
    struct ab_arena_shared *shared = ab_arena_shared_open(&several);
    if (shared == NULL)
        return 1;
    is_wrong |= ab_arena_shared_alloc(ab_arena_shared_own(shared), 100) == NULL;
    is_wrong |= ab_arena_shared_sum(shared).used != AB_ARENA_FRONT + ab_arena_block_bytes(100);
    ab_arena_shared_close(shared);
    return is_wrong;
}'
USES[pool]='
struct particle {
    float x, y, z;
    int age;
};

static int pool_works(void)
{
    struct ab_pool pool;
    struct ab_pool_options options;
    memset(&options, 0, sizeof options);
    options.slot_bytes = sizeof(struct particle);
    options.grows = true;
    if (ab_pool_init(&pool, &options) != 0)
        return 1;
    struct particle *all[5000];
    for (int i = 0; i < 5000; i++) {
        all[i] = (struct particle *)ab_pool_alloc(&pool, sizeof *all[i]);
        all[i]->age = i;
    }
    int is_wrong = ab_pool_live(&pool) != 5000 || all[4999]->age != 4999;
    for (int i = 0; i < 5000; i++)
        ab_pool_free(&pool, all[i]);
    is_wrong |= ab_pool_live(&pool) != 0;
    ab_pool_fini(&pool);
    struct ab_pool_shared_options several;
    memset(&several, 0, sizeof several);
    several.pool = options;
    several.threads.mode = AB_SHARDS_LOCAL;
    struct ab_pool_shared *shared = ab_pool_shared_open(&several);
    if (shared == NULL)
        return 1;
    void *own = ab_pool_shared_alloc(ab_pool_shared_own(shared), sizeof(struct particle));
    ab_pool_shared_free(shared, own);
    is_wrong |= own == NULL || ab_pool_shared_sum(shared).live != 0;
    ab_pool_shared_close(shared);
    return is_wrong;
}'
USES[slab]='
static int slab_works(void)
{
    struct ab_slabs slabs;
    struct ab_slabs_options options;
    memset(&options, 0, sizeof options);
    options.reserve_bytes = 64 << 20;
    if (ab_slabs_init(&slabs, &options) != 0)
        return 1;
    char *small = (char *)ab_slabs_alloc(&slabs, 100);
    char *large = (char *)ab_slabs_alloc_zeroed(&slabs, 100000);
    strcpy(small, "small");
    large = (char *)ab_slabs_resize(&slabs, large, 100000, 3000000);
    int is_wrong = large == NULL || large[99999] != 0 || strcmp(small, "small") != 0;
    ab_slabs_free(&slabs, small);
    ab_slabs_free(&slabs, large);
    is_wrong |= ab_slabs_live(&slabs) != 0;
    ab_slabs_fini(&slabs);
    struct ab_slab_shared_options several;
    memset(&several, 0, sizeof several);
    several.threads.mode = AB_SHARDS_LOCAL;
    struct ab_slab_shared *shared = ab_slab_shared_open(&several);
    if (shared == NULL)
        return 1;
    void *own = ab_slab_shared_alloc(ab_slab_shared_own(shared), 100000);
    ab_slab_shared_free(shared, own);
    is_wrong |= own == NULL || ab_slab_shared_sum(shared).live != 0;
    ab_slab_shared_close(shared);
    return is_wrong;
}'
USES[paged]='
static int paged_works(void)
{
    struct ab_paged_pool pool;
    struct ab_paged_arena arena;
    if (ab_paged_pool_init(&pool, "level", 16 << 20) != 0)
        return 1;
    if (ab_paged_arena_init(&arena, &pool, 0, 1) != 0)
        return 1;
    char *first = (char *)ab_paged_arena_alloc(&arena, 100);
    char *large = (char *)ab_paged_arena_alloc(&arena, 1 << 20);
    memset(first, 1, 100);
    memset(large, 2, 1 << 20);
    int is_wrong = first[99] != 1 || ab_paged_arena_used(&arena) < 100 + (1 << 20);
    ab_paged_arena_clear(&arena);
    is_wrong |= ab_paged_arena_used(&arena) != 0;
    ab_paged_arena_fini(&arena);
    ab_paged_pool_fini(&pool);
    struct ab_paged_locked shared;
    if (ab_paged_locked_init(&shared, "shared", 1 << 20) != 0)
        return 1;
    is_wrong |= !ab_paged_locked_free(&shared, ab_paged_locked_alloc(&shared, 100, 0));
    ab_paged_locked_fini(&shared);
    return is_wrong;
}'
USES[handle]='
static int handle_works(void)
{
    struct ab_handle_arena ships;
    struct ab_handle_options options;
    struct ab_handle first, second;
    memset(&options, 0, sizeof options);
    options.value_bytes = sizeof(int);
    options.capacity = 100;
    if (ab_handle_arena_init(&ships, &options) != 0)
        return 1;
    if (ab_handle_insert(&ships, &first) != 0 || ab_handle_insert(&ships, &second) != 0)
        return 1;
    *(int *)ab_handle_get_mut(&ships, second) = 70;
    int is_wrong = !ab_handle_remove(&ships, first) || ab_handle_get(&ships, first) != NULL;
    is_wrong |= *(const int *)ab_handle_get(&ships, second) != 70;
    ab_handle_arena_fini(&ships);
    return is_wrong;
}'

USES[libc]='
static int libc_works(void)
{
    struct ab_allocator from = ab_libc_allocator();
    char *text = ab_asprintf(&from, "%d", 42);
    int is_wrong = text == NULL || strcmp(text, "42") != 0;
    ab_strfree(&from, text);
    ab_hook_free(ab_hook_realloc(ab_hook_malloc(10, &from), 100, &from), &from);
    return is_wrong;
}'

# How a program names an allocator: one header that it copied, or one that is installed.
copied() {
    printf '#define AB_%s_IMPLEMENTATION\n#include "%s.h"\n' "${1^^}" "$1"
}
installed() {
    local form=_shared
    case $1 in
        paged) form=_locked ;;
        handle) form= ;;
    esac
    printf '#include <allocbench/heaps/%s.h>\n' "${1/paged/paged_arena}" "$1$form"
}

program() { # copied|installed NAME… >FILE
    local form=$1 name
    shift
    for name; do "$form" "$name"; done
    printf '#include <string.h>\n'
    [ "$form" = installed ] || set -- "$@" libc
    for name; do printf '%s\n' "${USES[$name]}"; done
    printf '\nint main(void)\n{\n    return 0'
    for name; do printf ' | %s_works()' "$name"; done
    printf ';\n}\n'
}

compile() { # COMPILER WHAT…: and run
    "$@" -o "$OUT/prog" >"$OUT/stdout" 2>"$OUT/stderr" || fail "$*: does not build"
    "$OUT/prog" || fail "$*: ends with $?"
}

in_c_and_cxx() { # FILE FLAG…
    local file=$1
    shift
    # shellcheck disable=SC2086 # words
    compile cc -std=c11 $STRICT "$file" "$@"
    # shellcheck disable=SC2086 # words
    compile g++ -std=c++17 $STRICT -x c++ "$file" -x none "$@"
}

@test "all five headers in one file build and run, before other headers and after them" {
    need_compilers g++
    "$ROOT/scripts/single-headers" "$OUT"
    # shellcheck disable=SC2086 # words
    program copied $NAMES >"$OUT/first.c"
    in_c_and_cxx "$OUT/first.c"
    printf '#include <%s.h>\n' stdio stdlib string errno sys/mman pthread unistd signal |
        cat - "$OUT/first.c" >"$OUT/after.c"
    in_c_and_cxx "$OUT/after.c"
}

# bats test_tags=full
@test "from an empty folder, one header and a program: C11 and C++17, gcc and clang, for each" {
    need_compilers g++ clang clang++
    "$ROOT/scripts/single-headers" "$OUT/single"
    for name in $NAMES; do
        mkdir "$OUT/$name"
        cp "$OUT/single/$name.h" "$OUT/$name"
        program copied "$name" >"$OUT/$name/main.c"
        in_c_and_cxx "$OUT/$name/main.c"
        # shellcheck disable=SC2086 # words
        compile clang -std=c11 $STRICT "$OUT/$name/main.c"
        # shellcheck disable=SC2086 # words
        compile clang++ -std=c++17 $STRICT -x c++ "$OUT/$name/main.c"
        # shellcheck disable=SC2086 # words
        compile cc -std=c11 -O1 -g -fsanitize=address,undefined $STRICT "$OUT/$name/main.c"
        # shellcheck disable=SC2086 # words
        compile cc -std=c11 -O1 -g -DAB_WITH_CHECKS $STRICT "$OUT/$name/main.c"
    done
}

# In C++ alone, for it has the allocators of the others in it.
cxx_program() {
    printf '%s\n' '#include "heaps.hpp"' '#include <vector>' 'int main()' '{' \
        '    ab_slabs_options options{};' '    options.reserve_bytes = 64 << 20;' \
        '    ab::slabs slabs(options);' '    ab::slab_resource memory(slabs.get());' \
        '    std::pmr::vector<int> numbers(10000, 7, &memory);' '    ab::handle_arena<int> ships(10);' \
        '    ab::pool<int> shots(1, false);' '    shots.destroy(shots.create(1));' \
        '    return *ships.get(ships.insert(7)) == numbers[9999] ? 0 : 1;' '}'
}

@test "heaps.hpp in one file is complete in itself, without exceptions too, and goes with the others" {
    need_compilers g++
    "$ROOT/scripts/single-headers" "$OUT"
    mkdir "$OUT/alone"
    cp "$OUT/heaps.hpp" "$OUT/alone"
    { echo '#define AB_HEAPS_IMPLEMENTATION'; cxx_program; } >"$OUT/alone/main.cpp"
    # shellcheck disable=SC2086 # words
    for flags in -std=c++17 "-std=c++20 -fno-exceptions -fno-rtti" "-std=c++17 -DAB_WITH_CHECKS" \
        "-std=c++17 -fsanitize=address,undefined"; do
        compile g++ $flags $STRICT "$OUT/alone/main.cpp"
    done
    # shellcheck disable=SC2086 # words
    { for name in $NAMES; do copied "$name"; done; cat "$OUT/alone/main.cpp"; } >"$OUT/one.cpp"
    # shellcheck disable=SC2086 # words
    compile g++ -std=c++17 $STRICT "$OUT/one.cpp"
    # C has the implementations, C++ uses them.
    # shellcheck disable=SC2086 # words
    program copied $NAMES >"$OUT/all.c"
    # shellcheck disable=SC2086 # words
    cc -std=c11 $STRICT -Dmain=c_main -c -o "$OUT/all.o" "$OUT/all.c"
    cxx_program | sed 's/    return \*ships/    if (c_main() != 0)\n        return 1;\n&/
        s/^int main/extern "C" int c_main(void);\n&/' >"$OUT/beside.cpp"
    # shellcheck disable=SC2086 # words
    compile g++ -std=c++17 $STRICT "$OUT/beside.cpp" "$OUT/all.o"
}

@test "for a target of 32 bits each header says first that it needs 64" {
    need_compilers
    [ "$(uname -m)" = x86_64 ] || skip "no -m32"
    "$ROOT/scripts/single-headers" "$OUT"
    # Not those that only the sources include.
    for header in "$OUT"/*.h $(library_files h | grep -vE '/common/|size_class'); do
        ! (cd "$ROOT" && ${CC:-cc} -m32 -std=c11 -fsyntax-only -x c "$header" 2>"$OUT/stderr") ||
            fail "$header is accepted"
        grep -m1 'error:' "$OUT/stderr" | grep -q '64-bit system' || fail "$header: $(cat "$OUT/stderr")"
    done
}

@test "two files of a program may hold an allocator each, and any number include it" {
    need_compilers
    "$ROOT/scripts/single-headers" "$OUT"
    program copied pool >"$OUT/a.c"
    { copied slab; echo '#include "pool.h"'; echo '#include "slab.h"'; } >"$OUT/b.c"
    # shellcheck disable=SC2086 # words
    compile cc -std=c11 $STRICT "$OUT/a.c" "$OUT/b.c"
    # shellcheck disable=SC2086 # words
    compile cc -std=c11 -O1 -g -DAB_WITH_CHECKS $STRICT "$OUT/a.c" "$OUT/b.c"
}

@test "single headers are as long as their sources: nothing of allocbench is in them, no include of ours" {
    "$ROOT/scripts/single-headers" "$OUT"
    for name in $NAMES; do
        [ "$(wc -l <"$OUT/$name.h")" -gt 300 ] || fail "$name.h is short"
        ! grep -n '#include "' "$OUT/$name.h" || fail "$name.h includes a file of ours"
        ! grep -nE 'ab_backend|ab_heap\b|ab_params' "$OUT/$name.h" || fail "$name.h has glue in it"
    done
}

library_files() { # h|c
    (cd "$ROOT" && ls allocators/ab_allocator*."$1" allocators/{common,arena,pool,slab,handle,paged}/*."$1" \
        2>/dev/null | grep -v _backend)
}

# bats test_tags=full
@test "every header and source of the library is strict C11 and C++17, with no macro of the user's" {
    need_compilers g++ clang clang++
    cd "$ROOT"
    for file in $(library_files h) $(library_files c); do
        # shellcheck disable=SC2086 # words
        for compiler in "gcc -std=c11 -x c" "clang -std=c11 -x c" "g++ -std=c++17 -x c++" "clang++ -std=c++17 -x c++"; do
            printf '#include "%s"\nint ab_test_unit;\n' "$file" |
                $compiler -fsyntax-only $STRICT -I. - >"$OUT/stdout" 2>"$OUT/stderr" ||
                fail "$compiler: $file"
            ! grep -q AB_WITH_CHECKS "$file" && continue
            printf '#include "%s"\nint ab_test_unit;\n' "$file" |
                $compiler -fsyntax-only -DAB_WITH_CHECKS $STRICT -I. - >"$OUT/stdout" 2>"$OUT/stderr" ||
                fail "$compiler -DAB_WITH_CHECKS: $file"
        done
    done
}

install_library() {
    make -C "$ROOT" --no-print-directory B="$BUILD" PREFIX="$OUT/prefix" install-heaps \
        >"$OUT/made" 2>&1 || fail "$(cat "$OUT/made")"
    export PKG_CONFIG_PATH=$OUT/prefix/lib/pkgconfig
}

@test "installed, pkg-config finds the library: shared and static, C and C++" {
    need_compilers g++ pkg-config
    install_library
    # shellcheck disable=SC2086 # words
    program installed $NAMES >"$OUT/main.c"
    # shellcheck disable=SC2046 # words
    LD_LIBRARY_PATH=$OUT/prefix/lib in_c_and_cxx "$OUT/main.c" \
        $(pkg-config --cflags --libs allocbench-heaps)
    readelf -d "$OUT/prog" | grep -q 'NEEDED.*liballocbench-heaps.so.0' || fail "not linked to it"
    printf '%s\n' '#include <allocbench/heaps/heaps.hpp>' '#include <vector>' 'int main()' '{' \
        '    ab::arena arena(1 << 20);' '    ab::arena_resource memory(arena.get());' \
        '    return std::pmr::vector<int>(10, 0, &memory)[9];' '}' >"$OUT/main.cpp"
    # shellcheck disable=SC2046,SC2086 # words
    LD_LIBRARY_PATH=$OUT/prefix/lib compile g++ -std=c++17 $STRICT "$OUT/main.cpp" \
        $(pkg-config --cflags --libs allocbench-heaps)
    for header in "$OUT"/prefix/include/allocbench/heaps/*.h; do
        printf '#include "%s"\nint ab_test_unit;\n' "$header" |
            cc -std=c11 -fsyntax-only -x c - || fail "$header"
    done
    rm "$OUT/prefix/lib/liballocbench-heaps.so"*
    # shellcheck disable=SC2046 # words
    in_c_and_cxx "$OUT/main.c" $(pkg-config --cflags --static --libs allocbench-heaps)
}

@test "the shared library shows what its headers declare and nothing else, with a version" {
    need_compilers
    install_library
    nm -D --defined-only "$OUT/prefix/lib/liballocbench-heaps.so.0" | awk '$2 != "A" {print $3}' |
        sort >"$OUT/shown"
    ! grep -v '@@ALLOCBENCH_HEAPS_0$' "$OUT/shown" || fail "a symbol without a version"
    sed -i 's/@@.*//' "$OUT/shown"
    # Not: what only the checked build has, names of types, and inline functions.
    for header in "$OUT"/prefix/include/allocbench/heaps/*.h; do
        cc -E -P -DAB_COMMON_API=extern "$header"
    done | sed 's/__attribute__((warn_unused_result)) //g' |
        grep -vE '^ |^static |^#|^typedef |^__attribute__|^ab_' |
        grep -oE '\bab_[a-z_0-9]+\(' | tr -d '(' | sort -u >"$OUT/declared"
    diff "$OUT/declared" "$OUT/shown"
}

@test "a sanitized program with the installed library sees no mistakes that are none" {
    need_compilers pkg-config
    install_library
    printf '%s\n' '#include <allocbench/heaps/pool.h>' 'int main(void)' '{' '    struct ab_pool pool;' \
        '    struct ab_pool_options options = {.slot_bytes = 64, .grows = true};' \
        '    if (ab_pool_init(&pool, &options) != 0)' '        return 1;' \
        '    ab_pool_free(&pool, ab_pool_alloc(&pool, 64));' '    ab_pool_alloc(&pool, 64);' \
        '    ab_pool_free(&pool, ab_pool_alloc(&pool, 64));' \
        '    char *again = ab_pool_alloc_zeroed(&pool, 64);' '    return again[63];' '}' >"$OUT/main.c"
    # shellcheck disable=SC2046 # words
    LD_LIBRARY_PATH=$OUT/prefix/lib compile cc -fsanitize=address "$OUT/main.c" \
        $(pkg-config --cflags --libs allocbench-heaps)
    # shellcheck disable=SC2046 # words
    ! cc -DAB_WITH_CHECKS -fsyntax-only "$OUT/main.c" $(pkg-config --cflags allocbench-heaps) \
        2>"$OUT/stderr" || fail "it takes the library for a checked one"
    expect_error "the library has no checked build"
    sed -i '/define AB_MARKS_OFF/d' "$OUT/prefix/include/allocbench/heaps/marks.h"
    # shellcheck disable=SC2046 # words
    cc -fsanitize=address -o "$OUT/prog" "$OUT/main.c" $(pkg-config --cflags --libs allocbench-heaps)
    ! LD_LIBRARY_PATH=$OUT/prefix/lib "$OUT/prog" 2>"$OUT/stderr" || fail "the marks make no difference"
}
