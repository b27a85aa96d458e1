/* SPDX-License-Identifier: MIT
 *
 * Resolves the addresses that the interposer noted to functions and lines. The measured program
 * chooses the paths, so only regular files are opened.
 */
#include "app/call_sites.h"

#include "core/text.h"
#include "symbols/symbols.h"

#include <string.h>
#include <sys/stat.h>

static bool needs_name(const struct ab_call_site *site)
{
    return site->function[0] == 0 && site->object[0] != 0;
}

/* Sets the file of a call site. Cuts a long path at its beginning, because its end says more. */
static void set_file(struct ab_call_site *site, const char *file)
{
    size_t n = strlen(file), cap = sizeof site->file - 1;
    AB_COPY(site->file, n > cap ? file + n - cap : file);
}

static void name_site(struct ab_symbols *symbols, struct ab_call_site *site)
{
    struct ab_symbol found[AB_SYMBOLS_MAX];
    if (symbols != NULL && ab_symbols_find(symbols, site->offset, found) > 0) {
        AB_COPY(site->function, found[0].function);
        set_file(site, found[0].file);
        site->line = found[0].line > 0 ? (uint32_t)found[0].line : 0;
    }
    if (site->function[0] == 0)
        AB_FIT(site->function, "%s+0x%llx", basename(site->object),
               (unsigned long long)site->offset);
}

void ab_call_sites_name(struct ab_session *s)
{
    for (uint32_t i = 0; i < s->n_call_sites; i++) {
        struct ab_symbols *symbols = NULL;
        struct stat st;
        if (!needs_name(&s->call_sites[i]))
            continue;
        if (stat(s->call_sites[i].object, &st) == 0 && S_ISREG(st.st_mode))
            ab_symbols_open(s->call_sites[i].object, NULL, 0, &symbols);
        for (uint32_t k = s->n_call_sites; k-- > i;)
            if (needs_name(&s->call_sites[k]) &&
                strcmp(s->call_sites[k].object, s->call_sites[i].object) == 0)
                name_site(symbols, &s->call_sites[k]);
        if (symbols != NULL)
            ab_symbols_close(symbols);
    }
}
