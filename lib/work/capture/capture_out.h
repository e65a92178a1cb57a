/* SPDX-License-Identifier: BSD-3-Clause */
/* The files of one capture: blocks of pcapng go in, files come out that end where limits say, with
 * their statistics. Control opens it, the thread that writes uses it, and control frees it. */
#pragma once
#include "count.h"
#include "pcapio.h"

/* What is told of an interface, a port, in each file. */
struct capture_iface {
	unsigned port;
	char name[64], description[160];
	uint8_t mac[6];
	bool has_mac;
	uint64_t speed_bps; /* 0: not known */
};

/* Where to write, and how much. Constant once it is handed over. */
struct capture_to {
	char *path; /* as the user wrote it */
	bool text;  /* path is only told: fd is given */
	char *filter;
	const char *program; /* who writes: its name and version; static */
	uint32_t snap;
	uint64_t begin_ns;   /* wall clock at which the capture began */
	uint64_t frames;     /* so many are written; 0: no limit */
	uint64_t size_bytes; /* of each file; 0: no limit */
	unsigned rotate;     /* a ring of so many files; 0: one file */
	uint64_t every_ns;   /* rotate: a file spans at most so long; 0: no limit */
	unsigned nifaces;
	struct capture_iface *iface;
};

/* Why nothing more is written. */
enum capture_end {
	CAPTURE_GOES_ON,
	CAPTURE_LIMIT_FRAMES,
	CAPTURE_LIMIT_SIZE,
	CAPTURE_FAILED, /* capture_out_error() says why */
	CAPTURE_LEFT,   /* the reader of a pipe is gone */
};

/* What became of the frames of one interface. The thread writes these cells. */
struct capture_fates {
	cell_t written, bytes;             /* into files, those that are gone again included */
	cell_t rotated_out, rotated_bytes; /* of them: their file was written over */
	cell_t beyond_limit;               /* they came when a limit had been reached */
	cell_t write_failed;               /* the file could not take them */
};

/* Blocks of one interface that lie one behind the other. */
struct capture_blocks {
	const uint8_t *at;
	uint32_t len, frames;
	uint64_t bytes; /* of the frames, as in struct capture_piece */
	uint64_t first_ns, last_ns;
	unsigned iface;
};

/* Tells the numbers of an interface for its statistics block. */
typedef void capture_stats_fn(void *arg, unsigned iface, struct pcapio_stats *out);

struct capture_out;

/* Takes *to over, and frees it in the end; path and iface with it. fd: where to write if to->text,
 * taken over as well. Opens the first file, and waits for nobody. NULL with *e: then *to is still
 * the caller's. */
struct capture_out *capture_out_open(const struct capture_to *to, int fd, capture_stats_fn *stats,
				     void *arg, struct err *e);
void capture_out_free(struct capture_out *);
const struct capture_to *capture_out_to(const struct capture_out *);
/* Control: does one of its files lie there? */
bool capture_out_is(const struct capture_out *, uint64_t dev, uint64_t ino);

/* On the thread. Takes blocks, whose bytes are not used after the call. false: a pipe is full, and
 * nothing was taken. */
bool capture_out_put(struct capture_out *, const struct capture_blocks *);
/* Gives what waits to the file. Returns how many bytes still wait. */
size_t capture_out_flush(struct capture_out *);
/* Nothing more is written: a pipe has taken nothing for long. What waits has failed. */
void capture_out_give_up(struct capture_out *);
/* Writes the statistics, and closes. To be called when nothing waits. A pipe that takes nothing
 * more is given up. */
void capture_out_end(struct capture_out *);

/* Any thread. */
enum capture_end capture_out_why(const struct capture_out *);
int capture_out_error(const struct capture_out *); /* errno of the first write that failed; 0 */
/* How many bytes were written to files, those written over included; how many files were begun. */
uint64_t capture_out_bytes(const struct capture_out *);
uint64_t capture_out_files(const struct capture_out *);
const struct capture_fates *capture_out_fates(const struct capture_out *, unsigned iface);
/* Control, when it has ended: appends what happened to the name of the file meanwhile, as it was
 * moved or deleted; nothing if it still names the file. */
void capture_out_moved(const struct capture_out *, struct sbuf *out);
/* Appends the name of file i of a ring: "x_00001.pcapng". */
void capture_out_name(const char *path, unsigned rotate, unsigned i, struct sbuf *out);
