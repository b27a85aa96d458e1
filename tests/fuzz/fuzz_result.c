/* SPDX-License-Identifier: MIT
 *
 * libFuzzer entry: any bytes as a stored result. What is accepted must be writable, must come back
 * as the same document, and must print.
 */
#include "report/read/read_gates.h"
#include "report/sinks/sinks.h"
#include "report/table/sink_table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static enum ab_status read_bytes(const void *data, size_t n, struct ab_stored *out)
{
    char path[64];
    struct ab_err err = {.text = ""};
    int fd = memfd_create("result", MFD_CLOEXEC);
    if (fd < 0 || write(fd, data, n) != (ssize_t)n)
        abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    enum ab_status status = ab_stored_read(path, out, &err);
    if (status == AB_OK && (status = ab_stored_read_gates(path, out, &err)) != AB_OK)
        ab_stored_fini(out);
    close(fd);
    if ((status == AB_OK) != (err.text[0] == 0) || (status != AB_OK && status != AB_INPUT))
        abort(); /* refused without a reason */
    return status;
}

/* The document of a session; also prints its table, to nowhere. */
static char *write_all(const struct ab_session *s, size_t *n)
{
    char *text = NULL;
    FILE *to = open_memstream(&text, n), *nowhere = fopen("/dev/null", "w");
    if (to == NULL || nowhere == NULL || !ab_sink_json(to, s))
        abort();
    ab_sink_table(nowhere, s, (struct ab_table_style){.width = 80});
    ab_sink_csv(nowhere, s);
    ab_sink_junit(nowhere, s);
    ab_sink_markdown(nowhere, s);
    ab_sink_github(nowhere, s);
    ab_sink_benchmark_json(nowhere, s);
    ab_sink_google_benchmark(nowhere, s);
    fclose(nowhere);
    fclose(to);
    return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct ab_stored first, second;
    size_t n_first, n_second;
    if (read_bytes(data, n, &first) != AB_OK)
        return 0;
    char *once = write_all(&first.session, &n_first);
    if (read_bytes(once, n_first, &second) != AB_OK)
        abort();
    char *twice = write_all(&second.session, &n_second);
    if (n_first != n_second || memcmp(once, twice, n_first) != 0)
        abort();
    free(once);
    free(twice);
    ab_stored_fini(&first);
    ab_stored_fini(&second);
    return 0;
}
