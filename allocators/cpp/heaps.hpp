// SPDX-License-Identifier: MIT
//
// The allocators in C++17: std::pmr::memory_resource over each of them and over any ab_allocator, an
// allocator for the containers of the standard library, owners and scopes that end by themselves.
//
//     ab::arena frame(64 << 20);
//     ab::arena_resource memory(frame.get());
//     std::pmr::vector<hit> hits(&memory);
//     { ab::arena_scope scope(frame.get()); … }     what is allocated in it dies at its end
//
// What a resource or an allocator refers to is not owned by it and must outlive it. Exhausted memory
// throws std::bad_alloc; so does an alignment that the allocator cannot give. One thread at a time,
// as the allocators themselves. Only the headers of the allocators that are linked need be there: a
// part is left out with -DAB_HEAPS_WITHOUT_POOL, -DAB_HEAPS_WITHOUT_SLAB, -DAB_HEAPS_WITHOUT_PAGED.
#ifndef AB_ALLOCATORS_HEAPS_HPP
#define AB_ALLOCATORS_HEAPS_HPP

#include "../ab_allocator.h"
#include "../arena/arena.h"
#ifndef AB_HEAPS_WITHOUT_PAGED
#include "../paged/paged_arena.h"
#endif
#ifndef AB_HEAPS_WITHOUT_POOL
#include "../pool/pool.h"
#endif
#ifndef AB_HEAPS_WITHOUT_SLAB
#include "../slab/slab.h"
#endif

#include <cstddef>
#include <limits>
#include <memory_resource>
#include <new>
#include <system_error>
#include <tuple>
#include <type_traits>
#include <utility>

namespace ab {

namespace detail {

inline void *or_throw(void *block)
{
    if (block == nullptr)
        throw std::bad_alloc();
    return block;
}

inline void demand(int error, const char *what)
{
    if (error != 0)
        throw std::system_error(error, std::generic_category(), what);
}

} // namespace detail

// ---- owners ----

// Opens with the constructor, closes with the destructor. The struct inside keeps its place, so an
// owner can be neither copied nor moved.
class arena {
public:
    explicit arena(const ab_arena_options &options)
    {
        detail::demand(ab_arena_init(&arena_, &options), "ab_arena_init");
    }
    explicit arena(std::size_t reserve_bytes)
    {
        ab_arena_options options{};
        options.reserve_bytes = reserve_bytes;
        detail::demand(ab_arena_init(&arena_, &options), "ab_arena_init");
    }
    arena(void *buffer, std::size_t bytes) { ab_arena_init_buffer(&arena_, buffer, bytes); }
    ~arena() { ab_arena_fini(&arena_); }
    arena(const arena &) = delete;
    arena &operator=(const arena &) = delete;

    ab_arena *get() noexcept { return &arena_; }
    void reset() noexcept { ab_arena_reset(&arena_); }
    std::size_t used() const noexcept { return ab_arena_used(&arena_); }

