/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files share that make settings of HTTP of texts. For control. */
#pragma once
#include "workload.h"

struct http_item {
	char *text;
	uint64_t number; /* http_list_numbers() */
	uint32_t weight;
	int col; /* where the text of the setting has it */
};
struct http_list {
	struct http_item *item;
	unsigned n;
	uint64_t total; /* of the weights, which have no common divisor */
};
/* Reads a list with weights into *l, which begins as {0}. `what` names the setting in errors; the
 * column is that in text. host: a colon may also stand before a port. *l must be freed in any
 * case. */
int http_list_parse(struct http_list *l, const char *what, const char *text, bool host,
		    struct err *e);
/* Reads the texts of all choices as numbers. */
int http_list_numbers(struct http_list *l, const char *what, uint64_t least, uint64_t most,
		      struct err *e);
/* Makes a list of sizes, without texts: of each range `most` values, or 2, or all if it has no
 * more; they weigh together what the range does. */
void http_list_sizes(struct http_list *l, const struct wl_vary *v, unsigned most);
void http_list_free(struct http_list *l);
/* An order of `total` places for n choices with weights that add up to it. The caller frees it. */
uint16_t *http_list_order(const uint32_t *weight, unsigned n, uint32_t total);

/* Appends the checked fields of `text` (lines, or parts separated by the two characters \n) as
 * lines of a head. */
int http_fields(const char *text, struct sbuf *out, struct err *e);
/* Whether all bytes may stand in a request target, in a Host; and in a token. Returns the place of
 * the first that may not, or -1. */
int http_wrong_target(const char *text);
int http_wrong_host(const char *text);
const char *http_reason(unsigned status);
