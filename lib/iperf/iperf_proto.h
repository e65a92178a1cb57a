/* SPDX-License-Identifier: BSD-3-Clause */
/* What iperf3 says on its control connection, as machines without I/O: bytes in, bytes out, and
 * what has happened. Numbers and names are those that iperf 3.1 to 3.21 use on the wire. */
#pragma once
#include <jansson.h>
#include "base.h"

#define IPERF_PORT 5201
#define IPERF_COOKIE 37        /* bytes of a cookie, of which the last is NUL */
#define IPERF_STREAMS_MOST 128 /* in one direction */
#define IPERF_PARAMS_MOST 8192 /* bytes of the parameters as JSON */
#define IPERF_RESULTS_MOST (16u << 20)
#define IPERF_BLOCK_MOST (1u << 20)
#define IPERF_UDP_MOST 65507
#define IPERF_UDP_LEAST 16
#define IPERF_TIME_MOST 86400
#define IPERF_OMIT_MOST 600
#define IPERF_MSS_MOST 9216
#define IPERF_WINDOW_MOST (512u << 20)
#define IPERF_BURST_MOST 1000
#define IPERF_CPU_MOST 1023

/* ---- parameters (iperf_params.c) ---- */

/* What a client asks of a server. */
struct iperf_params {
	bool udp, reverse, bidir, nodelay, udp64, repeating, get_output, zerocopy, dont_fragment;
	uint64_t time_s, omit_s;
	uint64_t bytes, blocks; /* 0: time_s counts */
	uint64_t rate, fq_rate; /* bit/s of each stream; 0: without limit */
	uint32_t parallel, blksize, burst, mss, window, tos, flowlabel;
	uint64_t pacing_us;
	uint32_t cpu;   /* on which the server's bytes move, + 1; 0: any */
	bool skip_copy; /* receivers throw away what comes, without a copy */
	char congestion[16], title[256], extra[1024];
	char version[32]; /* of the client */
};
/* New JSON text, which the caller frees. */
char *iperf_params_text(const struct iperf_params *);
/* Reads them as a server does: keys that it does not know, and values of other types than they
 * should have, are passed over. 0; -EPROTO: it is no JSON object; -EINVAL, -ERANGE, -ENOTSUP: the
 * server cannot do what it asks. *code becomes iperf3's number of the error, to tell the client. */
int iperf_params_read(const char *text, size_t n, struct iperf_params *, int *code, struct err *e);

/* ---- results (iperf_results.c) ---- */

struct iperf_result {
	int id;
	uint64_t bytes;
	int64_t retransmits; /* -1: unknown, as that of a receiver */
	double jitter_s;
	int64_t errors, packets, omitted_errors, omitted_packets;
	double start_s, end_s;
};
struct iperf_results {
	double cpu[3];       /* percent: all, user, system */
	int has_retransmits; /* -1: it has sent nothing */
	char congestion[16];
	struct iperf_result stream[2 * IPERF_STREAMS_MOST];
	unsigned n;
	json_t *output_json; /* of the server, NULL: none */
	char *output_text;
};
char *iperf_results_text(const struct iperf_results *);
/* 0, or -EPROTO with *e. Call iperf_results_free() in any case. */
int iperf_results_read(const char *text, size_t n, struct iperf_results *, struct err *e);
void iperf_results_free(struct iperf_results *);
/* NULL: there is none of this id. */
const struct iperf_result *iperf_result_of(const struct iperf_results *, int id);
/* The id of the nth stream of a test, counted from 0: 1, 3, 4, 5, ... */
int iperf_stream_id(unsigned nth);

/* ---- the control connection (iperf_ctl.c) ---- */

enum iperf_state {
	IPERF_TEST_START = 1,
	IPERF_TEST_RUNNING = 2,
	IPERF_TEST_END = 4,
	IPERF_PARAM_EXCHANGE = 9,
	IPERF_CREATE_STREAMS = 10,
	IPERF_SERVER_TERMINATE = 11,
	IPERF_CLIENT_TERMINATE = 12,
	IPERF_EXCHANGE_RESULTS = 13,
	IPERF_DISPLAY_RESULTS = 14,
	IPERF_DONE = 16,
	IPERF_ACCESS_DENIED = -1,
	IPERF_SERVER_ERROR = -2
};
/* Errors of iperf3 that a server of ours tells its client. */
enum {
	IPERF_E_STREAMS = 6,
	IPERF_E_BLOCK = 7,
	IPERF_E_WINDOW = 8,
	IPERF_E_MSS = 10,
	IPERF_E_OMIT = 11,
	IPERF_E_UNIMPLEMENTED = 13,
	IPERF_E_NO_SCTP = 18,
	IPERF_E_UDP_BLOCK = 20,
	IPERF_E_DURATION = 5,
	IPERF_E_RECV_PARAMS = 114,
	IPERF_E_AFFINITY = 132,
	IPERF_E_CONGESTION = 134,
	IPERF_E_STREAM_LISTEN = 202,
	IPERF_E_STREAM_ACCEPT = 204
};

