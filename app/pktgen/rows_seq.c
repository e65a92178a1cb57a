/* SPDX-License-Identifier: BSD-3-Clause */
/* The row `seq_cnt` of Pktgen's sequence: the number of slots in use. Slot N is stream N + 1, so
 * the number says which streams are enabled, and is not kept anywhere else. */
#include "set/rows.h"

#include <errno.h>
#include <string.h>

#include "app.h"
#include "frame_edit.h"
#include "pktgen.h"

/* In Pktgen tags and tunnels are settings of the port, so a new slot gets those of the single
 * packet, which is stream 0. */
int pktgen_slot_make(struct ctl *ctl, unsigned port, unsigned stream, struct err *e)
{
	int rc = ctl_stream_add(ctl, port, (int)stream, 1, -1, e);

	if (rc < 0)
		return rc;
	struct stream_cfg *c = ctl_stream_cfg(ctl, port, stream);
	const struct stream_cfg *single = ctl_stream_cfg(ctl, port, 0);
	c->enabled = false;
	for (unsigned part = PART_VLAN; single != NULL && part < PART_GTPU; part++)
		if (frame_has(&single->frame.stack, (enum frame_part)part)) {
			frame_add(&c->frame, (enum frame_part)part, NULL, NULL);
			c->frame_set = true;
		}
	ctl_touch_stream(ctl, port, (int)stream, WHY_ALL);
	return 0;
}

/* Enables or disables a stream. One that is to be enabled and does not exist is made. */
static void rows_seq_enable(struct ctl *ctl, unsigned port, unsigned stream, bool on)
{
	struct stream_cfg *c = ctl_stream_cfg(ctl, port, stream);

	if (c == NULL && on && pktgen_slot_make(ctl, port, stream, NULL) == 0)
		c = ctl_stream_cfg(ctl, port, stream);
	if (c == NULL || c->enabled == on)
		return;
	c->enabled = on;
	ctl_touch_stream(ctl, port, (int)stream, WHY_ALL);
}

static void seq_cnt_put(const struct setting *row, const struct set_obj *obj, const void *val)
{
	struct ctl *ctl = set_ctl(obj);
	uint64_t k = *(const uint64_t *)val;

	(void)row;
	if (ctl == NULL)
		return;
	rows_seq_enable(ctl, obj->port, 0, k == 0);
	for (unsigned s = 1; s <= k; s++)
		rows_seq_enable(ctl, obj->port, s, true);
	for (unsigned s = (unsigned)k + 1; s < ctl_nstreams(ctl, obj->port); s++)
		rows_seq_enable(ctl, obj->port, s, false);
}

static bool is_enabled(struct ctl *ctl, unsigned port, unsigned stream)
{
	const struct stream_cfg *c = ctl_stream_cfg(ctl, port, stream);

	return c != NULL && c->enabled;
}

/* Returns false, because the row itself is never set. */
static bool seq_cnt_get(const struct setting *row, const struct set_obj *obj, void *val)
{
	struct ctl *ctl = set_ctl(obj);
	uint64_t k = 0;

	(void)row;
	if (ctl != NULL && !is_enabled(ctl, obj->port, 0))
		while (is_enabled(ctl, obj->port, (unsigned)k + 1))
			k++;
	*(uint64_t *)val = k;
	return false;
}

/* Refuses to tell a value if no number of slots enables just the streams that are enabled. */
static int seq_cnt_told(const struct setting *row, const struct set_obj *obj, struct err *e)
{
	struct ctl *ctl = set_ctl(obj);
	uint64_t k;

	if (ctl == NULL)
		return 0;
	seq_cnt_get(row, obj, &k);
	for (unsigned s = 0; s < ctl_nstreams(ctl, obj->port); s++)
		if (is_enabled(ctl, obj->port, s) != (s == 0 ? k == 0 : s <= k))
			return err_set(
				e, EINVAL,
				"%s: port %u: which streams are enabled is not told by a number of slots; `enabled` of each tells",
				row->name, obj->port);
	return 0;
}

static void rows_seq_keep(const struct setting *row, const struct set_obj *obj)
{
	(void)row;
	(void)obj;
}

static const struct setting_store seq_cnt_store = {.put = seq_cnt_put,
						   .get = seq_cnt_get,
						   .unset = rows_seq_keep,
						   .told = seq_cnt_told};

const struct setting pktgen_seq_rows[] = {
	{.name = "seq_cnt",
	 .alias = "seqcnt,seqCnt",
	 .scope = &scope_port,
	 .v = {&vt_uint, 0, CTL_MAX_STREAMS - 1},
	 .dflt = "0",
	 .unit = "slots",
	 .flags = SET_DERIVED,
	 .store = &seq_cnt_store,
	 .help = "slots of Pktgen's sequence in use: K enables streams 1 to K alone, 0 stream 0 alone; the same as edits of `enabled`"},
	{0},
};
