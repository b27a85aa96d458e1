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
    # Not those that only other headers or the sources include, nor those for small systems.
    rm "$OUT"/*_buffer.h
    for header in "$OUT"/*.h $(library_files h | grep -vE '/common/|size_class|handle_define'); do
        ! (cd "$ROOT" && ${CC:-cc} -m32 -std=c11 -fsyntax-only -x c "$header" 2>"$OUT/stderr") ||
            fail "$header is accepted"
        grep -m1 'error:' "$OUT/stderr" | grep -q '64-bit system' || fail "$header: $(cat "$OUT/stderr")"
    done
}

# One program, built with each form of the headers; it prints which slots and handles it got.
buffers_print() { # COMPILER FLAG…
    # shellcheck disable=SC2086 # words
    compile "$@" $STRICT -I"$OUT/single" "$ROOT/tests/examples/buffers.c"
    "$OUT/prog"
}

@test "the headers over a buffer do what the full ones do, on 64 and 32 bits, and need no library" {
    need_compilers g++ clang
    "$ROOT/scripts/single-headers" "$OUT/single"
    full=$(buffers_print cc -std=c11 -DFULL)
    for compiler in "cc -std=c11 -O2 -Wconversion -Wshadow" "g++ -std=c++17 -x c++" "clang -std=c11 -O1"; do
        # shellcheck disable=SC2086 # words
        [ "$(buffers_print $compiler)" = "$full" ] || fail "$compiler: another result"
    done
    for flags in "-fsanitize=address,undefined" "-DFULL -fsanitize=address,undefined" "-DFULL -DAB_WITH_CHECKS"; do
        # shellcheck disable=SC2086 # words
        buffers_print cc -std=c11 -g -O1 $flags
    done
    if echo 'int main(void) { return 0; }' | cc -m32 -x c - -o "$OUT/prog" 2>"$OUT/stderr"; then
        [ "$(buffers_print cc -m32 -std=c11 -O2 -Wconversion)" = "$full" ] || fail "32 bits: another result"
    else
        echo "# no 32-bit library: it is compiled, not run" >&3
    fi
}

@test "the headers over a buffer are short and ask nothing of the system" {
    need_compilers
    "$ROOT/scripts/single-headers" "$OUT"
    for name in arena pool handle; do
        header=$OUT/${name}_buffer.h
        [ "$(wc -l <"$header")" -le 900 ] || fail "$header is long"
        ! grep -nE '#include "|#include <(pthread|sys/|unistd|stdio|stdlib)' "$header" || fail "$header"
        ! printf '#include "%s"\n#include "%s"\n' "$header" "$OUT/$name.h" |
            cc -std=c11 -fsyntax-only -x c - 2>"$OUT/stderr" || fail "$name: both are taken"
        expect_error "${name}_buffer.h was included before"
        ! printf '#include "%s"\n#include "%s"\n' "$OUT/$name.h" "$header" |
            cc -std=c11 -fsyntax-only -x c - 2>"$OUT/stderr" || fail "$name: both are taken"
        expect_error "$name.h was included before"
        ! cc -DAB_WITH_CHECKS -fsyntax-only -x c "$header" 2>"$OUT/stderr" || fail "a checked build"
        expect_error "no checked build: include $name.h"
    done
    # A freestanding program of them asks for what gcc itself asks for and nothing else.
    sed '/include <std[il]/d; s/printf([^;]*);/;/; s/exit(1);/__builtin_trap();/' \
        "$ROOT/tests/examples/buffers.c" >"$OUT/bare.c"
    cc -std=c11 -O2 -ffreestanding -fno-stack-protector -I"$OUT" -c -o "$OUT/bare.o" "$OUT/bare.c"
    ! nm -u "$OUT/bare.o" | grep -vE ' (memcpy|memset|_GLOBAL_OFFSET_TABLE_)$' || fail "it asks for more"
}

@test "the headers over a buffer compile for other systems: Cortex-M, RISC-V, Windows, macOS" {
    need_compilers clang
    "$ROOT/scripts/single-headers" "$OUT/single"
    # What such a system has of the C library.
    mkdir "$OUT/include"
    printf '#define EINVAL 22\n#define ENOMEM 12\n#define ENOSPC 28\n' >"$OUT/include/errno.h"
    printf '#include <stddef.h>\nvoid *memcpy(void *, const void *, size_t);\nvoid *memset(void *, int, size_t);\n' \
        >"$OUT/include/string.h"
    sed '/include <std[il]/d; s/printf([^;]*);/;/; s/exit(1);/__builtin_trap();/' \
        "$ROOT/tests/examples/buffers.c" >"$OUT/bare.c"
    for target in thumbv7m-none-eabi riscv32-unknown-elf i686-linux-gnu x86_64-w64-mingw32 aarch64-apple-macos12; do
        # A clang may be built without one of them.
        echo 'int x;' | clang --target=$target -c -x c - -o "$OUT/x.o" 2>"$OUT/stderr" || continue
        # shellcheck disable=SC2086 # words
        clang --target=$target -std=c11 -O1 -ffreestanding -nostdlibinc $STRICT -isystem "$OUT/include" \
            -I"$OUT/single" -c -o "$OUT/bare.o" "$OUT/bare.c" 2>"$OUT/stderr" || fail "$target"
    done
}

@test "AddressSanitizer names a use of what is dead in a buffer" {
    need_compilers
    "$ROOT/scripts/single-headers" "$OUT"
    for mistake in \
        'char *p = ab_arena_alloc(&arena, 40); ab_arena_reset(&arena); p[3] = 1;' \
        'char *p = ab_arena_alloc(&arena, 40); p[40] = 1;' \
        'char *p; { AB_ARENA_SCOPED(&arena); p = AB_ARENA_NEW(&arena, char); } *p = 1;' \
        'char *p = ab_pool_alloc(&pool, 30); ab_pool_alloc(&pool, 30); ab_pool_free(&pool, p); p[9] = 1;' \
        'char *p = ab_pool_alloc(&pool, 30); ab_pool_alloc(&pool, 30); ab_pool_free(&pool, p); ab_pool_free(&pool, p);' \
        'int *p = ints_insert(&ints, &h); ints_remove(&ints, h); *p = 1;'; do
        printf '%s\n' '#include "arena_buffer.h"' '#include "pool_buffer.h"' '#include "handle_buffer.h"' \
            'AB_HANDLE_DEFINE(ints, int)' 'static char memory[3][1000];' 'int main(void)' '{' \
            '    struct ab_arena arena;' '    struct ab_pool pool;' '    struct ints_arena ints;' \
            '    struct ints_handle h = {{0, 0}};' '    struct ab_pool_options options = {.slot_bytes = 30};' \
            '    ab_arena_init_buffer(&arena, memory[0], 1000);' '    (void)h;' \
            '    if (ab_pool_init_buffer(&pool, memory[1], 1000, &options) != 0 ||' \
            '        ints_arena_init_buffer(&ints, memory[2], 1000) != 0)' '        return 9;' \
            "    $mistake" '    return 0;' '}' >"$OUT/main.c"
        cc -std=c11 -g -fsanitize=address -o "$OUT/prog" "$OUT/main.c"
        ! "$OUT/prog" 2>"$OUT/stderr" || fail "silent: $mistake"
        expect_error "ERROR: AddressSanitizer"
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

@test "installed, CMake finds the library: shared and static, C and C++, where it was moved to as well" {
    need_compilers g++ cmake
    install_library
    mkdir "$OUT/project"
    # shellcheck disable=SC2086 # words
    program installed $NAMES >"$OUT/project/main.c"
    printf '%s\n' '#include <allocbench/heaps/heaps.hpp>' 'int main()' '{' '    ab::arena arena(1 << 20);' \
        '    return *arena.make<int>(0);' '}' >"$OUT/project/main.cpp"
    printf '%s\n' 'cmake_minimum_required(VERSION 3.10)' 'project(game C CXX)' 'set(CMAKE_C_STANDARD 11)' \
        'set(CMAKE_CXX_STANDARD 17)' 'find_package(allocbench-heaps 0.1 CONFIG REQUIRED)' \
        'add_executable(shared main.c)' 'target_link_libraries(shared PRIVATE allocbench::heaps)' \
        'add_executable(static main.c)' 'target_link_libraries(static PRIVATE allocbench::heaps_static)' \
        'add_executable(cxx main.cpp)' 'target_link_libraries(cxx PRIVATE allocbench::heaps)' \
        >"$OUT/project/CMakeLists.txt"
    mv "$OUT/prefix" "$OUT/moved"
    cmake -S "$OUT/project" -B "$OUT/b" -DCMAKE_PREFIX_PATH="$OUT/moved" >"$OUT/stdout" 2>"$OUT/stderr" &&
        cmake --build "$OUT/b" >"$OUT/stdout" 2>"$OUT/stderr" || fail "$(cat "$OUT/stdout" "$OUT/stderr")"
    for program in shared static cxx; do
        "$OUT/b/$program" || fail "$program ends with $?"
    done
    readelf -d "$OUT/b/shared" | grep -q 'NEEDED.*liballocbench-heaps.so.0' || fail "not linked to it"
    ! readelf -d "$OUT/b/static" | grep -q 'NEEDED.*liballocbench-heaps' || fail "linked to the shared one"
    sed -i 's/heaps 0.1/heaps 99/' "$OUT/project/CMakeLists.txt"
    ! cmake -S "$OUT/project" -B "$OUT/c" -DCMAKE_PREFIX_PATH="$OUT/moved" >"$OUT/stdout" 2>"$OUT/stderr" ||
        fail "a version that it is not"
}

@test "where library and headers lie apart, the CMake package finds both" {
    need_compilers cmake
    make -C "$ROOT" --no-print-directory B="$BUILD" DESTDIR="$OUT/root" PREFIX=/usr \
        LIBDIR=/usr/lib/some-arch install-heaps >"$OUT/made" 2>&1 || fail "$(cat "$OUT/made")"
    mkdir "$OUT/project"
    printf '%s\n' 'cmake_minimum_required(VERSION 3.10)' 'project(game C)' \
        'find_package(allocbench-heaps CONFIG REQUIRED)' 'add_executable(game main.c)' \
        'target_link_libraries(game PRIVATE allocbench::heaps)' >"$OUT/project/CMakeLists.txt"
    printf '%s\n' '#include <allocbench/heaps/arena_buffer.h>' '#include <allocbench/heaps/handle.h>' \
        'int main(void)' '{' '    static char memory[64];' '    struct ab_arena arena;' \
        '    ab_arena_init_buffer(&arena, memory, 64);' '    return ab_arena_alloc(&arena, 9) == NULL;' '}' \
        >"$OUT/project/main.c"
    cmake -S "$OUT/project" -B "$OUT/b" >"$OUT/stdout" 2>"$OUT/stderr" \
        -Dallocbench-heaps_DIR="$OUT/root/usr/lib/some-arch/cmake/allocbench-heaps" &&
        cmake --build "$OUT/b" >>"$OUT/stdout" 2>>"$OUT/stderr" || fail "$(cat "$OUT/stdout" "$OUT/stderr")"
    "$OUT/b/game"
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
        grep -oE '\bab_[a-z_0-9]+\(|^extern __thread .*\bab_[a-z_0-9]+\[' |
        sed 's/^extern.*[ *]//; s/[[(]$//' | sort -u >"$OUT/declared"
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

@test "no line of a header is longer than 100 columns" {
    cd "$ROOT"
    LC_ALL=C.UTF-8 grep -nE '^.{101}' $(git ls-files 'allocators/*.h' 'allocators/*.hpp') >"$OUT/long" || return 0
    fail "$(cat "$OUT/long")"
}
