/* SPDX-License-Identifier: MIT
 *
 * Which functions are marked, and the functions by which programs look others up: what they give is
 * the trampoline, too. Libraries that are loaded while the program runs are looked at when something
 * is looked up. Nothing here asks dlsym for what may not be there: it would allocate the message in
 * the recorded program.
 */
#include "record/preload/preload_marks/hooks.h"

#include "record/preload/preload_spool.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <string.h>
#include <sys/auxv.h>
#include <time.h>

/* Where functions of a name are: several libraries may have one, and some are only handed out. */
static uintptr_t reals[AB_SPOOL_HOOKS][AB_HOOKS_PLACES]; /* 0 = none yet */
static uint32_t n_hooks;
static unsigned long long n_loaded; /* modules that were ever loaded, when last looked at */
static uint32_t n_first;            /* modules of the start */
static uint64_t busy;               /* the process and thread that looks at them; 0 = none */
static uintptr_t fixed_end;         /* of the program, where it is at a fixed address */

uintptr_t ab_hooks_enter(uint32_t i)
{
    int saved = errno;
    struct ab_spool_hook *hook = &ab_control->hooks[i / AB_HOOKS_PLACES];
    __atomic_fetch_add(&hook->n_calls, 1, __ATOMIC_RELAXED);
    ab_spool_note_mark(hook->name);
    errno = saved;
    return __atomic_load_n(&reals[i / AB_HOOKS_PLACES][i % AB_HOOKS_PLACES], __ATOMIC_ACQUIRE);
}

/* What marks calls of function `hook` at this address; 0 = it is not known, and `may_add` is not
 * set or there is no place left. */
static uintptr_t trampoline_to(uint32_t hook, uintptr_t address, bool may_add)
{
    for (uint32_t k = 0; k < AB_HOOKS_PLACES; k++) {
        uintptr_t is = __atomic_load_n(&reals[hook][k], __ATOMIC_ACQUIRE);
        if (is == 0 && may_add &&
            __atomic_compare_exchange_n(&reals[hook][k], &is, address, false, __ATOMIC_ACQ_REL,
                                        __ATOMIC_ACQUIRE))
            is = address;
        if (is == address)
            return ab_hooks_trampoline(hook * AB_HOOKS_PLACES + k);
    }
    return 0;
}

/* ---- functions that look functions up ---- */

enum { DLSYM, VK_DEVICE, VK_INSTANCE, GLX, GLX_ARB, EGL, FINDERS };
static uintptr_t finders[FINDERS];
typedef void *find_of(void *, const char *);
typedef void *find(const char *);

static void look_again(void);
static const char *finder_name(uint32_t i);
static uintptr_t finder_instead(uint32_t i);

/* Places: hooks, then finders; all of them where it is none. */
static uint32_t place_of(const char *name)
{
    uint32_t i = 0;
    while (i < n_hooks && strcmp(ab_control->hooks[i].name, name) != 0)
        i++;
    for (uint32_t k = 0; i == n_hooks && k < FINDERS; k++)
        if (strcmp(finder_name(k), name) == 0)
            return n_hooks + k;
    return i < n_hooks ? i : n_hooks + FINDERS;
}

static bool is_trampoline(uintptr_t address)
{
    return address - ab_hooks_trampoline(0) <
           ab_hooks_trampoline(AB_SPOOL_HOOKS * AB_HOOKS_PLACES) - ab_hooks_trampoline(0);
}

/* What was found instead of `found`, which is called `name`. In a program at a fixed address it may
 * be the program's own entry, which leads to the trampoline already. */
static void *replace(void *found, const char *name)
{
    uint32_t i = found != NULL ? place_of(name) : n_hooks + FINDERS;
    uintptr_t address = (uintptr_t)found, none = 0, instead = 0;
    if (i < n_hooks && !is_trampoline(address))
        instead = trampoline_to(i, address, address >= fixed_end);
    else if (i >= n_hooks && i < n_hooks + FINDERS &&
             (__atomic_compare_exchange_n(&finders[i - n_hooks], &none, address, false,
                                          __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE) ||
              none == address))
        instead = finder_instead(i - n_hooks);
    return instead != 0 ? (void *)instead : found;
}

