/* SPDX-License-Identifier: BSD-3-Clause */
/* Frames: a stack of headers with field values -> the bytes of one frame, and back. Control side, any thread, no DPDK.
 * Sizes that users see include the 4 FCS bytes; `len` here never does (an mbuf's length). */
#pragma once
#include <jansson.h>
#include "proto.h"

#define FRAME_MAX_HDRS 64
#define FRAME_FCS 4
#define FRAME_MIN_LEN 60     /* IEEE 802.3 3.2.8: 64 with FCS */
#define FRAME_MAX_LEN 16380

struct frame_stack {
	unsigned n;
	const struct proto *hdr[FRAME_MAX_HDRS];
};

/* One header field that has a value. nth: 1 = first header of that protocol in the stack. */
struct frame_val {
	const struct proto *proto;
	const struct field *field;
	uint8_t nth;
	uint8_t v[VT_FIELD_BYTES];
};

struct frame_vals { /* growing array, owned by its holder */
	unsigned n, cap;
	struct frame_val *val;
};
/* Set (replace or add), remove, find. The array may hold values of headers that the stack does not have: they are kept. */
void frame_vals_set(struct frame_vals *a, const struct proto *p, unsigned nth, const struct field *f, const uint8_t *v);
bool frame_vals_unset(struct frame_vals *a, const struct proto *p, unsigned nth, const struct field *f);
const struct frame_val *frame_vals_find(const struct frame_vals *a, const struct proto *p, unsigned nth, const struct field *f);
void frame_vals_copy(struct frame_vals *dst, const struct frame_vals *src);
void frame_vals_free(struct frame_vals *a);
/* "udp.dst", "ipv4[2].src" -> protocol, which of its kind (1 = outermost) and field. -EINVAL with column and nearest word. */
int frame_field_parse(const char *text, const struct proto **p, unsigned *nth, const struct field **f, struct err *e);
/* Set the field of that name to a value's text. e->col is relative to the field's name or to the value, whichever is wrong. */
int frame_vals_parse(struct frame_vals *a, const char *field, const char *value, struct err *e);

enum frame_fill { FILL_ABC, FILL_ZERO, FILL_NONE, FILL_USER }; /* Pktgen's payload patterns; NONE = zero bytes, unspecified */

struct frame_spec {
	struct frame_stack stack;
	struct frame_vals vals;
	uint16_t size;            /* with FCS; 0 = auto: 64 or the stack's own length, whichever is larger */
	enum frame_fill fill;
	char user[64];            /* FILL_USER: repeated text */
};

/* "eth/vlan/ipv4/udp" -> stack; checks names and bindings, names the column and the nearest/allowed words. */
int frame_stack_parse(const char *text, struct frame_stack *out, struct err *e);
void frame_stack_print(const struct frame_stack *s, struct sbuf *out);
/* Words that may follow prefix text, for completion. */
void frame_stack_complete(const char *text, void (*offer)(void *arg, const char *word), void *arg);
/* Header length of the stack, without payload and FCS. */
unsigned frame_stack_len(const struct frame_stack *s);

struct frame {
	uint16_t len;                     /* without FCS */
	uint8_t bytes[FRAME_MAX_LEN + 4];
	unsigned n;                       /* headers */
	uint16_t off[FRAME_MAX_HDRS];     /* byte offset of each header */
};

/* Build the frame of spec. dflt (may be NULL): values used where spec sets none (port MACs, addresses), before the field's own
 * default; those of the first header of a kind serve further ones that have none of their own. Roles fill themselves over the
 * bytes that are really there, unless spec sets the field. Payload fills up to the size. -EINVAL with text when the size is below
 * 64 or the stack's length (names the smallest size), above max_size (with FCS), or a user pattern has no text. */
int frame_build(const struct frame_spec *spec, const struct frame_vals *dflt, unsigned max_size, struct frame *out, struct err *e);

/* Dissect len bytes by the same tables: new JSON {"size":S,"stack":"eth/ipv4/udp","headers":[{"name":"eth","offset":0,
 * "fields":{"dst":"..",..}}, ..],"payload":{"offset":..,"len":..},"hex":".."}; checksum fields get "<name>_ok": bool beside them
 * where they can be judged (not in UDP without checksum, in fragments, in what is cut off). A header may have "options" (hex) and
 * "malformed" (why); bytes after the end that lengths give are "padding". Never fails: undecodable rest is payload. Caller decrefs. */
json_t *frame_dissect(const uint8_t *bytes, unsigned len);
/* The same for a person: one line per header with its fields, then a hex dump with offsets. */
void frame_print(const uint8_t *bytes, unsigned len, struct sbuf *out);
