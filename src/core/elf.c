/* SPDX-License-Identifier: MIT
 *
 * Reads ELF files of this build's class and machine, so that the structures of <elf.h> can be used
 * directly. Of other ELF files, reads only the header. Symbols are looked up through DT_GNU_HASH or
 * DT_HASH, as the loader does. This takes a few reads for each name, and works with stripped
 * section headers.
 */
#include "core/elf.h"

#include "base/bits.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#if defined(__x86_64__)
#define MY_MACHINE EM_X86_64
#elif defined(__aarch64__)
#define MY_MACHINE EM_AARCH64
#endif
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define MY_DATA ELFDATA2LSB
#else
#define MY_DATA ELFDATA2MSB
#endif

enum {
    SEGMENTS_MAX = 256,
    DYNAMIC_MAX = 4096,
    /* symbols in the longest hash chain that is searched; real chains have a handful */
    CHAIN_MAX = 1 << 16,
    NOTES_MAX = 64,
    HEADERS_MAX = 4096,
    SYMBOLS_MAX = 4 << 20,
    SYMBOLS_AT_ONCE = 512,
};

struct reader {
    int fd;
    uint64_t size;
    Elf64_Ehdr header;
    Elf64_Phdr segments[SEGMENTS_MAX];
    /* values of the dynamic section */
    uint64_t symtab, strtab, strsz, hash, gnu_hash, soname, flags_1;
};

static bool read_at(const struct reader *r, uint64_t offset, void *buf, size_t n)
{
    char *p = buf;
    if (n > r->size || offset > r->size - n)
        return false;
    while (n > 0) {
        ssize_t got = pread(r->fd, p, n, (off_t)offset);
        if (got <= 0)
            return false;
        p += got;
        offset += (uint64_t)got;
        n -= (size_t)got;
    }
    return true;
}

/* Reads n bytes at an address, through the segment that the loader would map there. */
static bool read_address(const struct reader *r, uint64_t address, void *buf, size_t n)
{
    for (size_t i = 0; i < r->header.e_phnum; i++) {
        const Elf64_Phdr *s = &r->segments[i];
        if (s->p_type != PT_LOAD || address < s->p_vaddr || address - s->p_vaddr > s->p_filesz ||
            n > s->p_filesz - (address - s->p_vaddr))
            continue;
        uint64_t offset;
        return !__builtin_add_overflow(s->p_offset, address - s->p_vaddr, &offset) &&
               read_at(r, offset, buf, n);
    }
    return false;
}

/* Reads a string that ends within cap bytes. Leaves "" in buf if the string is longer. Reads byte
 * by byte, because its segment may end soon after the string. */
static bool read_string(const struct reader *r, uint64_t address, char *buf, size_t cap)
{
    for (size_t i = 0; i < cap; i++) {
        if (!read_address(r, address + i, &buf[i], 1))
            break;
        if (buf[i] == 0)
            return true;
    }
    buf[0] = 0;
    return false;
}

static const char *machine_name(unsigned machine)
{
    static const struct {
        unsigned machine;
        const char *name;
    } known[] = {{EM_386, "i386"},        {EM_X86_64, "x86-64"}, {EM_ARM, "ARM"},
                 {EM_AARCH64, "AArch64"}, {EM_RISCV, "RISC-V"},  {EM_PPC64, "POWER"},
                 {EM_S390, "S/390"},      {EM_MIPS, "MIPS"}};
    for (size_t i = 0; i < AB_ARRAY_LEN(known); i++)
        if (known[i].machine == machine)
            return known[i].name;
    return NULL;
}

static enum ab_status fail_machine(unsigned machine, struct ab_err *err)
{
    const char *name = machine_name(machine);
    if (name != NULL)
        return ab_fail(err, AB_INPUT, "is built for %s, this allocbench for %s", name,
                       machine_name(MY_MACHINE));
    return ab_fail(err, AB_INPUT, "is built for machine %u, this allocbench for %s", machine,
                   machine_name(MY_MACHINE));
}

