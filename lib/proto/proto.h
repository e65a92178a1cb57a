/* SPDX-License-Identifier: BSD-3-Clause */
/* Protocol table: one file per protocol, rows of fields, no functions in the ordinary case. Builder, decoder, settings
 * rows, completion and documents follow from it. Plain bytes, const data, any thread. */
#pragma once
#include "value.h"

enum field_kind { FIELD_UINT, FIELD_MAC, FIELD_IP4, FIELD_IP6, FIELD_FLAGS, FIELD_BYTES };

enum field_role {
	ROLE_PLAIN,
	ROLE_LEN,     /* length of something that starts at or after this header, see len_from/len_unit; filled when unset */
	ROLE_SUM_HDR, /* Internet checksum (RFC 1071) over this header */
	ROLE_SUM_L4,  /* Internet checksum over pseudo header, this header and all that follows */
	ROLE_NEXT,    /* names the next header (bindings give the value) */
	ROLE_HLEN,    /* this header's own length, see len_from/len_unit (ipv4.ihl, tcp.off) */
	ROLE_VERSION, /* always its default in a valid header: dissection stops at another value */
	ROLE_FRAG,    /* fragment offset: where it is not 0, what follows is no header */
	ROLE_MORE,    /* lowest bit: more fragments follow, so checksums of what follows cannot be judged */
};

struct field {
	const char *name;      /* short form known from scapy/tshark: "src", "ttl" */
	const char *word;      /* Pktgen's words for it, comma separated, or NULL: "dst ip", "ttl" */
	const char *help;      /* with unit */
	enum field_kind kind;
	enum field_role role;
	uint16_t bit, bits;    /* bit offset from the header's start (bit 0 = most significant of byte 0) and width */
	const char *dflt;      /* text of the default; NULL = 0 or filled by role or by the port (MACs, addresses) */
	uint64_t min, max;     /* inclusive limits of FIELD_UINT; both 0: the width's range */
	const char *const *choices; /* FIELD_FLAGS: names of bits 0.. */
	int16_t len_from;      /* ROLE_LEN, ROLE_HLEN: byte offset within the header from which bytes are counted (udp.len 0, ipv4.len 0) */
	uint8_t len_unit;      /* ROLE_LEN, ROLE_HLEN: bytes per unit, 0 = 1 */
	bool zero_is_none;     /* ROLE_SUM_*: 0 says "no checksum", so a sum of 0 is sent as all ones (RFC 768) */
	bool hex;              /* people read this number in hexadecimal */
	const char *since;
};

/* "This header may follow `lower`, whose ROLE_NEXT field then holds `value`". A header that names what follows elsewhere (udp.dst)
 * says so by `field`, which is then filled in unless the user has set it. The value is unused where lower has no such field. */
struct bind {
	const char *lower;
	uint64_t value;
	const char *field;
};

struct proto {
	const char *name, *help;
	uint16_t len;                /* fixed bytes (no options in this version) */
	const struct field *fields;  /* ends with name == NULL, in wire order */
	const struct bind *binds;    /* ends with lower == NULL; eth may start a stack */
	uint8_t pseudo_proto;        /* IP protocol number in the pseudo header of ROLE_SUM_L4, 0: none */
	bool starts;                 /* may be the first header of a stack */
	bool has_pseudo;             /* this header gives src/dst for a pseudo header (ipv4, ipv6) */
	bool is_payload;             /* ends a stack: fills the rest of the frame */
};

/* All protocols in the order of the build's file list; ends with NULL. */
extern const struct proto *const proto_table[];
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
/* Read/write a field in a header. v: VT_FIELD_BYTES big-endian right-aligned. */
void proto_get(const struct field *f, const uint8_t *hdr, uint8_t v[VT_FIELD_BYTES]);
void proto_put(const struct field *f, uint8_t *hdr, const uint8_t v[VT_FIELD_BYTES]);
/* The same as a number, for fields of at most 64 bits. */
uint64_t proto_get_u64(const struct field *f, const uint8_t *hdr);
void proto_put_u64(const struct field *f, uint8_t *hdr, uint64_t v);
