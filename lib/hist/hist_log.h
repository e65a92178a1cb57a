/* SPDX-License-Identifier: BSD-3-Clause */
/* Histograms as text that HdrHistogram's tools read: its interval log, version 1.3, with histograms in its V2 compressed encoding.
 *
 * That encoding knows a precision only as decimal digits 1..4, which stand for 2^4, 2^7, 2^10 and 2^14 slots in each power of two: bits 4, 7,
 * 10 and 14 of hist_shape go out slot by slot. Any other shape is recorded into the next finer one, each slot at its highest value: percentiles,
 * maximum and counts read from the log are those of hist.h, with its stated error; a mean or minimum taken from it is too high by up to a slot.
 * Values out of range stand at 2^top (or 2^63 - 1), the lowest that they can be, and a comment line before the interval says how many they are. */
#pragma once
#include "hist.h"

/* Digits for a shape's bits. */
unsigned hist_log_digits(unsigned bits);
/* Lines before the first interval: version, begin in s since the epoch, column names. comment (may be NULL): one '#' line for each of its lines. */
void hist_log_header(struct sbuf *out, double start_s, const char *comment);
/* One interval, appended: begin and length in s, its maximum in `max_unit` of values (1e6: ms of ns), the histogram. tag (may be NULL) names a
 * series; what would break the line (comma, blank, line break) becomes '_'. h is read once. 0, or -ENOMEM and nothing is appended. */
int hist_log_line(const struct hist *h, const char *tag, double from_s, double length_s, double max_unit, struct sbuf *out);
