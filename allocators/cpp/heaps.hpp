// SPDX-License-Identifier: MIT
//
// The allocators for C++17: a std::pmr::memory_resource over each allocator and over any
// ab_allocator, an allocator for standard containers, and owners and scopes that clean up in their
// destructors.
//
//     ab::arena frame(64 << 20);
//     ab::arena_resource memory(frame.get());
//     std::pmr::vector<hit> hits(&memory);
//     { ab::arena_scope scope(frame); … }           frees what was allocated in the scope
//     float *heights = frame.allocate_array<float>(n);
//
// A resource or an allocator does not own the heap that it refers to; the heap must outlive it.
// Use a heap from one thread at a time; ab::shared_slabs, shared_pool and shared_arena may be used
// from several. A program that does not link one of the allocators does not need its header if it
// defines AB_HEAPS_WITHOUT_POOL, _SLAB, _PAGED or _HANDLE. Requires 64-bit Linux.
//
// If memory is exhausted or the alignment is too large, functions throw std::bad_alloc, and those
// named try_… return null. With -fno-exceptions all functions that make an object return null; a
// memory resource, a container and an owner that cannot be opened call std::abort. With -fno-rtti a
// resource is equal only to itself.
#ifndef AB_ALLOCATORS_HEAPS_HPP
#define AB_ALLOCATORS_HEAPS_HPP

#include "../ab_allocator.h"
#include "../arena/arena.h"
#include "../arena/arena_array.h"
#include "../arena/arena_scratch.h"
#include "../arena/arena_shared.h"
#include "../arena/arena_text.h"
#ifndef AB_HEAPS_WITHOUT_HANDLE
#include "../handle/handle.h"
#endif
#ifndef AB_HEAPS_WITHOUT_PAGED
#include "../paged/paged_ready.h"
#endif
#ifndef AB_HEAPS_WITHOUT_POOL
#include "../pool/pool.h"
#include "../pool/pool_shared.h"
#endif
#ifndef AB_HEAPS_WITHOUT_SLAB
#include "../slab/slab.h"
#include "../slab/slab_shared.h"
#endif

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <memory_resource>
#include <new>
#include <string_view>
#include <system_error>
#include <tuple>
#include <type_traits>
#include <utility>

namespace ab {

namespace detail {

[[noreturn]] inline void fail(int error, const char *what)
{
#ifdef __cpp_exceptions
    if (what == nullptr)
        throw std::bad_alloc();
    throw std::system_error(error, std::generic_category(), what);
#else
    std::fprintf(stderr, "%s: %s\n", what == nullptr ? "ab" : what, std::strerror(error));
    std::abort();
#endif
}

inline void demand(int error, const char *what)
{
    if (error != 0)
        fail(error, what);
}

// Returns `block`, or fails if it is null, because a resource or a container needs the memory.
inline void *demand(void *block)
{
    if (block == nullptr)
        fail(ENOMEM, nullptr);
    return block;
}

// Returns `result`, which the caller checks. With exceptions it is never null.
template <typename T> T or_throw(T result)
{
#ifdef __cpp_exceptions
    if (!result)
        fail(ENOMEM, nullptr);
#endif
    return result;
}

// Calls `back`, which returns the memory, if the constructor of the object throws.
template <typename Back> struct until_made {
    Back back;
    bool is_made = false;
    explicit until_made(Back b) : back(b) {}
    ~until_made()
    {
        if (!is_made)
            back();
    }
};

template <typename T, typename Back, typename... Arguments>
T *construct(void *block, Back back, Arguments &&...arguments)
{
    until_made<Back> guard(back);
    T *object = ::new (block) T(std::forward<Arguments>(arguments)...);
    guard.is_made = true;
    return object;
}

// Base of owners. They can be neither copied nor moved, because the struct inside must not move.
struct fixed {
    fixed() = default;
    fixed(const fixed &) = delete;
    fixed &operator=(const fixed &) = delete;
};

} // namespace detail

// ---- std::pmr::memory_resource ----

// Two resources are equal if they refer to the same allocator.
template <typename Self> class resource : public std::pmr::memory_resource {
private:
    bool do_is_equal(const std::pmr::memory_resource &other) const noexcept override
    {
#ifdef __cpp_rtti
        const auto *same = dynamic_cast<const Self *>(&other);
        return same != nullptr && same->key() == static_cast<const Self *>(this)->key();
#else
        return this == &other;
#endif
    }
};

// A resource over any allocator with the interface of ab_allocator.h. Alignments above the
// allocator's own cost a larger block.
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
        return detail::demand(ab_allocator_array(&allocator_, bytes == 0 ? 1 : bytes, 1, align));
    }
    void do_deallocate(void *block, std::size_t bytes, std::size_t align) override
    {
        ab_allocator_delete(&allocator_, block, bytes == 0 ? 1 : bytes, align);
    }
    ab_allocator allocator_;
};

