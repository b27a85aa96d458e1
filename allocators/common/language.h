/* SPDX-License-Identifier: MIT
 *
 * Macros for differences between C11 and C++17, because the headers and sources of the allocators
 * are valid in both.
 */
#ifndef AB_ALLOCATORS_LANGUAGE_H
#define AB_ALLOCATORS_LANGUAGE_H

#if __SIZEOF_POINTER__ < 8 && !defined(AB_ANY_POINTER_SIZE)
#error "these allocators need a 64-bit system: they reserve addresses for all that may come"
#endif

#ifdef __cplusplus
#define AB_ALIGNOF(type) alignof(type)
#define AB_ALIGNAS(bytes) alignas(bytes)
#define AB_STATIC_ASSERT(what, why) static_assert(what, why)
#define AB_OPTIONAL_MEMBER(...) __VA_ARGS__ = nullptr /* initializers may omit it */
#else
#define AB_ALIGNOF(type) _Alignof(type)
#define AB_ALIGNAS(bytes) _Alignas(bytes)
#define AB_STATIC_ASSERT(what, why) _Static_assert(what, why)
#define AB_OPTIONAL_MEMBER(...) __VA_ARGS__
#endif

/* Storage class of functions that the allocators share: empty in a library, `static` if each file
 * of a program has its own copy. */
#ifndef AB_COMMON_API
#define AB_COMMON_API
#endif

/* Makes the compiler warn if a caller ignores the result, which says whether the function
 * succeeded. */
#define AB_MUST_USE __attribute__((warn_unused_result))

#endif
