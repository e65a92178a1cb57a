/* SPDX-License-Identifier: BSD-3-Clause */
/* The one writer of results as text, CSV and JSON. A result is a JSON tree with integers in base
 * units; a view says how its rows are laid out for people and for spreadsheets. No command formats
 * anything a second time. */
#pragma once
#include <jansson.h>
#include "base.h"

enum out_mode { OUT_TEXT, OUT_CSV, OUT_JSON };

enum out_fmt {
	OF_STR,     /* as it is */
	OF_COUNT,   /* 12'345'678 in text, plain elsewhere */
	OF_PPS,     /* 1.000M in text: four significant digits, k M G T */
	OF_BPS,     /* the same for bit/s */
	OF_NS,      /* a duration with unit in text */
	OF_PERCENT, /* a share from 0 to 1; 12.5% in text */
	OF_REAL,    /* three significant digits in text, whole from 1000 on */
	OF_MBPS,    /* link speed in Mbit/s: 10G in text */
};

struct out_col {
	const char *key;   /* dotted path inside a row: "tx.packets" */
	const char *title; /* text heading */
	enum out_fmt fmt;
	int width; /* text: a longer cell is cut and ends in "~"; 0: it is never cut */
	/* Text, transposed, and HTML: the line, or column, is there only if one of its cells is
	 * something else than 0 or "-". */
	bool some;
};

/* A table of the rows of an array in the tree. rows is the dotted path of the array ("ports"). sub
 * (may be NULL) is an array inside each row ("queues") whose elements become rows of their own,
 * with sub_cols behind the columns of the row. A missing key gives "-" (text) or nothing (CSV). */
struct out_view {
	const char *rows;
	const struct out_col *cols;
	unsigned ncols;
	const char *sub;
	const struct out_col *sub_cols;
	unsigned nsub_cols;
	bool transpose; /* text: one line per column, one column per row (Pktgen's way) */
};

/* Appends doc in the mode; doc is not consumed. JSON is one line. CSV is a heading of keys, then
 * one line per row (quoting as in RFC 4180, but lines end with LF). Without a view (NULL), text is
 * "key: value" lines and CSV is key,value rows: nested keys are dotted, elements of arrays of
 * objects are numbered, "ports[0].name". */
void out_write(enum out_mode mode, const json_t *doc, const struct out_view *view,
	       struct sbuf *out);
/* Appends a number for people: "1.000M", "999.8k", "14.88M". */
void out_si(double v, struct sbuf *out);
/* Append a number, a duration and a share (0..1) with at most `digits` digits (1 to 4), for places
 * with little room: "14.88M" or "15M", "1.234us" or "1us", "12.35%" or "12%". What is not a finite
 * number gives "-". */
void out_si_digits(double v, int digits, struct sbuf *out);
void out_ns_digits(double ns, int digits, struct sbuf *out);
void out_share_digits(double share, int digits, struct sbuf *out);
void out_real(double v, struct sbuf *out); /* as OF_REAL */
/* Appends a number, rounded, as OF_COUNT, right-aligned in so many columns. What is not finite, and
 * what is too large for 64 bits, gives "-". */
void out_count(double v, int width, struct sbuf *out);
void out_duration(uint64_t ns, struct sbuf *out);
/* Appends one value as the text of a cell. A missing or null value gives "-". */
void out_cell(const json_t *v, enum out_fmt fmt, struct sbuf *out);
/* A JSON string of any bytes. If they are not UTF-8, all that are not ASCII become '?'
 * (json_string() would give NULL). New reference. */
json_t *out_json_text(const char *text);
/* The same; null of "". New reference. */
json_t *out_json_text_or_null(const char *text);
/* Bytes of memory that the parts of a document take in jansson, rounded up. A number or a text
 * counts apart from the place that it takes in a list. */
enum {
	OUT_JSON_ARRAY = 160,
	OUT_JSON_OBJECT = 256,
	OUT_JSON_MEMBER = 136,
	OUT_JSON_ELEMENT = 24,
	OUT_JSON_STRING = 96,
	OUT_JSON_NUMBER = 32
};
/* How much memory the document of this text would take at most, and how many values it has. Nothing
 * is built. What is not JSON counts as if it were. */
size_t out_json_bytes(const char *text, size_t len, size_t *values);
/* Appends a value as JSON on one line, without the newline. flags are further ones of jansson. */
void out_json(const json_t *v, size_t flags, struct sbuf *out);
/* Appends a text as the inside of a JSON string. If it is not UTF-8, all bytes that are not ASCII
 * become '?'. A long text may come in pieces that end between characters. */
void out_json_inside(const char *text, size_t len, struct sbuf *out);
/* Prints a text. stdout is flushed, so that results and stderr stay in their order. 0, or -errno:
 * with -EPIPE whoever reads it has closed it, and of text may have enough. */
int out_stdout(const char *text);
/* The member at a dotted path, NULL if it is missing. Borrowed. */
json_t *out_get(const json_t *obj, const char *path);