// ---- for several threads ----

// Owns a group of heaps (arena_shared.h, pool_shared.h, slab_shared.h). Its resource may be used
// from any thread and serves each thread from its own heap.
template <typename Group, typename Options, Group *(*open)(const Options *), void (*close)(Group *),
          ab_allocator (*interface)(Group *)>
class shared : detail::fixed {
public:
    explicit shared(const Options &options) : group_(open(&options))
    {
        detail::demand(group_ == nullptr ? errno : 0, "ab::shared");
    }
    ~shared() { close(group_); }

    Group *get() noexcept { return group_; }
    allocator_resource resource() { return allocator_resource(interface(group_)); }

private:
    Group *group_;
};

// ---- arena ----

using arena_mark = ab_arena_mark;

// Functions of everything that has an arena: its owner, a scope, a scratch. The returned memory
// lives until the arena is reset, restored to an earlier mark, or closed, or until its scope ends.
template <typename Self> class arena_calls {
public:
    void *try_allocate(std::size_t bytes, std::size_t align = AB_ARENA_ALIGN)
    {
        return ab_arena_alloc_aligned(own(), align, bytes);
    }
    void *allocate(std::size_t bytes, std::size_t align = AB_ARENA_ALIGN)
    {
        return detail::or_throw(try_allocate(bytes, align));
    }

    // Allocates n objects of a type that needs no constructor, uninitialized or zeroed. Fails also
    // if n is too large.
    template <typename T> T *try_allocate_array(std::size_t n, std::size_t align = alignof(T))
    {
        demand_plain<T>();
        return static_cast<T *>(ab_arena_alloc_array(own(), align, n, sizeof(T)));
    }
    template <typename T> T *allocate_array(std::size_t n, std::size_t align = alignof(T))
    {
        return detail::or_throw(try_allocate_array<T>(n, align));
    }
    template <typename T>
    T *try_allocate_array_zeroed(std::size_t n, std::size_t align = alignof(T))
    {
        demand_plain<T>();
        return static_cast<T *>(ab_arena_alloc_array_zeroed(own(), align, n, sizeof(T)));
    }
    template <typename T> T *allocate_array_zeroed(std::size_t n, std::size_t align = alignof(T))
    {
        return detail::or_throw(try_allocate_array_zeroed<T>(n, align));
    }

    // Constructs an object. Its destructor runs when its memory is freed; objects made last are
    // destroyed first. A trivial destructor does not run.
    template <typename T, typename... Arguments> T *try_make(Arguments &&...arguments)
    {
        void *block = try_allocate(sizeof(T), alignof(T));
        if (block == nullptr)
            return nullptr;
        T *object = ::new (block) T(std::forward<Arguments>(arguments)...);
        if constexpr (!std::is_trivially_destructible_v<T>) {
            if (!ab_arena_defer(
                    own(), [](void *p) { static_cast<T *>(p)->~T(); }, object)) {
                object->~T();
                return nullptr;
            }
        }
        return object;
    }
    template <typename T, typename... Arguments> T *make(Arguments &&...arguments)
    {
        return detail::or_throw(try_make<T>(std::forward<Arguments>(arguments)...));
    }
    // Constructs n objects without arguments. Their destructors run as above.
    template <typename T> T *try_make_array(std::size_t n)
    {
        T *objects = static_cast<T *>(ab_arena_alloc_array(own(), alignof(T), n, sizeof(T)));
        if (objects == nullptr)
            return nullptr;
        std::uninitialized_value_construct_n(objects, n);
        if constexpr (!std::is_trivially_destructible_v<T>) {
            if (!try_defer([objects, n] { destroy(objects, n); })) {
                destroy(objects, n);
                return nullptr;
            }
        }
        return objects;
    }
    template <typename T> T *make_array(std::size_t n)
    {
        return detail::or_throw(try_make_array<T>(n));
    }

    // Arranges that act() is called when memory allocated at this point is freed; the last one
    // deferred is called first. Returns false if there is no memory to store it.
    template <typename Act> bool try_defer(Act act)
    {
        void *block = try_allocate(sizeof(Act), alignof(Act));
        if (block == nullptr)
            return false;
        Act *kept = ::new (block) Act(std::move(act));
        auto run = [](void *p) {
            Act *left = static_cast<Act *>(p);
            (*left)();
            left->~Act();
        };
        if (ab_arena_defer(own(), run, kept))
            return true;
        kept->~Act();
        return false;
    }
    template <typename Act> bool defer(Act act)
    {
        return detail::or_throw(try_defer(std::move(act)));
    }

    // Copies the text and adds a zero byte.
    char *try_text(std::string_view text)
    {
        return ab_arena_strndup(own(), text.data(), text.size());
    }
    char *text(std::string_view text) { return detail::or_throw(try_text(text)); }
    // Formats as printf does. Fails also if the format is invalid.
    __attribute__((format(printf, 2, 3))) char *try_format(const char *format, ...)
    {
        va_list arguments;
        va_start(arguments, format);
        char *made = ab_arena_vprintf(own(), format, arguments);
        va_end(arguments);
        return made;
    }
    __attribute__((format(printf, 2, 3))) char *format(const char *format, ...)
    {
        va_list arguments;
        va_start(arguments, format);
        char *made = ab_arena_vprintf(own(), format, arguments);
        va_end(arguments);
        return detail::or_throw(made);
    }

    // Takes a save point, and returns to it, which frees everything allocated since.
    arena_mark save() noexcept { return ab_arena_save(own()); }
    void restore(arena_mark mark) noexcept { ab_arena_restore(own(), mark); }

    std::size_t used() noexcept { return ab_arena_used(own()); }
    std::size_t available() noexcept { return ab_arena_available(own()); }
    std::size_t committed() noexcept { return ab_arena_committed(own()); }

private:
    ab_arena *own() noexcept { return static_cast<Self *>(this)->get(); }
    template <typename T> static void demand_plain()
    {
        static_assert(std::is_trivially_default_constructible_v<T> &&
                          std::is_trivially_destructible_v<T>,
                      "make_array is for a type that needs a constructor or a destructor");
    }
    template <typename T> static void destroy(T *objects, std::size_t n)
    {
        while (n > 0)
            objects[--n].~T();
    }
};

