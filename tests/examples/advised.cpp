// SPDX-License-Identifier: MIT
//
// Uses the std::pmr resources that `allocbench advise --code` writes for C++, as its head says to.
// -DADVISED_FILE='"FILE"'; -DTHREADS for heaps of several threads.
#define ADVISED_IMPLEMENTATION
#include ADVISED_FILE

#include <cstdio>
#include <cstdlib>
#include <list>
#include <memory_resource>
#include <string>
#include <thread>
#include <vector>

namespace
{

void expect(bool holds, const char *what)
{
    if (holds)
        return;
    std::printf("not so: %s\n", what);
    std::exit(1);
}

struct ship {
    explicit ship(int n) : number(n)
    {
        live++;
    }
    ~ship()
    {
        live--;
    }
    int number;
    char rest[92] = {};
    static inline int live = 0;
};

struct alignas(256) wide {
    char bytes[64];
};

// Returns where its first block was.
const void *fill_frame()
{
    std::pmr::vector<int> numbers(&advised::frame);
    numbers.push_back(0);
    const void *first = numbers.data();
    for (int i = 1; i < 10000; i++)
        numbers.push_back(i);
    std::pmr::vector<std::pmr::string> names(20, "a name that is too long for its object",
                                             &advised::frame);
    expect(numbers[9999] == 9999 && names[19].size() == 38, "containers hold what they were given");
    expect(names[3].get_allocator().resource() == &advised::frame, "elements are there too");
    return first;
}

void frames_begin_anew()
{
    const void *first = fill_frame();
    advised_scope_end();
    expect(fill_frame() == first, "a frame's memory is used again");
    advised_scope_end();
}

void what_is_made_lives_into_the_next_scope()
{
    std::pmr::vector<int> numbers(&advised::frames);
    numbers.assign(100, 7);
    advised_scope_end();
    numbers.resize(5000, 7);
    fill_frame();
    for (int n : numbers)
        expect(n == 7, "it is whole in the next scope");
}

ship *make(std::pmr::memory_resource &from, int number)
{
    return new (from.allocate(sizeof(ship), alignof(ship))) ship(number);
}

void objects_go_back_to_the_pool()
{
    ship *a = make(advised::pool_96, 1), *b = make(advised::pool_96, 2);
    expect(a->number == 1 && b->number == 2 && ship::live == 2, "both are there");
    b->~ship();
    advised::pool_96.deallocate(b, sizeof(ship), alignof(ship));
    ship *c = make(advised::pool_96, 3);
    expect(c == b, "the slot is used again");
    for (ship *p : {a, c}) {
        p->~ship();
        advised::pool_96.deallocate(p, sizeof(ship), alignof(ship));
    }
    std::pmr::list<int> more(1000, 5, &advised::pool_96);
    std::pmr::vector<int> large(1000, 5, &advised::pool_96); // more than a slot: of operator new
    std::pmr::vector<wide> aligned(3, &advised::pool_96);
    expect(more.back() == 5 && large[999] == 5, "containers can have it too");
    expect(reinterpret_cast<std::uintptr_t>(aligned.data()) % 256 == 0, "it is aligned");
}

void slabs_serve_containers()
{
    std::pmr::vector<int> numbers(&advised::slab);
    for (int i = 0; i < 100000; i++)
        numbers.push_back(i);
    expect(numbers[99999] == 99999, "numbers are whole");
}

#ifdef THREADS
void other_threads_have_heaps_of_their_own()
{
    std::pmr::list<int> made(&advised::pool_96);
    std::thread([&made] {
        made.assign(1000, 9);
        std::pmr::vector<int> own(1000, 1, &advised::slab);
    }).join();
    expect(made.size() == 1000 && made.back() == 9, "what another thread made is whole");
    made.clear(); // goes back to that thread's heap
}
#else
template <typename Memory> void scopes_within_scopes(ab_arena *arena, Memory &memory)
{
    const void *first = nullptr;
    for (int i = 0; i < 100; i++) {
        ab::arena_scope scope(arena);
        std::pmr::vector<int> numbers(1000, i, &memory);
        expect(first == nullptr || first == numbers.data(), "memory is used again");
        first = numbers.data();
    }
}
#endif

} // namespace

int main()
{
    for (int i = 0; i < 2; i++) { // resources outlive what they are over
        expect(advised_init() == 0, "heaps are opened");
        frames_begin_anew();
        what_is_made_lives_into_the_next_scope();
        objects_go_back_to_the_pool();
        slabs_serve_containers();
#ifdef THREADS
        other_threads_have_heaps_of_their_own();
#else
        scopes_within_scopes(&advised_stack, advised::stack);
        scopes_within_scopes(&advised_nested, advised::nested);
#endif
        advised_fini();
    }
    std::puts("all right");
}
