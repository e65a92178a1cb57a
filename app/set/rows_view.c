/* SPDX-License-Identifier: BSD-3-Clause */
/* Settings of the screen. Their values are in struct view. */
#include "rows.h"
#include "app.h"

static const char *const glyph_words[] = {"auto", "utf8", "ascii", NULL};

#define AT(member) offsetof(struct app, view.member)

const struct setting set_view_rows[] = {
	{.name = "pages.interval",
	 .alias = "pages interval",
	 .scope = &scope_global,
	 .v = {&vt_duration, 100000000ull, 60000000000ull},
	 .dflt = VIEW_DFLT_INTERVAL,
	 .offset = AT(interval_ns),
	 .help = "time between redraws of the page; the prompt is drawn at once"},
	{.name = "pages.ports",
	 .alias = "pages ports,ports_per_page",
	 .scope = &scope_global,
	 .v = {&vt_uint, 0, PORTSET_MAX},
	 .dflt = "0",
	 .unit = "ports",
	 .offset = AT(max_ports),
	 .help = "most ports beside each other on a page; 0: as many as there is room for"},
	{.name = "pages.glyphs",
	 .alias = "pages glyphs",
	 .scope = &scope_global,
	 .v = {&vt_enum, .choices = glyph_words},
	 .dflt = "auto",
	 .offset = AT(glyphs),
	 .help = "bars and sparklines in UTF-8 or in ASCII characters; auto is what the locale says"},
	{.name = "pages.mouse",
	 .alias = "pages mouse",
	 .scope = &scope_global,
	 .v = {&vt_bool},
	 .dflt = "off",
	 .offset = AT(mouse),
	 .help = "the wheel and clicks act on the page; off leaves the mouse to the terminal, which selects text with it"},
	{0},
};

bool set_of_view(const struct setting *row)
{
	return row >= set_view_rows && row < set_view_rows + ARRAY_SIZE(set_view_rows);
}
