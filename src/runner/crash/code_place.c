/* SPDX-License-Identifier: MIT
 *
 * Addresses of code to files and functions. There is no unwinder that a broken process could run, and
 * none here: a return address is known by the call before it.
 */
#include "runner/crash/code_place.h"

#include "core/elf.h"
#include "core/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static bool read_line(const char *line, size_t n, struct ab_code_map *m)
{
    char text[4352];
    int path = 0;
    n = n < sizeof text - 1 ? n : sizeof text - 1;
    memcpy(text, line, n);
    text[n] = 0;
    *m = (struct ab_code_map){.begin = 0};
    if (sscanf(text, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %*s %*s %n", &m->begin, &m->end,
               m->perms, &m->offset, &path) < 4)
        return false;
    if (path > 0 && text[path] == '/')
        snprintf(m->file, sizeof m->file, "%s", text + path);
    return true;
}

bool ab_code_map_find(const struct ab_crash_report *crash, uint64_t address,
                      struct ab_code_map *out)
{
    const char *at = crash->maps, *end = crash->maps + crash->maps_bytes;
    while (at < end) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        if (stop == NULL)
            return false;
        if (read_line(at, (size_t)(stop - at), out) && address >= out->begin && address < out->end)
            return true;
        at = stop + 1;
    }
    return false;
}

const char *ab_code_file(char *buf, size_t cap, const char *path)
{
    const char *slash = strrchr(path, '/');
    return ab_text_printable(buf, cap, slash != NULL ? slash + 1 : path);
}

static void tell_place(const struct ab_code_map *m, uint64_t pc, char *buf, size_t cap)
{
    struct ab_elf_place place;
    char file[128], function[512];
    ab_code_file(file, sizeof file, m->file);
    if (!ab_elf_find_place(m->file, pc - m->begin + m->offset, &place))
        snprintf(buf, cap, "%s", file);
    else if (place.function[0] == 0)
        snprintf(buf, cap, "%s+0x%" PRIx64, file, place.address);
    else
        snprintf(buf, cap, "%s+0x%" PRIx64 " (%s+0x%" PRIx64 ")", file, place.address,
                 ab_text_printable(function, sizeof function, place.function), place.offset);
}

static bool is_same_file(const char *a, const char *b)
{
    struct stat x, y;
    return a[0] != 0 && b != NULL && stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev &&
           x.st_ino == y.st_ino;
}

/* Do the bytes before an address end a call? */
static bool follows_call(const struct ab_code_map *m, uint64_t address)
{
    unsigned char b[8];
    if (!ab_elf_read_before(m->file, address - m->begin + m->offset, b + 1, 7))
        return false;
#if defined(__x86_64__)
    bool is_call = b[3] == 0xe8; /* to a fixed place; else FF /2, by a register or memory */
    for (unsigned i = 1; i < 7 && !is_call; i++)
        is_call = i != 3 && b[i] == 0xff && (b[i + 1] & 0x38) == 0x10;
    return is_call;
#elif defined(__aarch64__)
    uint32_t word = (uint32_t)b[4] | (uint32_t)b[5] << 8 | (uint32_t)b[6] << 16 |
                    (uint32_t)b[7] << 24;
    return word >> 26 == 0x25 || (word & 0xfffffc1f) == 0xd63f0000; /* bl; blr */
#else
    return false;
#endif
}

/* The innermost call in the library that has not returned; false: none is on the stack. */
static bool find_caller(const struct ab_crash_report *crash, const char *library,
                        struct ab_code_map *m, uint64_t *address)
{
    for (uint32_t i = 0; i < crash->n_stack; i++) {
        *address = crash->stack[i];
        if (ab_code_map_find(crash, *address, m) && m->perms[2] == 'x' &&
            is_same_file(m->file, library) && follows_call(m, *address))
            return true;
    }
    return false;
}

void ab_code_place_tell(const struct ab_crash_report *crash, const char *library, char *buf,
                        size_t cap)
{
    struct ab_code_map m, caller;
    uint64_t from;
    size_t n = 0;
    buf[0] = 0;
    bool is_code = ab_code_map_find(crash, crash->pc, &m) && m.perms[2] == 'x';
    if (is_code && m.file[0] != 0)
        tell_place(&m, crash->pc, buf, cap);
    else
        snprintf(buf, cap, "0x%" PRIx64 ", which is no code", crash->pc);
    n = strlen(buf);
    if ((is_code && is_same_file(m.file, library)) || n + 32 > cap ||
        !find_caller(crash, library, &caller, &from))
        return;
    n += (size_t)snprintf(buf + n, cap - n, ", called from ");
    tell_place(&caller, from - 1, buf + n, cap - n);
}
