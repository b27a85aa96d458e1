/* SPDX-License-Identifier: MIT
 *
 * Finds the programs that `exec` measures: the command after `--`, or several of --program
 * NAME=COMMAND. Makes the rows of a session: each program under each allocator, program by program.
 */
#ifndef AB_APP_EXEC_PROGRAMS_H
#define AB_APP_EXEC_PROGRAMS_H

#include "app/request.h"
#include "backend/selection.h"
#include "program/program.h"

struct ab_exec_program {
    char name[AB_PROGRAM_NAME_BYTES]; /* "" for the command after `--` */
    char path[4096];                  /* path of the program's file */
    struct ab_program_command command;
    const char *text; /* COMMAND as given; NULL for the command after `--` */
    /* words of `text`, owned, end with NULL; NULL for the command after `--` */
    char **words;
    char sha256[65]; /* digest of the file; "" = unknown */
    /* the malloc that the program brings along; set when the rows are made */
    struct ab_own_malloc own;
};

struct ab_exec_row { /* program and malloc of one row of the session */
    uint32_t program;
    bool is_own; /* True to run under the program's own malloc */
};

struct ab_exec_programs {
    struct ab_exec_program *items; /* n programs, owned */
    uint32_t n;
    /* one for each row of the selection, owned; NULL before the rows are made */
    struct ab_exec_row *rows;
};

/* Finds the programs of a request. Splits the COMMAND of --program into words as a shell does,
 * without running a shell. Fails with AB_USAGE. Release `out` also after a failure. */
enum ab_status ab_exec_programs_read(const struct ab_exec_request *asked,
                                     struct ab_exec_programs *out, struct ab_err *err);
/* Replaces the allocators of the list by rows: each program under each allocator. A row of
 * --program is called NAME, or NAME@ALLOCATOR if there are several allocators. The rows of the
 * command after `--` keep the names of the allocators. With wants_own, each program gets one more
 * row for the malloc that it brings along. Finding this malloc runs the dynamic linker, so call
 * ab_supervise_begin() first. */
enum ab_status ab_exec_programs_make_rows(struct ab_exec_programs *programs, bool wants_own,
                                          struct ab_selection_list *list, struct ab_err *err);
void ab_exec_programs_fini(struct ab_exec_programs *programs);

#endif
