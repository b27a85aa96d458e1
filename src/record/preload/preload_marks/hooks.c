/* SPDX-License-Identifier: MIT
 *
 * Which functions are marked, and the functions by which programs look others up: what they give is
 * the trampoline, too. Libraries that are loaded while the program runs are looked at when something
 * in them is looked up, under the dynamic linker's own lock.
 */
#include "record/preload/preload_marks/hooks.h"

#include "record/preload/preload_spool.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <string.h>

static uintptr_t reals[AB_SPOOL_HOOKS]; /* 0 = not known yet */
static uint32_t n_hooks;
static unsigned long long n_loaded; /* modules that were ever loaded, when last looked at */
static uint32_t is_busy;

uintptr_t ab_hooks_enter(uint32_t i)
{
    int saved = errno;
    __atomic_fetch_add(&ab_control->hooks[i].n_calls, 1, __ATOMIC_RELAXED);
    ab_spool_note_mark(ab_control->hooks[i].name);
    errno = saved;
    return __atomic_load_n(&reals[i], __ATOMIC_ACQUIRE);
}

/* ---- functions that look functions up ---- */

static void look_again(void);

/* What was found instead of `found`, which is called `name`. */
static void *replace(void *found, const char *name)
{
    for (uint32_t i = 0; i < n_hooks && found != NULL && name != NULL; i++) {
        uintptr_t none = 0, address = (uintptr_t)found;
        if (strcmp(ab_control->hooks[i].name, name) != 0)
            continue;
        __atomic_compare_exchange_n(&reals[i], &none, address, false, __ATOMIC_ACQ_REL,
                                    __ATOMIC_ACQUIRE);
        if (reals[i] == address)
            return (void *)ab_hooks_trampoline(i);
    }
    return found;
}

enum { DLSYM, VK_DEVICE, VK_INSTANCE, GLX, GLX_ARB, EGL, FINDERS };
static uintptr_t finders[FINDERS];
typedef void *find_of(void *, const char *);
typedef void *find(const char *);

/* For RTLD_NEXT the real one has to see who asks: that call comes last, as a jump. */
static void *find_dlsym(void *handle, const char *name)
{
    look_again();
    if (handle == RTLD_NEXT)
        return ((find_of *)finders[DLSYM])(handle, name);
    return replace(((find_of *)finders[DLSYM])(handle, name), name);
}

static void *find_vk_device(void *device, const char *name)
{
    return replace(((find_of *)finders[VK_DEVICE])(device, name), name);
}

static void *find_vk_instance(void *instance, const char *name)
{
    void *found = ((find_of *)finders[VK_INSTANCE])(instance, name);
    if (found != NULL && strcmp(name, "vkGetDeviceProcAddr") == 0) {
        finders[VK_DEVICE] = finders[VK_DEVICE] != 0 ? finders[VK_DEVICE] : (uintptr_t)found;
        return finders[VK_DEVICE] == (uintptr_t)found ? (void *)find_vk_device : found;
    }
    return replace(found, name);
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

static int change(struct dl_phdr_info *m, size_t size, void *user)
{
    (void)size, (void)user;
    if (is_ours(m))
        return 0;
    for (uint32_t i = 0; i < n_hooks; i++)
        ab_entries_change(m, ab_control->hooks[i].name, &reals[i], ab_hooks_trampoline(i));
    for (uint32_t i = 0; i < FINDERS; i++)
        ab_entries_change(m, all_finders[i].name, &finders[i], (uintptr_t)all_finders[i].instead);
    return 0;
}

static int count(struct dl_phdr_info *m, size_t size, void *user)
{
    (void)size;
    *(unsigned long long *)user = m->dlpi_adds;
    return 1;
}

static int find_in(struct dl_phdr_info *m, size_t size, void *user)
{
    (void)size, (void)user;
    for (uint32_t i = 0; i < n_hooks && !is_ours(m); i++)
        if (reals[i] == 0)
            reals[i] = ab_entries_find(m, ab_control->hooks[i].name);
    return 0;
}

/* Entries that are not bound yet need to know where the function is: what the program's own modules
 * see comes first, then what any library has. */
static void find_all(void)
{
    for (uint32_t i = 0; i < n_hooks; i++)
        if (reals[i] == 0)
            reals[i] = (uintptr_t)dlsym(RTLD_DEFAULT, ab_control->hooks[i].name);
    for (uint32_t i = 0; i < FINDERS; i++)
        if (finders[i] == 0)
            finders[i] = (uintptr_t)dlsym(RTLD_DEFAULT, all_finders[i].name);
    dl_iterate_phdr(find_in, NULL);
}

static void look_again(void)
{
    unsigned long long n = 0;
    int saved = errno;
    if (__atomic_exchange_n(&is_busy, 1, __ATOMIC_ACQUIRE) != 0)
        return;
    dl_iterate_phdr(count, &n);
    if (n != n_loaded) {
        n_loaded = n;
        find_all();
        dl_iterate_phdr(change, NULL);
    }
    __atomic_store_n(&is_busy, 0, __ATOMIC_RELEASE);
    errno = saved;
}

void ab_hooks_start(void)
{
    if (ab_control == NULL || ab_hooks_trampoline(0) == 0)
        return;
    n_hooks = ab_control->n_hooks < AB_SPOOL_HOOKS ? ab_control->n_hooks : AB_SPOOL_HOOKS;
    if (n_hooks > 0)
        look_again();
}
