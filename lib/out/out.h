/* SPDX-License-Identifier: BSD-3-Clause */
/* One writer for text, CSV and JSON. A result is a JSON tree (base units, integers); a view says how its rows are laid out for
 * people and for spreadsheets. No command formats twice. */
#pragma once
#include <jansson.h>
#include "base.h"

enum out_mode { OUT_TEXT, OUT_CSV, OUT_JSON };

enum out_fmt {
	OF_STR,     /* as it is */
	OF_COUNT,   /* 12'345'678 in text, plain elsewhere */
	OF_PPS,     /* 1.000M in text: four significant digits, k M G T */
	OF_BPS,     /* likewise, bit/s */
	OF_NS,      /* a duration with unit in text */
	OF_PERCENT, /* a share, 0..1; 12.5% in text */
	OF_REAL,    /* three significant digits in text, whole from 1000 on */
	OF_MBPS,    /* link speed in Mbit/s: 10G in text */
};

struct out_col {
	const char *key;   /* dotted path inside a row: "tx.packets" */
	const char *title; /* text heading */
	enum out_fmt fmt;
	int width;         /* text: a longer cell is cut and ends in "~"; 0: it is not */
	bool some;         /* text, transposed: the line is there only when one of its cells is more than 0 */
};

/* A table over an array in the tree. rows: dotted path of the array ("ports"). sub (may be NULL): array inside each row that is
 * expanded to rows of its own ("queues"), whose columns are sub_cols. A missing key prints "-" (text) or nothing (CSV). */
struct out_view {
	const char *rows;
	const struct out_col *cols; unsigned ncols;
	const char *sub;
	const struct out_col *sub_cols; unsigned nsub_cols;
	bool transpose; /* text: one line per col, one column per row (Pktgen's way) */
};

/* Append tree in the mode. JSON: one line. doc is not consumed. CSV: a heading of keys, then one line per row (RFC 4180 quoting, but
 * lines end with LF). A NULL view prints "key: value" lines in text and key,value rows in CSV; nested keys are dotted, elements of
 * arrays of objects numbered: "ports[0].name". */
void out_write(enum out_mode mode, const json_t *doc, const struct out_view *view, struct sbuf *out);
/* Numbers for people: "1.000M", "999.8k", "14.88M". */
void out_si(double v, struct sbuf *out);
/* The same, a duration and a share (0..1) in as many digits as there is room for: "14.88M" or "15M", "1.234us" or "1us", "12.35%" or
 * "12%". digits: 4 at most, 1 at least. What is no number gives "-". */
void out_si_digits(double v, int digits, struct sbuf *out);
void out_ns_digits(double ns, int digits, struct sbuf *out);
void out_share_digits(double share, int digits, struct sbuf *out);
void out_real(double v, struct sbuf *out); /* as OF_REAL */
void out_duration(uint64_t ns, struct sbuf *out);
/* One value as text of a cell; a missing or null value gives "-". */
void out_cell(const json_t *v, enum out_fmt fmt, struct sbuf *out);
/* A JSON string of any bytes: what is not UTF-8 becomes '?' (json_string() would give NULL). New reference. */
json_t *out_json_text(const char *text);
/* Bytes of memory that a document's parts take in jansson, rounded up; a number or a text and the place of a value in a list count apart. */
enum { OUT_JSON_ARRAY = 160, OUT_JSON_OBJECT = 256, OUT_JSON_MEMBER = 136, OUT_JSON_ELEMENT = 24, OUT_JSON_STRING = 96, OUT_JSON_NUMBER = 32 };
/* What the document of this text would take, at most, and how many values it has; nothing is built. What is no JSON counts as if it were. */
size_t out_json_bytes(const char *text, size_t len, size_t *values);
/* Appends a value as JSON on one line, which it does not end. flags: of jansson, besides those for that. */
void out_json(const json_t *v, size_t flags, struct sbuf *out);
/* Appends a text as JSON without its quotes; what is no UTF-8 becomes '?'. A text may come in pieces that end between characters. */
void out_json_inside(const char *text, size_t len, struct sbuf *out);
/* Member by dotted path, NULL when missing. Borrowed. */
json_t *out_get(const json_t *obj, const char *path);
