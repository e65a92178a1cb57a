/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads histograms, and writes their log and what lib/hist says of them.
 *
 *	in:   `hist BITS TOP TAG FROM_S LENGTH_S MAX_UNIT` (TAG `-`: none), then lines
 *	      `VALUE TIMES`; `comment TEXT` before the first
 *	out:  `expect COUNT MIN MAX MEAN STDEV PERCENTILE...` (of the percents below) for each,
 *	      and the log after `log` */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hist_log.h"

static const double percents[] = {0.001, 1, 10, 25, 50, 75, 90, 99, 99.9, 99.99, 99.999, 100};

struct job {
	struct hist *h;
	char tag[64];
	double from_s, length_s, unit;
};

static int finish(struct job *j, struct sbuf *log)
{
	int rc;

	if (j->h == NULL)
		return 0;
	printf("expect %" PRIu64 " %" PRIu64 " %" PRIu64 " %.17g %.17g", hist_count(j->h),
	       hist_min(j->h), hist_max(j->h), hist_mean(j->h), hist_stdev(j->h));
	for (unsigned i = 0; i < ARRAY_SIZE(percents); i++)
		printf(" %" PRIu64, hist_percentile(j->h, percents[i]));
	putchar('\n');
	rc = hist_log_line(j->h, strcmp(j->tag, "-") != 0 ? j->tag : NULL, j->from_s, j->length_s,
			   j->unit, log);
	free(j->h);
	j->h = NULL;
	return rc;
}

int main(void)
{
	struct sbuf log = {0};
	struct job j = {0};
	char line[256], comment[256] = "";
	unsigned bits, top;
	uint64_t v, n;
	int rc = 0;

	while (rc == 0 && fgets(line, sizeof(line), stdin) != NULL) {
		if (strncmp(line, "comment ", 8) == 0) {
			snprintf(comment, sizeof(comment), "%s", line + 8);
		} else if (sscanf(line, "%" SCNu64 " %" SCNu64, &v, &n) == 2 && j.h != NULL) {
			hist_add(j.h, v, n);
			for (uint64_t i = 0; i < n && v >> j.h->shape.top == 0; i++)
				hist_add_sum(j.h, v);
		} else if (strncmp(line, "hist ", 5) == 0) {
			if (log.len == 0)
				hist_log_header(&log, 1700000000.25, comment);
			rc = finish(&j, &log);
			if (sscanf(line, "hist %u %u %63s %lf %lf %lf", &bits, &top, j.tag,
				   &j.from_s, &j.length_s, &j.unit) != 6)
				rc = 2;
			else
				j.h = hist_new((struct hist_shape){(uint8_t)bits, (uint8_t)top});
		} else {
			rc = 2;
		}
	}
	rc = rc != 0 ? rc : finish(&j, &log);
	free(j.h);
	printf("log\n%s", sbuf_str(&log));
	sbuf_free(&log);
	return rc != 0;
}
