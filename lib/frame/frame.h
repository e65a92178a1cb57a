/* SPDX-License-Identifier: BSD-3-Clause */
/* Frames: a stack of headers with field values -> the bytes of one frame, and back. Control side, any thread, no DPDK.
 * Sizes that users see include the 4 FCS bytes; `len` here never does (an mbuf's length). */
#pragma once
#include <jansson.h>
#include "frame_plan.h"
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
	uint8_t v[VT_FIELD_BYTES]; /* that of ordinal 0 where it varies */
	struct vary *vary;         /* NULL: fixed. Owned by the array, as is: */
	struct hexbytes *bytes;    /* FIELD_BYTES: the bytes, NULL: none */
};

struct frame_vals { /* growing array, owned by its holder */
	unsigned n, cap;
	struct frame_val *val;
};
/* Set (replace or add), remove, find. The array may hold values of headers that the stack does not have: they are kept. */
void frame_vals_set(struct frame_vals *a, const struct proto *p, unsigned nth, const struct field *f, const uint8_t *v);
/* A value that changes from frame to frame (copied); a FIXED one is set as such. */
void frame_vals_vary(struct frame_vals *a, const struct proto *p, unsigned nth, const struct field *f, const struct vary *v);
/* Bytes of a FIELD_BYTES field (copied). */
void frame_vals_bytes(struct frame_vals *a, const struct proto *p, unsigned nth, const struct field *f, const struct hexbytes *b);
bool frame_vals_unset(struct frame_vals *a, const struct proto *p, unsigned nth, const struct field *f);
const struct frame_val *frame_vals_find(const struct frame_vals *a, const struct proto *p, unsigned nth, const struct field *f);
void frame_vals_copy(struct frame_vals *dst, const struct frame_vals *src);
void frame_vals_free(struct frame_vals *a);
/* "udp.dst", "ipv4[2].src" -> protocol, which of its kind (1 = outermost) and field. -EINVAL with column and nearest word. */
int frame_field_parse(const char *text, const struct proto **p, unsigned *nth, const struct field **f, struct err *e);
/* The name of a field as frame_field_parse() takes it, appended. */
void frame_field_name(const struct proto *p, unsigned nth, const struct field *f, struct sbuf *out);
/* Set the field of that name to a value's or a variation's text. e->col is relative to the field's name or to the value, whichever is wrong. */
int frame_vals_parse(struct frame_vals *a, const char *field, const char *value, struct err *e);

/* What lies between the headers and the end. ABC, ZERO, NONE, USER: Pktgen's patterns; NONE = zero bytes, unspecified. INC: 0, 1, .. 255, 0, ...
 * RANDOM: another piece of frame_random_block(seed) in each frame. HEX, FILE: data, repeated to the end. */
enum frame_fill { FILL_ABC, FILL_ZERO, FILL_NONE, FILL_USER, FILL_INC, FILL_RANDOM, FILL_HEX, FILL_FILE };

/* Fields that step one after the other like the digits of a counter, fastest first. A field moves on when all digits before it have gone
 * once through their values; fields of one digit step together, and the digit has as many values as its first field. Fields that are
 * in no digit step with every frame. */
#define FRAME_MAX_NEST 16
struct frame_nest {
	unsigned n;
	struct { const struct proto *proto; const struct field *field; uint8_t nth; bool same_digit; } at[FRAME_MAX_NEST];
};

/* Bits of the finished frame that change at random, wherever they lie (Pktgen's rnd): bit 31 - i of the masks is bit i counted from byte
 * `off`, most significant first. */
#define FRAME_MAX_RND 32
struct frame_rnd {
	bool on;
	uint16_t off;           /* byte of the frame */
	uint8_t nbits;          /* 1..32 */
	uint32_t one, zero, rnd; /* bits set, cleared, random; the others stay */
};

struct frame_spec {
	struct frame_stack stack;
	struct frame_vals vals;
	uint16_t size;            /* with FCS; 0 = auto: 64 or the stack's own length, whichever is larger */
	enum frame_fill fill;
	char user[64];            /* FILL_USER: repeated text */
	uint64_t fill_seed;       /* FILL_RANDOM */
	struct hexbytes *data;    /* FILL_HEX, FILL_FILE; owned by the holder of the spec */
	struct frame_nest nest;
	uint32_t probe;           /* a probe in one of so many frames (frame_probe.h), and room for it in all; 0: none */
	bool rnd_on;              /* use rnd */
	struct frame_rnd rnd[FRAME_MAX_RND];
};
void frame_spec_copy(struct frame_spec *dst, const struct frame_spec *src); /* dst is overwritten, not freed first */
void frame_spec_free(struct frame_spec *);

/* "eth/vlan/ipv4/udp" -> stack; checks names and bindings, names the column and the nearest/allowed words. */
int frame_stack_parse(const char *text, struct frame_stack *out, struct err *e);
void frame_stack_print(const struct frame_stack *s, struct sbuf *out);
/* Words that may follow prefix text, for completion. */
void frame_stack_complete(const char *text, void (*offer)(void *arg, const char *word), void *arg);
/* Header length of the stack when no option is set, without payload and FCS. */
unsigned frame_stack_len(const struct frame_stack *s);
/* Header length of spec, options included, without payload and FCS. May be above FRAME_MAX_LEN, then frame_build() refuses it. */
unsigned frame_headers_len(const struct frame_spec *spec);

