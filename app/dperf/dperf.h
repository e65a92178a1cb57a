/* SPDX-License-Identifier: BSD-3-Clause */
/* Configuration files of dperf, a load tester: read, checked as a whole, and said in commands of
 * this program. Pure functions from text to text; they know no port and open nothing. */
#pragma once
#include "base.h"

enum dperf_id {
	DPERF_MODE,
	DPERF_DAEMON,
	DPERF_QUIET,
	DPERF_CLEAR_SCREEN,
	DPERF_LOG_LEVEL,
	DPERF_CPU,
	DPERF_SOCKET_MEM,
	DPERF_SIMD512,
	DPERF_DURATION,
	DPERF_WAIT,
	DPERF_SLOW_START,
	DPERF_PORT,
	DPERF_CLIENT,
	DPERF_SERVER,
	DPERF_LISTEN,
	DPERF_CLIENT_PORT_RANGE,
	DPERF_LPORT_RANGE,
	DPERF_CLIENT_HOP,
	DPERF_CHANGE_DIP,
	DPERF_VLAN,
	DPERF_VXLAN,
	DPERF_KNI,
	DPERF_TOS,
	DPERF_JUMBO,
	DPERF_NEIGH_IGNORE,
	DPERF_RSS,
	DPERF_FLOW_ISOLATE,
	DPERF_CPS,
	DPERF_CC,
	DPERF_KEEPALIVE,
	DPERF_PIPELINE,
	DPERF_FLOOD,
	DPERF_LAUNCH_NUM,
	DPERF_TX_BURST,
	DPERF_RETRANSMIT_TIMEOUT,
	DPERF_FAST_CLOSE,
	DPERF_DISABLE_ACK,
	DPERF_TCP_RST,
	DPERF_PROTOCOL,
	DPERF_PAYLOAD_SIZE,
	DPERF_PAYLOAD_RANDOM,
	DPERF_PAYLOAD_FILE,
	DPERF_SEND_WINDOW,
	DPERF_MSS,
	DPERF_PACKET_SIZE,
	DPERF_HTTP_HOST,
	DPERF_HTTP_PATH,
	DPERF_HTTP_METHOD,
	DPERF_IDS
};

/* What an argument is. COUNT: with k and m, and a fraction. TIME and INTERVAL give ns. SIZES: the
 * numbers of n0,n1,... alone. DEVICE: a PCI address or a bond of some. ANY: whatever stands there,
 * which dperf does not look at either. */
enum dperf_type {
	DPERF_T_NONE,
	DPERF_T_NUMBER,
	DPERF_T_HEX,
	DPERF_T_COUNT,
	DPERF_T_TIME,
	DPERF_T_INTERVAL,
	DPERF_T_WORD,
	DPERF_T_ADDR,
	DPERF_T_MAC,
	DPERF_T_DEVICE,
	DPERF_T_CPUS,
	DPERF_T_SIZES,
	DPERF_T_TEXT,
	DPERF_T_PATH,
	DPERF_T_ANY
};

struct dperf_arg {
	const char *name;
	enum dperf_type type;
	uint64_t min, max;        /* of the number; of a text: its length */
	const char *const *words; /* NULL-terminated, of DPERF_T_WORD */
	bool optional, many;      /* may be missing; may be repeated up to the end of the line */
};

enum dperf_mode { DPERF_BOTH, DPERF_OF_CLIENT, DPERF_OF_SERVER };
#define DPERF_ARGS 7

struct dperf_directive {
	const char *name;
	enum dperf_mode mode; /* who may have it */
	bool repeats;         /* may stand more than once */
	struct dperf_arg arg[DPERF_ARGS];
	const char *about; /* what becomes of it here: a sentence of the manual */
};
extern const struct dperf_directive dperf_directives[DPERF_IDS];

struct dperf_addr {
	bool six;
	uint8_t b[16]; /* four of them where six is false */
};

/* One argument as it was read. n: the number, the index of a word, the first CPU. to: the last one.
 * A MAC address is in addr.b. */
struct dperf_value {
	char *text;
	unsigned col; /* from 1 */
	uint64_t n, to;
	struct dperf_addr addr;
};

struct dperf_line {
	enum dperf_id id;
	unsigned line, col; /* from 1 */
	unsigned n;
	struct dperf_value *v;
};

/* What a file says, in the order in which it says it. It has passed all checks. */
struct dperf_conf {
	char *name;
	struct dperf_line *line;
	unsigned nlines;
	/* of each directive, which of the lines have it: a file may have thousands */
	struct dperf_lines {
		unsigned *line, n;
	} of[DPERF_IDS];
	/* of the directives that decide most */
	bool server, udp, http, six;
	unsigned ports, cpus;
	/* Of `payload_file`, the bytes of that file, which whoever has read it lends until the conf
	 * is freed. NULL: nobody has. */
	const uint8_t *payload;
	uint32_t payload_bytes;
};

