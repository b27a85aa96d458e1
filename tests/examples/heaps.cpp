// SPDX-License-Identifier: MIT
//
// Every part of heaps.hpp once, with what must be so; "all right" at the end. Also with
// -fno-exceptions and -fno-rtti; with an argument what cannot be said without exceptions.
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
#include <thread>
#include <vector>

#define DEMAND(what) \
    do { \
        if (!(what)) { \
            std::printf("line %d: %s\n", __LINE__, #what); \
            std::exit(1); \
        } \
    } while (0)

#ifdef __cpp_exceptions
#define DEMAND_THROWS(what, type) \
    do { \
        bool is_thrown = false; \
        try { \
            what; \
        } catch (const type &) { \
            is_thrown = true; \
        } \
        DEMAND(is_thrown); \
    } while (0)
#define DEMAND_NONE(what) DEMAND_THROWS((void)(what), std::bad_alloc)
#else
#define DEMAND_THROWS(what, type) (void)0
#define DEMAND_NONE(what) DEMAND(!(what))
#endif

namespace
{

#ifdef __cpp_rtti
constexpr bool HAS_RTTI = true;
#else
constexpr bool HAS_RTTI = false;
#endif

int n_alive;

struct counted {
    explicit counted(int n) : number(n), text(100, 'x')
    {
        n_alive++;
    }
    ~counted()
    {
        n_alive--;
    }
    counted(const counted &) = delete;
    int number;
    std::string text; // memory of its own: its destructor has something to do
};

struct alignas(64) wide {
    double values[8];
};

#ifdef __cpp_exceptions
struct thrower {
    thrower()
    {
        throw 7;
    }
};
#endif

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
    DEMAND(memory == memory && (memory == same) == HAS_RTTI);
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
    DEMAND_THROWS(std::pmr::vector<int>(1000, &little), std::bad_alloc);
    DEMAND_THROWS(ab::arena{SIZE_MAX}, std::system_error);
    while (small.try_make<counted>(1) != nullptr)
        ;
    DEMAND_NONE(small.make<counted>(1));
    small.reset();
    DEMAND(n_alive == 1);
}

struct counted_plain : counted {
    counted_plain() : counted(7) {}
};

std::string joined(ab::arena_scope &scope, const char *name, int n)
{
    return scope.format("%s-%d", name, n);
}

// What an arena, a scope and a scratch have alike.
template <typename Calls> void calls_of(Calls &calls)
{
    std::size_t used = calls.used(), room = calls.available();
    ab::arena_mark mark = calls.save();
    int before = n_alive, n_run = 0;
    float *floats = calls.template allocate_array<float>(100);
    double *zeros = calls.template allocate_array_zeroed<double>(50, 64);
    DEMAND((reinterpret_cast<std::uintptr_t>(zeros) & 63) == 0 && zeros[49] == 0);
    floats[99] = 1;
    DEMAND((reinterpret_cast<std::uintptr_t>(calls.allocate(10, 256)) & 255) == 0);
    DEMAND(calls.template try_allocate_array<int>(SIZE_MAX / 2) == nullptr);
    DEMAND_NONE(calls.template allocate_array<int>(SIZE_MAX / 2));
    counted_plain *many = calls.template make_array<counted_plain>(20);
    DEMAND(n_alive == before + 20 && many[19].number == 7);
    DEMAND(calls.defer([&n_run, before] { n_run += n_alive == before + 20 ? 1 : 100; }));
    char *text = calls.text(std::string_view("a longer text").substr(2, 6));
    DEMAND(std::string(text) == "longer");
    DEMAND(std::string(calls.format("%s-%d", text, 42)) == "longer-42");
    DEMAND(std::string(calls.text("")).empty());
    DEMAND(calls.used() > used && calls.available() < room && calls.committed() >= calls.used());
    calls.restore(mark);
    DEMAND(calls.used() == used && n_alive == before && n_run == 1);
}

void arena_calls()
{
    ab::arena frame(16 << 20);
    calls_of(frame);
    {
        ab::arena_scope scope(frame);
        calls_of(scope);
        DEMAND(joined(scope, "ship", 3) == "ship-3" && frame.used() > 0);
    }
    DEMAND(frame.used() == 0);
    {
        ab::scratch one, other(one.get());
        DEMAND(one.get() != other.get());
        calls_of(one);
        calls_of(other);
        DEMAND_THROWS(ab::scratch(one.get(), other.get()), std::system_error);
    }
    ab::array<int> numbers(frame.get());
    for (int i = 0; i < 1000; i++)
        DEMAND(numbers.push(i));
    DEMAND(numbers.push(numbers[999]) && numbers.size() == 1001 && numbers[1000] == 999);
    numbers.swap_pop(0);
    int sum = 0;
    for (int n : numbers)
        sum += n;
    DEMAND(numbers[0] == 999 && numbers.size() == 1000 && sum == 999 * 500 + 999);
    DEMAND(!numbers.try_reserve(SIZE_MAX / 8) && numbers[999] == 999);
    static char few[256];
    ab::arena small(few, sizeof few);
    DEMAND(small.try_allocate(300) == nullptr && small.try_text(std::string(300, 'x')) == nullptr);
    DEMAND(small.try_make_array<counted_plain>(100) == nullptr);
    DEMAND(small.try_format("%300d", 1) == nullptr);
    DEMAND_NONE(small.text(std::string(300, 'x')));
    ab_arena *none = nullptr;
    if (!AB_CHECKS) {
        DEMAND(ab_arena_alloc(none, 10) == nullptr && ab_arena_alloc_zeroed(none, 10) == nullptr);
        DEMAND(ab_arena_alloc_aligned(none, 4, 10) == nullptr);
        DEMAND(ab_arena_alloc_aligned(none, 64, 10) == nullptr);
        DEMAND(AB_ARENA_NEW(none, int) == nullptr && AB_ARENA_ARRAY(none, double, 3) == nullptr);
    }
}

void ready_arenas()
{
    ab::ready memory(1 << 20, 2 << 20, 1 << 20);
    DEMAND(memory.arena("game") == memory.game() && memory.arena("none") == nullptr);
    DEMAND(memory.engine() != memory.scratch());
    ab::paged_resource level(memory.game());
    std::pmr::vector<int> numbers(1000, 7, &level);
    DEMAND(numbers[999] == 7 && ab_paged_arena_used(memory.game()) >= 4000);
    DEMAND(ab_paged_arena_alloc(memory.scratch(), 8 << 20) == nullptr);
    DEMAND(memory.reset("scratch") && !memory.reset("none"));
    DEMAND_THROWS(ab::ready(SIZE_MAX / 2), std::system_error);
}

void pools_and_slabs()
{
    ab::pool<counted> objects(10, false);
    std::vector<counted *> all;
    for (int i = 0; i < 10; i++)
        all.push_back(objects.create(i));
    DEMAND(all[9]->number == 9 && n_alive == 10);
    DEMAND(objects.try_create(10) == nullptr && n_alive == 10);
    DEMAND_NONE(objects.create(10));
    for (counted *object : all)
        objects.destroy(object);
    DEMAND(n_alive == 0 && ab_pool_live(objects.get()) == 0);

#ifdef __cpp_exceptions
    ab::pool<thrower> throwers;
    DEMAND_THROWS(throwers.create(), int);
    DEMAND(ab_pool_live(throwers.get()) == 0);
#endif

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
    DEMAND((alone == alike) == HAS_RTTI && !(alone == slots)); // large blocks come from elsewhere
    DEMAND_THROWS((void)alone.allocate(1000, 16), std::bad_alloc);
}

void handles()
{
    ab::handle_arena<counted> ships(3);
    ab::handle_arena<wide> shots(10);
    ab::handle<counted> first = ships.insert(1), second = ships.insert(2), none{};
    static_assert(!std::is_convertible_v<ab::handle<wide>, ab::handle<counted>>);
    DEMAND(first && !none && first != second && n_alive == 2);
    DEMAND(ships.get(second)->number == 2 && ships.get(none) == nullptr);
    DEMAND(reinterpret_cast<std::uintptr_t>(shots.get(shots.insert())) % alignof(wide) == 0);
    DEMAND(ships.remove(first) && !ships.remove(first) && n_alive == 1);
    DEMAND(ships.insert(3) != first && ships.get(first) == nullptr && ships.insert(4));
    DEMAND(!ships.try_insert(5) && n_alive == 3);
    DEMAND_NONE(ships.insert(5));
    ships.each([&](ab::handle<counted> h, counted &ship) {
        if (ship.number == 3)
            ships.remove(h);
    });
    DEMAND(ships.live() == 2 && n_alive == 2);
    ships.flush();
    DEMAND(ships.live() == 0 && n_alive == 0 && ships.get(second) == nullptr);
    {
        ab::handle_arena<counted> short_lived(10);
        DEMAND(short_lived.insert(1) && n_alive == 1);
    }
    DEMAND(n_alive == 0);
#ifdef __cpp_exceptions
    ab::handle_arena<thrower> throwers(1);
    for (int i = 0; i < 2; i++)
        DEMAND_THROWS(throwers.insert(), int);
    DEMAND(throwers.live() == 0);
#endif
}

// Entities that refer to others, also in circles, and whose destructors remove them, themselves, or
// all: each destructor runs once, and while it runs nobody finds its object.
struct entity;
struct world {
    unsigned random;
    std::vector<int> &n_ends;              // by number, as are
    std::vector<ab::handle<entity>> names; // those of all that there ever were
    ab::handle_arena<entity> entities{300};
    unsigned next(unsigned below)
    {
        random = random * 1103515245u + 12345u;
        return (random >> 16 & 0x7fff) % below;
    }
    ab::handle<entity> insert();
};

struct entity {
    entity(world *where, std::size_t n) : home(where), number(n), text(50, 'e')
    {
        home->entities.each([&](ab::handle<entity>, entity &other) { DEMAND(&other != this); });
    }
    entity(const entity &) = delete;
    ~entity();
    world *home;
    std::size_t number;
    std::string text;
    std::vector<ab::handle<entity>> others;
};

ab::handle<entity> world::insert()
{
    ab::handle<entity> made = entities.try_insert(this, names.size());
    if (made) {
        names.push_back(made);
        n_ends.push_back(0);
    }
    return made;
}

entity::~entity()
{
    ab::handle<entity> self = home->names[number];
    home->n_ends[number]++;
    DEMAND(home->entities.get(self) == nullptr && !home->entities.remove(self));
    home->entities.each([&](ab::handle<entity> h, entity &) { DEMAND(h != self); });
    for (ab::handle<entity> other : others)
        home->entities.remove(other);
    if (home->next(40) == 0)
        home->entities.flush();
    if (home->next(8) == 0 && home->names.size() < 250)
        home->insert();
}

void trees(unsigned seed)
{
    std::vector<int> n_ends;
    {
        world w{seed, n_ends, {}};
        auto any = [&w] { return w.names[w.next(unsigned(w.names.size()))]; };
        for (int i = 0; i < 100; i++) {
            ab::handle<entity> made = w.insert();
            for (unsigned k = w.next(4); k > 0; k--) { // its child, its parent, or itself
                ab::handle<entity> one = any();
                if (entity *other = w.entities.get(one))
                    w.next(2) == 0 ? other->others.push_back(made)
                                   : w.entities.get(made)->others.push_back(one);
            }
            if (w.next(20) == 0)
                w.entities.remove(any());
        }
        if (seed % 3 == 0)
            w.entities.flush();
        DEMAND(seed % 3 != 0 || w.entities.live() == 0);
    }
    for (int n : n_ends)
        DEMAND(n == 1);
}

void several_threads()
{
    ab_slab_shared_options slab_options{};
    slab_options.threads.mode = AB_SHARDS_LOCAL;
    ab::shared_slabs slabs(slab_options);
    ab_pool_shared_options pool_options{};
    pool_options.pool.slot_bytes = 256;
    pool_options.pool.grows = true;
    ab::shared_pool pool(pool_options);
    ab_arena_shared_options arena_options{};
    arena_options.arena.reserve_bytes = std::size_t(1) << 24;
    arena_options.threads.mode = AB_SHARDS_LOCAL;
    ab::shared_arena arena(arena_options);
    auto in_slabs = slabs.resource(), in_pool = pool.resource(), in_arena = arena.resource();
    std::pmr::vector<std::pmr::string> texts(&in_slabs);
    texts.resize(4);
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < texts.size(); i++)
        threads.emplace_back([&, i] {
            fill(in_slabs);
            fill(in_arena);
            std::pmr::list<int> numbers(1000, int(i), &in_pool);
            texts[i].assign(1000 + i, 'x');
        });
    for (std::thread &thread : threads)
        thread.join();
    DEMAND(texts[3].size() == 1003);
    texts = std::pmr::vector<std::pmr::string>(&in_slabs); // what other threads allocated
    DEMAND(ab_pool_shared_sum(pool.get()).live == 0);
    pool_options.pool.align = 12;
    DEMAND_THROWS(ab::shared_pool{pool_options}, std::system_error);
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
        DEMAND((memory == same) == HAS_RTTI && !(memory == other));
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

int main(int argc, char **)
{
    if (argc > 1)
        ab::arena none(SIZE_MAX);
    arenas();
    arena_calls();
    ready_arenas();
    pools_and_slabs();
    handles();
    for (unsigned seed = 1; seed <= 200; seed++)
        trees(seed);
    several_threads();
    interfaces();
    paged();
    c_headers();
    std::puts("all right");
    return 0;
}
