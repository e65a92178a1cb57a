/* SPDX-License-Identifier: BSD-3-Clause */
/* A theme gives each role of the screen its colours and attributes. A role is what a piece of text
 * stands for; the names of roles are Pktgen's, and some are our own. Nothing here uses curses:
 * ui/paint.c turns a style into what the terminal can do. Control thread. */
#pragma once
#include "base.h"

/* Each role is ROLE(identifier, name, what it is used for). Pktgen's 34 are first, in its order. */
#define THEME_ROLES(ROLE) \
	ROLE(DEFAULT, "default", "everything that has no colour of its own") \
	ROLE(TOP_SPINNER, "top.spinner", "the mark that turns with each redraw") \
	ROLE(TOP_PORTS, "top.ports", "ports on this page") \
	ROLE(TOP_PAGE, "top.page", "name of the page") \
	ROLE(TOP_COPYRIGHT, "top.copyright", "name of the program") \
	ROLE(TOP_POWEREDBY, "top.poweredby", "version of DPDK") \
	ROLE(SEP_DASH, "sep.dash", "lines between areas") \
	ROLE(SEP_TEXT, "sep.text", "text in such a line") \
	ROLE(PORT_LABEL, "stats.port.label", "heading of a port's column") \
	ROLE(PORT_FLAGS, "stats.port.flags", "flags of a port") \
	ROLE(PORT_DATA, "stats.port.data", "facts of a port") \
	ROLE(PORT_STATUS, "stats.port.status", "state of a port") \
	ROLE(PORT_LINKLBL, "stats.port.linklbl", "label of the link's state") \
	ROLE(PORT_LINK, "stats.port.link", "state of the link") \
	ROLE(PORT_RATELBL, "stats.port.ratelbl", "labels of rates") \
	ROLE(PORT_RATE, "stats.port.rate", "rates") \
	ROLE(PORT_SIZELBL, "stats.port.sizelbl", "labels of frame sizes") \
	ROLE(PORT_SIZES, "stats.port.sizes", "frames by size") \
	ROLE(PORT_ERRLBL, "stats.port.errlbl", "labels of errors and losses") \
	ROLE(PORT_ERRORS, "stats.port.errors", "errors and losses") \
	ROLE(PORT_TOTLBL, "stats.port.totlbl", "labels of totals") \
	ROLE(PORT_TOTALS, "stats.port.totals", "totals") \
	ROLE(DYN_LABEL, "stats.dyn.label", "labels of what changes each second") \
	ROLE(DYN_VALUES, "stats.dyn.values", "what changes each second") \
	ROLE(STAT_LABEL, "stats.stat.label", "labels of settings") \
	ROLE(STAT_VALUES, "stats.stat.values", "settings") \
	ROLE(TOTAL_LABEL, "stats.total.label", "heading of the column of totals") \
	ROLE(TOTAL_DATA, "stats.total.data", "sums over ports") \
	ROLE(COLON, "stats.colon", "the colon behind a label") \
	ROLE(RATE_COUNT, "stats.rate.count", "count and rate of a port") \
	ROLE(BDF, "stats.bdf", "bus address of a device") \
	ROLE(MAC, "stats.mac", "MAC addresses") \
	ROLE(IP, "stats.ip", "IP addresses") \
	ROLE(PROMPT, "pktgen.prompt", "the prompt") \
	ROLE(INPUT, "input.text", "what is typed") \
	ROLE(LOG_TEXT, "log.text", "results and messages") \
	ROLE(LOG_ERROR, "log.error", "errors") \
	ROLE(LOG_ECHO, "log.command", "commands as they were entered") \
	ROLE(ZERO, "stats.zero", "zeros and what is not known: nothing to look at") \
	ROLE(BAR, "bar.full", "bars and sparklines") \
	ROLE(BAR_EMPTY, "bar.empty", "the rest of a bar") \
	ROLE(WARN, "mark.warning", "what asks for attention: imbalance, drops, differences") \
	ROLE(GOOD, "mark.good", "what is as it should be") \
	ROLE(SELECTED, "mark.selected", "the selected port or stream") \
	ROLE(VARIES, "mark.varies", "fields that change from frame to frame") \
	ROLE(KEY, "footer.key", "names of keys in the footer") \
	ROLE(KEY_TEXT, "footer.text", "what the keys do")

enum role {
#define ROLE(id, name, help) ROLE_##id,
	THEME_ROLES(ROLE)
#undef ROLE
		ROLES
};

/* A colour is an index from 0 to 255 of the terminal's palette (0 to 7 are black to white, 8 to 15
 * the bright ones of the same names), or 0xRRGGBB | THEME_RGB, or one of the two below. */
#define THEME_RGB (1 << 24)
#define THEME_NONE (-2) /* the colour of the role "default" */
#define THEME_TERM (-1) /* the terminal's own */
enum theme_attr {
	ATTR_BOLD = 1,
	ATTR_UNDERSCORE = 2,
	ATTR_BLINK = 4,
	ATTR_REVERSE = 8,
	ATTR_CONCEALED = 16,
	ATTR_DIM = 32
};
#define THEME_ATTRS "off, or a list of bold, dim, underscore, blink, reverse, concealed"

struct theme_style {
	int32_t fg, bg;
	uint32_t attr; /* bits of enum theme_attr */
};

struct theme {
	bool on; /* false: attributes alone, without colours */
	struct theme_style style[ROLES];
	uint64_t version; /* counts changes */
};

extern const char *const theme_role_name[ROLES + 1]; /* ends with NULL */
extern const char *const theme_role_help[ROLES];

/* Sets the built-in theme, which is that of themes/dark.theme. */
void theme_default(struct theme *);
/* Each of these three reads a word and returns 0 or -EINVAL; e names the nearest word. A role may
 * be given by the beginning of its name, if no other name begins so. */
int theme_role(const char *name, enum role *out, struct err *e);
/* Reads "red", "bright_red", "default", "none", "default_fg", "default_bg", "208", "0xff8700" and
 * the like, and "#ff8700", which in a command is a comment unless it is quoted. */
int theme_color(const char *text, int32_t *out, struct err *e);
/* Reads "bold", "underscore", "bold,reverse", "off", "default" ... */
int theme_attr(const char *text, uint32_t *out, struct err *e);
/* Append a colour or attributes as the two above read them. */
void theme_color_print(int32_t color, struct sbuf *out);
void theme_attr_print(uint32_t attr, struct sbuf *out);
const char *theme_attr_name(unsigned i); /* the name of the i-th attribute, from 0; NULL: no more */
/* Appends a style as the command that makes it: "theme top.page white blue bold". */
void theme_line(const struct theme *, enum role, struct sbuf *out);
