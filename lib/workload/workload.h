/* SPDX-License-Identifier: BSD-3-Clause */
/* The half of lib/workload for control: the list of records, their contents, and their settings.
 * workload_run.h says what a workload is. A new one is a file wl_NAME.c that defines wl_NAME, a
 * struct wl_NAME_conf with its settings, and a line in this folder's meson.build. */
#pragma once
#include "workload_run.h"

/* All records, in the order of the list in meson.build; ends with NULL. */
extern const struct workload *const wl_list[];
const struct workload *wl_find(const char *name); /* NULL: there is none */

/* Types of settings (lib/value): text <-> struct wl_vary. Values are separated by commas, each is N
 * or a range A..B, with a weight behind a colon if it has one: 64 | 64..1500 | 64:7,570:4,1460:1.
 * Sizes are numbers as those of vt_uint, up to WL_SIZE_MAX, pauses are durations as those of
 * vt_duration, up to WL_PAUSE_MAX_NS; the limits of a row are those of each value. */
struct vtype;
extern const struct vtype vt_wl_sizes, vt_wl_pauses;
#define WL_SIZE_MAX (1ull << 50)
#define WL_PAUSE_MAX_NS 1800000000000ull /* 24 bits of ticks of lib/flow are 36 minutes */

/* Makes a content. head stays the caller's, who keeps it as long as the content. -E2BIG: it has
 * more than WL_HEAD_MAX bytes. */
#define WL_HEAD_MAX 65536
int wl_content_init(struct wl_content *c, const void *head, uint32_t head_len, enum wl_fill fill);
/* One of n given bytes, up to WL_WHOLE_MAX, which also stay the caller's; messages of it have no
 * more than these. */
#define WL_WHOLE_MAX (1u << 24)
void wl_content_init_whole(struct wl_content *c, const void *bytes, uint32_t n);
/* The same of a body in chunks of `chunk` bytes, at least WL_CHUNK_MIN. Returns the length of the
 * message, which is below 2^29. */
#define WL_CHUNK_MIN 16
#define WL_CHUNKED_MAX (1u << 28) /* bytes of such a body */
int wl_content_init_chunked(struct wl_content *c, const void *head, uint32_t head_len,
			    enum wl_fill fill, uint32_t chunk, uint32_t body);

/* Datagrams of both records begin with a stamp of so many bytes (wl_number.c). Its lower half is
 * the number of the transaction, or of the datagram, from 1 on. Its upper half is the lower one of
 * the wl_time() when the connection began, by which a receiver tells one from another that had its
 * tuple before; 0: not told. Their contents begin behind it. */
#define WL_NUMBER 8
struct wl_numbers {
	cell_t lost;       /* numbers that have not come, though higher ones have */
	cell_t reordered;  /* datagrams that came behind one with a higher number */
	cell_t duplicated; /* datagrams whose number had come before */
	cell_t late; /* responses to transactions that had failed, or to a connection before */
};
extern const struct counter wl_numbers_table[];
/* seen: 0 at first. */
void wl_number_seen(uint32_t seen[2], uint64_t stamp, struct wl_numbers *k);

/* Requests and responses of bytes, wl_bytes.c. Both ends have the same settings. Sizes that vary
 * are a function of the connection's identity (wl_identity()) and the number of the transaction,
 * which both ends know: nothing of them is told. So they need a path that translates neither
 * addresses nor ports, and a tuple that is used again has the same sizes again.
 * UDP: where one of both is bytes as others need them, neither has a stamp (`plain`). A response is
 * then that of the open request, whatever comes, since nothing in it says of which it is. So one
 * that comes when none is open is `late`, and what was lost, overtaken or sent twice is not
 * known. Either of both may be unknown to this end, which then takes any bytes for it. */
struct wl_bytes_conf {
	uint64_t transactions; /* of a connection; 0: without end */
	uint64_t timeout_ns;   /* UDP: a transaction without an answer has failed */
	bool server_closes;    /* TCP: the server closes behind its last response */
	bool plain;            /* UDP: datagrams are nothing but their content */
	bool request_unknown, response_unknown; /* with plain: of the other end, and any bytes */
	enum wl_close close; /* how whoever closes does it; WL_CLOSE_NOT: nobody does */
	uint16_t request_content, response_content; /* which of the flow's contents */
	/* Bytes: at least 1, over UDP with stamps WL_NUMBER; at most WL_BYTES_MAX. */
	struct wl_vary request, response;
	/* ns, from a response to the next request; if several are open, from the last response. */
	struct wl_vary think;
	uint8_t pipeline; /* of wl_bytes_pipelined alone: 2 to WL_BYTES_PIPELINE */
};
#define WL_BYTES_MAX UINT32_MAX
/* The second one is for clients of UDP that have so many requests open at once on a connection,
 * wl_bytes_pipe.c; their server has the first one. */
