/* SPDX-License-Identifier: BSD-3-Clause */
#include "view.h"

#include <langinfo.h>
#include <string.h>

void view_init(struct view *v)
{
	*v = (struct view){.page = pages[0], .screen = true, .interval_ns = VIEW_INTERVAL_NS};
	theme_default(&v->theme);
}

bool view_ascii(const struct view *v)
{
	return v->glyphs == 2 || (v->glyphs == 0 && strcmp(nl_langinfo(CODESET), "UTF-8") != 0);
}
