/* SPDX-License-Identifier: BSD-3-Clause */
/* Inside of lib/iperf: a test of either role, its streams, and what is printed of it. Files:
 * iperf_run.c what both roles share, iperf_client.c, iperf_server.c, iperf_data.c and iperf_udp.c
 * the bytes, iperf_text.c and iperf_json.c what is printed. */
#pragma once
#include <stdio.h>
#include "arm.h"
#include "iperf.h"
#include "sock_ask.h"

#define IPERF_ALL (2 * IPERF_STREAMS_MOST)
#define IPERF_ADDRESSES 16

/* What is known of a stream at one moment, since the test began. */
struct iperf_now {
	uint64_t bytes, packets;
	int64_t lost;
	uint64_t unordered;
	double jitter_s;
	uint32_t retransmits, cwnd, snd_wnd, rtt_us, rttvar_us, pmtu, reorder, unacked;
};

/* One stream of one direction. */
struct iperf_stream {
	int id, fd; /* fd: -1 when data has it */
	int socket; /* its number in what is printed */
	bool sends; /* this end does */
	struct sock_addr own, peer;
	struct iperf_now base, last, now; /* when what is counted began; at the last line; now */
	double base_s, last_s;            /* of the test's clock */
	uint32_t max_cwnd, max_wnd, max_rtt, min_rtt;
	uint64_t sum_rtt;
	unsigned nrtt;
	int64_t omitted_lost;
	uint64_t omitted_packets;
	/* of the peer: its results */
	struct iperf_result there;
	bool heard;
};

/* What is printed of an interval of a stream, or of several. */
struct iperf_part {
	double start_s, end_s;
	uint64_t bytes, packets, unordered;
	int64_t lost, retransmits; /* -1: not known */
	double jitter_s;
	bool sends, omitted;
	const struct iperf_stream *s; /* NULL: a sum */
};

struct iperf_data;
struct iperf_port;
struct iperf_serving;

struct iperf {
	struct loop *loop;
	struct arm *arm;
	struct iperf_opts o;
	struct iperf_params p; /* a server's are the client's */
	iperf_print_fn *print;
	void *arg;
	FILE *log;

	bool over, interrupted;
	enum iperf_end end;
	/* the control connection */
	struct chan *chan;
	struct iperf_ctl ctl;
	struct sock_addr ctl_own, ctl_peer;
	uint32_t ctl_mss;
	char cookie[IPERF_COOKIE]; /* a client's */
	/* the test */
	struct iperf_stream stream[IPERF_ALL];
	unsigned n, want; /* that are there; of all */
	struct iperf_data *data;
	struct iperf_port *port; /* NULL: this end opens sockets itself */
	bool running, omitting, header;
	uint64_t begin_ns, end_ns; /* of what is counted */
	uint64_t line_ns;          /* the last line */
	uint64_t moved_ns; /* 0; else what came last came then, and no time counts behind it */
	struct rusage usage, usage_end;
	uint64_t usage_ns, usage_end_ns;
	struct iperf_results there;
	bool has_there;
	char congestion[16];
	int line_timer, omit_timer, end_timer, wait_timer;
	/* what is printed */
	json_t *start, *intervals, *finish, *connected;
	json_t *carrier;    /* what carries the connections, of arm_ops.say; NULL: not known */
	struct sbuf output; /* text of the test, for --get-server-output */
	struct err why;
	/* a client, which connects its streams one after the other */
	struct sock_addr addr[IPERF_ADDRESSES], from; /* from: len 0: the kernel chooses */
	unsigned naddr, next_addr, hellos;
	struct sock_ask *ask;         /* for the names of hosts; NULL: they are known */
	bool connected_once, leaving; /* leaving: it has said all, and its port is still there */
	int connecting_fd, hello_timer, retry_timer;
	char silence[160]; /* what is wrong when the wait_timer ends */
	uint64_t came;     /* bytes at the last look of --rcv-timeout */
	/* Behind the last of -n and -k: the fewest bytes without an acknowledgement so far, and
	 * since when there are so few. */
	uint64_t unacked, unacked_ns;
	/* a server */
	struct iperf_server *server;
	struct iperf_serving *serving; /* NULL: it accepts sockets itself */
};

/* ---- iperf_run.c ---- */
double iperf_since(const struct iperf *, uint64_t ns); /* seconds since begin_ns */
void iperf_out(struct iperf *, const char *text);      /* a piece of output */
void iperf_fail(struct iperf *, enum iperf_end, const char *fmt, ...) WR_PRINTF(3, 4);
void iperf_begin(struct iperf *); /* clocks and bytes */
void iperf_stop(struct iperf *);  /* bytes end, the last line */
void iperf_results_make(struct iperf *, struct iperf_results *);
void iperf_results_take(struct iperf *);
void iperf_flush(struct iperf *);    /* what the machine has to say */
void iperf_test_end(struct iperf *); /* gives back what belongs to one test */
void iperf_timer_end(struct iperf *, int *timer);
/* From now on it fails with this text if nothing happens for so long; 0: for ever. */
void iperf_wait(struct iperf *, uint64_t ns, const char *text);
struct iperf_stream *iperf_stream_add(struct iperf *, int fd, bool sends);
struct iperf_stream *iperf_stream_new(struct iperf *, int socket, bool sends); /* without one */
void iperf_tune(const struct iperf *, struct sock_tune *);
void iperf_cpu(const struct iperf *, double cpu[3]);
void iperf_json_new(struct iperf *);
/* Notes what carries the data, and by which control of congestion. */
void iperf_carrier(struct iperf *, struct arm_data *);
void iperf_host(const struct sock_addr *, char *out, size_t n); /* without the port */