/* What has happened: the owner of the machine answers with a function below. */
enum iperf_event {
	IPERF_EV_NONE,
	IPERF_EV_PARAMS,  /* server: c->json has the parameters: iperf_ctl_streams() or _refuse() */
	IPERF_EV_CREATE,  /* client: make the data connections */
	IPERF_EV_START,   /* client: the server has all of them */
	IPERF_EV_RUN,     /* client: the clocks start now */
	IPERF_EV_END,     /* server: the client ends the test: iperf_ctl_exchange() */
	IPERF_EV_ASKED,   /* client: iperf_ctl_results() */
	IPERF_EV_RESULTS, /* c->json has the peer's results; server: iperf_ctl_results() */
	IPERF_EV_DONE,    /* the test is over and all was said */
	IPERF_EV_FAILED   /* it is over, for the reason in c->why */
};

struct iperf_ctl {
	bool client;
	uint8_t phase; /* enum phase in iperf_ctl.c */
	char cookie[IPERF_COOKIE];
	struct sbuf out;  /* to be sent; who sends them takes them away */
	struct sbuf json; /* what came; NUL-terminated */
	uint32_t need;    /* bytes of it */
	uint8_t head[8];
	unsigned have; /* of a head or a cookie */
	char *params;  /* client */
	struct err why;
	int code; /* of a server's error: iperf3's number, else 0 */
};
/* A client begins with its cookie. cookie: IPERF_COOKIE bytes; params: iperf_params_text(), which
 * becomes the machine's. */
void iperf_ctl_client(struct iperf_ctl *, const char *cookie, char *params);
void iperf_ctl_server(struct iperf_ctl *);
void iperf_ctl_free(struct iperf_ctl *);
/* Takes bytes that came until something has happened. Returns how many; *ev is what. */
size_t iperf_ctl_in(struct iperf_ctl *, const uint8_t *data, size_t n, enum iperf_event *ev);
/* The peer has closed, or the connection has failed (errno). IPERF_EV_FAILED, or IPERF_EV_DONE
 * where nothing more had to come. */
enum iperf_event iperf_ctl_gone(struct iperf_ctl *, int error);
/* Whether a server has a whole cookie already. */
bool iperf_ctl_met(const struct iperf_ctl *);
/* Whether a server has said all, and only the client's goodbye is to come. */
bool iperf_ctl_gave(const struct iperf_ctl *);

void iperf_ctl_streams(struct iperf_ctl *); /* server: make the data connections */
void iperf_ctl_refuse(struct iperf_ctl *, int code, int error); /* server: ends with an error */
void iperf_ctl_deny(struct iperf_ctl *);                        /* server: it is busy */
void iperf_ctl_go(struct iperf_ctl *);                  /* server: all connections are there */
void iperf_ctl_end(struct iperf_ctl *);                 /* client: the test is over */
void iperf_ctl_exchange(struct iperf_ctl *);            /* server */
void iperf_ctl_results(struct iperf_ctl *, char *text); /* text becomes the machine's */
void iperf_ctl_terminate(struct iperf_ctl *);           /* either: the user has ended it */

/* 36 characters of a-z2-7 and NUL. */
void iperf_cookie(char out[IPERF_COOKIE]);
/* Whether these bytes may be a cookie: printable, and NUL behind them. */
bool iperf_cookie_is(const uint8_t *);
/* Appends what iperf3 means by a number of an error; error: errno, 0: none. */
void iperf_error_text(int code, int error, struct sbuf *out);

/* ---- datagrams (iperf_seq.c) ---- */

/* What a receiver knows of one stream. */
struct iperf_seq {
	uint64_t packets; /* the highest number that came */
	int64_t lost;     /* below 0 when datagrams came twice */
	uint64_t unordered;
	double jitter_s, transit_s;
	bool any;
};
#define IPERF_UDP_HEAD 12
#define IPERF_UDP_HEAD64 16
void iperf_udp_put(uint8_t *, uint64_t time_us, uint64_t number, bool wide);
/* n bytes came at now_us of the receiver's clock. false: it is too short to have a number. */
bool iperf_seq_seen(struct iperf_seq *, const uint8_t *, size_t n, bool wide, uint64_t now_us);
