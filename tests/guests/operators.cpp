// SPDX-License-Identifier: MIT
//
// Each form of operator new, with a size of its own from 7001 on, so often, and the delete that goes
// with it. Then one that fails: with a handler, an exception, nullptr. As a library (-shared -fPIC) it
// is opened by a program in C.

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <new>

static void *volatile seen; // no pair of calls is left out
static char *reserve;
static int handled;

__attribute__((noinline)) void *by_new(std::size_t n)
{
    return seen = ::operator new(n);
}

static void each()
{
    const std::align_val_t a{64};
    ::operator delete(by_new(7001));
    ::operator delete(seen = ::operator new(7002, std::nothrow), std::nothrow);
    ::operator delete(seen = ::operator new(7003, a), a);
    ::operator delete(seen = ::operator new(7004, a, std::nothrow), a, std::nothrow);
    ::operator delete[](seen = ::operator new[](7005));
    ::operator delete[](seen = ::operator new[](7006, std::nothrow), std::nothrow);
    ::operator delete[](seen = ::operator new[](7007, a), a);
    ::operator delete[](seen = ::operator new[](7008, a, std::nothrow), a, std::nothrow);
    ::operator delete(seen = ::operator new(7009), std::size_t{7009});
    ::operator delete[](seen = ::operator new[](7010), std::size_t{7010});
    ::operator delete(seen = ::operator new(7011, a), std::size_t{7011}, a);
    ::operator delete[](seen = ::operator new[](7012, a), std::size_t{7012}, a);
    ::operator delete(static_cast<void *>(nullptr));
}

static void handler()
{
    std::free(reserve);
    reserve = nullptr;
    if (++handled == 2)
        std::set_new_handler(nullptr);
}

#ifdef REPLACED // by operators of the program's own, which call malloc
static int replaced;
void *operator new(std::size_t n)
{
    replaced++;
    return std::malloc(n);
}
void operator delete(void *p) noexcept
{
    replaced++;
    std::free(p);
}
#endif

extern "C" int operators(int n)
{
    const volatile std::size_t too_much = ~std::size_t{0} / 4;
    int caught = 0;
    for (int i = 0; i < n; i++)
        each();
    reserve = static_cast<char *>(std::malloc(9001));
#ifdef REPLACED
    std::printf("replaced %d\n", replaced);
#else
    std::set_new_handler(handler);
    try {
        by_new(too_much);
    } catch (const std::bad_alloc &) {
        caught++;
    }
    try {
        seen = ::operator new[](too_much, std::align_val_t{64});
    } catch (const std::bad_alloc &) {
        caught++;
    }
#endif
    const bool is_null = ::operator new(too_much, std::nothrow) == nullptr;
    std::printf("handled %d, caught %d, null %d\n", handled, caught, is_null);
    return 0;
}

int main(int argc, char **argv)
{
    return operators(argc > 1 ? std::atoi(argv[1]) : 10);
}