#define DPERF_LINE_MOST 2047 /* characters */
#define DPERF_WORDS_MOST 32
#define DPERF_PORTS_MOST 32
#define DPERF_CPUS_MOST 64
#define DPERF_WRONG_MOST 20 /* errors that are told of one file */
#define DPERF_NS 1000000000ull
/* From so many bytes on a payload is one of HTTP; a smaller one is nothing but filling. */
#define DPERF_HTTP_LEAST 85

/* Reads a whole file, whose name is for messages. NULL: something is wrong with it, and *wrong has
 * a line for each error, "NAME:LINE:COLUMN: what was given, what is allowed". */
struct dperf_conf *dperf_read(const char *name, const char *text, size_t bytes, struct sbuf *wrong);
void dperf_free(struct dperf_conf *c);

/* The name of the file that connections send; NULL: there is none, and none has to be read. */
const char *dperf_payload_file(const struct dperf_conf *c);

/* The line number i of a directive, from 0; NULL: there are not so many. */
const struct dperf_line *dperf_find(const struct dperf_conf *c, enum dperf_id id, unsigned i);
bool dperf_has(const struct dperf_conf *c, enum dperf_id id);
/* The first argument of a directive that is not repeated, or `otherwise`. */
uint64_t dperf_number(const struct dperf_conf *c, enum dperf_id id, uint64_t otherwise);
/* How many addresses the line of `client` or `server` names. */
unsigned dperf_addresses(const struct dperf_line *l);
/* Address number i of them. */
void dperf_address(const struct dperf_line *l, unsigned i, struct dperf_addr *out);
void dperf_print_addr(const struct dperf_addr *a, struct sbuf *out);
/* The address that many behind a: the lower 32 bits count. */
struct dperf_addr dperf_add(const struct dperf_addr *a, uint64_t n);
/* The member number i of a device: its PCI address. False: there are not so many. */
bool dperf_pci(const char *device, unsigned i, char out[16]);
/* The number of CPU i, in the order of the file. */
unsigned dperf_cpu(const struct dperf_conf *c, unsigned i);

/* All directives as a table of Markdown, from the table that parses them. */
void dperf_manual(struct sbuf *out);
/* Appends what an argument may be. */
void dperf_allowed(const struct dperf_arg *a, struct sbuf *out);

/* Where a file says what a command does. */
struct dperf_from {
	const char *name; /* of the file, as long as that is there */
	unsigned line, col;
};

/* What files come to. Each text is one of commands, with comments that say what has no command. */
struct dperf_plan {
	struct sbuf settings;    /* of all ports and flows; it can be loaded */
	struct dperf_from *from; /* of each command among them, in their order */
	unsigned nfrom;
	unsigned streams; /* of the port that has most of them */
	struct sbuf run;  /* starts them and waits for them */
	/* Of each line of `run` and `show`, one behind the other, what it does in words, and behind
	 * which line of which file where that is known: it stands before errors. */
	struct sbuf places;
	struct sbuf stop; /* ends them before their time, servers behind their clients */
	struct sbuf show; /* shows what became of them */
	struct sbuf map;  /* for -m; empty: the choice of the program does */
	/* of each file that names CPUs which are not there, a line that says so */
	struct sbuf notes;
	struct sbuf spec; /* a line for each port: what -p would be; empty: no kind of port does */
	struct dperf_from *device; /* where the device of each port is named */
	unsigned ports;
	unsigned mtu; /* for --mtu, since buffers are made at the start; 0: no file has jumbo */
	bool daemon, quiet, clear_screen; /* one of the files says so */
};
/* Says the file of a client, of a server or of both (the other is NULL) in commands. The ports of
 * the one that `first` names come first. workers: how many there are for -m, from 1 on; 0: nobody
 * knows, and all that files name are taken to be there. False: something in them cannot be done
 * here, and *wrong has a line for each, as dperf_read() has them. Free the plan in both cases. */
bool dperf_translate(const struct dperf_conf *client, const struct dperf_conf *server,
		     enum dperf_mode first, unsigned workers, struct dperf_plan *out,
		     struct sbuf *wrong);
void dperf_plan_free(struct dperf_plan *p);
/* Appends each line of the notes behind these words. */
void dperf_notes(const struct dperf_plan *p, const char *before, struct sbuf *out);
/* The whole plan as a command file, whose first lines say how to run it. */
void dperf_dump(const struct dperf_plan *p, struct sbuf *out);
