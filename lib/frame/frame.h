/* SPDX-License-Identifier: BSD-3-Clause */
/* Frames: from a stack of headers and values of their fields to the bytes of one frame, and from
 * bytes back to headers. Control side, any thread, no DPDK. A size that a user sees includes the 4
 * bytes of FCS; a `len` here never does, like the length of an mbuf. */
#pragma once
#include <jansson.h>
#include "frame_recipe.h"
#include "proto.h"

#define FRAME_MAX_HDRS 64
#define FRAME_FCS 4
#define FRAME_MIN_LEN 60 /* IEEE 802.3 3.2.8: 64 bytes with FCS */
#define FRAME_MAX_LEN 16380

struct frame_stack {
	unsigned n;
	const struct proto *hdr[FRAME_MAX_HDRS];
};

/* One header field that has a value. nth says to which header of its protocol it belongs: 1 is the
 * first in the stack; FRAME_REPLY + 1 is the first one in the answers to such frames, where it is
 * another value ("reply.gtpu.teid"). Whoever builds frames has no answers, and ignores those. */
#define FRAME_REPLY 128
struct frame_val {
	const struct proto *proto;
	const struct field *field;
	uint8_t nth;
	bool found;                /* it is `auto`, and v is what was found; 0: nothing yet */
	uint8_t v[VT_FIELD_BYTES]; /* where it varies: its value at ordinal 0 */
	struct vary *vary;         /* NULL: fixed. Owned by the array */
	struct hexbytes *bytes;    /* of a FIELD_BYTES field; NULL: none. Owned by the array */
	/* Its values go side by side with those of this field, of the first header of its
	 * protocol: it steps when that one does, nested or not. field NULL: it steps by itself. */
	struct frame_lead {
		const struct proto *proto;
		const struct field *field;
	} lead;
};

struct frame_vals { /* growing array; who holds it frees it */
	unsigned n, cap;
	struct frame_val *val;
};
/* frame_vals_set() gives a field a value, in place of the one that it had; v is copied. The array
 * may also hold values of headers that the stack does not have: they are kept. frame_vals_unset()
 * removes the value of a field, and returns false if it has none. frame_vals_find() returns the
 * value, which is valid until the array changes, or NULL. */
void frame_vals_set(struct frame_vals *a, const struct proto *p, unsigned nth,
		    const struct field *f, const uint8_t *v);
/* Gives a field a value that changes from frame to frame. The variation is copied; one of kind
 * VARY_FIXED becomes a plain value. */
void frame_vals_vary(struct frame_vals *a, const struct proto *p, unsigned nth,
		     const struct field *f, const struct vary *v);
/* Gives a field values that go side by side with those of another one: v has one for each of
 * them. Whether the field is `auto` stays as it is. */
void frame_vals_beside(struct frame_vals *a, const struct proto *p, unsigned nth,
		       const struct field *f, const struct vary *v, struct frame_lead lead);
/* Gives a field the value `auto`, and what was found for it. v NULL: what was found before
 * stays. */
void frame_vals_found(struct frame_vals *a, const struct proto *p, unsigned nth,
		      const struct field *f, const uint8_t *v);
/* Gives a FIELD_BYTES field its bytes, which are copied. */
void frame_vals_bytes(struct frame_vals *a, const struct proto *p, unsigned nth,
		      const struct field *f, const struct hexbytes *b);
bool frame_vals_unset(struct frame_vals *a, const struct proto *p, unsigned nth,
		      const struct field *f);
const struct frame_val *frame_vals_find(const struct frame_vals *a, const struct proto *p,
					unsigned nth, const struct field *f);
void frame_vals_copy(struct frame_vals *dst, const struct frame_vals *src);
void frame_vals_free(struct frame_vals *a);
/* Reads the name of a field, "udp.dst" or "ipv4[2].src", into its protocol, the number of the
 * header among those of its kind (1 = outermost) and the field. -EINVAL with the column and the
 * nearest word. */
int frame_field_parse(const char *text, const struct proto **p, unsigned *nth,
		      const struct field **f, struct err *e);
/* Appends the name of a field as frame_field_parse() reads it. */
void frame_field_name(const struct proto *p, unsigned nth, const struct field *f, struct sbuf *out);
/* Gives the field of that name the value or the variation that a text says. 0, or what the parser
 * of the name or of the value returns; e->col counts within `field` or within `value`, whichever is
 * wrong. */
int frame_vals_parse(struct frame_vals *a, const char *field, const char *value, struct err *e);

/* What fills a frame from the end of its headers to its end. ABC, ZERO, NONE and USER are patterns
 * of Pktgen; NONE promises nothing and is zero bytes. INC is 0, 1, .. 255, 0, ... RANDOM takes
 * another piece of frame_random_block(seed) in each frame. HEX and FILE repeat `data` up to the
 * end. */
