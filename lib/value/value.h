/* SPDX-License-Identifier: BSD-3-Clause */
/* The types of values that settings and arguments of verbs have. A type (struct vtype) turns text
 * into a value and back. Parsing is strict: the whole text must be the value, and a value out of
 * range is refused, not clamped. For every type print(parse(t)) parses to the same value again. All
 * functions are pure and may be called on any thread. */
#pragma once
#include "base.h"

/* CPS, TPS: connections and transactions per second. EACH: of what is meant, whatever that is.
 * These three are in no setting: only vt_rate_load takes them. */
enum rate_kind {
	RATE_MAX,
	RATE_PERCENT,
	RATE_PPS,
	RATE_L1_BPS,
	RATE_L2_BPS,
	RATE_CPS,
	RATE_TPS,
	RATE_EACH
};

/* The load to offer, as the user wrote it. value is percent or a number per second, by kind, and
 * 0 for RATE_MAX. If over_ns is 0 the rate is constant, and `to` and step are 0. Else the rate
 * begins at value and ends at `to`, where it stays: it goes there in a straight line that takes
 * over_ns or, if step > 0, by one step after each over_ns. */
struct rate {
	enum rate_kind kind;
	double value;
	double to, step;
	uint64_t over_ns;
};

#define RATE_SYNTAX "10% | 1.5Mpps | 3Gbps[/l2] | max, or A..B over T | A..B step S every T"

#define PER_SECOND_SYNTAX "50k | 1.5M | max, or A..B over T | A..B step S every T"

#define PORTSET_MAX 1024
/* A set of numbers of ports, or of any numbers below PORTSET_MAX. */
struct portset {
	uint64_t w[PORTSET_MAX / 64];
};
static inline void portset_add(struct portset *s, unsigned i)
{
	s->w[i / 64] |= 1ull << (i % 64);
}
static inline bool portset_has(const struct portset *s, unsigned i)
{
	return i < PORTSET_MAX && (s->w[i / 64] >> (i % 64) & 1);
}
bool portset_empty(const struct portset *s);

struct vtype;

/* A type and what a row adds to it. */
struct vspec {
	const struct vtype *type;
	uint64_t min, max;          /* inclusive, in the type's unit; both 0: its whole range */
	uint16_t bits;              /* width of an unsigned number such as vt_fuint; 0: 64 */
	bool hex;                   /* print a vt_fuint as 0x... with all digits of its width */
	const char *const *choices; /* NULL-terminated words for enum and flags types */
	const struct vspec *of;     /* for a type that is made of values of another one */
	bool found;                 /* of vt_vary: `auto` is a value too, and somebody finds it */
};

/* What a program gets as the value: a number in base units (pps, ns, bytes, bit/s, a share of 1), a
 * switch, or the text if it is neither. */
enum vplain { VPLAIN_TEXT, VPLAIN_BOOL, VPLAIN_NUMBER };
/* 2^53. A larger whole number may have no double, so it is given as text, which loses nothing. */
#define VPLAIN_MAX 9007199254740992.0

struct vtype {
	const char *name; /* "rate" */
	/* what help and errors show as allowed: "10% | 1.5Mpps | 3Gbps[/l2] | max" */
	const char *syntax;
	size_t size; /* bytes of the typed value */
	/* Parses the whole text: 0, or -EINVAL or -ERANGE with *e. Then e->col counts from the
	 * first byte of text, and *out is untouched. */
	int (*parse)(const struct vspec *, const char *text, void *out, struct err *e);
	/* Appends the value as canonical text. */
	void (*print)(const struct vspec *, const void *v, struct sbuf *out);
	/* Offers texts that begin with prefix; may be NULL. */
	void (*complete)(const struct vspec *, const char *prefix,
			 void (*offer)(void *arg, const char *word), void *arg);
	/* Appends what the spec allows, for help and errors; NULL: syntax says it. */
	void (*allowed)(const struct vspec *, struct sbuf *out);
	/* Returns a line about a word that complete() offers, or NULL; may be NULL. */
	const char *(*about)(const struct vspec *, const char *word);
	/* Gives the value as a program gets it. A number, or 0 or 1 for a switch, is written to
	 * *out. number() accepts what this gives. NULL: the value is its text. */
	enum vplain (*plain)(const struct vspec *, const void *v, double *out);
	/* Appends the text that parse accepts for a number in base units, which is finite. NULL:
	 * that text is the digits of the number. */
	void (*number)(const struct vspec *, double n, struct sbuf *out);
};

