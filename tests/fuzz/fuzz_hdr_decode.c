/* SPDX-License-Identifier: MIT
 *
 * ab_hdr_decode with the input as text, and once more with it as the bytes that text would stand
 * for: a mutator rarely finds its way through base64 and never through zlib's checksum. What is
 * accepted must be writable and come back the same.
 */
#include "result/hdr.h"
#include "result/hdr_v2.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static struct ab_hdr first, second;

static void try_text(const char *text)
{
    struct ab_err err = {.text = ""};
    char *again;
    if (ab_hdr_decode(text, &first, &err) != AB_OK) {
        if (err.text[0] == 0)
            abort(); /* refused without a reason */
        return;
    }
    if (ab_hdr_encode(&first, &again, &err) != AB_OK ||
        ab_hdr_decode(again, &second, &err) != AB_OK || memcmp(&first, &second, sizeof first) != 0)
        abort();
    free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    char *text = malloc((n + 2) / 3 * 4 + 1);
    if (text == NULL)
        return 0;
    memcpy(text, data, n);
    text[n] = 0;
    try_text(text);
    ab_hdr_base64(text, data, n);
    try_text(text);
    free(text);
    return 0;
}