enum frame_fill {
	FILL_ABC,
	FILL_ZERO,
	FILL_NONE,
	FILL_USER,
	FILL_INC,
	FILL_RANDOM,
	FILL_HEX,
	FILL_FILE
};

/* Fields that step like the digits of a counter, the fastest one first. A field moves on when all
 * digits before it have gone once through their values. Fields of one digit step together, and the
 * digit has as many values as its first field. Fields that are in no digit step with every
 * frame. */
#define FRAME_MAX_NEST 16
struct frame_nest {
	unsigned n;
	struct {
		const struct proto *proto;
		const struct field *field;
		uint8_t nth;
		bool same_digit;
	} at[FRAME_MAX_NEST];
};

/* Bits of the finished frame that change at random, wherever they lie (Pktgen's rnd). Bit 31 - i of
 * the masks stands for bit i behind the start of byte `off`, counted from the most significant
 * bit. */
#define FRAME_MAX_RND 32
struct frame_rnd {
	bool on;
	uint16_t off;            /* byte of the frame */
	uint8_t nbits;           /* 1..32 */
	uint32_t one, zero, rnd; /* masks of bits to set, clear, make random; other bits stay */
};

struct frame_spec {
	struct frame_stack stack;
	struct frame_vals vals;
	uint16_t size; /* with FCS; 0: 64, or what the headers need if that is more */
	enum frame_fill fill;
	char user[64];         /* FILL_USER: repeated text */
	uint64_t fill_seed;    /* FILL_RANDOM */
	struct hexbytes *data; /* FILL_HEX, FILL_FILE; owned by the holder of the spec */
	struct frame_nest nest;
	/* One of `probe` frames carries a probe (frame_probe.h), all have room for one; 0: none. */
	uint32_t probe;
	bool rnd_on; /* false: rnd is ignored */
	struct frame_rnd rnd[FRAME_MAX_RND];
};
void frame_spec_copy(struct frame_spec *dst, const struct frame_spec *src); /* dst is not freed */
void frame_spec_free(struct frame_spec *);

/* Reads a stack, "eth/vlan/ipv4/udp", and checks that each header may follow the one before it. A
 * payload at the end is accepted and not kept. -EINVAL with the column, and with the nearest name
 * or the headers that are possible there. */
int frame_stack_parse(const char *text, struct frame_stack *out, struct err *e);
void frame_stack_print(const struct frame_stack *s, struct sbuf *out);
/* The number of the header at that index among those of its protocol: 1 is the first. */
uint8_t frame_stack_nth(const struct frame_stack *s, unsigned at);
/* Offers the stacks that `text` may become, for completion: with its last word completed, and,
 * where that word is whole, with one more header behind it. */
void frame_stack_complete(const char *text, void (*offer)(void *arg, const char *word), void *arg);
/* Bytes of the headers of spec with its options, without payload and FCS. It may be above
 * FRAME_MAX_LEN; frame_build() refuses such a spec. */
unsigned frame_headers_len(const struct frame_spec *spec);

/* Where the headers of a frame lie. The builder makes a layout from a spec, the dissector makes one
 * from bytes. */
#define FRAME_MAX_SECTIONS 512
struct layout {
	unsigned n, nsections;
	uint32_t tail; /* first byte behind the headers */
	struct {
		const struct proto *proto;
		uint32_t off;  /* first byte */
		uint32_t hlen; /* bytes of this header, with its sections and padding */
		uint32_t end;  /* first byte behind what this header carries */
		uint64_t set;  /* only from the builder: bit i: the spec sets field i */
		uint16_t section,
			nsections; /* its sections in the array below: the first, and how many */
		uint8_t nth;       /* its number among the headers of its protocol, from 1 */
	} h[FRAME_MAX_HDRS];
	struct layout_section {
		const struct section *section;
		uint32_t off, len; /* len without padding */
	} section[FRAME_MAX_SECTIONS];
};

/* Some fields exist only in some messages of their header (icmp.id). If v, a value of the spec, is
 * for such a field and the frame is another message, this is the field that tells the message
 * (icmp.type), and *says is what that field holds. Otherwise NULL. Values without effect are
 * kept. */
const struct field *frame_val_idle(const struct frame_spec *spec, const struct frame_val *v,
				   uint64_t *says);

struct frame {
	uint16_t len; /* without FCS */
	uint8_t bytes[FRAME_MAX_LEN + 4];
	unsigned n;                   /* headers */
	uint16_t off[FRAME_MAX_HDRS]; /* byte offset of each header */
	struct layout l;
};
/* Reads a field of header i of a frame that was built, as VT_FIELD_BYTES. False: this frame has no
 * such field, because its option is not set or because it belongs to another message. A ROLE_HERE
 * field is 1 where its section is. Not for FIELD_BYTES. */
bool frame_field_get(const struct frame *f, unsigned i, const struct field *field,
		     uint8_t v[VT_FIELD_BYTES]);
