/* SPDX-License-Identifier: BSD-3-Clause */
/* Settings of RSS. The device is asked before a value is written, so that one it refuses changes
 * nothing. */
#include "rows.h"

#include <string.h>

static void rss_put(const struct setting *row, const struct set_obj *obj, const void *val)
{
	memcpy((char *)obj->cfg + row->offset, val, row->v.type->size);
}

static bool rss_get(const struct setting *row, const struct set_obj *obj, void *val)
{
	static const struct rss_cfg nothing;

	memcpy(val, (const char *)obj->cfg + row->offset, row->v.type->size);
	return memcmp(val, &nothing, row->v.type->size) != 0;
}

static void rss_unset(const struct setting *row, const struct set_obj *obj)
{
	memset((char *)obj->cfg + row->offset, 0, row->v.type->size);
}

static int rss_may(const struct setting *row, const struct set_obj *obj, const void *val,
		   struct err *e)
{
	struct ctl *ctl = set_ctl(obj);

	if (ctl == NULL || val == NULL)
		return 0;
	struct rss_cfg want = ((const struct port_cfg *)obj->cfg)->rss;
	memcpy((char *)&want + row->offset - offsetof(struct port_cfg, rss), val,
	       row->v.type->size);
	return ctl_rss(ctl, obj->port, &want, e);
}

static const struct setting_store rss_store = {rss_put, rss_get, rss_unset, .may = rss_may};

static const char *const symmetric_words[] = {"off", "key", "sort", NULL};

#define AT(member) offsetof(struct port_cfg, rss.member)

const struct setting set_rss_rows[] = {
	{.name = "rss.fields",
	 .alias = "rss fields",
	 .scope = &scope_port,
	 .v = {&vt_rss_fields},
	 .dflt = "auto",
	 .offset = AT(fields),
	 .store = &rss_store,
	 .why = WHY_PORT,
	 .help = "headers by whose addresses and ports the device spreads received frames over its Rx queues; auto is what it does by itself,\n"
		 "and a wire hands frames over by the sender's Tx queue then"},
	{.name = "rss.key",
	 .alias = "rss key",
	 .scope = &scope_port,
	 .v = {&vt_rss_key},
	 .dflt = "default",
	 .offset = AT(key),
	 .store = &rss_store,
	 .why = WHY_PORT,
	 .help = "the key of the hash; default is the one that the device came with (`show rss`)"},
	{.name = "rss.symmetric",
	 .alias = "rss symmetric",
	 .scope = &scope_port,
	 .v = {&vt_enum, .choices = symmetric_words},
	 .dflt = "off",
	 .offset = AT(symmetric),
	 .store = &rss_store,
	 .why = WHY_PORT,
	 .help = "both directions of a flow come to the same queue: by a key that repeats 6d5a, or by a hash that sorts addresses and ports\n"
		 "(devices that offer it, DPDK 23.11 and newer, and wires)"},
	{.name = "rss.table",
	 .alias = "rss table",
	 .scope = &scope_port,
	 .v = {&vt_rss_table},
	 .dflt = "default",
	 .offset = AT(table),
	 .store = &rss_store,
	 .why = WHY_PORT,
	 .help = "the queue of each result of the hash, from entry 0 of the device's table on; default is the table that the device came with"},
	{0},
};