/* Appends the fewest digits that are exactly this double, without an exponent; "inf" or "-inf" if
 * it is not finite. */
void value_digits(double v, struct sbuf *out);
/* Does what plain() is to do for a whole number: text above VPLAIN_MAX, else a number. */
enum vplain value_plain_u64(uint64_t v, double *out);

/* Parses a text of the program itself that the type is known to accept. It is for defaults: the
 * same text is shown by rows and fills the struct that the row describes. */
void value_default(const struct vtype *, const char *text, void *out);
/* The same where the limits of a row say more than its type. */
void value_default_of(const struct vspec *, const char *text, void *out);

/* Appends what the spec allows, in one line: syntax, choices and limits. Nothing if type is
 * NULL. */
void vspec_allowed(const struct vspec *s, struct sbuf *out);
/* For parse functions: fills *e with `"text" reason; allowed: ...` and the column, returns
 * -code. */
int vspec_fail(const struct vspec *s, int code, int col, struct err *e, const char *text,
	       const char *reason, ...) WR_PRINTF(6, 7);

/* The types. Each comment says the C type of the value and the texts that are accepted. */
/* bool: on|off|enable|disable|yes|no|true|false */
extern const struct vtype vt_bool;
/* uint64_t: decimal with k, M or G (powers of 1000) or without, or 0x and hexadecimal digits */
extern const struct vtype vt_uint;
/* struct rate: see RATE_SYNTAX; a bare number is percent */
extern const struct vtype vt_rate;
/* struct rate: only rates that do not change */
extern const struct vtype vt_rate_steady;
/* struct rate: the same, or connections or transactions per second: 10kcps, 5ktps, 10k/s. What is a
 * number to programs is RATE_EACH. */
extern const struct vtype vt_rate_load;
/* struct rate: so many of something that is neither frames nor bits, such as connections. Its kind
 * is RATE_PPS or RATE_MAX. A type that adds words to this one has it as vspec.of. */
extern const struct vtype vt_per_second;
/* uint64_t, ns: a number with ns, us, ms, s, m or h; a bare number is refused */
extern const struct vtype vt_duration;
/* the same, but a bare number is seconds; for arguments of verbs */
extern const struct vtype vt_seconds;
/* uint16_t, bytes of a frame with FCS: one size, or auto = 0; vt_sizes (lib/vary) takes
 * sequences */
extern const struct vtype vt_size;
/* uint64_t, bit/s: 100G, 2.5Gbps, 40000Mbps; auto = 0 (what the device says) is always allowed */
extern const struct vtype vt_speed;
/* uint64_t, parts per 10^9: 0.1%, 20ppm, 0 */
extern const struct vtype vt_share;
/* uint32_t: 0 off (none), 1 on (all), N "every N" (one of N) */
extern const struct vtype vt_every;
/* int, index into choices: a choice or a unique prefix of one */
extern const struct vtype vt_enum;
/* char[VT_TEXT_MAX]: any text, without the quotes around it */
extern const struct vtype vt_text;
#define VT_TEXT_MAX 256

/* For the parse function of a type with units. Calls parse with the text as it is. If that fails,
 * calls it again without the blanks between a number and its unit and beside "..". Columns of
 * errors are those of text. */
typedef int value_parse_fn(const struct vspec *s, const char *text, void *out, struct err *e);
int value_spaced(value_parse_fn *parse, const struct vspec *s, const char *text, void *out,
		 struct err *e);
/* Says whether the word may be the unit of a number before it: "10 gbps", "5 s". */
bool value_is_unit(const char *word);

/* Values of header fields are uint8_t[VT_FIELD_BYTES], big-endian and right-aligned: the last
 * vspec.bits bits are the value. These types take one value; vt_vary (lib/vary) takes
 * variations. */
