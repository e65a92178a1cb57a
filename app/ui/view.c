/* SPDX-License-Identifier: BSD-3-Clause */
#include "view.h"
#include "value.h"

#include <langinfo.h>
#include <string.h>

void view_init(struct view *v)
{
	*v = (struct view){.page = pages[0], .screen = true};
	value_default(&vt_duration, VIEW_DFLT_INTERVAL, &v->interval_ns);
	theme_default(&v->theme);
}

unsigned view_group(const struct view *v)
{
	if (v->max_ports > 0)
		return (unsigned)v->max_ports;
	return v->room > 0 ? v->room : VIEW_GROUP;
}

void view_restore(struct view *v, const struct view *before)
{
	struct view now = *v;

	*v = *before;
	v->room = now.room;
	v->rows = now.rows;
	v->cols = now.cols;
	v->repaint = now.repaint;
	v->theme.version = now.theme.version + 1;
	v->version = now.version;
	view_touch(v);
}

bool view_ascii(const struct view *v)
{
	return v->glyphs == 2 || (v->glyphs == 0 && strcmp(nl_langinfo(CODESET), "UTF-8") != 0);
}