    // An object in the arena. Its destructor runs when it dies there, if it has one that does
    // anything: at reset, restore, or the end of a scope or of the arena, the last one made first.
    template <typename T, typename... Arguments> T *make(Arguments &&...arguments)
    {
        void *block = detail::or_throw(ab_arena_alloc_aligned(&arena_, alignof(T), sizeof(T)));
        T *object = ::new (block) T(std::forward<Arguments>(arguments)...);
        if constexpr (!std::is_trivially_destructible_v<T>) {
            if (!ab_arena_defer(&arena_, [](void *p) { static_cast<T *>(p)->~T(); }, object)) {
                object->~T();
                throw std::bad_alloc();
            }
        }
        return object;
    }

private:
    ab_arena arena_;
};

// What is allocated while it lives dies with it.
class arena_scope {
public:
    explicit arena_scope(ab_arena *arena) noexcept : arena_(arena), mark_(ab_arena_save(arena)) {}
    ~arena_scope() { ab_arena_restore(arena_, mark_); }
    arena_scope(const arena_scope &) = delete;
    arena_scope &operator=(const arena_scope &) = delete;

private:
    ab_arena *arena_;
    ab_arena_mark mark_;
};

#ifndef AB_HEAPS_WITHOUT_POOL
// Slots for objects of one type.
template <typename T> class pool {
public:
    explicit pool(std::size_t n_slots = 0, bool grows = true)
    {
        ab_pool_options options{};
        options.slot_bytes = sizeof(T);
        options.align = alignof(T);
        options.n_slots = n_slots;
        options.grows = grows;
        detail::demand(ab_pool_init(&pool_, &options), "ab_pool_init");
    }
    ~pool() { ab_pool_fini(&pool_); } // destructors of objects that still live do not run
    pool(const pool &) = delete;
    pool &operator=(const pool &) = delete;

    ab_pool *get() noexcept { return &pool_; }

    template <typename... Arguments> T *create(Arguments &&...arguments)
    {
        void *slot = detail::or_throw(ab_pool_alloc(&pool_, sizeof(T)));
        try {
            return ::new (slot) T(std::forward<Arguments>(arguments)...);
        } catch (...) {
            ab_pool_free(&pool_, slot);
            throw;
        }
    }
    void destroy(T *object) noexcept
    {
        if (object == nullptr)
            return;
        object->~T();
        ab_pool_free(&pool_, object);
    }

private:
    ab_pool pool_;
};
#endif

#ifndef AB_HEAPS_WITHOUT_SLAB
class slabs {
public:
    explicit slabs(const ab_slabs_options &options)
    {
        detail::demand(ab_slabs_init(&slabs_, &options), "ab_slabs_init");
    }
    ~slabs() { ab_slabs_fini(&slabs_); }
    slabs(const slabs &) = delete;
    slabs &operator=(const slabs &) = delete;