#define WL_BYTES_PIPELINE 100
extern const struct workload wl_bytes, wl_bytes_pipelined;

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

/* HTTP/1.1, wl_http.c. http_make.c makes the settings of an end of texts. */
struct wl_http_counts {
	cell_t status[5]; /* responses by class, 1xx to 5xx: a client's received, a server's sent */
	cell_t bad;       /* messages that were none; the reasons follow (enum http_bad) */
	cell_t reason[11];      /* HTTP_BAD_START to HTTP_LONG_HEAD */
	cell_t unasked;         /* responses to a connection without an open request */
	cell_t cut;             /* connections that the peer ended in the middle of a message */
	cell_t no_cell;         /* connections reset because there was no cell for their state */
	cell_t head, post, put; /* a server's answered requests of these methods; the rest: GET */
};
extern const struct counter wl_http_table[];

/* One message that can be sent. */
struct wl_http_message {
	uint64_t bytes;   /* of its content */
	uint32_t head;    /* how many of them are the head: all that answers HEAD */
	uint16_t content; /* which of the flow's contents */
	uint8_t class;    /* of a response: 0 for 1xx to 4 for 5xx */
	bool to_head;     /* a request with HEAD */
	bool until_close; /* of a response: the connection ends behind it */
};
/* How a message of a server is made, by who asks: messages are numbered choice * WL_HTTP_FORMS +
 * form. A client has the form WL_HTTP_LAST for a request behind which the server is to close. */
enum { WL_HTTP_PERSIST, WL_HTTP_LAST, WL_HTTP_PERSIST_10, WL_HTTP_LAST_10, WL_HTTP_FORMS };
/* The flow's first contents: filling alone, to compare bodies with; 100; and the answers to
 * requests that are none. */
enum {
	WL_HTTP_BODY,
	WL_HTTP_CONTINUE,
	WL_HTTP_400,
	WL_HTTP_414,
	WL_HTTP_431,
	WL_HTTP_501,
	WL_HTTP_505,
	WL_HTTP_FIRST /* the first of messages that are chosen */
};
/* Most requests of a client that are open at once on a connection. */
#define WL_HTTP_PIPELINE 12
struct wl_http_conf {
	const struct wl_http_message *message; /* made by wl_http_make(), as all that follows */
	const uint16_t *pick; /* transaction n of a worker has choice pick[(seed + n) % npick] */
	uint32_t npick, seed;
	uint32_t transactions; /* of a connection; 0: without end */
	uint32_t head_limit;
	uint8_t pipeline;
	enum wl_close close; /* how whoever closes does it */
	bool server_closes;
	bool cell;            /* each connection has a cell for its state */
	struct wl_vary think; /* ns */
};
/* The second one is for clients with `pipeline` above 1. */
extern const struct workload wl_http, wl_http_pipelined;

/* What http_make.c makes settings of. Texts that are NULL have their defaults. Lists have weights:
 * "/a:7,/b:2,/c:1" are seven of ten transactions with /a; without a weight it is 1. */