// Owns an arena. All owners open in the constructor and close in the destructor.
class arena : detail::fixed, public arena_calls<arena> {
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

    ab_arena *get() noexcept { return &arena_; }
    void reset() noexcept { ab_arena_reset(&arena_); }
    using arena_calls<arena>::used;
    std::size_t used() const noexcept { return ab_arena_used(&arena_); }

private:
    ab_arena arena_;
};

// Frees in its destructor everything allocated in the arena since its constructor. Has the
// functions of its arena: scope.make<hit>().
class arena_scope : detail::fixed, public arena_calls<arena_scope> {
public:
    explicit arena_scope(ab_arena *arena) noexcept : scope_(ab_arena_scope_begin(arena)) {}
    explicit arena_scope(arena &arena) noexcept : arena_scope(arena.get()) {}
    ~arena_scope() { ab_arena_scope_end(&scope_); }

    ab_arena *get() noexcept { return scope_.arena; }

private:
    ab_arena_scope scope_;
};

// Temporary memory from an arena of this thread, freed in the destructor (arena_scratch.h). Never
// uses an arena in `conflicts`, in which the caller wants to keep a result.
class scratch : detail::fixed, public arena_calls<scratch> {
public:
    template <typename... Arenas> explicit scratch(Arenas *...conflicts)
    {
        ab_arena *const all[] = {conflicts..., nullptr};
        scratch_ = ab_scratch_begin(all, sizeof...(conflicts));
        detail::demand(scratch_.arena == nullptr ? ENOMEM : 0, "ab::scratch");
    }
    ~scratch() { ab_scratch_end(scratch_); }

