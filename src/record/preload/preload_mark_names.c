/* SPDX-License-Identifier: MIT
 *
 * A hash table that only grows, without locks: a place is taken, filled, and from then on fixed. A
 * place that is being filled is passed over, since it may be this thread's own, beneath a signal
 * handler, or of a process that was killed. So a name can be there twice; the converter joins them.
 */
#include "record/preload/preload_mark_names.h"

#include <string.h>

static uint32_t hash_of(const char *name, uint32_t *n)
{
    uint32_t hash = 2166136261u; /* FNV-1a */
    for (*n = 0; name[*n] != 0 && *n < AB_SPOOL_MARK_NAME - 1; ++*n)
        hash = (hash ^ (uint8_t)name[*n]) * 16777619u;
    return hash;
}

static bool is_name(const struct ab_spool_mark_name *place, const char *name, uint32_t n)
{
    return memcmp(place->text, name, n) == 0 && place->text[n] == 0;
}

static void fill(struct ab_spool_mark_name *place, const char *name, uint32_t n)
{
    memcpy(place->text, name, n);
    __atomic_store_n(&place->state, AB_SPOOL_NAME_THERE, __ATOMIC_RELEASE);
}

uint32_t ab_mark_name_number(const char *name)
{
    struct ab_spool_mark_name *names = ab_control->mark_names;
    uint32_t n, at = hash_of(name, &n);
    for (uint32_t i = 0; i < AB_SPOOL_MARK_NAMES; i++, at++) {
        struct ab_spool_mark_name *place = &names[at % AB_SPOOL_MARK_NAMES];
        uint32_t state = __atomic_load_n(&place->state, __ATOMIC_ACQUIRE);
        if (state == AB_SPOOL_NO_NAME &&
            __atomic_compare_exchange_n(&place->state, &state, AB_SPOOL_NAME_TAKEN, false,
                                        __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE)) {
            fill(place, name, n);
            return at % AB_SPOOL_MARK_NAMES + 1;
        }
        if (state == AB_SPOOL_NAME_THERE && is_name(place, name, n))
            return at % AB_SPOOL_MARK_NAMES + 1;
    }
    return 0;
}
