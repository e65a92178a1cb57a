/* SPDX-License-Identifier: BSD-3-Clause */
/* Protocol table: one file per protocol, rows of fields, no functions in the ordinary case. Builder, decoder, settings
 * rows, completion and documents follow from it. Plain bytes, const data, any thread. */
#pragma once
#include "value.h"

enum field_kind {
	FIELD_UINT,
	FIELD_MAC,
	FIELD_IP4,
	FIELD_IP6,
	FIELD_FLAGS,
	/* As many bytes as are given, at the end of its part; bits is 0, max the most bytes (0: HEXBYTES_MAX). Other fields of the part may lie
	 * behind its fixed bytes, as a view of these: they are there when the bytes reach them, and setting one makes them reach, with zeros. */
	FIELD_BYTES,
};

enum field_role {
	ROLE_PLAIN,
	ROLE_LEN,     /* length of something that starts at or after this header, see len_from/len_unit; filled when unset */
	ROLE_SUM_HDR, /* Internet checksum (RFC 1071) over this header */
	ROLE_SUM_L4,  /* Internet checksum over pseudo header, this header and all that follows */
	ROLE_CRC32C,  /* CRC32c over this header and all that follows, least significant byte first (RFC 9260 appendix A) */
	ROLE_NEXT,    /* names the next header (bindings give the value) */
	ROLE_HLEN,    /* this header's own length, see len_from/len_unit (ipv4.ihl, tcp.off) */
	ROLE_VERSION, /* always its default in a valid header: dissection stops at another value */
	ROLE_FRAG,    /* fragment offset: where it is not 0, what follows is no header */
	ROLE_MORE,    /* lowest bit: more fragments follow, so checksums of what follows cannot be judged */
	ROLE_HAS,     /* `has_value` (0: 1) when one of the parts or set fields that `of` names is there, else its default */
	ROLE_COUNT,   /* units of len_unit bytes in the FIELD_BYTES field that `of` names, plus len_from, not below 0 */
	ROLE_HERE,    /* no bits: set to 1, its part is there */
};

struct span {
	uint32_t lo, hi; /* inclusive */
};

/* "Field `field` of the same header holds a value of one of the n spans"; field NULL: always. */
struct cond {
	const char *field;
	uint8_t n;
	struct span in[5];
};
#define COND(f, ...) { .field = (f), .n = sizeof((struct span[]){__VA_ARGS__}) / sizeof(struct span), .in = {__VA_ARGS__} }

/* Bytes behind a header's fixed ones that not every frame has. Parts follow each other in the order of the table. A part that is not optional
 * is there when its condition holds. An optional one needs a reason beside: one of its fields is set, or `seen` holds for a value that the user gave
 * or that a ROLE_HAS field of the header fills in. In a frame that is dissected `seen` alone tells, and without `seen` whether there is room. */
struct part {
	const char *name;
	uint16_t len;        /* without the bytes of a FIELD_BYTES field */
	uint8_t head_len;    /* constant bytes that it begins with, such as kind and length of an option */
	uint8_t head[4];
	bool optional;
	bool option;         /* optional, and found by head[0] in the header's option list, see proto.options */
	struct cond when;
	struct cond seen[3]; /* one of them; those without a field do not count */
};

struct field {
	const char *name;      /* short form known from scapy/tshark: "src", "ttl" */
	const char *word;      /* Pktgen's words for it, comma separated, or NULL: "dst ip", "ttl" */
	const char *help;      /* with unit */
	enum field_kind kind;
	enum field_role role;
	const struct part *part; /* where it lies; NULL: in the fixed bytes of the header */
	uint16_t bit, bits;    /* bit offset from the header's or part's start (bit 0 = most significant of byte 0) and width */
	const char *dflt;      /* text of the default; NULL = 0 or filled by role or by the port (MACs, addresses) */
	uint64_t min, max;     /* inclusive limits of FIELD_UINT; both 0: the width's range */
	const char *const *choices; /* FIELD_FLAGS: names of bits 0.. */
	struct cond when;      /* the field exists only then; fields of one place exclude each other by it */
	int16_t len_from;      /* ROLE_LEN, ROLE_HLEN: byte offset within the header from which bytes are counted (udp.len 0, ipv4.len 0) */
	uint8_t len_unit;      /* ROLE_LEN, ROLE_HLEN, ROLE_COUNT: bytes per unit, 0 = 1 */
	const char *of;        /* ROLE_HAS, ROLE_COUNT: names, comma separated */
	uint8_t has_value;     /* ROLE_HAS */
	uint16_t sum;          /* ROLE_SUM_HDR: what the words add up to with this field, 0: nothing (RFC 1071) */
	bool zero_is_none;     /* ROLE_SUM_*: 0 says "no checksum", so a sum of 0 is sent as all ones (RFC 768) */
	bool hex;              /* people read this number in hexadecimal */
	const char *since;
};
#define PROTO_MAX_FIELDS 64
#define PROTO_MAX_PARTS 12

