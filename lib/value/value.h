/* SPDX-License-Identifier: BSD-3-Clause */
/* Value types of settings and verb arguments: text <-> typed value. Strict: the whole text must be the value; nothing is
 * clamped. For every type print(parse(t)) parses to the same value. Pure functions, any thread. */
#pragma once
#include "base.h"

enum rate_kind { RATE_MAX, RATE_PERCENT, RATE_PPS, RATE_L1_BPS, RATE_L2_BPS };

/* Offered load as the user wrote it. value: percent, frames/s or bit/s by kind; 0 for RATE_MAX. over_ns > 0: it is what the rate begins with; it
 * goes to `to` in a straight line that takes over_ns, or (step > 0) by one step after each over_ns, and stays there. Else to, step are 0. */
struct rate {
	enum rate_kind kind;
	double value;
	double to, step;
	uint64_t over_ns;
};

#define RATE_SYNTAX "10% | 1.5Mpps | 3Gbps[/l2] | max, or A..B over T | A..B step S every T"

#define PORTSET_MAX 1024
/* Set of port (or any small) numbers. */
struct portset {
	uint64_t w[PORTSET_MAX / 64];
};
static inline void portset_add(struct portset *s, unsigned i) { s->w[i / 64] |= 1ull << (i % 64); }
static inline bool portset_has(const struct portset *s, unsigned i)
{
	return i < PORTSET_MAX && (s->w[i / 64] >> (i % 64) & 1);
}
bool portset_empty(const struct portset *s);

struct vtype;

/* What a row says about its value beside the type. Units are in the row's help. */
struct vspec {
	const struct vtype *type;
	uint64_t min, max;          /* inclusive; integers, sizes, durations (ns); both 0: the type's whole range */
	uint16_t bits;              /* width for VT_FIELD-like unsigned values, 0: 64 */
	bool hex;                   /* print such a value as 0x..., with the digits of its width */
	const char *const *choices; /* NULL-terminated words for enum and flags types */
	const struct vspec *of;     /* for a type that is made of values of another one */
};

/* What a value is to a program: a number in base units (pps, ns, bytes, bit/s, a share of 1), a switch, or nothing but its text. */
enum vplain { VPLAIN_TEXT, VPLAIN_BOOL, VPLAIN_NUMBER };
#define VPLAIN_MAX 9007199254740992.0 /* 2^53: whole numbers above it are given as text, which loses nothing */

struct vtype {
	const char *name;   /* "rate" */
	const char *syntax; /* what help and errors show as allowed: "10% | 1.5Mpps | 3Gbps[/l2] | max" */
	size_t size;        /* bytes of the typed value */
	/* Text (whole) to value; on failure -EINVAL or -ERANGE, e->col relative to text, *out untouched. */
	int (*parse)(const struct vspec *, const char *text, void *out, struct err *e);
	void (*print)(const struct vspec *, const void *v, struct sbuf *out); /* canonical text */
	/* Offer completions of prefix; may be NULL. */
	void (*complete)(const struct vspec *, const char *prefix, void (*offer)(void *arg, const char *word), void *arg);
	/* What is allowed under this spec, for help and errors; NULL: syntax. */
	void (*allowed)(const struct vspec *, struct sbuf *out);
	/* A line about a word that complete() offers, or NULL; may be NULL. */
	const char *(*about)(const struct vspec *, const char *word);
	/* The value for a program; *out is written for a number, or for a switch (0, 1). What it gives is taken back by number(). NULL: its text. */
	enum vplain (*plain)(const struct vspec *, const void *v, double *out);
	/* The text that parse takes for a number in base units (finite); NULL: its digits. */
	void (*number)(const struct vspec *, double n, struct sbuf *out);
};

/* The shortest digits that are this number, without an exponent; "inf" for what is none. */
void value_digits(double v, struct sbuf *out);
/* plain() of a whole number. */
enum vplain value_plain_u64(uint64_t v, double *out);

/* The value that a text of the program's own says, one that the type takes: a default, which rows show and who makes the value reads. */
void value_default(const struct vtype *, const char *text, void *out);

/* What the spec allows, in one line: syntax, choices and limits. A NULL type adds nothing. */
void vspec_allowed(const struct vspec *s, struct sbuf *out);
/* For the parse function of any type: `"text" reason; allowed: ...` in *e with the column; returns -code. */
int vspec_fail(const struct vspec *s, int code, int col, struct err *e, const char *text, const char *reason, ...) WR_PRINTF(6, 7);