/* Where the same field is: its bit offset in the frame, -1: this frame has none. */
int frame_field_at(const struct frame *f, unsigned i, const struct field *field);
/* At which bytes of the frame the addresses are that count in the checksum of header i, if it has
 * one: not those of its IP header where extension headers say so (RFC 8200 8.1). */
unsigned frame_sum_dst(const struct frame *f, unsigned i);
unsigned frame_sum_src(const struct frame *f, unsigned i);
/* The bytes of a FIELD_BYTES field in the frame and their number *n, or NULL where the frame has no
 * such field. */
const uint8_t *frame_field_bytes(const struct frame *f, unsigned i, const struct field *field,
				 unsigned *n);

/* Builds the frame of spec. Where spec sets no value, dflt (may be NULL) gives it (the port's MACs
 * and addresses), and otherwise the field's own default holds. What dflt says of the first header
 * of a kind is also for later headers of that kind of which it says nothing. Fields with a role
 * (lengths, checksums, next header) fill themselves from the bytes that are really there, unless
 * spec sets them. The payload fills the frame up to its size. -EINVAL with text when the size is
 * below 64 or below what the headers need (the text names the smallest size), when it is above
 * max_size (with FCS), when the headers do not fit, or when the payload has no text or bytes to
 * repeat. */
int frame_build(const struct frame_spec *spec, const struct frame_vals *dflt, unsigned max_size,
		struct frame *out, struct err *e);

/* ---- frames that change (frame_recipe.h) ---- */

/* Compiles spec at spec->size: the frame of ordinal 0 as a template, and what varies in it. Errors
 * are those of frame_build(), and besides: a nested field that has no end, a varied field that the
 * frame does not have, rnd bits beyond the end of the frame or in its probe. Lengths and fields
 * that name the next header may vary too; the frame is laid out as of ordinal 0. A seed of 0
 * becomes the FNV-1a 64 of the field's name, "udp.src" or "ipv4[2].src". For entry i of rnd it is
 * the hash of "rnd[i]"; if its bits are split, the hash of "rnd[i]+b" for the piece that begins at
 * its bit b. On success the caller frees *out with frame_recipe_free(). */
int frame_compile(const struct frame_spec *spec, const struct frame_vals *dflt, unsigned max_size,
		  struct frame_recipe *out, struct err *e);
void frame_recipe_free(struct frame_recipe *);

/* Marks the bits that differ from one frame to the next: in `varies` those that the user asked for,
 * in `follows` those of checksums that follow them. Of a probe, the check is in `follows` and all
 * else in `varies`. Both are recipe->len bytes, zeroed by the caller. */
void frame_moves(const struct frame_recipe *recipe, uint8_t *varies, uint8_t *follows);
/* The names of the fields of f that have marked bits, in the order of the frame, with "payload"
 * last: ["ipv4.src","payload"]. New reference. */
json_t *frame_mask_names(const struct frame *f, const uint8_t *mask);
/* Runs of bytes that have marked bits, [[offset,length],..]. New reference. */
json_t *frame_mask_bytes(const struct frame *f, const uint8_t *mask);

/* Dissects len bytes by the same tables. New JSON, which the caller decrefs:
 * {"size":S,"stack":"eth/ipv4/udp","headers":[{"name":"eth","offset":0,"fields":{"dst":"..",..}},
 * ..],"payload":{"offset":..,"len":..},"hex":".."}. "fields" holds the fields that this message
 * has, known options among them: numbers of fewer than 64 bits as numbers, bytes in hex, and all
 * others as the text that `set` takes. Beside a checksum there is "<name>_ok", a bool, where it can
 * be judged (not in UDP without checksum, in fragments, or where bytes are cut off). "text" of a
 * header holds those numbers of "fields" that people write in another way ("0x0800"). A header may
 * have "options" (all option bytes in hex) and "malformed" (why). Bytes behind the end that lengths
 * give are "padding". It never fails: what cannot be decoded is payload. */
json_t *frame_dissect(const uint8_t *bytes, unsigned len);
/* Appends the same for a person: the size, each header with its fields, the payload, and a hex dump
 * with offsets. */
void frame_print(const uint8_t *bytes, unsigned len, struct sbuf *out);
/* Appends a frame in one line: its headers with the fields that matter, what is wrong with them,
 * and the length of its payload. have: how many of its len bytes there are. sums: wrong checksums
 * are told; those of frames whose checksums are left to a device are not right yet. stack gets the
 * names of the headers, "eth/ipv4/udp"; it may be NULL. Both texts are of printable characters
 * alone, whatever the bytes are. */
void frame_brief(const uint8_t *bytes, unsigned have, unsigned len, bool sums, struct sbuf *out,
		 struct sbuf *stack);
/* Appends the bytes in lines of 16, with offsets and as characters. */
void frame_print_hex(const uint8_t *bytes, unsigned len, struct sbuf *out);