/* "This header may follow `lower`, whose ROLE_NEXT field then holds `value`". A header that names what follows elsewhere (udp.dst)
 * says so by `field`, which is then filled in unless the user has set it. The value is unused where lower has no such field. Several headers may
 * share one value of a field when `peek` tells them apart. A lower may occur several times: the first value is filled in, all are recognized. */
struct bind {
	const char *lower;
	uint64_t value;
	const char *field;
	const char *also;        /* a second field of lower with the same value (llc.ssap) */
	uint8_t peek, peek_mask; /* the first byte of this header holds peek in the bits of peek_mask; 0: anything */
	bool is_len;             /* the field holds the length of what follows, at most `value` (IEEE 802.3 3.2.6) */
};

/* How options lie behind the fixed bytes: single bytes 0 (end) and 1 (no operation), else kind and length of the whole (RFC 791, RFC 9293);
 * single byte 0, else type and length of the data (RFC 8200 4.2); type and length of the whole in units of 8 bytes (RFC 4861 4.6). */
enum proto_options { OPTIONS_NONE, OPTIONS_IP, OPTIONS_IP6, OPTIONS_ND };

struct proto {
	const char *name, *help;
	uint16_t len;                /* fixed bytes */
	const struct field *fields;  /* ends with name == NULL, in wire order, at most PROTO_MAX_FIELDS */
	const struct part *parts;    /* NULL: none; ends with name == NULL */
	const struct bind *binds;    /* ends with lower == NULL; eth may start a stack */
	enum proto_options options;
	uint8_t pad;                 /* the header's length is a multiple of it: zero bytes, or PadN with OPTIONS_IP6; 0: any length */
	uint8_t pseudo_proto;        /* IP protocol number in the pseudo header of ROLE_SUM_L4, 0: none */
	bool starts;                 /* may be the first header of a stack */
	bool has_pseudo;             /* this header gives src/dst for a pseudo header (ipv4, ipv6) */
	bool is_payload;             /* ends a stack: fills the rest of the frame */
	bool closed;                 /* carries nothing: what follows in the frame is padding of the link layer */
	struct cond closed_when;     /* closed only then */
};

/* Rows that all carriers of an EtherType or of an IP protocol number share. */
#define BIND_ETHERTYPE(v) \
	{ .lower = "eth", .value = (v) }, { .lower = "vlan", .value = (v) }, { .lower = "qinq", .value = (v) }, \
	{ .lower = "snap", .value = (v) }
#define BIND_IP6_NEXT(v) \
	{ .lower = "ipv6", .value = (v) }, { .lower = "ipv6hbh", .value = (v) }, { .lower = "ipv6rt", .value = (v) }, \
	{ .lower = "ipv6frag", .value = (v) }, { .lower = "ipv6dst", .value = (v) }, { .lower = "ah", .value = (v) }
#define BIND_IP_PROTO(v) { .lower = "ipv4", .value = (v) }, BIND_IP6_NEXT(v)

/* All protocols in the order of the build's file list; ends with NULL. */
extern const struct proto *const proto_table[];
/* Not among them: nobody writes it in a stack. It is the begin of a payload, wherever that may follow, and is bound as payload is. */
extern const struct proto proto_probe;
const struct proto *proto_find(const char *name);
const struct field *proto_field(const struct proto *p, const char *name);
/* Value type and limits for a field's text. */
void proto_vspec(const struct field *f, struct vspec *out);
/* First field with that role, or NULL. */
const struct field *proto_role(const struct proto *p, enum field_role role);
/* The bind of `upper` on `lower`, or NULL when it may not follow. */
const struct bind *proto_bind(const struct proto *lower, const struct proto *upper);
/* The field of `lower` that holds the bind's value, or NULL. */
const struct field *proto_bind_field(const struct proto *lower, const struct bind *b);
/* Does v fit the condition? */
bool cond_has(const struct cond *c, uint64_t v);
/* Names in f->of, comma separated: is `name` one of them? */
bool proto_of_has(const struct field *f, const char *name);
/* The default of a field, VT_FIELD_BYTES; of FIELD_BYTES: its bytes, or NULL. Parsed once per process. */
void proto_default(const struct proto *p, const struct field *f, uint8_t v[VT_FIELD_BYTES]);
const struct hexbytes *proto_default_bytes(const struct proto *p, const struct field *f);
/* The header with its defaults: the fixed bytes (part NULL), or those of a part, FIELD_BYTES apart. Fields that need a condition hold 0. */
void proto_image(const struct proto *p, const struct part *part, uint8_t *out);
/* Read/write a field in a header (hdr: the part's first byte for a field of a part). v: VT_FIELD_BYTES big-endian right-aligned. */
void proto_get(const struct field *f, const uint8_t *hdr, uint8_t v[VT_FIELD_BYTES]);
void proto_put(const struct field *f, uint8_t *hdr, const uint8_t v[VT_FIELD_BYTES]);
/* The same as a number, for fields of at most 64 bits. */
uint64_t proto_get_u64(const struct field *f, const uint8_t *hdr);
void proto_put_u64(const struct field *f, uint8_t *hdr, uint64_t v);
