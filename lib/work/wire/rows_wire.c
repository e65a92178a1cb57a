/* SPDX-License-Identifier: BSD-3-Clause */
/* The settings of devices under test on wires: struct wire_cfg of the port that sends. A setting
 * without ports is for all wires. */
#include "set/rows.h"
#include "wire_app.h"
#include "wire_cfg.h"
#include "wire_face.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define DELAY_MAX_NS 60000000000ull
#define FLAP_MIN_NS 1000000ull
#define FLAP_MAX_NS 3600000000000ull

/* Refuses settings of wires for a port that is no wire. */
static int wire_may(const struct setting *row, const struct set_obj *obj, const void *val,
		    struct err *e)
{
	const struct ctl *ctl = set_ctl(obj);

	(void)val;
	if (ctl == NULL || wire_has_port(ctl, obj->port))
		return 0;
	return err_set(e, EINVAL, "%s: port %u (%s) is no wire", row->name, obj->port,
		       ctl_port_name(ctl, obj->port));
}

extern const struct work work_wire;
static const struct setting_store wire_store = {set_work_put, set_work_get, set_work_unset,
						wire_may};

bool wire_idle(const struct setting *row, const struct set_obj *obj)
{
	return row->store == &wire_store && wire_may(row, obj, NULL, NULL) != 0;
}

/* `wire plain` takes all settings of a wire back at once. It has no value of its own. */

static void plain_put(const struct setting *row, const struct set_obj *obj, const void *val)
{
	(void)val;
	(void)row;
	for (const struct setting *w = wire_rows; w->name != NULL; w++)
		if (w->store == &wire_store)
			set_work_unset(w, obj);
}

static bool plain_get(const struct setting *row, const struct set_obj *obj, void *val)
{
	(void)row;
	(void)obj;
	*(int *)val = 0;
	return false;
}

static int plain_told(const struct setting *row, const struct set_obj *obj, struct err *e)
{
	for (const struct setting *w = wire_rows; w->name != NULL; w++) {
		void *val = xcalloc(1, w->v.type->size);
		bool set = w->store == &wire_store && set_work_get(w, obj, val);
		free(val);
		if (set)
			return err_set(e, EINVAL, "%s: it is not plain: %s is set", row->name,
				       w->name);
	}
	return 0;
}

static void plain_unset(const struct setting *row, const struct set_obj *obj)
{
	plain_put(row, obj, NULL);
}

static const struct setting_store plain_store = {plain_put, plain_get, plain_unset, wire_may,
						 plain_told};

static const char *const plain_words[] = {"plain", NULL};
static const char *const burst_word[] = {"burst", NULL};
static const char *const by_word[] = {"by", NULL};
static const char *const at_word[] = {"at", NULL};
static const char *const link_words[] = {"up", "down", NULL};
static const char *const order_words[] = {"free", "keep", NULL};

#define AT(member) offsetof(struct wire_cfg, member)
#define ROW(word) \
	.name = "wire." word, .alias = "wire " word, .scope = &scope_port, .store = &wire_store, \
	.arg = &work_wire, .flags = SET_WHERE_IT_FITS, .why = WHY_WORK

const struct setting wire_rows[] = {
	{ROW("limit"), .v = WIRE_LIMIT, .dflt = WIRE_DFLT_LIMIT, .offset = AT(limit),
	 .help = "rate at which a wire serves what its port sends, and how many frames may wait for that; one that finds the queue full is dropped"},
	{ROW("delay"), .v = {&vt_delay, 0, DELAY_MAX_NS}, .dflt = "none", .offset = AT(delay),
	 .help = "time that each frame stays in the wire beside its service: the same for all, or of a distribution"},
	{ROW("loss"), .v = {&vt_hits, 1, 65535, .choices = burst_word}, .dflt = "none",
	 .offset = AT(loss),
	 .help = "frames that get lost in the wire: a share by chance, in bursts of N, or every Nth"},
	{ROW("duplicate"), .v = {&vt_hits}, .dflt = "none", .offset = AT(duplicate),
	 .help = "frames that leave the wire twice"},
	{ROW("reorder"), .v = {&vt_hits, 1, 65535, .choices = by_word}, .dflt = "none",
	 .offset = AT(reorder),
	 .help = "frames that leave the wire behind the next N (1) of their Tx queue, however late these come"},
	{ROW("corrupt"), .v = {&vt_hits, 0, 65535, .choices = at_word}, .dflt = "none",
	 .offset = AT(corrupt),
	 .help = "frames of which one bit is wrong: in byte N, or anywhere behind the Ethernet header"},
	{ROW("mtu"), .v = {&vt_uint, 0, 65535}, .dflt = "0", .unit = "bytes", .offset = AT(mtu),
	 .help = "longer frames are dropped in the wire; without Ethernet header, VLAN tags and FCS; 0: none is too long"},
	{ROW("fail"), .v = {&vt_bool}, .dflt = "off", .offset = AT(fail),
	 .help = "one-way failure: all that the port sends is lost, the link stays up"},
	{ROW("link"), .v = {&vt_enum, .choices = link_words}, .dflt = "up", .offset = AT(link_down),
	 .help = "link of the wire: down at either end is down at both, and all frames are lost"},
	{ROW("flap"), .v = {&vt_flap, FLAP_MIN_NS, FLAP_MAX_NS}, .dflt = "none", .offset = AT(flap),
	 .help = "the link goes down for a time at the end of each period, from the moment on at which this is set"},
	{ROW("order"), .v = {&vt_enum, .choices = order_words}, .dflt = "free",
	 .offset = AT(in_order),
	 .help = "what becomes of the order when delays differ: free lets frames overtake each other (counted as reordered), keep does not"},
	{ROW("seed"), .v = {&vt_uint}, .dflt = WIRE_DFLT_SEED, .offset = AT(seed),
	 .help = "which frames chance hits: the same seed hits the same numbers of frames in each direction"},
	{.name = "wire",
	 .scope = &scope_port,
	 .v = {&vt_enum, .choices = plain_words},
	 .dflt = "plain",
	 .store = &plain_store,
	 .flags = SET_DERIVED | SET_WHERE_IT_FITS,
	 .why = WHY_WORK,
	 .help = "takes all settings of the wire back"},
	{0},
};