/* Where the headers of a frame lie. The builder makes it from a spec, the dissector from bytes. */
#define FRAME_MAX_PARTS 512
struct layout {
	unsigned n, nparts;
	uint32_t tail; /* first byte behind the headers */
	struct {
		const struct proto *proto;
		uint32_t off;      /* first byte */
		uint32_t hlen;     /* bytes of this header itself, parts and padding included */
		uint32_t end;      /* first byte that no longer belongs to what this header carries */
		uint64_t set;      /* builder: bit i: the spec sets field i of the protocol */
		uint16_t part, nparts; /* its parts in this->part */
		uint8_t nth;       /* how many headers of its protocol there are up to this one */
	} h[FRAME_MAX_HDRS];
	struct layout_part {
		const struct part *part;
		uint32_t off, len; /* len without padding */
	} part[FRAME_MAX_PARTS];
};

/* A header may have fields that only some of its messages have (icmp.id). Where the spec's own value v is for one that the frame does not have,
 * the field that says so (icmp.type), and its value; else NULL. Such values are kept and change nothing. */
const struct field *frame_val_idle(const struct frame_spec *spec, const struct frame_val *v, uint64_t *says);

struct frame {
	uint16_t len;                     /* without FCS */
	uint8_t bytes[FRAME_MAX_LEN + 4];
	unsigned n;                       /* headers */
	uint16_t off[FRAME_MAX_HDRS];     /* byte offset of each header */
	struct layout l;
};
/* The field of header i of a frame that was built, VT_FIELD_BYTES. False: this frame has no such field (an option that is not set, a field of
 * another message type). ROLE_HERE fields are 1 where their part is. Not for FIELD_BYTES. */
bool frame_field_get(const struct frame *f, unsigned i, const struct field *field, uint8_t v[VT_FIELD_BYTES]);
/* The bytes of a FIELD_BYTES field in the frame, or NULL. */
const uint8_t *frame_field_bytes(const struct frame *f, unsigned i, const struct field *field, unsigned *n);

/* Build the frame of spec. dflt (may be NULL): values used where spec sets none (port MACs, addresses), before the field's own
 * default; those of the first header of a kind serve further ones that have none of their own. Roles fill themselves over the
 * bytes that are really there, unless spec sets the field. Payload fills up to the size. -EINVAL with text when the size is below
 * 64 or the stack's length (names the smallest size), above max_size (with FCS), or a user pattern has no text. */
int frame_build(const struct frame_spec *spec, const struct frame_vals *dflt, unsigned max_size, struct frame *out, struct err *e);

/* ---- frames that change (frame_plan.h) ---- */

/* The template of spec at spec->size, and its variations. Errors as frame_build(), and: a nested field that has no end, a varied field whose header
 * the stack lacks, rnd bits beyond the frame's end. Values of lengths and of what names the next header may vary too;
 * the frame is built as of ordinal 0.
 * A seed of 0 becomes the FNV-1a 64 of the field's name, "udp.src" or "ipv4[2].src"; that of entry i of rnd is the hash of "rnd[i]". */
int frame_compile(const struct frame_spec *spec, const struct frame_vals *dflt, unsigned max_size, struct frame_plan *out, struct err *e);
void frame_plan_free(struct frame_plan *);

/* Which bits of the frame differ from one frame to the next: those that were told to, and those of checksums that follow them. Both are
 * plan->len bytes, zeroed. */
void frame_moves(const struct frame_plan *plan, uint8_t *varies, uint8_t *follows);
/* Names of the fields of f that have marked bits, in the order of the frame, "payload" at last: ["ipv4.src","payload"]. New reference. */
json_t *frame_mask_names(const struct frame *f, const uint8_t *mask);
/* Bytes that have marked bits: [[offset,length],..]. New reference. */
json_t *frame_mask_bytes(const struct frame *f, const uint8_t *mask);

/* Dissect len bytes by the same tables: new JSON {"size":S,"stack":"eth/ipv4/udp","headers":[{"name":"eth","offset":0,
 * "fields":{"dst":"..",..}}, ..],"payload":{"offset":..,"len":..},"hex":".."}; checksum fields get "<name>_ok": bool beside them
 * where they can be judged (not in UDP without checksum, in fragments, in what is cut off). A header may have "options" (hex) and
 * "malformed" (why). "fields" has the fields that this message has, known options among them; "options" beside it is all option bytes. Bytes
 * after the end that lengths give are "padding". A header's "text" has the numbers of "fields" that people write otherwise ("0x0800").
 * Never fails: undecodable rest is payload. Caller decrefs. */
json_t *frame_dissect(const uint8_t *bytes, unsigned len);
/* The same for a person: one line per header with its fields, then a hex dump with offsets. */
void frame_print(const uint8_t *bytes, unsigned len, struct sbuf *out);
