/* SPDX-License-Identifier: BSD-3-Clause */
/* A page is a function from a snapshot to a grid, in a file of its own in ui/page/ or in the folder
 * of a work. It sees neither control nor curses nor a clock. So a page can be tested with fixed
 * snapshots, printed by `show page`, and drawn by a client in another process. */
#pragma once
#include <jansson.h>
#include "grid.h"

struct page_in {
	const json_t *snap; /* a snapshot with the page's parts (app/snapshot.h describes them) */
	unsigned port;      /* number of the selected port */
	unsigned stream;    /* number of the selected stream */
	/* on pages of several ports: place in the list of the first that is shown */
	unsigned first;
	unsigned max_ports; /* most ports that are shown at once; 0: as many as there is room for */
	unsigned top;       /* first row that is shown of a list longer than the grid */
	bool ascii;         /* no characters beyond ASCII */
	unsigned spin;      /* counts redraws */
};

/* How much a page has drawn, and how much there is. The keys that page and scroll need it. */
struct page_out {
	unsigned shown, of; /* ports that are drawn, and all; of is 0: there is no list of ports */
	unsigned rows, all; /* rows drawn of a long list, and all; all is 0: no such list */
	unsigned top;       /* the first of those rows: in->top, or less near the list's end */
};

/* Each page is a constant with the name page_<file>. Of `parts`, '@' stands for the selected port
 * and '#' for the selected stream: "stats,frame:@/#". */
struct page {
	const char *name, *alias; /* alias: other names, comma separated (Pktgen's); may be NULL */
	const char *help;         /* one sentence */
	const char *parts;        /* the parts of a snapshot that it draws */
	bool one_port;            /* it shows the selected port alone */
	bool tail; /* its newest row is at the bottom: page_in.top counts back from it */
	/* Draws below the head line, into g, which is blank and may have any size. It leaves out
	 * the least important columns and rows first. */
	void (*draw)(const struct page_in *in, struct grid *g, struct page_out *out);
};

/* All pages in the order of their keys. The list ends with NULL. */
extern const struct page *const pages[];
/* Finds a page by its name, its alias or a prefix that is unique. NULL: there is none, and e names
 * those that there are. */
const struct page *page_find(const char *name, struct err *e);
/* Appends the parts of the page, with the selected port and stream in them, and the part that the
 * head line needs. */
void page_parts(const struct page *, unsigned port, unsigned stream, struct sbuf *out);
/* Draws the whole grid: the head line (spinner, page, ports a-b of n, how long they send, errors,
 * the last trial, program) and the page below it. */
void page_draw(const struct page *, const struct page_in *in, struct grid *g, struct page_out *out);

/* The functions below are helpers for pages. An object of a port is an element of "ports" of a
 * snapshot. "Quiet" is the look of a figure that says nothing, ROLE_ZERO. */

/* Returns true when the port's link is down or its interface was deleted. Pages warn of it. */
bool page_link_lost(const json_t *port);
bool page_sends(const json_t *port); /* the port has a run that has not ended */
/* Says which of n items have room beside each other in `room` columns, with `gap` columns between
 * them. While they do not fit, the item with the highest rank goes (of several the last); an item
 * with rank 0 always stays. at[i]: where item i begins; -1: it is left out. Rows are placed in the
 * same way, with size 1 and gap 0. */
void page_fit(const int *size, const int *rank, unsigned n, int gap, int room, int *at);
/* Each puts a figure with its unit, flush right, in four significant digits or as many as there is
 * room for; NAN becomes "-". NAN and 0 are quiet, unless the role is a warning. Where there is no
 * room for a single digit, a '~' stands for the figure, never a number that lost its end. */
void page_put_si(struct grid *, int row, int col, int width, enum role, double v);
void page_put_ns(struct grid *, int row, int col, int width, enum role, double ns);
void page_put_share(struct grid *, int row, int col, int width, enum role, double share);
/* Makes the text of two such figures with `sep` between them, "1.000M/14.88M". `word` stands in
 * place of the first figure; it may be NULL. */
void page_pair(double a, const char *word, const char *sep, double b, int width, struct sbuf *out);
/* Makes those figures in these columns quiet that are 0 or not known: "0", "-", the 0 of "0/12". */
void page_quiet(struct grid *, int row, int col, int width);
/* Puts a count with all its digits, 12'345'678, or as page_put_si() does where that is too long. A
 * count that is missing becomes "-". */
void page_put_count(struct grid *, int row, int col, int width, enum role, const json_t *v);
/* Returns in->first, or 0 when that is not below n, the number of ports. */
unsigned page_first(const struct page_in *, unsigned n);
/* Places a list of `all` rows of which `room` are shown, from in->top on or from where the list's
 * end just fits. Sets out->rows, out->all and out->top. */
void page_list(const struct page_in *, unsigned all, int room, struct page_out *out);
/* Appends "0:wire0", or ">0:wire0" when the port is selected. Of a name that is too long the end
 * stays ("4:~00:05:00.0"), because names differ there. */
void page_port_name(const json_t *port, const struct page_in *, int width, struct sbuf *out);
/* Returns the element of an array whose member `key` is this number, borrowed. NULL: there is
 * none. */
const json_t *page_by(const json_t *list, const char *key, unsigned number);
/* Returns the elements of "ports" that pages show, which are the ports in use, in order; *n says
 * how many. The elements are borrowed, and the caller frees the array. */
const json_t **page_ports(const json_t *snap, unsigned *n);
const json_t *page_port(const json_t *snap, unsigned port); /* by its number; NULL: none */
/* Each of these three returns the value at a path in an object, or `missing` when there is none of
 * this type. */
double page_num(const json_t *obj, const char *path, double missing);
/* This one is for numbers of ports, queues and cores. A value that an int cannot hold counts as
 * missing. */
int page_int(const json_t *obj, const char *path, int missing);
const char *page_str(const json_t *obj, const char *path, const char *missing);
