/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads core maps. A text is a comma list of maps, in which blanks may stand between all signs:
 *
 * map   := part "." part [ "*" N ]            cores "." ports
 * part  := "[" sides "]" | "{" sides "}" | sides
 * sides := list | [ list ] ":" [ list ]       Rx ":" Tx
 * list  := item { "/" item }
 * item  := N | N "-" N
 *
 * If one side of the ports is left empty, brackets must be around them: in "1.0:" something seems
 * to be missing.
 */
#include "place_map.h"
#include "place.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct reader {
	const char *text, *p;
	struct err *e;
};

static const char form[] = "a map is CORES.PORT, for example 1.0, [1:2].0, 2-5:6-9.0 or 1:2.0*4";

/* The column of the reading position. */
static int place_map_at(const struct reader *r)
{
	return (int)(r->p - r->text);
}

/* Skips blanks and returns the sign at the reading position. */
static char place_map_peek(struct reader *r)
{
	while (*r->p == ' ' || *r->p == '\t')
		r->p++;
	return *r->p;
}

/* Says for an error what stands at the reading position: a sign, or the end. */
static const char *place_map_shown(struct reader *r, char *buf, size_t size)
{
	unsigned char c = (unsigned char)place_map_peek(r);

	if (c == '\0')
		snprintf(buf, size, "the map ends here");
	else if (isprint(c))
		snprintf(buf, size, "'%c' cannot stand here", c);
	else
		snprintf(buf, size, "byte 0x%02x cannot stand here", c);
	return buf;
}

/* -EINVAL: something else was expected at the reading position. */
static int place_map_refuse(struct reader *r, const char *expected)
{
	char buf[64];

	place_map_shown(r, buf, sizeof(buf));
	return err_at(r->e, EINVAL, place_map_at(r), "%s: expected %s; %s", buf, expected, form);
}

static int read_number(struct reader *r, const char *what, unsigned max, unsigned *num, int *col)
{
	if (!isdigit((unsigned char)place_map_peek(r)))
		return place_map_refuse(r, what);

	const char *start = r->p;
	unsigned long v = 0;

	*col = place_map_at(r);
	for (; isdigit((unsigned char)*r->p); r->p++)
		v = v > max ? v : v * 10 + (unsigned)(*r->p - '0');
	if (v > max) {
		int digits = (int)(r->p - start);

		return err_at(r->e, EINVAL, *col, "%.*s%s is too large for %s: at most %u",
			      digits > 24 ? 24 : digits, start, digits > 24 ? "..." : "", what,
			      max);
	}
	*num = (unsigned)v;
	return 0;
}

static void list_add(struct map_list *l, unsigned num, int col)
{
	if (l->n == 0)
		l->col = col;
	/* There is room for a power of two of items. */
	if ((l->n & (l->n - 1)) == 0)
		l->v = xrealloc(l->v, (l->n ? l->n * 2 : 1) * sizeof(*l->v));
	l->v[l->n++] = (struct map_item){num, col};
}

static int read_list(struct reader *r, const char *what, struct map_list *l)
{
	bool seen[MAP_MAX_NUMBER + 1] = {false};

	for (;;) {
		unsigned from, to;
		int col, col_to, rc;

		rc = read_number(r, what, MAP_MAX_NUMBER, &from, &col);
		if (rc < 0)
			return rc;
		to = from;
		if (place_map_peek(r) == '-') {
			r->p++;
			rc = read_number(r, what, MAP_MAX_NUMBER, &to, &col_to);
			if (rc < 0)
				return rc;
			if (to < from)
				return err_at(r->e, EINVAL, col,
					      "the range %u-%u runs backwards: write %u-%u", from,
					      to, to, from);
		}
		for (unsigned i = from; i <= to; i++) {
			if (seen[i])
				return err_at(
					r->e, EINVAL, col,
					"%u is named twice in one list: name it once, or add *N after the port "
					"for several queues per core",
					i);
			seen[i] = true;
			list_add(l, i, col);
		}
		if (place_map_peek(r) != '/')
			return 0;
		r->p++;
	}
}

static void list_copy(struct map_list *to, const struct map_list *from)
{
	for (unsigned i = 0; i < from->n; i++)
		list_add(to, from->v[i].num, from->v[i].col);
	to->col = from->col;
}