    ab_arena *get() noexcept { return scratch_.arena; }

private:
    ab_scratch scratch_;
};

// A growing array in an arena. Grows in place if it is the last block of the arena, else moves to
// twice the room. Its storage lives as long as a block allocated when it last grew.
template <typename T> class array {
public:
    static_assert(std::is_trivially_copyable_v<T>, "values are copied as bytes");
    explicit array(ab_arena *arena) noexcept : arena_(arena) {}

    // Makes room for at least `least` values in total. Returns false and changes nothing if memory
    // is exhausted.
    bool try_reserve(std::size_t least)
    {
        at_ = static_cast<T *>(
            ab_array_grow(arena_, at_, alignof(T), sizeof(T), &capacity_, least));
        return capacity_ >= least;
    }
    bool try_push(const T &value)
    {
        T kept = value; // copied, because `value` may be in the array, which moves
        if (!try_reserve(n_ + 1))
            return false;
        ::new (static_cast<void *>(at_ + n_)) T(kept);
        n_++;
        return true;
    }
    bool push(const T &value) { return detail::or_throw(try_push(value)); }
    // Removes the value at `index` and moves the last value into its place.
    void swap_pop(std::size_t index) { at_[index] = at_[--n_]; }
    void clear() noexcept { n_ = 0; }

    T &operator[](std::size_t index) noexcept { return at_[index]; }
    const T &operator[](std::size_t index) const noexcept { return at_[index]; }
    T *begin() noexcept { return at_; }
    T *end() noexcept { return at_ + n_; }
    const T *begin() const noexcept { return at_; }
    const T *end() const noexcept { return at_ + n_; }
    std::size_t size() const noexcept { return n_; }
    std::size_t capacity() const noexcept { return capacity_; }

private:
    ab_arena *arena_;
    T *at_ = nullptr;
    std::size_t n_ = 0, capacity_ = 0;
};

class arena_resource final : public resource<arena_resource> {
public:
    explicit arena_resource(ab_arena *arena) noexcept : arena_(arena) {}
    const void *key() const noexcept { return arena_; }

private:
    void *do_allocate(std::size_t bytes, std::size_t align) override
    {
        return detail::demand(ab_arena_alloc_aligned(arena_, align, bytes));
    }
    void do_deallocate(void *, std::size_t, std::size_t) override {} // freed with the arena
    ab_arena *arena_;
};

using shared_arena =
    shared<ab_arena_shared, ab_arena_shared_options, ab_arena_shared_open, ab_arena_shared_close,
           ab_arena_shared_allocator>;

#ifndef AB_HEAPS_WITHOUT_PAGED
// A resource over an arena that frees the topmost block immediately, the others with the arena.
class paged_resource final : public resource<paged_resource> {
public:
    explicit paged_resource(ab_paged_arena *arena) noexcept : arena_(arena) {}
    const void *key() const noexcept { return arena_; }

private:
    void *do_allocate(std::size_t bytes, std::size_t align) override
    {
        return detail::demand(ab_paged_arena_alloc_aligned(arena_, align, bytes));
    }
    void do_deallocate(void *block, std::size_t bytes, std::size_t) override
    {
        (void)ab_paged_arena_pop(arena_, block, bytes, 0);
    }
    ab_paged_arena *arena_;
};

// The three arenas engine, game and scratch (paged_ready.h), each with a budget in bytes; 0 = the
// default budget.
class ready : detail::fixed {
public:
    explicit ready(std::size_t engine = 0, std::size_t game = 0, std::size_t scratch = 0)
    {
        const std::size_t bytes[] = {engine, game, scratch};
        static_assert(sizeof bytes / sizeof bytes[0] == AB_READY_COUNT, "a budget for each");
        detail::demand(ab_ready_open(&ready_, bytes), "ab_ready_open");
    }
    ~ready() { ab_ready_close(&ready_); }

