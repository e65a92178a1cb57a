/* SPDX-License-Identifier: BSD-3-Clause */
/* Any text as core maps: refused with a column inside the text, or placed with every queue served once. A newline
 * starts the next -m. */
#include "input.h"
#include "place.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct place_in *in, const struct placement *p)
{
	struct sbuf b = {0};
	unsigned at = 0;

	for (unsigned port = 0; port < p->nports; port++)
		for (int side = 0; side < 2; side++)
			for (unsigned q = 0; q < (side ? p->port[port].ntxq : p->port[port].nrxq); q++, at++)
				CHECK(at < p->n && p->q[at].port == port && p->q[at].tx == (side == 1) &&
				      p->q[at].queue == q && p->q[at].lcore >= 1 && p->q[at].lcore <= in->nlcores);
	CHECK(at == p->n);
	place_draw(p, in, NULL, NULL, &b);
	sbuf_free(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct place_lcore lcore[] = {{1, 1, 0}, {2, 2, 0}, {3, 3, 1}, {4, 4, 1}, {5, -1, -1}, {6, 6, 0}};
	const struct place_port port[] = {{16, 16, -1, false, false}, {4, 4, 1, true, true}, {1, 0, 0, false, false}};
	const struct place_in in = {lcore, ARRAY_SIZE(lcore), 0, port, ARRAY_SIZE(port)};
	char *text = xcalloc(size + 1, 1), *save = NULL;
	const char *maps[8];
	unsigned n = 0, which = 0;
	uint16_t nq[ARRAY_SIZE(port)][2];
	struct placement p;
	struct err e = {.col = -1};

	memcpy(text, data, size);
	for (char *s = strtok_r(text, "\n", &save); s != NULL && n < ARRAY_SIZE(maps); s = strtok_r(NULL, "\n", &save))
		maps[n++] = s;
	if (place_maps(maps, n, &in, &p, &which, &e) == 0) {
		check(&in, &p);
		placement_free(&p);
		CHECK(place_count(maps, n, in.nports, nq, NULL, &e) == 0);
	} else {
		CHECK(which < n && e.text[0] != '\0' && e.col >= 0 && (size_t)e.col <= strlen(maps[which]));
		place_count(maps, n, in.nports, nq, NULL, NULL);
	}
	free(text);
	return 0;
}
