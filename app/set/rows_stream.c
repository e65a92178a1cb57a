/* SPDX-License-Identifier: BSD-3-Clause */
/* Settings of a stream but its header fields. Their values are in struct stream_cfg. */
#include "rows.h"

#include <errno.h>
#include <string.h>

#include "ctl.h"

static int frame_vparse(const struct vspec *v, const char *text, void *out, struct err *e)
{
	struct frame_stack stack;
	int rc;

	(void)v;
	/* unused slots are zeroed too, because values are compared as bytes */
	memset(&stack, 0, sizeof(stack));
	rc = frame_stack_parse(text, &stack, e);
	if (rc == 0)
		memcpy(out, &stack, sizeof(stack));
	return rc;
}

static void frame_vprint(const struct vspec *v, const void *val, struct sbuf *out)
{
	(void)v;
	frame_stack_print(val, out);
}

static void frame_vcomplete(const struct vspec *v, const char *prefix,
			    void (*offer)(void *arg, const char *word), void *arg)
{
	(void)v;
	frame_stack_complete(prefix, offer, arg);
}

static const struct vtype vt_frame = {
	.name = "frame",
	.syntax = "eth[/vlan]/ipv4/udp: header names, outermost first",
	.size = sizeof(struct frame_stack),
	.parse = frame_vparse,
	.print = frame_vprint,
	.complete = frame_vcomplete,
};

/* A frame that nobody has set is the default of what the stream is for. */

static void frame_put(const struct setting *row, const struct set_obj *obj, const void *val)
{
	struct stream_cfg *cfg = obj->cfg;

	(void)row;
	memcpy(&cfg->frame.stack, val, sizeof(cfg->frame.stack));
	cfg->frame_set = true;
}

static bool frame_get(const struct setting *row, const struct set_obj *obj, void *val)
{
	const struct stream_cfg *cfg = obj->cfg;

	(void)row;
	memcpy(val, &cfg->frame.stack, sizeof(cfg->frame.stack));
	return !ctl_stream_frame_usual(cfg);
}

static void frame_unset(const struct setting *row, const struct set_obj *obj)
{
	struct stream_cfg *cfg = obj->cfg;

	(void)row;
	cfg->frame_set = false;
	ctl_stream_frame_follow(cfg);
}

static const struct setting_store frame_store = {frame_put, frame_get, frame_unset};

/* The type of a stream's rate: a rate of its own, or none. */

static int own_vparse(const struct vspec *v, const char *text, void *out, struct err *e)
{
	struct own_rate own;

	memset(&own, 0, sizeof(own));
	own.set = strcmp(text, "none") != 0;
	int rc = own.set ? vt_rate.parse(v, text, &own.rate, e) : 0;
	if (rc == 0)
		memcpy(out, &own, sizeof(own));
	return rc;
}

static void own_vprint(const struct vspec *v, const void *val, struct sbuf *out)
{
	const struct own_rate *own = val;

	if (own->set)
		vt_rate.print(v, &own->rate, out);
	else
		sbuf_add(out, "none");
}

static void own_vcomplete(const struct vspec *v, const char *prefix,
			  void (*offer)(void *arg, const char *word), void *arg)
{
	if (strncmp("none", prefix, strlen(prefix)) == 0)
		offer(arg, "none");
	vt_rate.complete(v, prefix, offer, arg);
}

static enum vplain own_vplain(const struct vspec *v, const void *val, double *out)
{
	const struct own_rate *own = val;

	return own->set ? vt_rate.plain(v, &own->rate, out) : VPLAIN_TEXT;
}

static void own_vnumber(const struct vspec *v, double n, struct sbuf *out)
{
	vt_rate.number(v, n, out);
}

static const struct vtype vt_own_rate = {
	.name = "rate",
	.syntax = "none | " RATE_SYNTAX,
	.size = sizeof(struct own_rate),
	.parse = own_vparse,
	.print = own_vprint,
	.complete = own_vcomplete,
	.plain = own_vplain,
	.number = own_vnumber,
};

static bool check_arrival(const struct setting *row, const struct set_obj *obj, struct err *warn)
{
	const struct stream_cfg *s = obj->cfg;

	(void)row;
	if (s->arrival.kind == ARRIVAL_CONSTANT || ctl_stream_carried(s) ||
	    (s->rate.set && s->rate.rate.kind != RATE_MAX))
		return true;
	if (s->rate.set)
		err_set(warn, EINVAL,
			"frames that leave as fast as possible have no times at which they arrive; a start needs another rate");
	else
		err_set(warn, EINVAL,
			"frames of a stream without a rate of its own arrive with its port's; `set <stream> rate ...` gives it one");
	return false;
}

#define AT(member) offsetof(struct stream_cfg, member)

const struct setting set_stream_rows[] = {
	{.name = "frame",
	 .scope = &scope_stream,
	 .v = {&vt_frame},
	 .dflt = STREAM_DFLT_FRAME,
	 .store = &frame_store,
	 .check = set_check_stream,
	 .why = WHY_FRAMES,
	 .help = "headers of the frame, outermost first"},
	{.name = "size",
	 .scope = &scope_stream,
	 .v = {&vt_sizes},
	 .dflt = "auto",
	 .unit = "bytes",
	 .offset = AT(sizes),
	 .check = set_check_stream,
	 .why = WHY_FRAMES,
	 .help = "frame sizes with FCS, in turn; auto is 64 or the headers' own length, whichever is larger"},
	{.name = "enabled",
	 .scope = &scope_stream,
	 .v = {&vt_bool},
	 .dflt = STREAM_DFLT_ENABLED,
	 .offset = AT(enabled),
	 .why = WHY_ORDER,
	 .help = "whether the stream takes part in what its port sends"},
	{.name = "weight",
	 .scope = &scope_stream,
	 .v = {&vt_uint, 1, UINT16_MAX},
	 .dflt = STREAM_DFLT_WEIGHT,
	 .unit = "turns",
	 .offset = AT(weight),
	 .why = WHY_ORDER,
	 .help = "frames of the stream per cycle of the port's streams, each stream in its turn"},
	{.name = "rate",
	 .scope = &scope_stream,
	 .v = {&vt_own_rate},
	 .dflt = "none",
	 .offset = AT(rate),
	 .echo = set_echo_stream_load,
	 .why = WHY_RATE | WHY_ORDER,
	 .help = "load of the stream alone, which then takes no turn in the port's rate: percent of the link speed, frames or bit/s"},
	{.name = "count",
	 .scope = &scope_stream,
	 .v = {&vt_uint},
	 .dflt = "0",
	 .unit = "frames",
	 .offset = AT(count),
	 .why = WHY_ORDER,
	 .help = "frames of the stream per start; 0 is no bound of its own"},
	{0},
};

const struct setting set_arrival_rows[] = {
	{.name = "arrival",
	 .scope = &scope_stream,
	 .v = {&vt_arrival},
	 .dflt = "constant",
	 .offset = AT(arrival),
	 .check = check_arrival,
	 .why = WHY_RATE,
	 .help = "when the stream's frames leave at a rate of its own: evenly, at random, in bursts at wire speed, with jitter, or on and off"},
	{0},
};