/* Reads a part of a map, its cores or its ports, into its two sides. */
static int read_part(struct reader *r, bool ports, struct map_list side[2], bool *split)
{
	const char *what = ports ? "a port number" : "an lcore number";
	char close = '\0', open = place_map_peek(r);
	int open_col = place_map_at(r), rc;

	if (open == '[' || open == '{') {
		close = open == '[' ? ']' : '}';
		r->p++;
	}
	int first_col = (place_map_peek(r), place_map_at(r));
	side[0].col = side[1].col = first_col;
	if (*r->p != ':') {
		rc = read_list(r, what, &side[0]);
		if (rc < 0)
			return rc;
	}
	*split = place_map_peek(r) == ':';
	if (*split) {
		r->p++;
		side[1].col = place_map_at(r);
		if (isdigit((unsigned char)place_map_peek(r))) {
			rc = read_list(r, what, &side[1]);
			if (rc < 0)
				return rc;
		} else if (*r->p != '\0' && strchr(".]}*,", *r->p) == NULL) {
			return place_map_refuse(r, what);
		}
		if (side[0].n + side[1].n == 0)
			return err_at(r->e, EINVAL, first_col,
				      "both sides of ':' are empty: expected %s on at least one",
				      what);
	} else {
		list_copy(&side[1], &side[0]);
	}
	if (close == '\0' && *split && ports && (side[0].n == 0 || side[1].n == 0))
		return err_at(
			r->e, EINVAL, side[side[0].n != 0].col,
			"a port number is missing %s ':': name one there, leave the ':' out, or write %s for ports of one side alone",
			side[0].n == 0 ? "before" : "behind",
			side[0].n == 0 ? "[:PORT]" : "[PORT:]");
	if (close == '\0')
		return 0;
	if (place_map_peek(r) == ',')
		return err_at(
			r->e, EINVAL, place_map_at(r),
			"',' separates maps: inside %c%c numbers are joined with '/', ranges are written 1-3",
			open, close);
	if (*r->p != close) {
		char buf[64];

		return err_at(r->e, EINVAL, place_map_at(r),
			      "%s: the '%c' at column %d is not closed with '%c'",
			      place_map_shown(r, buf, sizeof(buf)), open, open_col + 1, close);
	}
	r->p++;
	return 0;
}

static int read_entry(struct reader *r, struct map_entry *m)
{
	int rc;

	if (place_map_peek(r) == '\0' || *r->p == ',')
		return err_at(r->e, EINVAL, place_map_at(r), "an empty map: %s", form);
	if (*r->p == '.')
		return place_map_refuse(r, "an lcore number before '.'");
	rc = read_part(r, false, m->core, &m->core_split);
	if (rc < 0)
		return rc;
	if (place_map_peek(r) != '.')
		return place_map_refuse(r, "'.' and a port number after the cores");
	r->p++;
	rc = read_part(r, true, m->port, &m->port_split);
	if (rc < 0)
		return rc;
	if (place_map_peek(r) == '*') {
		r->p++;
		rc = read_number(r, "a number of queues", PLACE_MAX_QUEUES, &m->nq, &m->nq_col);
		if (rc < 0)
			return rc;
		if (m->nq == 0)
			return err_at(
				r->e, EINVAL, m->nq_col,
				"*0 gives no queues: write *1 to *%d, or leave it out for one per core",
				PLACE_MAX_QUEUES);
	}
	if (place_map_peek(r) != '\0' && *r->p != ',')
		return place_map_refuse(r, "',' or the end after a map");
	return 0;
}

/* Refuses a side that names cores and no port, or ports and no core, and a "*N" that leaves a core
 * without a queue. Nothing would come of them, and nobody would be told. */
static int check_sides(struct reader *r, const struct map_entry *m)
{
	static const char *const side[2] = {"Rx", "Tx"};

	for (int s = 0; s < 2; s++) {
		if (m->core[s].n > 0 && m->port[s].n == 0 && m->core_split)
			return err_at(
				r->e, EINVAL, m->port[s].col,
				"lcore %u is named for %s, but no port is: name one, or take the core away",
				m->core[s].v[0].num, side[s]);
		if (m->port[s].n > 0 && m->core[s].n == 0 && m->port_split)
			return err_at(
				r->e, EINVAL, m->core[s].col,
				"port %u is named for %s, but no lcore is: name one, or take the port away",
				m->port[s].v[0].num, side[s]);
		if (m->nq > 0 && m->port[s].n > 0 && m->nq < m->core[s].n)
			return err_at(
				r->e, EINVAL, m->nq_col,
				"*%u gives %u queues to %u %s cores: some would have none; write *%u or more, "
				"or name fewer cores",
				m->nq, m->nq, m->core[s].n, side[s], m->core[s].n);
	}
	return 0;
}

int map_set_parse(const char *const *maps, unsigned nmaps, struct map_set *out, unsigned *which,
		  struct err *e)
{
	*out = (struct map_set){0};
	for (unsigned i = 0; i < nmaps; i++) {
		struct reader r = {maps[i], maps[i], e};

		if (which != NULL)
			*which = i;
		for (;;) {
			out->v = xrealloc(out->v, (out->n + 1) * sizeof(*out->v));
			struct map_entry *m = &out->v[out->n++];
			*m = (struct map_entry){.which = i};
			int rc = read_entry(&r, m);
			if (rc == 0)
				rc = check_sides(&r, m);
			if (rc < 0) {
				map_set_free(out);
				return rc;
			}
			if (*r.p == '\0')
				break;
			r.p++;
		}
	}
	return 0;
}

void map_set_free(struct map_set *s)
{
	for (unsigned i = 0; i < s->n; i++) {
		for (int side = 0; side < 2; side++) {
			free(s->v[i].core[side].v);
			free(s->v[i].port[side].v);
		}
	}
	free(s->v);
	*s = (struct map_set){0};
}
