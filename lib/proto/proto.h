/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of protocols: one file per protocol with rows of fields, and no functions in the
 * ordinary case. Builder, dissector, rows of settings, completion and documents follow from it.
 * Plain bytes, const data, any thread. */
#pragma once
#include "value.h"

enum field_kind {
	FIELD_UINT,
	FIELD_MAC,
	FIELD_IP4,
	FIELD_IP6,
	FIELD_FLAGS,
	/* As many bytes as are given, at the end of its section. bits is 0, max is the largest
	 * number (0: HEXBYTES_MAX). Other fields of the section may lie in these bytes, behind the
	 * fixed ones, as a view of them: they are there if the bytes reach so far, and setting one
	 * makes the bytes reach it, with zeros before. */
	FIELD_BYTES,
};

/* What a field is for. LEN to HLEN, HAS and COUNT fill themselves unless the user sets them. */
enum field_role {
	ROLE_PLAIN,
	ROLE_LEN,     /* a length in units of len_unit, counted from byte len_from of the header */
	ROLE_SUM_HDR, /* Internet checksum (RFC 1071) over this header */
	ROLE_SUM_L4,  /* the same over pseudo header, this header and all that follows */
	/* CRC32c over this header and all that follows, least significant byte first (RFC 9260
	 * appendix A). */
	ROLE_CRC32C,
	ROLE_NEXT,    /* names the next header; its bind gives the value */
	ROLE_HLEN,    /* this header's own length, as ROLE_LEN (ipv4.ihl, tcp.off) */
	ROLE_VERSION, /* has its default in every valid header, else dissection stops */
	ROLE_FRAG,    /* fragment offset: if it is not 0, what follows is no header */
	ROLE_MORE,    /* lowest bit: more fragments follow, so later checksums cannot be judged */
	ROLE_HAS, /* has_value (0: 1) if a section or a set field in `of` is there, else default */
	ROLE_COUNT, /* units of len_unit bytes in FIELD_BYTES field `of`, plus len_from, >= 0 */
	ROLE_HERE,  /* no bits; set to 1 it says that its section is there */
};

struct span {
	uint32_t lo, hi; /* inclusive */
};

/* A condition: the field `field` of the same header holds a value in one of the n spans. It always
 * holds if field is NULL. */
struct cond {
	const char *field;
	uint8_t n;
	struct span in[5];
};
#define COND(f, ...) \
	{ \
		.field = (f), .n = sizeof((struct span[]){__VA_ARGS__}) / sizeof(struct span), \
		.in = { __VA_ARGS__ } \
	}

/* Bytes behind a header's fixed ones, which not every frame has. Sections follow each other in the
 * order of the table. A section is there if its condition `when` holds. If it is optional it also
 * needs a reason: one of its fields is set, or `seen` holds for a value that the user gave or that
 * a ROLE_HAS field of the header fills in. When a frame is dissected, `seen` alone is the reason,
 * or, without `seen`, room for the section. */
struct section {
	const char *name;
	uint16_t len;     /* without the bytes of a FIELD_BYTES field */
	uint8_t head_len; /* constant bytes at its start, such as kind and length of an option */
	uint8_t head[4];
	bool optional;
	bool option; /* optional, and found by head[0] in the options (proto.options) */
	struct cond when;
	struct cond seen[3]; /* one of them must hold; those without a field do not count */
};

struct field {
	const char *name; /* short form as in scapy and tshark: "src", "ttl" */
	const char *word; /* Pktgen's words, comma separated, or NULL: "dst ip", "ttl" */
	const char *help; /* with unit */
	enum field_kind kind;
	enum field_role role;
	const struct section *section; /* where it lies; NULL: in the fixed bytes of the header */
	/* Bit offset from the start of the header or section (bit 0 = most significant of byte 0),
	 * and width. */
	uint16_t bit, bits;
	/* Text of the default. NULL: 0, or its role or the port (MACs, addresses) fills it. */
	const char *dflt;
	uint64_t min, max;          /* FIELD_UINT: inclusive limits; both 0: those of its width */
	const char *const *choices; /* FIELD_FLAGS: names of bits 0, 1, .. */
	/* The field exists only if this holds. Fields in the same place exclude each other by
	 * it. */
	struct cond when;
	/* ROLE_LEN, ROLE_HLEN: the byte of the header from which on bytes are counted (udp.len 0,
	 * ah.len 8). ROLE_COUNT: is added. */
	int16_t len_from;
	uint8_t len_unit;  /* ROLE_LEN, ROLE_HLEN, ROLE_COUNT: bytes per unit, 0 = 1 */
	const char *of;    /* ROLE_HAS, ROLE_COUNT: names, comma separated */
	uint8_t has_value; /* ROLE_HAS */
	/* ROLE_SUM_HDR: what the words add up to together with this field; 0: nothing (RFC
	 * 1071). */
	uint16_t sum;
	/* ROLE_SUM_*: 0 says "no checksum", so a sum of 0 is sent as all ones (RFC 768). */
	bool zero_is_none;
	bool hex;   /* people read it in hexadecimal */
	bool found; /* `auto`: its value may be left to be found when the port starts */
	/* It tells networks or tunnels apart that have addresses of their own: frames that differ
	 * in it are of different connections. */
	bool ident;
	const char *since;
};
#define PROTO_MAX_FIELDS 64
#define PROTO_MAX_SECTIONS 12

