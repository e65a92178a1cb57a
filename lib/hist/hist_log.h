/* SPDX-License-Identifier: BSD-3-Clause */
/* Histograms as text that HdrHistogram's tools read: its interval log, version 1.3, with
 * histograms in its V2 compressed encoding.
 *
 * That encoding states a precision as 1 to 4 decimal digits, which stand for 2^4, 2^7, 2^10 and
 * 2^14 buckets in each power of two. A histogram whose shape has 4, 7, 10 or 14 bits is written
 * bucket by bucket. Any other shape is first merged into the next finer of these, where the values
 * of each bucket count as its highest value. So percentiles, maximum and counts that are read from
 * the log are those of hist.h, with its stated error, but a mean or minimum taken from the log is
 * too high by up to the width of a bucket.
 *
 * Values out of range are written as 2^top, the lowest that they can be (as 2^63 - 1 if top is 63,
 * because the encoding goes no further). A comment line before the interval says how many they
 * are. */
#pragma once
#include "hist.h"

/* Appends the lines that stand before the first interval: the version, the begin of the log
 * (start_s, seconds since the epoch), and the names of the columns. `comment` may be NULL; each of
 * its lines becomes a line that begins with '#'. */
void hist_log_header(struct sbuf *out, double start_s, const char *comment);
/* Appends the line of one interval: its begin and length in seconds, its maximum, and the
 * histogram h, which is read once. The maximum is printed in units of `max_unit` values (1e6
 * prints ms where values are ns). `tag` names a series and may be NULL; a character of it that
 * would break the line (comma, blank, line break) becomes '_'. Returns 0, or -ENOMEM, and then
 * nothing is appended. */
int hist_log_line(const struct hist *h, const char *tag, double from_s, double length_s,
		  double max_unit, struct sbuf *out);
