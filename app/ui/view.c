/* SPDX-License-Identifier: BSD-3-Clause */
#include "view.h"

void view_init(struct view *v)
{
	*v = (struct view){.page = pages[0], .screen = true, .interval_ns = VIEW_INTERVAL_NS};
	theme_default(&v->theme);
}
