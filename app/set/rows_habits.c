/* SPDX-License-Identifier: BSD-3-Clause */
/* Words that people know from other programs and that stand for other rows: `pps`, `jumbo`, `dscp`.
 * These rows are neither listed nor saved. */
#include "rows.h"

#include <errno.h>
#include <string.h>

#include "frame_edit.h"

static void habits_keep(const struct setting *row, const struct set_obj *obj)
{
	(void)row;
	(void)obj;
}

/* ---- pps: `rate` in frames per second; a number without a unit is taken for that ---- */

static int pps_parse(const struct vspec *s, const char *text, void *out, struct err *e)
{
	size_t len = strlen(text), unit = strcspn(text, "pP");
	char word[64];

	if (len == 0 || len + 4 > sizeof(word) ||
	    strspn(text, "0123456789.eE_'+-kKmMgGpPsS ") < len)
		return vspec_fail(s, EINVAL, 0, e, text, "is no number of frames per second");
	snprintf(word, sizeof(word), "%s%s", text, unit == len ? "pps" : "");
	return vt_rate_steady.parse(s, word, out, e);
}

static void pps_print(const struct vspec *s, const void *val, struct sbuf *out)
{
	vt_rate_steady.print(s, val, out);
}

static const struct vtype vt_pps = {
	.name = "pps",
	.syntax = "frames per second: 1000, 1k, 1.5Mpps",
	.size = sizeof(struct rate),
	.parse = pps_parse,
	.print = pps_print,
};

static void pps_put(const struct setting *row, const struct set_obj *obj, const void *val)
{
	(void)row;
	((struct port_cfg *)obj->cfg)->rate = *(const struct rate *)val;
}

static bool pps_get(const struct setting *row, const struct set_obj *obj, void *val)
{
	(void)row;
	*(struct rate *)val = ((const struct port_cfg *)obj->cfg)->rate;
	return false;
}

static int pps_told(const struct setting *row, const struct set_obj *obj, struct err *e)
{
	const struct rate *rate = &((const struct port_cfg *)obj->cfg)->rate;
	struct sbuf text = {0};

	if (rate->kind == RATE_PPS && rate->over_ns == 0)
		return 0;
	vt_rate.print(&(struct vspec){.type = &vt_rate}, rate, &text);
	err_set(e, EINVAL,
		"%s: the rate is %s, which is no number of frames per second; `rate` tells it",
		row->name, sbuf_str(&text));
	sbuf_free(&text);
	return -EINVAL;
}

static const struct setting_store pps_store = {.put = pps_put,
					       .get = pps_get,
					       .unset = habits_keep,
					       .told = pps_told};

/* ---- jumbo: turns an MTU of 9000 on or off ---- */

#define MTU_PLAIN 1500
#define MTU_JUMBO 9000

static void jumbo_put(const struct setting *row, const struct set_obj *obj, const void *val)
{
	struct port_cfg *c = obj->cfg;
	bool on = *(const bool *)val;

	(void)row;
	if (on != (c->mtu > MTU_PLAIN))
		c->mtu = on ? MTU_JUMBO : MTU_PLAIN;
}

static bool jumbo_get(const struct setting *row, const struct set_obj *obj, void *val)
{
	(void)row;
	*(bool *)val = ((const struct port_cfg *)obj->cfg)->mtu > MTU_PLAIN;
	return false;
}

static const struct setting_store jumbo_store = {.put = jumbo_put,
						 .get = jumbo_get,
						 .unset = habits_keep};

/* ---- dscp: the upper six bits of the type of service ---- */

#define ECN_BITS 2
#define ECN_MASK 3

/* The field `tos` of the outermost IP header, whose protocol *p becomes. NULL: the frame has no IP
 * header. */
static const struct field *tos_field(const struct stream_cfg *c, const struct proto **p)
{
	for (unsigned i = 0; i < c->frame.stack.n; i++) {
		const struct field *f =
			frame_word_field(c->frame.stack.hdr[i], "tos", strlen("tos"));
		if (f != NULL) {
			*p = c->frame.stack.hdr[i];
			return f;
		}
	}
	return NULL;
}

static unsigned tos_now(const struct stream_cfg *c)
{
	const struct proto *p = NULL;
	const struct field *f = tos_field(c, &p);
	const struct frame_val *v = f != NULL ? frame_vals_find(&c->frame.vals, p, 1, f) : NULL;

	return v != NULL ? (unsigned)vary_load(v->v) : 0;
}

static int dscp_told(const struct setting *row, const struct set_obj *obj, struct err *e)
{
	const struct stream_cfg *c = obj->cfg;
	const struct proto *p;
	struct sbuf stack = {0};

	if (tos_field(c, &p) != NULL)
		return 0;
	frame_stack_print(&c->frame.stack, &stack);
	err_set(e, EINVAL, "%s: stream %u/%u: the frame %.200s has no IP header", row->name,
		obj->port, obj->id, sbuf_str(&stack));
	sbuf_free(&stack);
	return -EINVAL;
}

static int dscp_may(const struct setting *row, const struct set_obj *obj, const void *val,
		    struct err *e)
{
	(void)val;
	return dscp_told(row, obj, e);
}

static void dscp_put(const struct setting *row, const struct set_obj *obj, const void *val)
{
	struct stream_cfg *c = obj->cfg;
	const struct proto *p = NULL;
	const struct field *f = tos_field(c, &p);
	uint8_t v[VT_FIELD_BYTES];

	(void)row;
	if (f == NULL)
		return;
	vary_store(*(const uint64_t *)val << ECN_BITS | (tos_now(c) & ECN_MASK), v);
	frame_vals_set(&c->frame.vals, p, 1, f, v);
}

static bool dscp_get(const struct setting *row, const struct set_obj *obj, void *val)
{
	(void)row;
	*(uint64_t *)val = tos_now(obj->cfg) >> ECN_BITS;
	return false;
}

static const struct setting_store dscp_store = {
	.put = dscp_put, .get = dscp_get, .unset = habits_keep, .may = dscp_may, .told = dscp_told};

const struct setting set_habit_rows[] = {
	{.name = "pps",
	 .scope = &scope_port,
	 .v = {&vt_pps},
	 .dflt = "1000pps",
	 .flags = SET_DERIVED,
	 .store = &pps_store,
	 .check = set_check_arrival,
	 .echo = set_echo_load,
	 .why = WHY_RATE,
	 .help = "`rate` in frames per second"},
	{.name = "jumbo",
	 .scope = &scope_port,
	 .v = {&vt_bool},
	 .dflt = "off",
	 .flags = SET_DERIVED | SET_RESTART,
	 .store = &jumbo_store,
	 .check = set_check_port,
	 .help = "whether frames above 1518 bytes may leave: on is an `mtu` of 9000, off one of 1500"},
	{.name = "dscp",
	 .scope = &scope_stream,
	 .v = {&vt_uint, 0, 63},
	 .dflt = "0",
	 .flags = SET_DERIVED,
	 .store = &dscp_store,
	 .check = set_check_stream,
	 .help = "DSCP of the outermost IP header, the upper six bits of `tos`; ECN stays as it is"},
	{0},
};
