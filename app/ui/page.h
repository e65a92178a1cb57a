/* SPDX-License-Identifier: BSD-3-Clause */
/* Pages: each a file in ui/page/, a function from a snapshot to a grid. Nothing else reaches it: no control, no curses, no clock, so that
 * it is tested with fixed snapshots, printed by `show page`, and can be drawn by a client in another process. */
#pragma once
#include <jansson.h>
#include "grid.h"

struct page_in {
	const json_t *snap;  /* a snapshot with the page's parts (app/snapshot.h says what is in each) */
	unsigned port;       /* the selected one, by its number */
	unsigned stream;     /* the selected one */
	unsigned first;      /* place in the list of the first port that is shown, where ports lie beside or below each other */
	unsigned max_ports;  /* at most so many at once; 0: as many as there is room for */
	unsigned top;        /* first row of what is longer than the grid */
	bool ascii;          /* no characters beyond ASCII */
	unsigned spin;       /* counts redraws */
};

/* What there is beyond what was drawn, for keys that page. */
struct page_out {
	unsigned shown, of;  /* ports drawn, and how many there are; of 0: the page has no such list */
	unsigned rows, all;  /* rows of a long list drawn, and how many there are; all 0: no such list */
	unsigned top;        /* the first of those rows: in->top, or less where the list ends before */
};

struct page {            /* const, named page_<file> */
	const char *name, *alias; /* alias: other names, comma separated (Pktgen's); may be NULL */
	const char *help;    /* one sentence */
	const char *parts;   /* of a snapshot: "stats,brief"; '@' stands for the selected port, '#' for the selected stream: "stats,frame:@/#" */
	bool one_port;       /* shows the selected port alone */
	bool tail;           /* a list whose newest row is at the bottom: page_in.top counts rows back from it */
	/* Draw into g, which is blank and any size, below the head line. The least important columns and rows are left out first. */
	void (*draw)(const struct page_in *in, struct grid *g, struct page_out *out);
};

/* All pages in the order of their keys, ends with NULL. */
extern const struct page *const pages[];
/* By name, alias or unique prefix; NULL: unknown, e names the known ones. */
const struct page *page_find(const char *name, struct err *e);
/* page->parts with the selected port and stream in it, and what the head line needs. */
void page_parts(const struct page *, unsigned port, unsigned stream, struct sbuf *out);
/* Head line (spinner, page, ports a-b of n, how long they send, errors, the last trial, program) and the page below it. Whole grid. */
void page_draw(const struct page *, const struct page_in *in, struct grid *g, struct page_out *out);

/* Helpers for pages. */
/* The port's link is down, or its interface was deleted: in the colour of a warning. */
bool page_link_lost(const json_t *port);
bool page_sends(const json_t *port); /* it has begun to send, and not ended yet */
/* Which of n columns stand beside each other in `room` columns, with `gap` between them: while they do not fit, the one with the highest rank goes
 * (of several the last), and rank 0 stays always. at[i]: where column i begins; -1: left out. Of rows too (size 1, gap 0). */
void page_fit(const int *size, const int *rank, unsigned n, int gap, int room, int *at);
/* A figure with its unit, flush right, in four significant digits or as many as there is room for; NAN: "-". These and 0 are
 * quiet, unless the role is a warning. One that does not fit in a
 * single digit is left out: a '~' stands for it, never a number that lost its end. */
void page_put_si(struct grid *, int row, int col, int width, enum role, double v);
void page_put_ns(struct grid *, int row, int col, int width, enum role, double ns);
void page_put_share(struct grid *, int row, int col, int width, enum role, double share);
/* Two of them, "1.000M/14.88M", with a word of its own instead of the first (may be NULL) and between them sep. */
void page_pair(double a, const char *word, const char *sep, double b, int width, struct sbuf *out);
/* Among the figures in these columns ("0", "-", "0/12"), those that are 0 or not known are quiet. */
void page_quiet(struct grid *, int row, int col, int width);
/* A whole count, 12'345'678, or as above where that is too long; missing: "-". */
void page_put_count(struct grid *, int row, int col, int width, enum role, const json_t *v);
/* in->first, or 0 where there are no so many ports. */
unsigned page_first(const struct page_in *, unsigned n);
/* A list of `all` rows, of which `room` are shown from in->top on, or from where the end just fits: sets out->rows, all and top. */
void page_list(const struct page_in *, unsigned all, int room, struct page_out *out);
/* "0:wire0", ">0:wire0" when it is selected. Of a name that is too long the end stays ("4:~00:05:00.0"): there they differ. */
void page_port_name(const json_t *port, const struct page_in *, int width, struct sbuf *out);
/* The element of an array whose member `key` is this number. Borrowed, NULL. */
const json_t *page_by(const json_t *list, const char *key, unsigned number);
/* The elements of "ports" of a snapshot that pages show (used ones), in order. Borrowed. *n: how many. The caller frees the array. */
const json_t **page_ports(const json_t *snap, unsigned *n);
const json_t *page_port(const json_t *snap, unsigned port); /* element of "ports" by number, NULL */
double page_num(const json_t *obj, const char *path, double missing);
/* Of what counts ports, queues and cores; missing too for what is no int. */
int page_int(const json_t *obj, const char *path, int missing);
const char *page_str(const json_t *obj, const char *path, const char *missing);