    ab_ready *get() noexcept { return &ready_; }
    ab_paged_arena *engine() noexcept { return &ready_.arena[AB_READY_ENGINE]; }
    ab_paged_arena *game() noexcept { return &ready_.arena[AB_READY_GAME]; }
    ab_paged_arena *scratch() noexcept { return &ready_.arena[AB_READY_SCRATCH]; }
    // Finds an arena by its name; null or false if there is none.
    ab_paged_arena *arena(const char *name) noexcept { return ab_ready_arena(&ready_, name); }
    bool reset(const char *name) noexcept { return ab_ready_reset(&ready_, name); }

private:
    ab_ready ready_;
};
#endif

#ifndef AB_HEAPS_WITHOUT_POOL
// ---- pool ----

// Owns a pool of slots for objects of one type.
template <typename T> class pool : detail::fixed {
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
    ~pool() { ab_pool_fini(&pool_); } // does not destroy objects that are still alive

    ab_pool *get() noexcept { return &pool_; }

    // Constructs an object in a free slot; null if all slots are in use.
    template <typename... Arguments> T *try_create(Arguments &&...arguments)
    {
        void *slot = ab_pool_alloc(&pool_, sizeof(T));
        if (slot == nullptr)
            return nullptr;
        auto back = [this, slot] { ab_pool_free(&pool_, slot); };
        return detail::construct<T>(slot, back, std::forward<Arguments>(arguments)...);
    }
    template <typename... Arguments> T *create(Arguments &&...arguments)
    {
        return detail::or_throw(try_create(std::forward<Arguments>(arguments)...));
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

// A resource over a pool. Blocks too large or too aligned for a slot come from `upstream`; without
// it they throw.
class pool_resource final : public resource<pool_resource> {
public:
    explicit pool_resource(ab_pool *pool, std::pmr::memory_resource *upstream = nullptr) noexcept
        : pool_(pool), upstream_(upstream) {}
    auto key() const noexcept { return std::make_pair(pool_, upstream_); }

private:
    bool fits(std::size_t bytes, std::size_t align) const noexcept
    {
        return bytes <= pool_->slot_bytes && align <= pool_->align;
    }
    void *do_allocate(std::size_t bytes, std::size_t align) override
    {
        if (fits(bytes, align))
            return detail::demand(ab_pool_alloc(pool_, bytes));
        return upstream_ != nullptr ? upstream_->allocate(bytes, align) : detail::demand(nullptr);
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

using shared_pool =
    shared<ab_pool_shared, ab_pool_shared_options, ab_pool_shared_open, ab_pool_shared_close,
           ab_pool_shared_allocator>;
#endif

#ifndef AB_HEAPS_WITHOUT_SLAB
// ---- slab ----

class slabs : detail::fixed {
public:
    explicit slabs(const ab_slabs_options &options)
    {
        detail::demand(ab_slabs_init(&slabs_, &options), "ab_slabs_init");
    }
    ~slabs() { ab_slabs_fini(&slabs_); }

    ab_slabs *get() noexcept { return &slabs_; }

private:
    ab_slabs slabs_;
};

class slab_resource final : public resource<slab_resource> {
public:
    explicit slab_resource(ab_slabs *slabs) noexcept : slabs_(slabs) {}
    const void *key() const noexcept { return slabs_; }

private:
    void *do_allocate(std::size_t bytes, std::size_t align) override
    {
        return detail::demand(ab_slabs_alloc_aligned(slabs_, align, bytes));
    }
    void do_deallocate(void *block, std::size_t bytes, std::size_t) override
    {
        ab_slabs_free_sized(slabs_, block, bytes);
    }
    ab_slabs *slabs_;
};

using shared_slabs =
    shared<ab_slab_shared, ab_slab_shared_options, ab_slab_shared_open, ab_slab_shared_close,
           ab_slab_shared_allocator>;
#endif

#ifndef AB_HEAPS_WITHOUT_HANDLE
// ---- handle ----

// The handle of an object of type T; all zero = no object.
template <typename T> struct handle {
    ab_handle any;
    explicit operator bool() const noexcept { return any.version != 0; }
    friend bool operator==(handle a, handle b) noexcept { return ab_handle_equal(a.any, b.any); }
    friend bool operator!=(handle a, handle b) noexcept { return !(a == b); }
};

// An arena of objects with handles. The destructor of an object runs once: when the object is
// removed, at a flush, or at the end of the arena. A handle is valid from the end of the object's
// constructor to the start of its destructor, which may remove and insert objects, and flush.
template <typename T> class handle_arena : detail::fixed {
public:
    explicit handle_arena(std::uint64_t capacity)
    {
        detail::demand(ab_handle_arena_init_type(&arena_, sizeof(T), alignof(T), capacity),
                       "ab_handle_arena_init");
    }
    ~handle_arena()
    {
        flush();
        ab_handle_arena_fini(&arena_);
    }

    ab_handle_arena *get() noexcept { return &arena_; }
    std::uint32_t live() const noexcept { return arena_.n_live; }

    // Constructs an object and returns its handle; all zero if the arena is full.
    template <typename... Arguments> handle<T> try_insert(Arguments &&...arguments)
    {
        handle<T> made{};
        if (ab_handle_insert(&arena_, &made.any) != 0)
            return handle<T>{};
        auto back = [this, made] { give_back(made); };
        detail::construct<T>(ab_handle_hide(&arena_, made.any), back,
                             std::forward<Arguments>(arguments)...);
        (void)ab_handle_show(&arena_, made.any);
        return made;
    }
    template <typename... Arguments> handle<T> insert(Arguments &&...arguments)
    {
        return detail::or_throw(try_insert(std::forward<Arguments>(arguments)...));
    }
    // Returns the object; null for a stale handle.
    T *get(handle<T> h) noexcept { return static_cast<T *>(ab_handle_get_mut(&arena_, h.any)); }
    const T *get(handle<T> h) const noexcept
    {
        return static_cast<const T *>(ab_handle_get(&arena_, h.any));
    }
    // Destroys the object; false for a stale handle.
    bool remove(handle<T> h) noexcept
    {
        T *object = static_cast<T *>(ab_handle_hide(&arena_, h.any));
        if (object == nullptr)
            return false;
        object->~T();
        give_back(h);
        return true;
    }
    // Calls visit(handle, object) for each object; `visit` may remove that object.
    template <typename Visit> void each(Visit visit)
    {
        for (handle<T> h{}; ab_handle_next(&arena_, &h.any);)
            visit(h, *get(h));
    }
    // Destroys all objects, including those that destructors insert meanwhile.
    void flush() noexcept
    {
        if constexpr (std::is_trivially_destructible_v<T>) {
            ab_handle_flush(&arena_);
        } else {
            for (bool is_any = true; is_any;) {
                is_any = false;
                each([&](handle<T> h, T &) { is_any = remove(h); });
            }
        }
    }

private:
    // Removes the slot of an object whose constructor threw; the object is hidden until then.
    void give_back(handle<T> h) noexcept
    {
        if (ab_handle_show(&arena_, h.any))
            (void)ab_handle_remove(&arena_, h.any);
    }
    ab_handle_arena arena_;
};
#endif

// ---- an allocator for containers ----

// Allocator for standard containers, without virtual calls:
// std::vector<int, ab::allocator<int>> v(ab::allocator<int>(interface)). The interface is copied;
// its context must outlive the container.
template <typename T> class allocator {
public:
    using value_type = T;
    using propagate_on_container_move_assignment = std::true_type;
    using propagate_on_container_swap = std::true_type;

    explicit allocator(const ab_allocator &interface) noexcept : interface_(interface) {}
    template <typename U>
    allocator(const allocator<U> &other) noexcept : interface_(other.interface()) {}

    T *allocate(std::size_t n)
    {
        return static_cast<T *>(detail::demand(
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