static enum ab_status fail_not_elf(const unsigned char *begin, size_t n, struct ab_err *err)
{
    bool is_text = true;
    for (size_t i = 0; i < n; i++)
        is_text = is_text &&
                  (begin[i] == '\n' || begin[i] == '\t' || (begin[i] >= 0x20 && begin[i] < 0x7f));
    return ab_fail(err, AB_INPUT, "is not an ELF file%s",
                   is_text ? " but text, perhaps a linker script that names the real library" : "");
}

static enum ab_status read_header(struct reader *r, struct ab_err *err)
{
    Elf64_Ehdr *h = &r->header;
    size_t n = r->size < sizeof *h ? (size_t)r->size : sizeof *h;
    if (n == 0)
        return ab_fail(err, AB_INPUT, "is empty");
    if (!read_at(r, 0, h, n))
        return ab_fail(err, AB_INPUT, "cannot be read");
    if (n < SELFMAG || memcmp(h->e_ident, ELFMAG, SELFMAG) != 0)
        return fail_not_elf((const unsigned char *)h, n < 16 ? n : 16, err);
    if (n < 20)
        return ab_fail(err, AB_INPUT, "is truncated: its ELF header is incomplete");
    if (h->e_ident[EI_DATA] != MY_DATA)
        return ab_fail(err, AB_INPUT, "has the wrong byte order");
    if (h->e_ident[EI_CLASS] != ELFCLASS64 || h->e_machine != MY_MACHINE)
        return h->e_machine != MY_MACHINE
                   ? fail_machine(h->e_machine, err)
                   : ab_fail(err, AB_INPUT, "is a 32-bit file, this allocbench is 64-bit");
    if (n < sizeof *h)
        return ab_fail(err, AB_INPUT, "is truncated: its ELF header is incomplete");
    if (h->e_type != ET_DYN && h->e_type != ET_EXEC)
        return ab_fail(err, AB_INPUT, "is neither a shared object nor a program (%s)",
                       h->e_type == ET_REL    ? "an object file"
                       : h->e_type == ET_CORE ? "a core dump"
                                              : "unknown ELF type");
    return AB_OK;
}

static enum ab_status read_segments(struct reader *r, struct ab_err *err)
{
    const Elf64_Ehdr *h = &r->header;
    if (h->e_phnum == 0 || h->e_phnum > SEGMENTS_MAX || h->e_phentsize != sizeof(Elf64_Phdr))
        return ab_fail(err, AB_INPUT, "is broken: %u program headers of %u bytes", h->e_phnum,
                       h->e_phentsize);
    if (!read_at(r, h->e_phoff, r->segments, h->e_phnum * sizeof(Elf64_Phdr)))
        return ab_fail(err, AB_INPUT, "is truncated: program headers extend past end of file");
    for (size_t i = 0; i < h->e_phnum; i++) {
        const Elf64_Phdr *s = &r->segments[i];
        if (s->p_type == PT_LOAD && (s->p_filesz > r->size || s->p_offset > r->size - s->p_filesz))
            return ab_fail(err, AB_INPUT, "is truncated: a segment extends past end of file");
    }
    return AB_OK;
}

static const Elf64_Phdr *find_segment(const struct reader *r, uint32_t type)
{
    for (size_t i = 0; i < r->header.e_phnum; i++)
        if (r->segments[i].p_type == type)
            return &r->segments[i];
    return NULL;
}

static void note_dynamic(struct reader *r, const Elf64_Dyn *d)
{
    uint64_t *noted = d->d_tag == DT_SYMTAB     ? &r->symtab
                      : d->d_tag == DT_STRTAB   ? &r->strtab
                      : d->d_tag == DT_STRSZ    ? &r->strsz
                      : d->d_tag == DT_HASH     ? &r->hash
                      : d->d_tag == DT_GNU_HASH ? &r->gnu_hash
                      : d->d_tag == DT_SONAME   ? &r->soname
                      : d->d_tag == DT_FLAGS_1  ? &r->flags_1
                                                : NULL;
    if (noted != NULL)
        *noted = d->d_un.d_val;
}

