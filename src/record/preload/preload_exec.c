/* SPDX-License-Identifier: MIT
 *
 * Notes each program that a recorded process starts, because that program may not load the
 * recorder: it may be static, use another C library, or lack the environment variable. If it loads
 * the recorder, the recorder removes the note. Also runs in a child of vfork, and therefore writes
 * nothing but its note.
 */
#include "record/preload/preload.h"

#include "record/preload/preload_spool.h"

#include <alloca.h>
#include <dlfcn.h>
#include <errno.h>
#include <spawn.h>
#include <stdarg.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

static struct {
    int (*execve)(const char *, char *const[], char *const[]);
    int (*execv)(const char *, char *const[]);
    int (*execvp)(const char *, char *const[]);
    int (*execvpe)(const char *, char *const[], char *const[]);
    int (*execveat)(int, const char *, char *const[], char *const[], int);
    int (*posix_spawn)(pid_t *, const char *, const posix_spawn_file_actions_t *,
                       const posix_spawnattr_t *, char *const[], char *const[]);
    int (*posix_spawnp)(pid_t *, const char *, const posix_spawn_file_actions_t *,
                        const posix_spawnattr_t *, char *const[], char *const[]);
} real;

void ab_exec_find_real(void)
{
    *(void **)&real.execve = dlsym(RTLD_NEXT, "execve");
    *(void **)&real.execv = dlsym(RTLD_NEXT, "execv");
    *(void **)&real.execvp = dlsym(RTLD_NEXT, "execvp");
    *(void **)&real.execvpe = dlsym(RTLD_NEXT, "execvpe");
    *(void **)&real.execveat = dlsym(RTLD_NEXT, "execveat");
    *(void **)&real.posix_spawn = dlsym(RTLD_NEXT, "posix_spawn");
    *(void **)&real.posix_spawnp = dlsym(RTLD_NEXT, "posix_spawnp");
}

/* Looks up the real functions if that was not done yet, because a constructor of another library
 * may start a program before the recorder's constructor has run. */
static void make_ready(void)
{
    if (real.execve == NULL)
        ab_exec_find_real();
}

static struct ab_spool_start *note_start(uint32_t pid, const char *path)
{
    int saved = errno;
    bool is_over = ab_control == NULL ||
                   __atomic_load_n(&ab_control->stop, __ATOMIC_RELAXED) != AB_SPOOL_RUNNING;
    bool is_noted = ab_exec_noted == AB_EXEC_OF_ALL || ab_exec_noted == pid;
    struct ab_spool_start *start = is_noted && !is_over ? ab_exec_note(pid, path, AB_SPOOL_RUNNING)
                                                        : NULL;
    if (start != NULL)
        start->generation = ab_exec_next_generation(pid);
    errno = saved;
    return start;
}

/* Removes the note if exec returns, because it has then failed. */
static int failed(struct ab_spool_start *start, int result)
{
    if (start != NULL)
        __atomic_store_n(&start->state, AB_SPOOL_NO_START, __ATOMIC_RELEASE);
    return result;
}

/* ---- the exec family ---- */

EXPORT int execve(const char *path, char *const argv[], char *const envp[])
{
    make_ready();
    struct ab_spool_start *start = note_start(ab_process_id(), path);
    ab_spool_end_blocks();
    return failed(start, real.execve(path, argv, envp));
}

EXPORT int execv(const char *path, char *const argv[])
{
    make_ready();
    struct ab_spool_start *start = note_start(ab_process_id(), path);
    ab_spool_end_blocks();
    return failed(start, real.execv(path, argv));
}

EXPORT int execvp(const char *file, char *const argv[])
{
    make_ready();
    struct ab_spool_start *start = note_start(ab_process_id(), file);
    ab_spool_end_blocks();
    return failed(start, real.execvp(file, argv));
}

EXPORT int execvpe(const char *file, char *const argv[], char *const envp[])
{
    make_ready();
    struct ab_spool_start *start = note_start(ab_process_id(), file);
    ab_spool_end_blocks();
    return failed(start, real.execvpe(file, argv, envp));
}

EXPORT int execveat(int folder, const char *path, char *const argv[], char *const envp[], int flags)
{
    make_ready();
    if (real.execveat == NULL) {
        errno = ENOSYS;
        return -1;
    }
    struct ab_spool_start *start = note_start(ab_process_id(), path);
    ab_spool_end_blocks();
    return failed(start, real.execveat(folder, path, argv, envp, flags));
}

static size_t count_words(va_list words)
{
    size_t n = 0;
    while (va_arg(words, const char *) != NULL)
        n++;
    return n;
}

/* Builds argv from variadic arguments, beginning with `first`. If `envp` is not NULL, sets *envp to
 * the argument after the NULL. */
#define WORDS_TO_ARGV(first, envp) \
    va_list words, again; \
    va_start(words, first); \
    va_copy(again, words); \
    size_t n_words = count_words(again) + 1; /* with the NULL */ \
    va_end(again); \
    char **argv = alloca((n_words + 1) * sizeof argv[0]); \
    argv[0] = (char *)(first); \
    for (size_t i = 1; i <= n_words; i++) \
        argv[i] = va_arg(words, char *); \
    if ((envp) != NULL) \
        *(char *const **)(envp) = va_arg(words, char *const *); \
    va_end(words)

EXPORT int execl(const char *path, const char *first, ...)
{
    WORDS_TO_ARGV(first, (void *)NULL);
    return execv(path, argv);
}

EXPORT int execlp(const char *file, const char *first, ...)
{
    WORDS_TO_ARGV(first, (void *)NULL);
    return execvp(file, argv);
}

EXPORT int execle(const char *path, const char *first, ...)
{
    char *const *envp = NULL;
    WORDS_TO_ARGV(first, &envp);
    return execve(path, argv, envp);
}

EXPORT int posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
                       const posix_spawnattr_t *attributes, char *const argv[], char *const envp[])
{
    make_ready();
    pid_t child = 0;
    int result = real.posix_spawn(&child, path, actions, attributes, argv, envp);
    if (result == 0)
        note_start((uint32_t)child, path);
    if (result == 0 && pid != NULL)
        *pid = child;
    return result;
}

EXPORT int posix_spawnp(pid_t *pid, const char *file, const posix_spawn_file_actions_t *actions,
                        const posix_spawnattr_t *attributes, char *const argv[], char *const envp[])
{
    make_ready();
    pid_t child = 0;
    int result = real.posix_spawnp(&child, file, actions, attributes, argv, envp);
    if (result == 0)
        note_start((uint32_t)child, file);
    if (result == 0 && pid != NULL)
        *pid = child;
    return result;
}