/* What the real one finds for RTLD_NEXT and RTLD_DEFAULT depends on who asks: that call comes last,
 * as a jump. */
static void *find_dlsym(void *handle, const char *name)
{
    look_again();
    if (handle == RTLD_NEXT || name == NULL || place_of(name) == n_hooks + FINDERS)
        return ((find_of *)finders[DLSYM])(handle, name);
    void *found = ((find_of *)finders[DLSYM])(handle, name);
    if (found == NULL && handle == RTLD_DEFAULT)
        return ((find_of *)finders[DLSYM])(handle, name);
    return replace(found, name);
}

static void *find_vk_device(void *device, const char *name)
{
    return replace(((find_of *)finders[VK_DEVICE])(device, name), name);
}

static void *find_vk_instance(void *instance, const char *name)
{
    return replace(((find_of *)finders[VK_INSTANCE])(instance, name), name);
}

static void *find_glx(const char *name)
{
    return replace(((find *)finders[GLX])(name), name);
}

static void *find_glx_arb(const char *name)
{
    return replace(((find *)finders[GLX_ARB])(name), name);
}

static void *find_egl(const char *name)
{
    return replace(((find *)finders[EGL])(name), name);
}

static const struct {
    const char *name;
    void *instead;
} all_finders[FINDERS] = {
    [DLSYM] = {"dlsym", find_dlsym},
    [VK_DEVICE] = {"vkGetDeviceProcAddr", find_vk_device},
    [VK_INSTANCE] = {"vkGetInstanceProcAddr", find_vk_instance},
    [GLX] = {"glXGetProcAddress", find_glx},
    [GLX_ARB] = {"glXGetProcAddressARB", find_glx_arb},
    [EGL] = {"eglGetProcAddress", find_egl},
};

static const char *finder_name(uint32_t i)
{
    return all_finders[i].name;
}

static uintptr_t finder_instead(uint32_t i)
{
    return (uintptr_t)all_finders[i].instead;
}

/* ---- modules ---- */

static bool is_ours(const struct dl_phdr_info *m)
{
    uintptr_t here = (uintptr_t)&n_hooks;
    for (unsigned i = 0; i < m->dlpi_phnum; i++)
        if (m->dlpi_phdr[i].p_type == PT_LOAD &&
            here - (m->dlpi_addr + m->dlpi_phdr[i].p_vaddr) < m->dlpi_phdr[i].p_memsz)
            return true;
    return false;
}

/* Where a function of this name is defined. */
struct search {
    const char *name;
    uintptr_t found;           /* the first one; 0 = none */
    uint32_t n_seen, n_others; /* modules; those after the first that have one, too */
    bool is_of_start;          /* its module was there at the start, so all modules see it */
};

static int find_in(struct dl_phdr_info *m, size_t size, void *user)
{
    (void)size;
    struct search *s = user;
    bool is_kernels = m->dlpi_addr != 0 && m->dlpi_addr == getauxval(AT_SYSINFO_EHDR);
    uintptr_t address = is_kernels ? 0 : ab_entries_find(m, s->name);
    if (address != 0 && s->found == 0) {
        s->found = address;
        s->is_of_start = n_loaded == 0 || s->n_seen < n_first;
    } else if (address != 0)
        s->n_others++;
    s->n_seen++;
    return s->is_of_start; /* the search is over */
}

struct change {
    unsigned long long n; /* modules that were ever loaded, all of them ready */
    struct ab_entries_wish wish;
};

static int change_in(struct dl_phdr_info *m, size_t size, void *user)
{
    (void)size;
    const struct change *c = user;
    if (m->dlpi_adds != c->n)
        return 1; /* one more, which may not be ready */
    if (!is_ours(m))
        ab_entries_change(m, &c->wish);
    return 0;
}