struct wl_http_settings {
	bool client;
	const char *method; /* GET, HEAD, POST, PUT; default GET */
	const char *path;   /* default / */
	const char *host;   /* NAME, NAME:PORT, NAME:PORT:WEIGHT, NAME::WEIGHT; must be given */
	const char *header; /* further fields, NAME: VALUE, separated by line ends or by "\n" */
	const char *status; /* default 200 */
	/* Bytes of bodies; NULL: 0 of a client, 100 of a server. Of a range at most WL_HTTP_RANGE
	 * sizes are sent, or fewer if all lists combine to too many messages: evenly spread, both
	 * ends of the range among them. */
	const struct wl_vary *size;
	bool chunked;         /* bodies in chunks, of at most WL_CHUNKED_MAX bytes */
	uint32_t chunk;       /* bytes of each; 0: 4096 */
	bool until_close;     /* server: bodies that end with the connection */
	bool http10;          /* client: asks as HTTP/1.0 */
	struct wl_vary think; /* ns */
	uint64_t transactions;
	uint32_t head_limit; /* 0: 16384 */
	unsigned pipeline;   /* 0: 1 */
	enum wl_close close;
	bool server_closes;
	enum wl_fill fill;
	uint32_t seed;
	/* A whole message of HTTP that this end sends as it is, in place of all that the texts,
	 * size and chunks would make; and one that the other end sends, whose body is to come.
	 * NULL: there is none. They stay the caller's, who keeps them as long as what is made of
	 * them. */
	const uint8_t *whole, *known;
	uint32_t whole_bytes, known_bytes;
};
/* What http_whole.c finds in a file that is to be such a message. */
struct wl_http_whole {
	uint32_t head;   /* bytes */
	uint32_t body;   /* bytes, without those around chunks */
	uint8_t *data;   /* the body out of its chunks, for the caller to free; NULL: as it is */
	uint16_t status; /* of a response */
	bool to_head;    /* a request with HEAD */
	bool closes;     /* what it says ends the connection */
};
/* Reads n bytes that must be one whole request, or response, and nothing else. -EINVAL with *e:
 * why they are none. */
int wl_http_whole(const uint8_t *p, uint32_t n, bool response, struct wl_http_whole *out,
		  struct err *e);
/* Whether bytes begin as a request or a response does: with the name of a method, or with HTTP/. */
bool wl_http_like(const uint8_t *p, uint32_t n, bool response);
/* What an end needs: a flow's wl, conf, content and ncontent. */
struct wl_http {
	const struct workload *wl;
	struct wl_http_conf conf;
	struct wl_content *content;
	uint16_t ncontent;
	unsigned choices;
	bool whole;    /* the content WL_HTTP_FIRST is that of the settings */
	uint8_t *body; /* of the content WL_HTTP_BODY, if it was in chunks */
};
/* -EINVAL, -ERANGE or -E2BIG with *e; e->col is a column of the text that is named in it. The
 * caller frees *out with wl_http_free() when no flow uses it any more. */
int wl_http_make(const struct wl_http_settings *s, struct wl_http **out, struct err *e);
void wl_http_free(struct wl_http *h);
#define WL_HTTP_CHOICES 1000
#define WL_HTTP_RANGE 64
#define WL_HTTP_PICKS 65535

/* A dialog by a text, wl_dialog.c. dialog_parse.c reads the text; both ends have the same one. A
 * dialog is runs of steps, each repeated so many times, and all runs together so many times. Each
 * pass of a run is a transaction. */
#define WL_DIALOG_STEPS 64
enum wl_dialog_kind { WL_DIALOG_SEND, WL_DIALOG_RECV, WL_DIALOG_THINK, WL_DIALOG_CLOSE };
/* A pause is of the end that sends next (the client's, if nobody does), which depends on what comes
 * behind this pass of the run: another one, or another pass of all runs, or neither. */
enum { WL_DIALOG_AGAIN = 1, WL_DIALOG_ON = 2, WL_DIALOG_END = 4 };
struct wl_dialog_step {
	uint64_t n;   /* bytes, or ns */
	uint8_t kind; /* enum wl_dialog_kind, as the client sees it */
	uint8_t run;
	uint8_t server; /* WL_DIALOG_THINK: when it is the server who waits */
	bool last;      /* of its run */
	bool done;      /* the transaction is done with this step: pauses may follow */
};
struct wl_dialog_run {
	uint8_t first, steps;
	bool transaction; /* it sends or receives, and its passes are counted */
	uint32_t times;
};
struct wl_dialog_conf {
	struct wl_dialog_step step[WL_DIALOG_STEPS];
	struct wl_dialog_run run[WL_DIALOG_STEPS];
	uint8_t nstep, nrun;
	uint32_t times;      /* of all runs */
	enum wl_close close; /* what the client does at the end */
	uint16_t content;    /* of all messages */
};
extern const struct workload wl_dialog;
/* -EINVAL or -ERANGE with *e and its column. close and content stay what they are. */
int wl_dialog_parse(const char *text, struct wl_dialog_conf *out, struct err *e);
/* Appends the canonical text, which parses to the same dialog. */
void wl_dialog_print(const struct wl_dialog_conf *conf, struct sbuf *out);
