/* SPDX-License-Identifier: BSD-3-Clause */
/* The interpreter of case files: one machine of lib/flow in virtual time, and a peer that does what
 * the lines of a case say. README.md has the language. */
#pragma once
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "flow.h"
#include "workload.h"

#define MS 1000000ull
#define SECOND 1000000000ull

#define CASE_ROOM 2048
#define CASE_OUT 1024
#define CASE_LOG 4096

enum {
	TH_FIN = 1,
	TH_SYN = 2,
	TH_RST = 4,
	TH_PSH = 8,
	TH_ACK = 16,
	TH_URG = 32,
	TH_ECE = 64,
	TH_CWR = 128
};

/* A segment or datagram, with absolute numbers. `has`: what a line that expects one compares. */
struct seg {
	uint64_t when_ns;
	bool udp;
	uint8_t flags, tos;
	uint32_t seq, ack, len;
	uint16_t win, urg, sport, dport;
	uint8_t options[40];
	unsigned noptions;
	/* of lines alone */
	unsigned has;    /* HAS_... */
	unsigned absent; /* bits of option kinds that must not be there */
	uint16_t mss;
	uint8_t wscale;
	uint8_t nsack;
	uint32_t sack[4][2];
	/* damage, of what is injected */
	bool bad_sum, bad_ip_sum, zero_sum;
	int doff, cut; /* -1: as it should be; bytes that are missing at the end */
	unsigned ip_options, fragment;
	unsigned ip_more; /* bytes behind the IP packet */
	unsigned number;  /* UDP: what the payload begins with; 0: the pattern alone */
	bool new_isn;
};
enum {
	HAS_ACK = 1,
	HAS_WIN = 2,
	HAS_MSS = 4,
	HAS_WSCALE = 8,
	HAS_SACK_OK = 16,
	HAS_SACK = 32,
	HAS_NO_OPTIONS = 64,
	HAS_LEN = 128,
	HAS_SEQ = 256,
	HAS_ANY = 512,
	HAS_NUMBER = 1024,
};

/* A line of the exchange, for those who read of a failure. */
struct said {
	uint64_t when_ns;
	char text[160];
};

struct flow_case {
	/* where we are */
	const char *file;
	unsigned line;
	char name[80];
	char text[512]; /* the line */
	jmp_buf out;

	/* the machine */
	bool running, client, udp, loose;
	/* how the cases are run: over IPv6, in a tunnel, frames that come in several pieces,
	 * without the shorter ways of usual segments */
	bool is6, tunnel, pieces, general;
	unsigned l3; /* where the IP header begins that counts */
	bool known;  /* the case shows a defect that is not mended yet, and is to fail */
	struct flow_machine *m;
	struct flow_tuples *tuples;
	struct flow_path path;
	struct flow_sink sink;
	struct flow_room room[CASE_OUT];
	struct flow_out outs[CASE_OUT];
	uint8_t buffer[CASE_OUT][CASE_ROOM];
	struct flow_counts counts;
	struct wl_counts transactions;
	struct wl_numbers numbers;
	struct wl_content content;
	struct wl_flow wl;
	struct wl_bytes_conf bytes;
	struct wl_stream_conf stream;
	struct flow_spec spec;
	int version;
	uint32_t channel; /* 0: none */
	uint32_t written, read;
	uint64_t start_ns, now_ns;

	/* the peer */
	uint32_t our_isn, their_isn; /* ours is the machine's */
	bool isn_known;
	uint32_t sent_end; /* of what the machine has sent, absolute */
	uint8_t tos;       /* of our frames */
	uint16_t our_port, their_port;

	/* what has come and was not looked at yet */
	struct seg came[CASE_OUT];
	unsigned ncame;
	/* what goes in with the next burst */
	uint8_t *held[64];
	unsigned held_len[64], nheld;

	struct said log[CASE_LOG];
	unsigned nlog;
};

/* flow_case.c: ends the case as failed. */
_Noreturn void case_fail(struct flow_case *c, const char *what, ...) WR_PRINTF(2, 3);
/* Ends it as one that does not belong to how cases are run. */
_Noreturn void case_skip(struct flow_case *c);
void case_say(struct flow_case *c, const char *arrow, const char *text);

/* case_seg.c */
enum { CASE_TUNNEL = 50, CASE_IDENT = 7 }; /* bytes before the inner Ethernet header */
/* The headers before TCP or UDP as a flow's path has them. Returns their length. */
unsigned seg_path(const struct flow_case *c, uint8_t *h);
void seg_print(const struct flow_case *c, const struct seg *s, bool from_us, char *to, size_t room);
/* Builds the frame that the peer sends. Returns its length. */
unsigned seg_build(struct flow_case *c, const struct seg *s, uint8_t *f);
/* Addresses into an IP header, of our end as the sender or of the peer. */
void seg_addresses(const struct flow_case *c, bool ours_first, uint8_t *ip);
/* Reads and verifies a frame of the machine. */
void seg_read(struct flow_case *c, const uint8_t *f, unsigned len, struct seg *s);
/* Ends the case if what came is not what was expected. */
void seg_compare(struct flow_case *c, const struct seg *want, const struct seg *came);

/* case_text.c: words of a line. */
struct words {
	char text[512];
	char *w[64];
	unsigned n, at;
};
void words_split(struct words *w, const char *text);
const char *words_next(struct words *w); /* NULL: none is left */
const char *words_need(struct flow_case *c, struct words *w, const char *what);
uint64_t words_number(struct flow_case *c, struct words *w, const char *what);
uint64_t words_time(struct flow_case *c, const char *text);
uint32_t text_u32(struct flow_case *c, const char *text);
/* The rest of a line that injects (from_us false) or expects a segment. */
void words_seg(struct flow_case *c, struct words *w, bool from_us, struct seg *s);

/* case_machine.c */
void machine_flow(struct flow_case *c, struct words *w); /* the settings of a line `flow` */
void machine_start(struct flow_case *c);
void machine_end(struct flow_case *c); /* gives all back, and looks whether anything is left */
void machine_drop(struct flow_case *c);
void machine_flush(struct flow_case *c);
/* Until the time, or (if `frames`) until something has come. */
void machine_run(struct flow_case *c, uint64_t until_ns, bool frames);
void machine_in(struct flow_case *c, const struct seg *s, bool hold);
bool machine_info(struct flow_case *c, struct flow_info *info);
