/* SPDX-License-Identifier: MIT
 *
 * The findings of `calibrate` about a machine, as a JSON file (allocbench-calibration/1).
 */
#ifndef AB_DOCUMENT_CALIBRATION_H
#define AB_DOCUMENT_CALIBRATION_H

#include "core/status.h"
#include "stats/noise.h"

#include <stdio.h>

struct ab_calibration {
    char date[32]; /* 2026-01-02T03:04:05Z */
    char version[64], fingerprint[65], cpu[128], kernel[128], workload[128], tape_sha256[65];
    struct ab_noise_levels noise;
};

/* Writes the file name calibration-FINGERPRINT12.json, one per machine, so that several machines
 * may share a folder. */
void ab_calibration_name(const char *fingerprint, char *buf, size_t cap);

void ab_calibration_write(FILE *to, const struct ab_calibration *c);
/* Reads a calibration. Returns AB_INPUT if it is not one, was altered, or has impossible numbers;
 * the message names file and place. */
enum ab_status ab_calibration_read(const char *path, struct ab_calibration *out,
                                   struct ab_err *err);

#endif
