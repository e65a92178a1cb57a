/* SPDX-License-Identifier: BSD-3-Clause */
/* Settings of a stream: struct stream_cfg, without its header fields. */
#include "rows.h"

#include <errno.h>
#include <string.h>

static int frame_vparse(const struct vspec *v, const char *text, void *out, struct err *e)
{
	struct frame_stack stack;
	int rc;

	(void)v;
	memset(&stack, 0, sizeof(stack)); /* unused slots too: values are compared as bytes */
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

static void frame_vcomplete(const struct vspec *v, const char *prefix, void (*offer)(void *arg, const char *word), void *arg)
{
	(void)v;
	frame_stack_complete(prefix, offer, arg);
}

static const struct vtype vt_frame = {
	.name = "frame", .syntax = "eth[/vlan]/ipv4/udp: header names, outermost first", .size = sizeof(struct frame_stack),
	.parse = frame_vparse, .print = frame_vprint, .complete = frame_vcomplete,
};

/* A rate of the stream's own, or none. */

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

static void own_vcomplete(const struct vspec *v, const char *prefix, void (*offer)(void *arg, const char *word), void *arg)
{
	if (strncmp("none", prefix, strlen(prefix)) == 0)
		offer(arg, "none");
	vt_rate.complete(v, prefix, offer, arg);
}

static const struct vtype vt_own_rate = {
	.name = "rate", .syntax = "none | 10% | 1.5Mpps | 3Gbps[/l2] | max", .size = sizeof(struct own_rate),
	.parse = own_vparse, .print = own_vprint, .complete = own_vcomplete,
};

/* Pktgen's `type` and `proto` are edits of the frame: the layer that they name is exchanged, the rest stays. */

static const char *const type_words[] = {"ipv4", "vlan", "ipv6", "arp", "ip4", "ip6", NULL};
static const char *const proto_words[] = {"tcp", "udp", "icmp", NULL};
enum { TYPE_IPV4, TYPE_VLAN, TYPE_IPV6, TYPE_ARP, TYPE_IP4, TYPE_IP6 };

static int known_vparse(const struct vspec *v, const char *text, void *out, struct err *e)
{
	int choice;
	int rc = vt_enum.parse(v, text, &choice, e);

	if (rc < 0)
		return rc;
	const char *word = v->choices[choice];
	if (v->choices == type_words && choice == TYPE_IP4)
		word = "ipv4";
	if (v->choices == type_words && choice == TYPE_IP6)
		word = "ipv6";
	if (proto_find(word) == NULL || (v->choices == type_words && strcmp(word, "arp") == 0))
		return err_at(e, ENOTSUP, 0, "'%s' frames are not in this version", word);
	*(int *)out = choice;
	return 0;
}

static void known_vprint(const struct vspec *v, const void *val, struct sbuf *out)
{
	vt_enum.print(v, val, out);
}

static void known_vcomplete(const struct vspec *v, const char *prefix, void (*offer)(void *arg, const char *word), void *arg)
{
	vt_enum.complete(v, prefix, offer, arg);
}

static const struct vtype vt_type = {
	.name = "word", .syntax = "ipv4 | vlan", .size = sizeof(int), .parse = known_vparse, .print = known_vprint,
	.complete = known_vcomplete,
};

static const struct vtype vt_proto = {
	.name = "word", .syntax = "tcp | udp", .size = sizeof(int), .parse = known_vparse, .print = known_vprint,
	.complete = known_vcomplete,
};

static int stack_find(const struct frame_stack *s, const char *name)
{
	for (unsigned i = 0; i < s->n; i++)
		if (strcmp(s->hdr[i]->name, name) == 0)
			return (int)i;
	return -1;
}

static int stack_find_ip(const struct frame_stack *s)
{
	int i = stack_find(s, "ipv4");

	return i >= 0 ? i : stack_find(s, "ipv6");
}

static void stack_insert(struct frame_stack *s, unsigned at, const struct proto *p)
{
	if (s->n == FRAME_MAX_HDRS)
		return;
	memmove(&s->hdr[at + 1], &s->hdr[at], (s->n - at) * sizeof(s->hdr[0]));
	s->hdr[at] = p;
	s->n++;
}

static void stack_remove(struct frame_stack *s, unsigned at)
{
	memmove(&s->hdr[at], &s->hdr[at + 1], (s->n - at - 1) * sizeof(s->hdr[0]));
	s->hdr[--s->n] = NULL;
}

/* A stack without an IP header, say plain eth, becomes eth/IP/L4. */
static unsigned stack_ip(struct frame_stack *s, const char *ip)
{
	int at = stack_find_ip(s);

	if (at < 0) {
		at = 1;
		while ((unsigned)at < s->n && strcmp(s->hdr[at]->name, "vlan") == 0)
			at++;
		s->n = (unsigned)at;
		stack_insert(s, (unsigned)at, proto_find(ip));
		stack_insert(s, (unsigned)at + 1, proto_find("tcp"));
	}
	return (unsigned)at;
}

static void type_put(const struct setting *row, void *obj, const void *val)
{
	struct frame_stack *s = &((struct stream_cfg *)obj)->frame.stack;
	int choice = *(const int *)val, vlan = stack_find(s, "vlan");
	const char *ip = choice == TYPE_IPV6 || choice == TYPE_IP6 ? "ipv6" : "ipv4";

	(void)row;
	unsigned at = stack_ip(s, ip);
	if (choice == TYPE_VLAN) {
		if (vlan < 0)
			stack_insert(s, 1, proto_find("vlan"));
		return;
	}
	s->hdr[at] = proto_find(ip);
	if (vlan >= 0)
		stack_remove(s, (unsigned)vlan);
}

static bool type_get(const struct setting *row, const void *obj, void *val)
{
	const struct frame_stack *s = &((const struct stream_cfg *)obj)->frame.stack;

	(void)row;
	*(int *)val = stack_find(s, "vlan") >= 0 ? TYPE_VLAN : stack_find(s, "ipv6") >= 0 ? TYPE_IPV6 : TYPE_IPV4;
	return false;
}

static void proto_put_word(const struct setting *row, void *obj, const void *val)
{
	struct frame_stack *s = &((struct stream_cfg *)obj)->frame.stack;
	unsigned at = stack_ip(s, "ipv4") + 1;
	const struct proto *p = proto_find(row->v.choices[*(const int *)val]);

	if (at < s->n && !s->hdr[at]->is_payload)
		s->hdr[at] = p;
	else
		stack_insert(s, at, p);
}

static bool proto_get_word(const struct setting *row, const void *obj, void *val)
{
	const struct frame_stack *s = &((const struct stream_cfg *)obj)->frame.stack;

	*(int *)val = 0;
	for (int i = 0; row->v.choices[i] != NULL; i++)
		if (stack_find(s, row->v.choices[i]) >= 0)
			*(int *)val = i;
	return false;
}

/* Nothing is stored, so there is nothing to take back. */
static void keep(const struct setting *row, void *obj)
{
	(void)row;
	(void)obj;
}

static const struct setting_store type_store = {type_put, type_get, keep};
static const struct setting_store proto_store = {proto_put_word, proto_get_word, keep};

#define AT(member) offsetof(struct stream_cfg, member)

const struct setting set_stream_rows[] = {
	{.name = "frame", .scope = SCOPE_STREAM, .v = {&vt_frame}, .dflt = "eth/ipv4/tcp", .offset = AT(frame.stack),
	 .check = set_check_stream, .help = "headers of the frame, outermost first"},
	{.name = "size", .scope = SCOPE_STREAM, .v = {&vt_sizes}, .dflt = "auto", .unit = "bytes", .offset = AT(sizes),
	 .check = set_check_stream, .help = "frame sizes with FCS, in turn; auto is 64 or the headers' own length, whichever is larger"},
	{.name = "enabled", .scope = SCOPE_STREAM, .v = {&vt_bool}, .dflt = "on", .offset = AT(enabled),
	 .help = "whether the stream takes part in what its port sends"},
	{.name = "weight", .scope = SCOPE_STREAM, .v = {&vt_uint, 1, UINT16_MAX}, .dflt = "1", .unit = "turns", .offset = AT(weight),
	 .help = "frames of the stream per cycle of the port's streams, each stream in its turn"},
	{.name = "rate", .scope = SCOPE_STREAM, .v = {&vt_own_rate}, .dflt = "none", .offset = AT(rate),
	 .help = "load of the stream alone, which then takes no turn in the port's rate: percent of the link speed, frames or bits per second"},
	{.name = "count", .scope = SCOPE_STREAM, .v = {&vt_uint}, .dflt = "0", .unit = "frames", .offset = AT(count),
	 .help = "frames of the stream per start; 0 is no bound of its own"},
	{.name = "nest", .scope = SCOPE_STREAM, .v = {&set_vt_nest}, .dflt = "none", .offset = AT(frame.nest), .check = set_check_nest,
	 .help = "varying fields that count like the digits of a number, all combinations in order; the others step with every frame"},
	{.name = "type", .scope = SCOPE_STREAM, .v = {&vt_type, .choices = type_words}, .dflt = "ipv4", .flags = SET_DERIVED,
	 .store = &type_store, .check = set_check_stream,
	 .help = "Pktgen's way to choose the network layer; the same as an edit of `frame`"},
	{.name = "proto", .scope = SCOPE_STREAM, .v = {&vt_proto, .choices = proto_words}, .dflt = "tcp", .flags = SET_DERIVED,
	 .store = &proto_store, .check = set_check_stream,
	 .help = "Pktgen's way to choose the transport layer; the same as an edit of `frame`"},
};
const unsigned set_nstream_rows = ARRAY_SIZE(set_stream_rows);