    ab_slabs *get() noexcept { return &slabs_; }

private:
    ab_slabs slabs_;
};
#endif

// ---- std::pmr::memory_resource ----

// Equal are those that refer to the same allocator.
template <typename Self> class resource : public std::pmr::memory_resource {
private:
    bool do_is_equal(const std::pmr::memory_resource &other) const noexcept override
    {
        const auto *same = dynamic_cast<const Self *>(&other);
        return same != nullptr && same->key() == static_cast<const Self *>(this)->key();
    }
};

class arena_resource final : public resource<arena_resource> {
public:
    explicit arena_resource(ab_arena *arena) noexcept : arena_(arena) {}
    const void *key() const noexcept { return arena_; }

private:
    void *do_allocate(std::size_t bytes, std::size_t align) override
    {
        return detail::or_throw(ab_arena_alloc_aligned(arena_, align, bytes));
    }
    void do_deallocate(void *, std::size_t, std::size_t) override {} // dies with the others
    ab_arena *arena_;
};

#ifndef AB_HEAPS_WITHOUT_PAGED
// The block on top goes back at once.
class paged_resource final : public resource<paged_resource> {
public:
    explicit paged_resource(ab_paged_arena *arena) noexcept : arena_(arena) {}
    const void *key() const noexcept { return arena_; }

private:
    void *do_allocate(std::size_t bytes, std::size_t align) override
    {
        return detail::or_throw(ab_paged_arena_alloc_aligned(arena_, align, bytes));
    }
    void do_deallocate(void *block, std::size_t bytes, std::size_t) override
    {
        (void)ab_paged_arena_pop(arena_, block, bytes, 0);
    }
    ab_paged_arena *arena_;
};
#endif

#ifndef AB_HEAPS_WITHOUT_POOL
// What is larger than a slot, or aligned to more, comes from `upstream`; without one it throws.
class pool_resource final : public resource<pool_resource> {
public:
    explicit pool_resource(ab_pool *pool, std::pmr::memory_resource *upstream = nullptr) noexcept
        : pool_(pool), upstream_(upstream)
    {
    }
    auto key() const noexcept { return std::make_pair(pool_, upstream_); }

private:
    bool fits(std::size_t bytes, std::size_t align) const noexcept
    {
        return bytes <= pool_->slot_bytes && align <= pool_->align;
    }
    void *do_allocate(std::size_t bytes, std::size_t align) override
    {
        if (fits(bytes, align))
            return detail::or_throw(ab_pool_alloc(pool_, bytes));
        return upstream_ != nullptr ? upstream_->allocate(bytes, align) : detail::or_throw(nullptr);
    }
    void do_deallocate(void *block, std::size_t bytes, std::size_t align) override
    {
        if (fits(bytes, align))
            ab_pool_free_sized(pool_, block, bytes);
        else
            upstream_->deallocate(block, bytes, align);
    }
    ab_pool *pool_;
    std::pmr::memory_resource *upstream_;
};
#endif

#ifndef AB_HEAPS_WITHOUT_SLAB
class slab_resource final : public resource<slab_resource> {
public:
    explicit slab_resource(ab_slabs *slabs) noexcept : slabs_(slabs) {}
    const void *key() const noexcept { return slabs_; }

private:
    void *do_allocate(std::size_t bytes, std::size_t align) override
    {
        return detail::or_throw(ab_slabs_alloc_aligned(slabs_, align, bytes));
    }
    void do_deallocate(void *block, std::size_t bytes, std::size_t) override
    {
        ab_slabs_free_sized(slabs_, block, bytes);
    }
    ab_slabs *slabs_;
};
#endif

// Any allocator that has the interface of ab_allocator.h. Larger alignments than its own cost a
// larger block.
class allocator_resource final : public resource<allocator_resource> {
public:
    explicit allocator_resource(const ab_allocator &allocator) noexcept : allocator_(allocator) {}
    auto key() const noexcept
    {
        return std::make_tuple(allocator_.context, allocator_.alloc, allocator_.free);
    }

private:
    void *do_allocate(std::size_t bytes, std::size_t align) override
    {
        return detail::or_throw(ab_allocator_array(&allocator_, bytes == 0 ? 1 : bytes, 1, align));
    }
    void do_deallocate(void *block, std::size_t bytes, std::size_t align) override
    {
        ab_allocator_delete(&allocator_, block, bytes == 0 ? 1 : bytes, align);
    }
    ab_allocator allocator_;
};

// ---- an allocator for containers ----

// std::vector<int, ab::allocator<int>> v(ab::allocator<int>(interface)); no virtual call. The
// interface is copied; its context must outlive the container.
template <typename T> class allocator {
public:
    using value_type = T;
    using propagate_on_container_move_assignment = std::true_type;
    using propagate_on_container_swap = std::true_type;

    explicit allocator(const ab_allocator &interface) noexcept : interface_(interface) {}
    template <typename U>
    allocator(const allocator<U> &other) noexcept : interface_(other.interface())
    {
    }

    T *allocate(std::size_t n)
    {
        return static_cast<T *>(detail::or_throw(
            ab_allocator_array(&interface_, n == 0 ? 1 : n, sizeof(T), alignof(T))));
    }
    void deallocate(T *block, std::size_t n) noexcept
    {
        ab_allocator_delete(&interface_, block, (n == 0 ? 1 : n) * sizeof(T), alignof(T));
    }
    const ab_allocator &interface() const noexcept { return interface_; }

private:
    ab_allocator interface_;
};

template <typename T, typename U>
bool operator==(const allocator<T> &a, const allocator<U> &b) noexcept
{
    return a.interface().context == b.interface().context &&
           a.interface().alloc == b.interface().alloc;
}

template <typename T, typename U>
bool operator!=(const allocator<T> &a, const allocator<U> &b) noexcept
{
    return !(a == b);
}

} // namespace ab

#endif
