/* SPDX-License-Identifier: BSD-3-Clause */
/* What the user looks at: kept by the program, written by verbs and by keys, read by the screen. Also there without a screen, so that the same
 * command files run everywhere. Control thread. */
#pragma once
#include "page.h"
#include "theme.h"

struct view {
	const struct page *page;
	unsigned port, stream;  /* selected */
	unsigned first;         /* first port of the page, by its place in the list */
	unsigned room;          /* ports that the page has room for, written by the screen; 0: not known */
	unsigned top;           /* first row of a long page */
	bool screen;            /* the full screen is wanted, where there is a terminal for it */
	bool frozen;            /* `off`: the page is not redrawn */
	uint64_t interval_ns;   /* between redraws of the page */
	uint64_t max_ports;     /* beside each other on a page; 0: as many as fit */
	int glyphs;             /* 0: as the locale says, 1: UTF-8, 2: ASCII */
	bool mouse;             /* the mouse is ours: wheel and clicks; else the terminal's */
	unsigned repaint;       /* counts requests to draw everything anew (cls, redisplay) */
	unsigned version;       /* counts changes of anything above */
	struct theme theme;
	/* Size of the screen, written by it; 0: there is none. */
	int rows, cols;
};

#define VIEW_DFLT_INTERVAL "1s" /* as text, for its row too */

/* Ports of a group, as `page N` counts them. */
#define VIEW_GROUP 4

void view_init(struct view *);
/* How far `page N` goes: max_ports, else what the screen has room for, else VIEW_GROUP. */
unsigned view_group(const struct view *);
/* Back to what it was, for who takes a change back: counters still go up, and the screen's size stays. */
void view_restore(struct view *, const struct view *before);
/* Pages draw with ASCII alone: asked for, or the locale has no UTF-8. */
bool view_ascii(const struct view *);
/* After a change: the screen draws at the next turn. */
static inline void view_touch(struct view *v) { v->version++; }