#define VT_FIELD_BYTES 16
/* an unsigned number of vspec.bits bits, decimal or 0x and hexadecimal digits */
extern const struct vtype vt_fuint;
/* aa:bb:cc:dd:ee:ff, aabb:ccdd:eeff, aa-bb-.. */
extern const struct vtype vt_mac;
/* dotted quad */
extern const struct vtype vt_ip4;
/* an IPv6 address as text, RFC 4291 */
extern const struct vtype vt_ip6;
/* flags, as of tcp.flags: choices separated by commas, none or clr for 0, or a number. Bit i is
 * choices[i]; a bit with choice "" has no name. */
extern const struct vtype vt_fflags;

/* struct hexbytes: bytes in hexadecimal, as in 0102aa or "01:02 aa". Between bytes a separator
 * (blank : - . ,) may stand, and bytes after it may begin with 0x. An empty text and none are 0
 * bytes. vspec.min and max are the least and the most bytes; max 0 means HEXBYTES_MAX. */
extern const struct vtype vt_hex;
#define HEXBYTES_MAX 2046
struct hexbytes {
	uint16_t n;
	uint8_t b[];
};
#define HEXBYTES_SIZE (sizeof(struct hexbytes) + HEXBYTES_MAX)
/* Returns a copy, which the caller frees with free(); NULL for NULL. */
struct hexbytes *hexbytes_copy(const struct hexbytes *);

/* The next four types say what a device under test does to frames (value_dut.c). Their values have
 * several words. The words none, off and 0 mean that it does nothing. */

/* Which of all frames are hit: "0.1%" or "every 1000". If vspec.choices is not NULL, its first word
 * is an option that may follow, as "burst" in "0.1% burst 8"; the number after it is from min to
 * max. */
extern const struct vtype vt_hits;
struct hits {
	double percent; /* share of the frames; 0: none, or as `every` says */
	/* every: one of this many frames is hit, 0: see percent. with: the option's number. */
	uint64_t every, with;
	bool has_with;
};
/* A rate and the frames that may wait for it: "3Mpps queue 512". RATE_MAX is no limit. vspec.min is
 * the queue if none is given, vspec.max the longest. */
extern const struct vtype vt_limit;
struct rate_limit {
	struct rate rate;
	uint64_t queue;
};
/* A delay of frames. vspec.max is the longest, in ns; 0: no limit. By law, a_ns and b_ns are:
 * fixed, the time; uniform, the shortest and the longest; normal, mean and deviation; exponential,
 * the mean. */
extern const struct vtype vt_delay;
enum delay_law { DELAY_FIXED, DELAY_UNIFORM, DELAY_NORMAL, DELAY_EXPONENTIAL };
struct delay {
	enum delay_law law;
	uint64_t a_ns, b_ns;
};
/* A link that goes down again and again: "100ms every 10s". every_ns 0: it does not. vspec.min is
 * the shortest time that it may be down or up, vspec.max the longest period. */
extern const struct vtype vt_flap;
struct flap {
	uint64_t down_ns, every_ns;
};

/* A list of ports, or of objects that ports have, as commands take it: item{,item}. An item is
 * ports[/streams] or ports/KIND.objects, where a kind is a word; ports, streams and objects are
 * each all, N or N-M. All items of a list that has a kind have this one. */
struct target {
	/* inclusive; "all" = 0..UINT32_MAX. has_streams: s0 and s1 are there. */
	struct {
		uint32_t p0, p1, s0, s1;
		bool has_streams;
	} item[64];
	unsigned n;
	/* What s0 and s1 are: one of the words that target_parse() got. NULL: streams. */
	const char *kind;
};
#define TARGET_MAX_PORT (PORTSET_MAX - 1)
#define TARGET_MAX_STREAM 999999
/* Parses a list: 0, or -EINVAL or -ERANGE with *e. It does not say whether the ports exist. kinds
 * has the words that are known, with NULL at the end; NULL: none. */
int target_parse(const char *text, const char *const *kinds, struct target *out, struct err *e);
void target_print(const struct target *t, struct sbuf *out);
