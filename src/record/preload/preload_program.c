/* SPDX-License-Identifier: MIT
 *
 * Finds the name of the recorded program and how it was started, and makes its image file.
 */
#include "record/preload/preload.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static char program_name[sizeof((struct ab_spool_image *)NULL)->program];
static char program_path[sizeof((struct ab_spool_image *)NULL)->path];

const char *ab_program_name(void)
{
    return program_name;
}

struct ab_spool_image *ab_program_make_image(uint32_t *generation, enum ab_spool_stop *why)
{
    for (unsigned k = 0; k < 10000; k++) {
        struct ab_spool_image *image = ab_files_make((struct ab_file_id){ab_process_id(), k, -1},
                                                     AB_SPOOL_PAGE, why);
        *generation = k;
        if (image != NULL || errno != EEXIST)
            return image;
    }
    return NULL;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

/* True if the path leads to the executable file of this process. Many programs are links to one
 * file and act by the name they were called by. The path of a script does not lead to its
 * interpreter. */
static bool is_executable(const char *path)
{
    struct stat named, own;
    return path != NULL && strncmp(path, "/dev/fd/", 8) != 0 &&
           syscall(SYS_newfstatat, AT_FDCWD, path, &named, 0) == 0 &&
           syscall(SYS_newfstatat, AT_FDCWD, "/proc/self/exe", &own, 0) == 0 &&
           named.st_dev == own.st_dev && named.st_ino == own.st_ino;
}

static void keep(char *to, size_t room, const char *text)
{
    size_t bytes = strlen(text);
    memcpy(to, text, bytes < room ? bytes : room - 1);
}

void ab_program_find(void)
{
    char path[PATH_MAX];
    const char *called = (const char *)getauxval(AT_EXECFN);
    long n = syscall(SYS_readlinkat, AT_FDCWD, "/proc/self/exe", path, sizeof path - 1);
    path[n > 0 ? n : 0] = 0;
    keep(program_name, sizeof program_name, base_name(is_executable(called) ? called : path));
    keep(program_path, sizeof program_path, path);
}

void ab_program_note(struct ab_spool_image *image)
{
    memcpy(image->program, program_name, sizeof image->program);
    memcpy(image->path, program_path, sizeof image->path);
    syscall(SYS_prctl, PR_GET_NAME, image->comm);
}

uint32_t ab_program_read_command(const char *text, bool *is_plus)
{
    uint64_t value = 0;
    for (; *text >= '0' && *text <= '9' && value <= UINT32_MAX; text++)
        value = value * 10 + (uint64_t)(*text - '0');
    *is_plus = *text == '+';
    return text[*is_plus] == 0 && value <= UINT32_MAX ? (uint32_t)value : 0;
}

/* ---- environment variables ----
 *
 * Until the C library has set `environ`, the variables are read where the kernel left them. A
 * program may allocate before all constructors (.preinit_array). Without the variables, nothing
 * would then be recorded until its end. */

/* set by the dynamic linker: points to argc, argv, NULL, variables, NULL */
extern void *__libc_stack_end;

AB_HIDDEN const char *ab_environment(const char *name)
{
    char **at = (char **)__libc_stack_end;
    size_t n = strlen(name);
    if (environ != NULL || at == NULL || getauxval(AT_SECURE) != 0)
        return secure_getenv(name);
    at += 1 + (size_t) * (long *)__libc_stack_end + 1;
    for (; *at != NULL; at++)
        if (strncmp(*at, name, n) == 0 && (*at)[n] == '=')
            return *at + n + 1;
    return NULL;
}