/* bool: on|off|enable|disable|yes|no|true|false */ extern const struct vtype vt_bool;
/* uint64_t, decimal or 0x hex, digits with optional k M G suffix (powers of 1000) */ extern const struct vtype vt_uint;
/* struct rate; a bare number is percent; A..B over T, A..B step S every T */ extern const struct vtype vt_rate;
/* struct rate that does not change */ extern const struct vtype vt_rate_steady;
/* uint64_t ns; ns us ms s m h, a bare number is refused (names the units) */ extern const struct vtype vt_duration;
/* The same, and a bare number is seconds: what a verb is told to take */ extern const struct vtype vt_seconds;
/* uint16_t frame size in bytes with FCS; 0 = auto. One size; vt_sizes (lib/vary) takes sequences */ extern const struct vtype vt_size;
/* uint64_t bit/s: 100G, 2.5Gbps, 40000Mbps; auto = 0 (what the device says), outside of min and max */ extern const struct vtype vt_speed;
/* uint64_t parts per 10^9: 0.1%, 20ppm, 0 */ extern const struct vtype vt_share;
/* uint32_t: off 0, on 1, every N: one of N, 1..2^32 - 1 */ extern const struct vtype vt_every;
/* int: index into choices; unique prefixes allowed */ extern const struct vtype vt_enum;
/* char[VT_TEXT_MAX]: any text; quotes already removed */ extern const struct vtype vt_text;
#define VT_TEXT_MAX 256

/* For the parse function of a type with units: parse text as it stands; where that fails, without the blanks that stand between a number and
 * its unit, or beside "..". */
typedef int value_parse_fn(const struct vspec *s, const char *text, void *out, struct err *e);
int value_spaced(value_parse_fn *parse, const struct vspec *s, const char *text, void *out, struct err *e);
/* Could the word be the unit of a number before it: "10 gbps", "5 s"? */
bool value_is_unit(const char *word);

/* Values of header fields: uint8_t[VT_FIELD_BYTES], big-endian, right-aligned: the last vspec.bits bits are the value. One
 * value only; vt_vary (lib/vary) takes variations. */
#define VT_FIELD_BYTES 16
/* unsigned of vspec.bits bits, decimal or 0x */ extern const struct vtype vt_fuint;
/* aa:bb:cc:dd:ee:ff, aabb:ccdd:eeff, aa-bb-.. */ extern const struct vtype vt_mac;
/* dotted quad */ extern const struct vtype vt_ip4;
/* RFC 4291 text */ extern const struct vtype vt_ip6;
/* comma list of choices (bit i = choices[i], "" has no name), none, clr (both 0) or a number: tcp.flags */ extern const struct vtype vt_fflags;

/* struct hexbytes: bytes in hexadecimal, separators (blank : - . ,) between bytes and 0x allowed: 0102aa, "01:02 aa"; none or an empty text
 * is no byte. vspec.min, max: least and most bytes (max 0: HEXBYTES_MAX) */
extern const struct vtype vt_hex;
#define HEXBYTES_MAX 2046
struct hexbytes {
	uint16_t n;
	uint8_t b[];
};
#define HEXBYTES_SIZE (sizeof(struct hexbytes) + HEXBYTES_MAX)
struct hexbytes *hexbytes_copy(const struct hexbytes *); /* new, free() it; NULL of NULL */

/* What a device under test does (device.c). Values of several words; none, off and 0 are none.
 * struct hits: "0.1%" | "every 1000" of all frames, with an option "WORD N" named by vspec.choices[0] (NULL: none), N from min to max */
extern const struct vtype vt_hits;
struct hits {
	double percent;      /* 0: none, or every */
	uint64_t every, with;
	bool has_with;
};
/* struct rate_limit: RATE [queue N]; rate RATE_MAX: none; vspec.min: N where it is not given, max: the most */ extern const struct vtype vt_limit;
struct rate_limit { struct rate rate; uint64_t queue; };
/* struct delay; vspec.max: longest, ns */ extern const struct vtype vt_delay;
enum delay_law { DELAY_FIXED, DELAY_UNIFORM, DELAY_NORMAL, DELAY_EXPONENTIAL };
struct delay { enum delay_law law; uint64_t a_ns, b_ns; }; /* time; from, to; mean, deviation; mean */
/* struct flap: "100ms every 10s"; every_ns 0: none; vspec.min: shortest time down and up, max: longest period */ extern const struct vtype vt_flap;
struct flap { uint64_t down_ns, every_ns; };

/* A list of ports and streams as commands take it: item{,item}, where an item is ports[/streams], and each of the two is all, N or N-M. */
struct target {
	struct { uint32_t p0, p1, s0, s1; bool has_streams; } item[64]; /* inclusive; "all" = 0..UINT32_MAX */
	unsigned n;
};
#define TARGET_MAX_PORT (PORTSET_MAX - 1)
#define TARGET_MAX_STREAM 999999
int target_parse(const char *text, struct target *out, struct err *e);
void target_print(const struct target *t, struct sbuf *out);