/* ---- iperf_client.c, iperf_server.c ---- */
int iperf_client_start(struct iperf *, enum iperf_end *, struct err *);
void iperf_client_end(struct iperf *);
bool iperf_client_sends(const struct iperf *, unsigned nth); /* whether the nth stream does */
int iperf_server_start(struct iperf *, enum iperf_end *, struct err *);
void iperf_server_free(struct iperf *);
/* The test is over, well or not: a server goes on or ends. */
void iperf_server_next(struct iperf *);
/* What is to become of somebody who has said this cookie. */
enum iperf_who {
	IPERF_WHO_WAITS,  /* a test is as good as over: iperf_server_who() is asked again */
	IPERF_WHO_CLIENT, /* of a test: iperf_server_control(), when t->chan is its channel */
	IPERF_WHO_STREAM, /* a data connection */
	IPERF_WHO_LATE,   /* another client, which is told that the server is busy */
	IPERF_WHO_ODD,    /* no iperf3 */
};
enum iperf_who iperf_server_who(const struct iperf *, const uint8_t *cookie);
void iperf_server_control(struct iperf *, const uint8_t *cookie);
size_t iperf_server_in(struct iperf *, const uint8_t *data, size_t n);
void iperf_server_gone(struct iperf *, int error);
/* It listens, and says so. */
void iperf_server_ready(struct iperf *);
/* All streams are there: the test runs. */
void iperf_server_run(struct iperf *);
bool iperf_server_sends(const struct iperf *, unsigned nth); /* whether the nth stream does */
/* Ends the test with an error, which the client is told. */
void iperf_server_refuse(struct iperf *, int code, int error, const char *text);
#define IPERF_COOKIE_NS 10000000000ull /* who connects says who it is within this */

/* ---- iperf_data.c ---- */
/* Begins to move bytes of all streams, whose descriptors become its. NULL with *e. */
struct iperf_data *iperf_data_start(struct iperf *, struct err *e);
/* Fills `now` of each stream. */
void iperf_data_look(struct iperf *);
void iperf_data_stop(struct iperf_data *); /* nothing moves any more; looking is allowed */
void iperf_data_free(struct iperf_data *); /* closes all; NULL is allowed */
/* Whether this process may use the CPU, a number + 1. */
bool iperf_cpu_there(uint32_t cpu, struct err *e);
void iperf_data_info(struct iperf_now *, const struct sock_info *);
/* Whether all that -n or -k asked for was sent. */
bool iperf_data_spent(struct iperf *);
/* Bytes that were sent, and that nobody has acknowledged yet. On a port they are those of some ms
 * ago. */
uint64_t iperf_data_unacked(struct iperf *);

/* ---- iperf_port.c: data of a client, on an arm that opens it itself ---- */
/* Before the control connection opens. */
int iperf_port_new(struct iperf *, struct err *e);
int iperf_port_open(struct iperf *, struct err *e);
/* Makes the streams, if all connections are there. */
void iperf_port_there(struct iperf *);
void iperf_port_go(struct iperf *);
void iperf_port_look(struct iperf *);
uint64_t iperf_port_handed(struct iperf *);
void iperf_port_stop(struct iperf *); /* there may be none */
void iperf_port_end(struct iperf *);  /* the same */

/* ---- iperf_serving.c: a server on an arm that lets connections of data come ---- */
int iperf_serving_start(struct iperf *, struct err *e);
/* false: the client asks for something that this arm does not have, and was told so. */
bool iperf_serving_can(struct iperf *);
/* The client is asked to make its data connections as soon as they may come. */
void iperf_serving_prepare(struct iperf *);
void iperf_serving_go(struct iperf *);
void iperf_serving_look(struct iperf *);
void iperf_serving_stop(struct iperf *); /* nothing is sent or counted any more */
/* The data connections end. The same, and the control connection is no more. There may be none. */
void iperf_serving_shut(struct iperf *);
void iperf_serving_over(struct iperf *);
void iperf_serving_held(struct iperf *); /* those who wait are asked again */
const char *iperf_serving_device(struct iperf *);
void iperf_serving_free(struct iperf *); /* there may be none */

/* ---- iperf_text.c, iperf_json.c ---- */
void iperf_text_connected(struct iperf *);
void iperf_text_parts(struct iperf *, const struct iperf_part *, unsigned n);
void iperf_text_end(struct iperf *);
void iperf_json_connected(struct iperf *, const struct iperf_stream *);
void iperf_json_start(struct iperf *);
void iperf_json_parts(struct iperf *, const struct iperf_part *, unsigned n);
void iperf_json_end(struct iperf *);
/* Prints the document (not of json_stream), with an error if there is one. */
void iperf_json_print(struct iperf *);
json_t *iperf_json_document(struct iperf *);
/* The sum of parts of one direction. */
struct iperf_part iperf_sum(const struct iperf_part *, unsigned n, bool sends);
/* The parts of a whole test: as this end and as the peer has seen it. */
struct iperf_part iperf_total(const struct iperf *, const struct iperf_stream *, bool sender);
