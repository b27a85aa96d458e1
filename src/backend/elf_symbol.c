/* SPDX-License-Identifier: MIT
 *
 * Symbols by address.
 */
#include "backend/elf_symbol.h"

#include <elf.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum { HEADERS_MAX = 4096, SYMBOLS_MAX = 4 << 20, AT_ONCE = 512 };

static bool read_at(int fd, uint64_t offset, void *buf, size_t n)
{
    return offset <= INT64_MAX - n && pread(fd, buf, n, (off_t)offset) == (ssize_t)n;
}

static bool read_head(int fd, Elf64_Ehdr *h)
{
    return read_at(fd, 0, h, sizeof *h) && memcmp(h->e_ident, ELFMAG, SELFMAG) == 0 &&
           h->e_ident[EI_CLASS] == ELFCLASS64 && h->e_phentsize == sizeof(Elf64_Phdr);
}

static bool find_address(int fd, const Elf64_Ehdr *h, uint64_t at, uint64_t *address)
{
    for (unsigned i = 0; i < h->e_phnum; i++) {
        Elf64_Phdr s;
        if (!read_at(fd, h->e_phoff + i * sizeof s, &s, sizeof s))
            return false;
        if (s.p_type != PT_LOAD || at < s.p_offset || at - s.p_offset >= s.p_filesz)
            continue;
        *address = s.p_vaddr + (at - s.p_offset);
        return true;
    }
    return false;
}

static bool is_better(const Elf64_Sym *s, uint64_t address, const Elf64_Sym *best)
{
    unsigned type = ELF64_ST_TYPE(s->st_info);
    if ((type != STT_FUNC && type != STT_GNU_IFUNC) || s->st_shndx == SHN_UNDEF ||
        s->st_value > address || (s->st_size != 0 && address - s->st_value >= s->st_size))
        return false;
    return best->st_name == 0 || s->st_value > best->st_value;
}

/* The symbol of a table that covers the address; st_name 0: none. */
static Elf64_Sym search(int fd, const Elf64_Shdr *table, uint64_t address)
{
    Elf64_Sym best = {0}, some[AT_ONCE];
    uint64_t n = table->sh_size / sizeof some[0];
    for (uint64_t i = 0; i < n && i < SYMBOLS_MAX; i += AT_ONCE) {
        size_t now = n - i < AT_ONCE ? (size_t)(n - i) : AT_ONCE;
        if (!read_at(fd, table->sh_offset + i * sizeof some[0], some, now * sizeof some[0]))
            break;
        for (size_t k = 0; k < now; k++)
            if (is_better(&some[k], address, &best))
                best = some[k];
    }
    return best;
}

static void read_name(int fd, const Elf64_Ehdr *h, const Elf64_Shdr *table, uint64_t name,
                      char *buf, size_t cap)
{
    Elf64_Shdr strings;
    buf[0] = 0;
    if (table->sh_link >= h->e_shnum ||
        !read_at(fd, h->e_shoff + table->sh_link * sizeof strings, &strings, sizeof strings))
        return;
    for (size_t i = 0; i + 1 < cap && name + i < strings.sh_size; i++) {
        if (!read_at(fd, strings.sh_offset + name + i, buf + i, 1) || buf[i] == 0)
            break;
        buf[i + 1] = 0;
    }
}

/* All symbols where they are there, else those that the loader needs. */
static void name_place(int fd, const Elf64_Ehdr *h, struct ab_elf_place *out)
{
    Elf64_Sym best = {0};
    if (h->e_shentsize != sizeof(Elf64_Shdr) || h->e_shnum > HEADERS_MAX)
        return;
    for (int wants_all = 1; wants_all >= 0 && best.st_name == 0; wants_all--)
        for (unsigned i = 0; i < h->e_shnum && best.st_name == 0; i++) {
            Elf64_Shdr s;
            if (!read_at(fd, h->e_shoff + i * sizeof s, &s, sizeof s))
                return;
            if (s.sh_type != (wants_all ? SHT_SYMTAB : SHT_DYNSYM))
                continue;
            best = search(fd, &s, out->address);
            if (best.st_name != 0)
                read_name(fd, h, &s, best.st_name, out->function, sizeof out->function);
        }
    out->offset = out->address - best.st_value;
}

bool ab_elf_find_place(const char *path, uint64_t at, struct ab_elf_place *out)
{
    struct ab_elf_place place = {0};
    Elf64_Ehdr h;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    bool is_found = fd >= 0 && read_head(fd, &h) && find_address(fd, &h, at, &place.address);
    if (is_found) {
        name_place(fd, &h, &place);
        *out = place;
    }
    if (fd >= 0)
        close(fd);
    return is_found;
}

bool ab_elf_read_before(const char *path, uint64_t at, unsigned char *buf, size_t n)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    bool is_read = fd >= 0 && at >= n && read_at(fd, at - n, buf, n);
    if (fd >= 0)
        close(fd);
    return is_read;
}
