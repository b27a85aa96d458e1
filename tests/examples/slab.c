/* SPDX-License-Identifier: MIT
 *
 * The slabs by their public header alone: texts of any length.
 *     cc -I. -o slab tests/examples/slab.c allocators/slab/slab.c allocators/common/pages.c
 */
#include "allocators/slab/slab.h"

#include <stdio.h>
#include <string.h>

int main(void)
{
    static char *texts[1000];
    struct ab_slabs slabs;
    struct ab_slabs_options options = {
        .reserve_bytes = (size_t)1 << 30, .keep_max = 16, .spacing = AB_SLAB_FINE};
    if (ab_slabs_init(&slabs, &options) != 0)
        return 1;
    for (size_t i = 0; i < 1000; i++) {
        texts[i] = ab_slabs_alloc(&slabs, i + 1);
        memset(texts[i], 'a', i);
        texts[i][i] = 0;
    }
    texts[0] = ab_slabs_resize(&slabs, texts[0], 1, 100000);
    printf("%zu bytes usable in %zu slabs\n", ab_slabs_live(&slabs), slabs.n_fresh);
    for (size_t i = 0; i < 1000; i++)
        ab_slabs_free(&slabs, texts[i]);
    printf("%zu left\n", ab_slabs_live(&slabs));
    ab_slabs_fini(&slabs);
    return 0;
}
