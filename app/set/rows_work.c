/* SPDX-License-Identifier: BSD-3-Clause */
/* The store of rows of works. A work has a struct of its own among the settings of each port, and
 * one among those of each stream. Such a row's arg is the work, and its offset lies in the struct
 * that its scope says. */
#include "ctl.h"
#include "set/rows.h"

#include <string.h>

static const void *work_at(const struct setting *row, const struct set_obj *obj)
{
	const void *cfg = row->scope == &scope_stream ? work_stream_cfg(obj->cfg, row->arg)
						      : work_cfg(obj->cfg, row->arg);

	return (const char *)cfg + row->offset;
}

static void *work_own_at(const struct setting *row, const struct set_obj *obj)
{
	void *cfg = row->scope == &scope_stream ? work_stream_cfg_own(obj->cfg, row->arg)
						: work_cfg(obj->cfg, row->arg);

	return (char *)cfg + row->offset;
}

void set_work_put(const struct setting *row, const struct set_obj *obj, const void *val)
{
	memcpy(work_own_at(row, obj), val, row->v.type->size);
}

bool set_work_get(const struct setting *row, const struct set_obj *obj, void *val)
{
	struct sbuf now = {0}, dflt = {0};

	row->v.type->parse(&row->v, row->dflt, val, NULL);
	row->v.type->print(&row->v, val, &dflt);
	memcpy(val, work_at(row, obj), row->v.type->size);
	row->v.type->print(&row->v, val, &now);
	bool set = strcmp(sbuf_str(&now), sbuf_str(&dflt)) != 0;
	sbuf_free(&now);
	sbuf_free(&dflt);
	return set;
}

void set_work_unset(const struct setting *row, const struct set_obj *obj)
{
	if (row->scope == &scope_stream && ((const struct stream_cfg *)obj->cfg)->work == NULL)
		return;
	row->v.type->parse(&row->v, row->dflt, work_own_at(row, obj), NULL);
}

const struct setting_store set_work_store = {set_work_put, set_work_get, set_work_unset};