/* A bind says that this header may follow the header `lower`, whose ROLE_NEXT field then holds
 * `value`. If lower has another field that tells what follows (udp.dst), `field` names it. The
 * field is filled in unless the user has set it; if lower has no such field, value is not used.
 * Several headers may share a value if the bits peek_mask of their first byte (peek) tell them
 * apart. A lower may occur several times: its first value is filled in, all are recognized. */
struct bind {
	const char *lower;
	uint64_t value;
	const char *field;
	const char *also;        /* a second field of lower with the same value (llc.ssap) */
	uint8_t peek, peek_mask; /* of the first byte of this header; peek_mask 0: anything */
	bool is_len;             /* holds the length of what follows, <= value (IEEE 802.3 3.2.6) */
};

/* How options lie behind the fixed bytes. IP: the single bytes 0 (end) and 1 (no operation),
 * otherwise kind and length of the whole option (RFC 791, RFC 9293). IP6: the single byte 0,
 * otherwise type and length of the data (RFC 8200 4.2). ND: type and length of the whole option in
 * units of 8 bytes (RFC 4861 4.6). */
enum proto_options { OPTIONS_NONE, OPTIONS_IP, OPTIONS_IP6, OPTIONS_ND };

struct proto {
	const char *name, *help;
	uint16_t len;               /* fixed bytes */
	const struct field *fields; /* wire order, <= PROTO_MAX_FIELDS; ends with name == NULL */
	const struct section *sections; /* NULL: none; ends with name == NULL */
	const struct bind *binds;       /* ends with lower == NULL */
	enum proto_options options;
	/* The length of the header is a multiple of this, filled up with zero bytes, or with PadN
	 * for OPTIONS_IP6; 0: any length. */
	uint8_t pad;
	uint8_t pseudo_proto;    /* protocol number in ROLE_SUM_L4's pseudo header; 0: none */
	bool starts;             /* may be the first header of a stack */
	bool has_pseudo;         /* pseudo headers take its src and dst (ipv4, ipv6) */
	bool is_payload;         /* ends a stack and fills the rest of the frame */
	bool quotes;             /* what follows is the beginning of an earlier packet */
	bool closed;             /* carries nothing: padding of the link layer follows */
	struct cond closed_when; /* it is closed only if this holds */
};

/* Binds to all headers that carry an EtherType, or an IP protocol number. */
#define BIND_ETHERTYPE(v) \
	{.lower = "eth", .value = (v)}, {.lower = "vlan", .value = (v)}, \
		{.lower = "qinq", .value = (v)}, \
	{ \
		.lower = "snap", .value = (v) \
	}
#define BIND_IP6_NEXT(v) \
	{.lower = "ipv6", .value = (v)}, {.lower = "ipv6hbh", .value = (v)}, \
		{.lower = "ipv6rt", .value = (v)}, {.lower = "ipv6frag", .value = (v)}, \
		{.lower = "ipv6dst", .value = (v)}, \
	{ \
		.lower = "ah", .value = (v) \
	}
#define BIND_IP_PROTO(v) {.lower = "ipv4", .value = (v)}, BIND_IP6_NEXT(v)

/* All protocols, in the order of the list of files in meson.build; ends with NULL. */
extern const struct proto *const proto_table[];
/* The probe is not in the table, because nobody writes it in a stack. It is the beginning of a
 * payload, whatever that follows, and is bound like payload. */
extern const struct proto proto_probe;
/* A protocol or a field by its name, or NULL. */
const struct proto *proto_find(const char *name);
const struct field *proto_field(const struct proto *p, const char *name);
/* Fills in the value type and the limits with which the text of a field is parsed and printed. */
void proto_vspec(const struct field *f, struct vspec *out);
/* The first field with that role, or NULL. */
const struct field *proto_role(const struct proto *p, enum field_role role);
/* The first bind of `upper` to `lower`, or NULL if it may not follow. */
const struct bind *proto_bind(const struct proto *lower, const struct proto *upper);
/* The field of `lower` that holds the bind's value, or NULL. */
const struct field *proto_bind_field(const struct proto *lower, const struct bind *b);
/* True if v is in one of the spans, or if the condition has no field. */
bool cond_has(const struct cond *c, uint64_t v);
/* True if `name` is one of the names in f->of. */
bool proto_of_has(const struct field *f, const char *name);
/* The default of a field as VT_FIELD_BYTES; for a FIELD_BYTES field its bytes, or NULL, owned by
 * the table. Texts are parsed once per process. */
void proto_default(const struct proto *p, const struct field *f, uint8_t v[VT_FIELD_BYTES]);
const struct hexbytes *proto_default_bytes(const struct proto *p, const struct field *f);
/* Writes the defaults of a header, p->len bytes, or of one of its sections, section->len bytes.
 * Bytes of FIELD_BYTES fields are not among them, and fields with a condition hold 0. */
void proto_image(const struct proto *p, const struct section *section, uint8_t *out);
/* Read and write a field. hdr is the first byte of the header, or of the section that the field is
 * in. v is VT_FIELD_BYTES, big-endian and right-aligned. */
void proto_get(const struct field *f, const uint8_t *hdr, uint8_t v[VT_FIELD_BYTES]);
void proto_put(const struct field *f, uint8_t *hdr, const uint8_t v[VT_FIELD_BYTES]);
/* The same as a number, for fields of at most 64 bits. */
uint64_t proto_get_u64(const struct field *f, const uint8_t *hdr);
void proto_put_u64(const struct field *f, uint8_t *hdr, uint64_t v);