static enum ab_status read_dynamic(struct reader *r, const Elf64_Phdr *segment, struct ab_err *err)
{
    size_t n = segment->p_filesz / sizeof(Elf64_Dyn);
    for (size_t i = 0; i < n && i < DYNAMIC_MAX; i++) {
        Elf64_Dyn d;
        if (!read_at(r, segment->p_offset + i * sizeof d, &d, sizeof d))
            return ab_fail(err, AB_INPUT,
                           "is truncated: the dynamic section extends past end of file");
        if (d.d_tag == DT_NULL)
            return AB_OK;
        note_dynamic(r, &d);
    }
    return ab_fail(err, AB_INPUT, "is broken: the dynamic section is not terminated");
}

static void read_build_id(const struct reader *r, const Elf64_Phdr *segment, char hex[41])
{
    uint64_t at = segment->p_offset, left = segment->p_filesz;
    for (int i = 0; i < NOTES_MAX; i++) {
        Elf64_Nhdr n;
        char name[4];
        unsigned char id[20];
        if (left < sizeof n || !read_at(r, at, &n, sizeof n))
            return;
        uint64_t name_bytes = ab_align_up(n.n_namesz, 4), desc_bytes = ab_align_up(n.n_descsz, 4);
        if (name_bytes + desc_bytes > left - sizeof n)
            return;
        if (n.n_type == NT_GNU_BUILD_ID && n.n_namesz == 4 && n.n_descsz <= sizeof id &&
            read_at(r, at + sizeof n, name, 4) && memcmp(name, "GNU", 4) == 0 &&
            read_at(r, at + sizeof n + 4, id, n.n_descsz)) {
            for (uint32_t k = 0; k < n.n_descsz; k++) {
                hex[2 * k] = "0123456789abcdef"[id[k] >> 4];
                hex[2 * k + 1] = "0123456789abcdef"[id[k] & 15];
            }
            return;
        }
        at += sizeof n + name_bytes + desc_bytes;
        left -= sizeof n + name_bytes + desc_bytes;
    }
}

/* True if symbol number `index` has this name and other objects can bind to it. */
static bool is_symbol(const struct reader *r, uint64_t index, const char *name)
{
    Elf64_Sym s;
    char text[64];
    size_t n = strlen(name) + 1;
    if (n > sizeof text || !read_address(r, r->symtab + index * sizeof s, &s, sizeof s))
        return false;
    unsigned bind = ELF64_ST_BIND(s.st_info), visibility = ELF64_ST_VISIBILITY(s.st_other);
    return s.st_shndx != SHN_UNDEF && (bind == STB_GLOBAL || bind == STB_WEAK || bind == 10) &&
           (visibility == STV_DEFAULT || visibility == STV_PROTECTED) && s.st_name < r->strsz &&
           n <= r->strsz - s.st_name && read_address(r, r->strtab + s.st_name, text, n) &&
           memcmp(text, name, n) == 0;
}

static bool is_in_gnu_hash(const struct reader *r, const char *name)
{
    uint32_t h = 5381, head[4], index, chain;
    for (const char *c = name; *c != 0; c++)
        h = h * 33 + (unsigned char)*c;
    if (!read_address(r, r->gnu_hash, head, sizeof head) || head[0] == 0)
        return false;
    uint64_t buckets = r->gnu_hash + sizeof head + (uint64_t)head[2] * 8;
    uint64_t chains = buckets + (uint64_t)head[0] * 4;
    if (!read_address(r, buckets + (uint64_t)(h % head[0]) * 4, &index, 4) || index < head[1])
        return false;
    for (uint64_t i = index; i < (uint64_t)index + CHAIN_MAX; i++) {
        if (!read_address(r, chains + (i - head[1]) * 4, &chain, 4))
            return false;
        if ((chain | 1) == (h | 1) && is_symbol(r, i, name))
            return true;
        if ((chain & 1) != 0)
            return false;
    }
    return false;
}

