/* SPDX-License-Identifier: MIT
 *
 * Finds the function of a malloc library that frees a block of known size. The function must come
 * from the object that serves malloc; otherwise blocks would go to another allocator. If there is
 * none, plain free is used.
 */
#include "worker/worker.h"

#include "base/bits.h"

#include <string.h>

struct family {
    const char *sized, *aligned; /* aligned NULL: plain free is used for aligned blocks */
    enum ab_sized_shape shape;
    const char *shown; /* name in the report; NULL = `sized` */
};

/* The functions of the standard come first, then the libraries' own. The flags of jemalloc's
 * sdallocx hold the log2 of the alignment. */
static const struct family families[] = {
    {"free_sized", "free_aligned_sized", AB_SIZED_ALIGN_FIRST, NULL},
    {"sdallocx", "sdallocx", AB_SIZED_FLAGS, NULL},
    {"mi_free_size", "mi_free_size_aligned", AB_SIZED_SIZE_FIRST, NULL},
    /* this family is searched for only with a prefix */
    {"free_size", "free_size_aligned", AB_SIZED_SIZE_FIRST, NULL},
    {"tc_free_sized", NULL, AB_SIZED_SIZE_FIRST, NULL},
    {"_ZdlPvm", "_ZdlPvmSt11align_val_t", AB_SIZED_SIZE_FIRST, "operator delete(void*, size_t)"},
};

static void *plain(const struct ab_malloc_calls *face)
{
    void *function;
    memcpy(&function, &face->free, sizeof function);
    return function;
}

static void tell(struct ab_worker *w, const char *prefix, const char *name)
{
    char *out = w->page->report.sized_free;
    size_t cap = sizeof w->page->report.sized_free, n = 0;
    for (const char *s = prefix; *s != 0 && n + 1 < cap; s++)
        out[n++] = *s;
    for (const char *s = name; *s != 0 && n + 1 < cap; s++)
        out[n++] = *s;
    out[n] = 0;
}

void ab_worker_find_sized_free(struct ab_worker *w, struct ab_malloc_calls *face,
                               ab_own_function *find)
{
    *(void **)&face->free_sized = plain(face);
    face->free_aligned = NULL;
    /* asks only if the tape needs it, because dlsym calls malloc for a name that it does not
     * find */
    if (w->image->n_sized_frees == 0)
        return;
    tell(w, "", "free");
    for (size_t i = 0; i < AB_ARRAY_LEN(families); i++) {
        const struct family *f = &families[i];
        void *sized = find(w, f->sized);
        if (sized == NULL)
            continue;
        *(void **)&face->free_sized = sized;
        face->free_aligned = f->aligned != NULL ? find(w, f->aligned) : NULL;
        face->aligned_shape = f->shape;
        tell(w, f->shown == NULL ? w->page->request.prefix : "",
             f->shown != NULL ? f->shown : f->sized);
        return;
    }
}
