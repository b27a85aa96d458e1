// SPDX-License-Identifier: MIT
//
// Every part of heaps.hpp once, with what must be so; "all right" at the end.
#include "allocators/cpp/heaps.hpp"

#include "allocators/arena/arena_allocator.h"
#include "allocators/arena/arena_array.h"
#include "allocators/arena/arena_scratch.h"
#include "allocators/arena/arena_text.h"
#include "allocators/paged/paged_ready.h"

#include <cstdio>
#include <cstdlib>
#include <list>
#include <map>
#include <string>
#include <vector>

#define DEMAND(what) \
    do { \
        if (!(what)) { \
            std::printf("line %d: %s\n", __LINE__, #what); \
            std::exit(1); \
        } \
    } while (0)

namespace {

int n_alive;

struct counted {
    explicit counted(int n) : number(n), text(100, 'x') { n_alive++; }
    ~counted() { n_alive--; }
    counted(const counted &) = delete;
    int number;
    std::string text; // memory of its own: its destructor has something to do
};

struct alignas(64) wide {
    double values[8];
};

struct thrower {
    thrower() { throw 7; }
};

template <typename Resource> void fill(Resource &memory)
{
    std::pmr::vector<int> numbers(&memory);
    std::pmr::map<int, std::pmr::string> names(&memory);
    for (int i = 0; i < 1000; i++) {
        numbers.push_back(i);
        names.emplace(i, std::string(static_cast<std::size_t>(i) % 100, 'n'));
    }
    DEMAND(numbers[999] == 999 && names.at(99).size() == 99);
    void *block = memory.allocate(10, 16);
    DEMAND(reinterpret_cast<std::uintptr_t>(block) % 16 == 0);
    memory.deallocate(block, 10, 16);
}

void arenas()
{
    ab::arena frame(std::size_t(64) << 20);
    ab::arena_resource memory(frame.get()), same(frame.get());
    DEMAND(memory == same);
    fill(memory);
    frame.reset();
    DEMAND(frame.used() == 0);
    {
        ab::arena_scope scope(frame.get());
        for (int i = 0; i < 10; i++)
            frame.make<counted>(i);
        DEMAND(n_alive == 10);
        DEMAND(reinterpret_cast<std::uintptr_t>(frame.make<wide>()) % 64 == 0);
    }
    DEMAND(n_alive == 0 && frame.used() == 0);
    frame.make<counted>(1);
    for (int i = 0; i < 3; i++) {
        ab::arena_scope scope(frame.get());
        frame.make<counted>(i);
        if (i == 1)
            break;
    }
    DEMAND(n_alive == 1);
    char buffer[1000];
    ab::arena small(buffer, sizeof buffer);
    ab::arena_resource little(small.get());
    DEMAND(!(little == memory));
    bool is_thrown = false;
    try {
        std::pmr::vector<int> numbers(1000, &little);
    } catch (const std::bad_alloc &) {
        is_thrown = true;
    }
    DEMAND(is_thrown);
    is_thrown = false;
    try {
        ab::arena none(std::size_t(0));
    } catch (const std::system_error &error) {
        is_thrown = error.code().value() == ENOMEM;
    }
    DEMAND(is_thrown);
}

void pools_and_slabs()
{
    ab::pool<counted> objects(10, false);
    std::vector<counted *> all;
    for (int i = 0; i < 10; i++)
        all.push_back(objects.create(i));
    DEMAND(all[9]->number == 9 && n_alive == 10);
    bool is_thrown = false;
    try {
        objects.create(10);
    } catch (const std::bad_alloc &) {
        is_thrown = true;
    }
    DEMAND(is_thrown);
    for (counted *object : all)
        objects.destroy(object);
    DEMAND(n_alive == 0 && ab_pool_live(objects.get()) == 0);

    ab::pool<thrower> throwers;
    is_thrown = false;
    try {
        throwers.create();
    } catch (int) {
        is_thrown = true;
    }
    DEMAND(is_thrown && ab_pool_live(throwers.get()) == 0);

    ab_slabs_options options{};
    options.reserve_bytes = std::size_t(64) << 20;
    ab::slabs slabs(options);
    ab::slab_resource memory(slabs.get());
    fill(memory);
    DEMAND(ab_slabs_live(slabs.get()) == 0);

    struct node {
        int values[8];
    };
    ab::pool<node> nodes;
    ab::pool_resource slots(nodes.get(), &memory);
    fill(slots);
    DEMAND(ab_pool_live(nodes.get()) == 0 && ab_slabs_live(slabs.get()) == 0);
    ab::pool_resource alone(nodes.get()), alike(nodes.get());
    DEMAND(alone == alike && !(alone == slots)); // large blocks come from elsewhere
    is_thrown = false;
    try {
        (void)alone.allocate(1000, 16);
    } catch (const std::bad_alloc &) {
        is_thrown = true;
    }
    DEMAND(is_thrown);
}

void *count_alloc(std::size_t size, void *context)
{
    *static_cast<std::size_t *>(context) += size;
    return size == 0 ? nullptr : std::malloc(size);
}

void count_free(std::size_t size, void *block, void *context)
{
    if (block != nullptr)
        *static_cast<std::size_t *>(context) -= size;
    std::free(block);
}

void interfaces()
{
    std::size_t live = 0;
    ab_allocator counting = {count_alloc, count_free, &live};
    {
        ab::allocator_resource memory(counting);
        fill(memory);
        void *block = memory.allocate(100, 256);
        DEMAND(reinterpret_cast<std::uintptr_t>(block) % 256 == 0 && live > 0);
        memory.deallocate(block, 100, 256);
        DEMAND(live == 0);
        ab_allocator forgetful = {count_alloc, [](std::size_t, void *, void *) {}, &live};
        ab::allocator_resource same(counting), other(forgetful);
        DEMAND(memory == same && !(memory == other));
        std::vector<wide, ab::allocator<wide>> wides{ab::allocator<wide>(counting)};
        std::list<int, ab::allocator<int>> numbers{ab::allocator<int>(counting)};
        for (int i = 0; i < 100; i++) {
            wides.push_back(wide{});
            numbers.push_back(i);
            DEMAND(reinterpret_cast<std::uintptr_t>(wides.data()) % 64 == 0);
        }
        auto moved = std::move(numbers);
        DEMAND(moved.size() == 100 && moved.get_allocator() == ab::allocator<int>(counting));
        DEMAND(live > 0);
    }
    DEMAND(live == 0);
}

void paged()
{
    ab_paged_pool pool;
    ab_paged_arena arena;
    DEMAND(ab_paged_pool_init(&pool, "pool", std::size_t(16) << 20) == 0);
    DEMAND(ab_paged_arena_init(&arena, &pool, 0, 0) == 0);
    ab::paged_resource memory(&arena);
    fill(memory);
    DEMAND(AB_PAGED_NEW(&arena, wide, ab_paged_arena_tag(&arena, "wide")) != nullptr);
    ab_paged_arena_fini(&arena);
    ab_paged_pool_fini(&pool);
}

// The C headers in C++.
void c_headers()
{
    AB_SCRATCH(scratch, nullptr, 0);
    AB_ARRAY(wide) wides = {};
    for (int i = 0; i < 100; i++)
        DEMAND(AB_ARRAY_PUSH(scratch.arena, &wides, wide{{double(i)}}));
    DEMAND(wides.at[99].values[0] == 99 && reinterpret_cast<std::uintptr_t>(wides.at) % 64 == 0);
    const char *text = ab_arena_printf(scratch.arena, "%d", 42);
    DEMAND(std::string(text) == "42");
    AB_ARENA_SCOPED(scratch.arena);
    DEMAND(AB_ARENA_ARRAY_ZEROED(scratch.arena, int, 10)[9] == 0);
    ab_arena_client client = {scratch.arena, 0};
    ab_allocator interface = ab_arena_allocator(&client);
    DEMAND(AB_NEW(wide, &interface) != nullptr);
}

} // namespace

int main()
{
    arenas();
    pools_and_slabs();
    interfaces();
    paged();
    c_headers();
    std::puts("all right");
    return 0;
}
