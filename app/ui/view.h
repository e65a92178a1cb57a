/* SPDX-License-Identifier: BSD-3-Clause */
/* The view is what the user looks at: the page, what is selected, and how it is drawn. The program
 * keeps it, verbs and keys write it, and the screen reads it. It is there without a screen too, so
 * that the same command files run everywhere. Control thread. */
#pragma once
#include "page.h"
#include "theme.h"

struct view {
	const struct page *page;
	unsigned port, stream; /* the selected ones */
	unsigned first;        /* first port of the page, by its place in the list of ports */
	unsigned room;         /* how many ports have room, which the screen sets; 0: not known */
	unsigned top;          /* first row that is shown of a long page (see page_in.top) */
	bool screen;           /* the full screen is wanted, where there is a terminal for it */
	bool frozen;           /* `off`: the page is not redrawn */
	uint64_t interval_ns;  /* between redraws of the page */
	uint64_t max_ports;    /* most ports beside each other on a page; 0: as many as fit */
	int glyphs;            /* 0: as the locale says, 1: UTF-8, 2: ASCII */
	bool mouse;            /* wheel and clicks come to us; false: the terminal acts on them */
	unsigned repaint;      /* counts requests to draw everything anew (cls, redisplay) */
	unsigned version;      /* counts changes of anything above */
	struct theme theme;
	/* The size of the screen, which the screen writes; 0: there is none. */
	int rows, cols;
};

#define VIEW_DFLT_INTERVAL "1s" /* as text, which the setting's row needs */

/* How many ports make a group for `page N` if nothing else says it. */
#define VIEW_GROUP 4

void view_init(struct view *);
/* Returns how many ports make a group for `page N`: max_ports, else as many as the screen has room
 * for, else VIEW_GROUP. */
unsigned view_group(const struct view *);
/* Takes back all that was changed in the view since `before` was copied from it. The counters of
 * changes still go up, and what the screen writes (its size, the room for ports) stays. */
void view_restore(struct view *, const struct view *before);
/* Returns true when pages draw with ASCII alone, by the setting or because the locale has no
 * UTF-8. */
bool view_ascii(const struct view *);
/* To be called after a change: the screen draws at the next turn. */
static inline void view_touch(struct view *v)
{
	v->version++;
}