static bool is_in_sysv_hash(const struct reader *r, const char *name)
{
    uint32_t h = 0, head[2], index;
    for (const char *c = name; *c != 0; c++) {
        h = (h << 4) + (unsigned char)*c;
        h = (h ^ (h >> 24 & 0xf0)) & 0x0fffffff;
    }
    if (!read_address(r, r->hash, head, sizeof head) || head[0] == 0)
        return false;
    uint64_t buckets = r->hash + sizeof head, chains = buckets + (uint64_t)head[0] * 4;
    if (!read_address(r, buckets + (uint64_t)(h % head[0]) * 4, &index, 4))
        return false;
    for (int n = 0; index != 0 && index < head[1] && n < CHAIN_MAX; n++) {
        if (is_symbol(r, index, name))
            return true;
        if (!read_address(r, chains + (uint64_t)index * 4, &index, 4))
            return false;
    }
    return false;
}

static uint64_t find_symbols(const struct reader *r, const char *const *names, size_t n)
{
    uint64_t defined = 0;
    for (size_t i = 0; i < n; i++)
        if (r->gnu_hash != 0 ? is_in_gnu_hash(r, names[i]) : is_in_sysv_hash(r, names[i]))
            defined |= UINT64_C(1) << i;
    return defined;
}

static enum ab_status read_all(struct reader *r, struct ab_elf *elf, struct ab_err *err)
{
    enum ab_status status = read_header(r, err);
    if (status == AB_OK)
        status = read_segments(r, err);
    if (status != AB_OK)
        return status;
    const Elf64_Phdr *dynamic = find_segment(r, PT_DYNAMIC), *interp = find_segment(r, PT_INTERP);
    elf->is_dynamic = dynamic != NULL;
    if (dynamic != NULL && (status = read_dynamic(r, dynamic, err)) != AB_OK)
        return status;
    elf->is_executable = r->header.e_type == ET_EXEC || (r->flags_1 & DF_1_PIE) != 0;
    if (interp != NULL && (interp->p_filesz == 0 || interp->p_filesz > sizeof elf->interp ||
                           !read_at(r, interp->p_offset, elf->interp, interp->p_filesz) ||
                           elf->interp[interp->p_filesz - 1] != 0))
        return ab_fail(err, AB_INPUT, "is broken: its interpreter is not text");
    if (r->soname != 0 && r->soname < r->strsz)
        read_string(r, r->strtab + r->soname, elf->soname, sizeof elf->soname);
    for (size_t i = 0; i < r->header.e_phnum && elf->build_id[0] == 0; i++)
        if (r->segments[i].p_type == PT_NOTE)
            read_build_id(r, &r->segments[i], elf->build_id);
    return AB_OK;
}

static enum ab_status open_file(struct reader *r, const char *path, struct stat *st,
                                struct ab_err *err)
{
    r->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (r->fd < 0)
        return errno == ENOENT ? ab_fail(err, AB_INPUT, "does not exist")
                               : ab_fail_errno(err, AB_INPUT, "cannot be opened");
    if (fstat(r->fd, st) != 0 || !S_ISREG(st->st_mode)) {
        close(r->fd);
        return ab_fail(err, AB_INPUT, "is %s, not a regular file",
                       S_ISDIR(st->st_mode) ? "a directory" : "a device, socket or pipe");
    }
    r->size = (uint64_t)st->st_size;
    return AB_OK;
}

enum ab_status ab_elf_read(const char *path, const char *const *names, size_t n_names,
                           struct ab_elf *out, struct ab_err *err)
{
    struct reader r = {0};
    struct ab_elf elf = {0};
    struct stat st;
    AB_TRY(open_file(&r, path, &st, err));
    elf.dev = st.st_dev;
    elf.ino = st.st_ino;
    enum ab_status status = read_all(&r, &elf, err);
    if (status == AB_OK) {
        elf.defined = find_symbols(&r, names,
                                   n_names < AB_ELF_NAMES_MAX ? n_names : AB_ELF_NAMES_MAX);
        *out = elf;
    }
    close(r.fd);
    return status;
}

