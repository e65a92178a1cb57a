/* SPDX-License-Identifier: BSD-3-Clause */
/* Texts of dialogs. One that is refused leaves the settings alone and names a column inside the
 * text; one that is taken prints to a text that means the same, and both ends go through it to its
 * end, if that is not far. */
#include "../unit/wl_pair.h"
#include "input.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t pieces(struct pair *p, size_t left)
{
	p->arg = p->arg * 6364136223846793005ull + 1442695040888963407ull;
	return (p->arg >> 40) % left + 1;
}

/* Bytes that a dialog moves, or a lot. */
static uint64_t weight(const struct wl_dialog_conf *c)
{
	double sum = 0;

	for (unsigned i = 0; i < c->nrun; i++) {
		double run = 0;

		for (unsigned k = 0; k < c->run[i].steps; k++)
			run += c->step[c->run[i].first + k].kind <= WL_DIALOG_RECV
				       ? (double)c->step[c->run[i].first + k].n + 20
				       : 20;
		sum += run * c->run[i].times;
	}
	sum *= c->times;
	return sum < 1e6 ? (uint64_t)sum : 1000000;
}

static uint64_t transactions(const struct wl_dialog_conf *c)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < c->nrun; i++)
		n += c->run[i].transaction ? c->run[i].times : 0;
	return n * c->times;
}

static void converse(const struct wl_dialog_conf *c)
{
	struct wl_content content;
	struct pair p = {.cut = pieces, .arg = c->nstep};

	wl_content_init(&content, NULL, 0, WL_FILL_PATTERN);
	for (unsigned i = 0; i < 2; i++) {
		p.end[i].flow.wl = &wl_dialog;
		p.end[i].flow.conf = c;
		p.end[i].flow.content = &content;
		p.end[i].flow.ncontent = 1;
		p.end[i].flow.verify = true;
	}
	pair_open(&p);
	pair_run(&p);
	for (unsigned i = 0; i < 2; i++) {
		CHECK(p.end[i].gone && p.end[i].why == WL_END_CLOSED);
		CHECK(p.end[i].counts.failed == 0 && p.end[i].counts.mismatched == 0);
		CHECK(p.end[i].counts.done == transactions(c));
	}
	pair_free(&p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct wl_dialog_conf c = {.close = WL_CLOSE_FIN}, again = c, before = c;
	struct sbuf one = {0}, two = {0};
	struct err e = {.col = -2};
	char *text = malloc(size + 1);
	int rc;

	CHECK(text != NULL);
	memcpy(text, data, size);
	text[size] = '\0';
	rc = wl_dialog_parse(text, &c, &e);
	if (rc != 0) {
		CHECK(e.col >= 0 && (size_t)e.col <= strlen(text) && e.text[0] != '\0');
		CHECK(memcmp(&c, &before, sizeof(c)) == 0);
	} else {
		wl_dialog_print(&c, &one);
		CHECK(wl_dialog_parse(one.s, &again, &e) == 0);
		CHECK(c.nstep == again.nstep && c.nrun == again.nrun && c.times == again.times);
		wl_dialog_print(&again, &two);
		CHECK(strcmp(one.s, two.s) == 0);
		if (weight(&c) < 100000)
			converse(&c);
	}
	sbuf_free(&one);
	sbuf_free(&two);
	free(text);
	return 0;
}