/* Which of several functions an entry will be bound to is known where all modules see it. */
static bool change_all(unsigned long long n, const char *name, uint32_t place)
{
    struct search s = {.name = name};
    dl_iterate_phdr(find_in, &s);
    if (s.found == 0)
        return true;
    struct change c = {n, {.name = name, .real = s.found}};
    c.wish.takes_unbound = s.is_of_start || s.n_others == 0;
    if (place < n_hooks)
        c.wish.to = trampoline_to(place, s.found, true);
    else {
        __atomic_store_n(&finders[place - n_hooks], s.found, __ATOMIC_RELEASE);
        c.wish.to = finder_instead(place - n_hooks);
    }
    return c.wish.to == 0 || dl_iterate_phdr(change_in, &c) == 0;
}

static int count(struct dl_phdr_info *m, size_t size, void *user)
{
    (void)size;
    *(unsigned long long *)user = m->dlpi_adds;
    return 1;
}

/* A module is in the list while another thread is loading it. dlsym waits for that thread. */
static void look_at_modules(void)
{
    unsigned long long n = 0;
    dl_iterate_phdr(count, &n);
    bool is_done = n != n_loaded && dlsym(RTLD_DEFAULT, "dlsym") != NULL;
    for (uint32_t i = 0; is_done && i < n_hooks; i++)
        is_done = change_all(n, ab_control->hooks[i].name, i);
    for (uint32_t i = 0; is_done && i < FINDERS; i++)
        is_done = change_all(n, all_finders[i].name, n_hooks + i);
    if (is_done)
        __atomic_store_n(&n_loaded, n, __ATOMIC_RELEASE);
}

static bool has_seen_all(void)
{
    unsigned long long n = 0;
    dl_iterate_phdr(count, &n);
    return n == __atomic_load_n(&n_loaded, __ATOMIC_ACQUIRE);
}

/* One thread at a time. The others wait, so that what they are about to call is marked; but not for
 * ever: the one that looks may wait for a constructor, which is where we are. Nor beneath a signal
 * handler for what it has interrupted. */
static bool enter(void)
{
    enum { WAITS = 100 };
    struct timespec pause = {0, 1000000};
    uint64_t pid = ab_process_id(), self = pid << 32 | ab_thread_id();
    for (int i = 0; i < WAITS; i++) {
        uint64_t is = 0;
        if (__atomic_compare_exchange_n(&busy, &is, self, false, __ATOMIC_SEQ_CST,
                                        __ATOMIC_SEQ_CST))
            return true;
        if (is >> 32 != pid && /* a forked child has only the number of its parent's thread */
            __atomic_compare_exchange_n(&busy, &is, self, false, __ATOMIC_SEQ_CST,
                                        __ATOMIC_SEQ_CST))
            return true;
        if (is == self)
            return false;
        syscall(SYS_nanosleep, &pause, NULL);
    }
    return false;
}

/* Whoever has looked looks once more where modules came meanwhile: those who loaded them may not
 * have waited. */
static void look_again(void)
{
    int saved = errno;
    while (!has_seen_all() && enter()) {
        look_at_modules();
        __atomic_store_n(&busy, 0, __ATOMIC_SEQ_CST);
    }
    errno = saved;
}

/* The program is the first module. */
static int find_fixed_end(struct dl_phdr_info *m, size_t size, void *user)
{
    (void)size, (void)user;
    for (unsigned i = 0; i < m->dlpi_phnum && m->dlpi_addr == 0; i++)
        if (m->dlpi_phdr[i].p_type == PT_LOAD) /* they ascend */
            fixed_end = m->dlpi_phdr[i].p_vaddr + m->dlpi_phdr[i].p_memsz;
    return 1;
}

void ab_hooks_start(void)
{
    unsigned long long n = 0;
    if (ab_control == NULL || ab_hooks_trampoline(0) == 0)
        return;
    dl_iterate_phdr(find_fixed_end, NULL);
    dl_iterate_phdr(count, &n);
    n_first = (uint32_t)n;
    n_hooks = ab_control->n_hooks < AB_SPOOL_HOOKS ? ab_control->n_hooks : AB_SPOOL_HOOKS;
    if (n_hooks > 0)
        look_again();
}
