/* SPDX-License-Identifier: BSD-3-Clause */
/* The half of lib/workload for control: the list of records, their contents, and their settings.
 * workload_run.h says what a workload is. A new one is a file wl_NAME.c that defines wl_NAME, a
 * struct wl_NAME_conf with its settings, and a line in this folder's meson.build. */
#pragma once
#include "workload_run.h"

/* All records, in the order of the list in meson.build; ends with NULL. */
extern const struct workload *const wl_list[];
const struct workload *wl_find(const char *name); /* NULL: there is none */

/* Makes a content. head stays the caller's, who keeps it as long as the content. -E2BIG: it has
 * more than WL_HEAD_MAX bytes. */
#define WL_HEAD_MAX 65536
int wl_content_init(struct wl_content *c, const void *head, uint32_t head_len, enum wl_fill fill);

/* Datagrams of both records begin with a number of so many bytes (wl_number.c): of the transaction,
 * or of the datagram, from 1 on. Their contents begin behind it. */
#define WL_NUMBER 8
struct wl_numbers {
	cell_t lost;       /* numbers that have not come, though higher ones have */
	cell_t reordered;  /* datagrams that came behind one with a higher number */
	cell_t duplicated; /* datagrams whose number had come before */
	cell_t late;       /* responses to transactions that had failed */
};
extern const struct counter wl_numbers_table[];
/* seen: 0 at first. */
void wl_number_seen(uint32_t seen[2], uint32_t number, struct wl_numbers *k);

/* Requests and responses of bytes, wl_bytes.c. Both ends have the same settings. */
struct wl_bytes_conf {
	uint32_t request, response; /* bytes, at least 1; over UDP WL_NUMBER */
	uint64_t transactions;      /* of a connection; 0: without end */
	uint64_t think_ns;          /* from a response to the next request */
	uint64_t timeout_ns;        /* UDP: a transaction without an answer has failed */
	bool server_closes;         /* TCP: the server closes behind its last response */
	enum wl_close close;        /* how whoever closes does it; WL_CLOSE_NOT: nobody does */
	uint16_t request_content, response_content; /* which of the flow's contents */
};
extern const struct workload wl_bytes;

/* Bytes without an end or of a given number, wl_stream.c. Over UDP datagrams one way. */
enum wl_direction { WL_UP = 1, WL_DOWN = 2, WL_BOTH = 3 };
struct wl_stream_conf {
	enum wl_direction direction; /* WL_UP: the client sends */
	uint64_t bytes;              /* of each direction; 0: without end */
	uint16_t content;            /* which of the flow's contents */
	uint32_t datagram;           /* UDP: bytes of each; at least WL_NUMBER */
	uint64_t gap_ns;             /* UDP: from one datagram to the next */
};
extern const struct workload wl_stream;
