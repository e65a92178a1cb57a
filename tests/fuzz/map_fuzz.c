/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads any text as core maps. It is refused with a column inside the text, or placed with every
 * queue served once. A newline starts the next -m. What is read matches a regular grammar that was
 * written without the reader, and stays the same when it is printed and read again. */
#include "input.h"
#include "place.h"
#include "place_map.h"

#include <regex.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct place_in *in, const struct placement *p)
{
	struct sbuf b = {0};
	unsigned at = 0;

	for (unsigned port = 0; port < p->nports; port++)
		for (int side = 0; side < 2; side++)
			for (unsigned q = 0; q < (side ? p->port[port].ntxq : p->port[port].nrxq);
			     q++, at++)
				CHECK(at < p->n && p->q[at].port == port &&
				      p->q[at].tx == (side == 1) && p->q[at].queue == q &&
				      p->q[at].lcore >= 1 && p->q[at].lcore <= in->nlcores);
	CHECK(at == p->n);
	place_draw(p, in, NULL, NULL, &b);
	sbuf_free(&b);
}

#define B "[ \t]*"
#define NUM B "[0-9]+" B
#define ITEM NUM "(-" NUM ")?"
#define LIST ITEM "(/" ITEM ")*"
#define HALVES "(" LIST "|" LIST ":" B "|" B ":" LIST "|" LIST ":" LIST ")"
#define BOXED B "(\\[" HALVES "\\]|\\{" HALVES "\\})" B
#define CORES "(" HALVES "|" BOXED ")"
#define PORTS "(" LIST "|" LIST ":" LIST "|" BOXED ")"
#define MAP CORES "\\." PORTS "(\\*" NUM ")?"

static bool grammatical(const char *text)
{
	static regex_t whole;
	static bool made;

	if (!made)
		CHECK(regcomp(&whole, "^" MAP "(," MAP ")*$", REG_EXTENDED | REG_NOSUB) == 0);
	made = true;
	return regexec(&whole, text, 0, NULL, 0) == 0;
}

static void print_part(const struct map_list side[2], bool split, struct sbuf *out)
{
	sbuf_addc(out, '[');
	for (unsigned s = 0; s < (split ? 2u : 1u); s++) {
		sbuf_add(out, s == 1 ? ":" : "");
		for (unsigned i = 0; i < side[s].n; i++)
			sbuf_addf(out, "%s%u", i > 0 ? "/" : "", side[s].v[i].num);
	}
	sbuf_addc(out, ']');
}

static bool same_list(const struct map_list *a, const struct map_list *b)
{
	for (unsigned i = 0; a->n == b->n && i < a->n; i++)
		if (a->v[i].num != b->v[i].num)
			return false;
	return a->n == b->n;
}

static void check_again(const struct map_set *a)
{
	struct sbuf text = {0};
	struct map_set b;
	struct err e;

	for (unsigned i = 0; i < a->n; i++) {
		sbuf_add(&text, i > 0 ? "," : "");
		print_part(a->v[i].core, a->v[i].core_split, &text);
		sbuf_addc(&text, '.');
		print_part(a->v[i].port, a->v[i].port_split, &text);
		if (a->v[i].nq > 0)
			sbuf_addf(&text, "*%u", a->v[i].nq);
	}
	const char *one = text.s;
	CHECK(map_set_parse(&one, 1, &b, NULL, &e) == 0 && a->n == b.n);
	for (unsigned i = 0; i < b.n; i++) {
		CHECK(a->v[i].nq == b.v[i].nq && a->v[i].core_split == b.v[i].core_split &&
		      a->v[i].port_split == b.v[i].port_split);
		for (int s = 0; s < 2; s++)
			CHECK(same_list(&a->v[i].core[s], &b.v[i].core[s]) &&
			      same_list(&a->v[i].port[s], &b.v[i].port[s]));
	}
	map_set_free(&b);
	sbuf_free(&text);
}

static void check_text(const char *text)
{
	struct map_set set;
	struct err e;

	if (map_set_parse(&text, 1, &set, NULL, &e) < 0)
		return;
	CHECK(grammatical(text));
	check_again(&set);
	map_set_free(&set);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct place_lcore lcore[] = {{1, 1, 0}, {2, 2, 0},   {3, 3, 1},
					    {4, 4, 1}, {5, -1, -1}, {6, 6, 0}};
	const struct place_port port[] = {{16, 16, -1, false, false},
					  {4, 4, 1, true, true},
					  {1, 0, 0, false, false}};
	const struct place_in in = {lcore, ARRAY_SIZE(lcore), 0, port, ARRAY_SIZE(port)};
	char *text = xcalloc(size + 1, 1), *save = NULL;
	const char *maps[8];
	unsigned n = 0, which = 0;
	uint16_t nq[ARRAY_SIZE(port)][2];
	struct placement p;
	struct err e = {.col = -1};

	memcpy(text, data, size);
	for (char *s = strtok_r(text, "\n", &save); s != NULL && n < ARRAY_SIZE(maps);
	     s = strtok_r(NULL, "\n", &save))
		maps[n++] = s;
	for (unsigned i = 0; i < n && size < 400; i++)
		check_text(maps[i]);
	if (place_maps(maps, n, &in, &p, &which, &e) == 0) {
		check(&in, &p);
		placement_free(&p);
		CHECK(place_count(maps, n, in.nports, nq, NULL, &e) == 0);
	} else {
		CHECK(which < n && e.text[0] != '\0' && e.col >= 0 &&
		      (size_t)e.col <= strlen(maps[which]));
		place_count(maps, n, in.nports, nq, NULL, NULL);
	}
	free(text);
	return 0;
}