/* ---- functions by address ---- */

static bool find_address(const struct reader *r, uint64_t at, uint64_t *address)
{
    for (unsigned i = 0; i < r->header.e_phnum; i++) {
        const Elf64_Phdr *s = &r->segments[i];
        if (s->p_type != PT_LOAD || at < s->p_offset || at - s->p_offset >= s->p_filesz)
            continue;
        *address = s->p_vaddr + (at - s->p_offset);
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

/* Returns the symbol of a table that covers the address; st_name 0 = no symbol covers it. */
static Elf64_Sym search(const struct reader *r, const Elf64_Shdr *table, uint64_t address)
{
    Elf64_Sym best = {0}, some[SYMBOLS_AT_ONCE];
    uint64_t n = table->sh_size / sizeof some[0];
    for (uint64_t i = 0; i < n && i < SYMBOLS_MAX; i += SYMBOLS_AT_ONCE) {
        size_t now = n - i < SYMBOLS_AT_ONCE ? (size_t)(n - i) : SYMBOLS_AT_ONCE;
        if (!read_at(r, table->sh_offset + i * sizeof some[0], some, now * sizeof some[0]))
            break;
        for (size_t k = 0; k < now; k++)
            if (is_better(&some[k], address, &best))
                best = some[k];
    }
    return best;
}

static void read_name(const struct reader *r, const Elf64_Shdr *table, uint64_t name, char *buf,
                      size_t cap)
{
    Elf64_Shdr strings;
    buf[0] = 0;
    if (table->sh_link >= r->header.e_shnum ||
        !read_at(r, r->header.e_shoff + table->sh_link * sizeof strings, &strings, sizeof strings))
        return;
    for (size_t i = 0; i + 1 < cap && name + i < strings.sh_size; i++) {
        if (!read_at(r, strings.sh_offset + name + i, buf + i, 1) || buf[i] == 0)
            break;
        buf[i + 1] = 0;
    }
}

/* Names the function of the place, from the full symbol table, or if it has no symbol for the
 * address, from the dynamic symbol table. */
static void name_place(const struct reader *r, struct ab_elf_place *out)
{
    Elf64_Sym best = {0};
    if (r->header.e_shentsize != sizeof(Elf64_Shdr) || r->header.e_shnum > HEADERS_MAX)
        return;
    for (int wants_all = 1; wants_all >= 0 && best.st_name == 0; wants_all--)
        for (unsigned i = 0; i < r->header.e_shnum && best.st_name == 0; i++) {
            Elf64_Shdr s;
            if (!read_at(r, r->header.e_shoff + i * sizeof s, &s, sizeof s))
                return;
            if (s.sh_type != (wants_all ? SHT_SYMTAB : SHT_DYNSYM))
                continue;
            best = search(r, &s, out->address);
            if (best.st_name != 0)
                read_name(r, &s, best.st_name, out->function, sizeof out->function);
        }
    out->offset = out->address - best.st_value;
}

bool ab_elf_find_place(const char *path, uint64_t at, struct ab_elf_place *out)
{
    struct ab_elf_place place = {0};
    struct reader r = {0};
    struct stat st;
    if (open_file(&r, path, &st, NULL) != AB_OK)
        return false;
    bool is_found = read_header(&r, NULL) == AB_OK && read_segments(&r, NULL) == AB_OK &&
                    find_address(&r, at, &place.address);
    if (is_found) {
        name_place(&r, &place);
        *out = place;
    }
    close(r.fd);
    return is_found;
}

bool ab_elf_read_before(const char *path, uint64_t at, unsigned char *buf, size_t n)
{
    struct reader r = {0};
    struct stat st;
    if (open_file(&r, path, &st, NULL) != AB_OK)
        return false;
    bool is_read = at >= n && read_at(&r, at - n, buf, n);
    close(r.fd);
    return is_read;
}
