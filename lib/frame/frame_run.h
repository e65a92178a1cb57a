/* SPDX-License-Identifier: BSD-3-Clause */
/* The worker's half of lib/frame. It writes the frames of one Tx queue, burst by burst, as plain
 * bytes, without DPDK. Control makes a `struct frun` from the port's schedule, which then never
 * changes; its state belongs to the worker.
 *
 * The schedule is a cycle of ncycle slots: frame k of the port is in slot k mod ncycle. The ordinal
 * of a frame is the number of frames of its stream before it, plus o0 of the stream. The queue's
 * own frames are k = first + i * nqueues, i = 0, 1, ... They take turns in the lanes of the frun:
 * own frame i is in lane i mod frun_lanes(), and from one frame of a lane to the next its ordinal
 * grows by the same stride. */
#pragma once
#include "base.h"

struct frun;
struct frame_recipe; /* frame.h */

struct frun_slot {       /* one slot of the cycle */
	uint16_t stream; /* index into stream_id */
	uint16_t recipe; /* index into recipe */
};

struct frun_spec {
	const struct frun_slot *cycle;
	unsigned ncycle; /* 1..FRUN_MAX_CYCLE */
	/* One recipe for each stream and size. The frun copies what it needs. */
	const struct frame_recipe *const *recipe;
	unsigned nrecipes;
	const uint32_t *stream_id; /* by stream index: its lasting number */
	const uint64_t *o0;        /* by stream index: its ordinal at k = 0; NULL: all 0 */
	unsigned nstreams;
	unsigned first, nqueues;
	/* Two fruns with the same number send the streams in the same order, whatever their sizes,
	 * so that a position in one is a position in the other. */
	uint64_t sched_id;
	bool offload; /* checksums that a NIC can fill in (see the recipes) stay 0 for it */
	/* Places in the objects that frun_fill() gets: where the frame begins, and where its length
	 * is written as 16 and as 32 bits, if lengths differ from frame to frame. If the short one
	 * lies right behind the long one, one store writes both, and 0 to the two bytes behind
	 * them. */
	uint32_t data_off, len16_off, len32_off;
	/* Variations with short periods may be written out into at most so many lanes; 0: as many
	 * as is fastest. Lanes take memory, so with many fruns the number should be small. */
	uint32_t max_lanes;
	/* The best variant that may be used: "scalar", "ssse3", "avx2", "avx512", "neon". NULL: the
	 * best of this machine. */
	const char *isa;
};
#define FRUN_MAX_CYCLE 65536
#define FRUN_MAX_BURST 512

/* Control. A new frun in one allocation, or NULL with *e: the spec or the name of a variant is
 * wrong, a frame has too many checksums, or there is no memory. */
struct frun *frun_new(const struct frun_spec *spec, struct err *e);
void frun_free(struct frun *);
size_t frun_state_size(const struct frun *); /* bytes, to be zeroed and aligned to 64 */
size_t frun_size(const struct frun *);       /* bytes of the frun itself */
/* The name of the best variant of this machine, as in frun_spec. */
const char *frun_best_isa(void);
/* For `show plan`. The engine with its variant: "fixed", "copy", "affine", "columns" or "frames",
 * and "affine/avx512". How checksums are kept right: "none", "incremental", "full", "nic". The
 * number of lanes. */
const char *frun_engine(const struct frun *);
const char *frun_sums(const struct frun *);
unsigned frun_lanes(const struct frun *);

/* The kind of destination address that all frames of a class have. */
enum frun_dst { FRUN_DST_ANY, FRUN_DST_UNICAST, FRUN_DST_MULTICAST, FRUN_DST_BROADCAST };

/* Frames that differ only in length and in what frun_fill() writes are of one class. The rest of
 * their bytes is the image of the class. It is put into a buffer once, and the buffer is then
 * recognized by its mark. */
struct frun_class {
	const uint8_t *bytes; /* image */
	uint16_t len;         /* of its longest frame, without FCS */
	uint16_t from;        /* frun_fill() writes all bytes before; 0: the image is complete */
	bool offload, ip4, ip6, udp, tcp; /* checksums that the NIC fills in */
	enum frun_dst dst;
	uint16_t l2_len, l3_len, l4_len;
};
unsigned frun_nclasses(const struct frun *);
const struct frun_class *frun_class(const struct frun *, unsigned c);
/* The class of own frame i. It need not be asked where there is only one. */
unsigned frun_class_of(const struct frun *, uint64_t i);
/* The length without FCS if all own frames have the same, else 0: then frun_fill() writes the
 * lengths into the objects. */
unsigned frun_len(const struct frun *);
/* The same for all frames of the port, whatever queue sends them. */
unsigned frun_port_len(const struct frun *);
/* True: frun_fill() writes nothing, the image is the frame. */
bool frun_is_fixed(const struct frun *);

/* Where own frame i has its probe. Its index is i mod frun_probes_own(). */
struct frun_probe {
	uint16_t off;    /* first byte in the frame; 0: none */
	uint16_t stream; /* its stream's id */
	uint32_t every;  /* one of so many frames of the stream has one, all have room */
};
/* The probes of all own frames, by index; NULL: no frame has one. Images hold PROBE_NONE in that
 * place. A buffer that holds a probe there still holds the image of its class. */
const struct frun_probe *frun_probes(const struct frun *f);
unsigned frun_probes_own(const struct frun *f);
enum frun_probes_kind {
	FRUN_PROBES_SOME, /* none of the others: each frame must be looked at */
	FRUN_PROBES_ALL,  /* every frame has one, and no checksum depends on it */
	FRUN_PROBES_ROW,  /* ALL, in one place, and stream ids ascend by 1 with the index */
	FRUN_PROBES_ONE,  /* ALL, in one place and of one stream */
};
enum frun_probes_kind frun_probes_kind(const struct frun *f);
/* What the probes of a burst have in common. hi and lo are the two words of a probe in host order,
 * as probe_hi() and probe_lo() lay them out, with the port, the queue and the time of sending. seq
 * holds the next sequence number of each stream, by its id; each probe takes one. code is
 * probe_delay_code() of each frame of the burst; NULL: all are 0. */
struct frun_probing {
	uint64_t hi, lo;
	uint64_t *seq;
	const uint64_t *code;
};
/* Writes the probes of n frames, the first of which has index `at`. Not for FRUN_PROBES_SOME. */
void frun_probe(const struct frun *f, uint32_t at, const struct frun_probing *b, void *const *obj,
		unsigned n);
/* frun_fill() and frun_probe() in one pass. Only for fruns of which frun_fuses() is true. */
bool frun_fuses(const struct frun *f);
void frun_fill_probe(const struct frun *f, void *state, uint32_t at, const struct frun_probing *b,
		     void *const *obj, unsigned n);
/* Computes the checksums of own frame i that cover its probe. The rest of the frame must be
 * complete. False: it has no such checksum. */
bool frun_probe_sums(const struct frun *f, uint64_t i, uint8_t *frame);

/* ---- worker ---- */

/* Makes the state of a run that begins at i = 0. */
void frun_begin(const struct frun *f, void *state);
/* Makes the state of `to`, which takes over from `from` while the run goes on. Both are of the same
 * queue. With the same sched_id the position stays. Otherwise the cycle of `to` begins anew: its k
 * = 0 stands for k = i * nqueues of `from`, and each stream (by its id) goes on with its ordinal.
 * Variations that both have (by id) go on; one that only `to` has starts at its first value.
 * Returns the position i in `to`. */
uint64_t frun_move(const struct frun *from, const void *from_state, const struct frun *to,
		   void *state);
/* Makes stream `id` of `to` go on where it stands in another frun of the same queue, with its
 * ordinal and with the variations that both have. `to` must stand at position 0, with no frame
 * filled yet. False: one of them has no such stream. */
bool frun_take(const struct frun *from, const void *from_state, const struct frun *to, void *state,
	       uint32_t id);
/* Makes the state of `to`, the next phase of the same schedule. Ordinals go on from o0 of `to`. If
 * frun_move() began the schedule later than the run, what streams had sent before that is added.
 * Variations go on. */
void frun_next(const struct frun *from, const void *from_state, const struct frun *to, void *state);
/* Own frame i is the next to be built (after frames of a tail were given back). */
void frun_seek(const struct frun *f, void *state, uint64_t i);
uint64_t frun_pos(const struct frun *f, const void *state);
/* Every object must have room for so many bytes behind data_off, however short its frame is,
 * because whole lines are stored. */
#define FRUN_MIN_ROOM (2048 - 128)
/* Writes the next n <= FRUN_MAX_BURST own frames into obj[0..n). Each object holds the image of its
 * frame's class. */
void frun_fill(const struct frun *f, void *state, void *const *obj, unsigned n);

/* ---- checksums ---- */

/* Continues a CRC32c (RFC 9260 appendix A) over n more bytes. It begins with UINT32_MAX, and the
 * result is the complement of the last value. The second function does without the CPU's
 * instruction. */
uint32_t frun_crc32c(uint32_t crc, const uint8_t *p, unsigned n);
uint32_t frun_crc32c_plain(uint32_t crc, const uint8_t *p, unsigned n);

/* ---- control and worker: pure functions of f ---- */

/* Bytes with FCS of own frames i .. i + n - 1. */
uint64_t frun_bytes(const struct frun *f, uint64_t i, uint64_t n);
/* Bytes on the wire (size + 20) of the port's frames 0 .. k - 1 over all queues: exact, for any
 * k. */
uint64_t frun_wire(const struct frun *f, uint64_t k);
/* The same at layer 2 (size with FCS). */
uint64_t frun_l2(const struct frun *f, uint64_t k);
/* Counts the own frames before i by stream index: frames[nstreams], and bytes[nstreams] with
 * FCS. */
void frun_count(const struct frun *f, uint64_t i, uint64_t *frames, uint64_t *bytes);
/* Adds own frames i .. i + n - 1 by their size with FCS to sizes[CNT_NSIZES] (count.h). */
void frun_sizes(const struct frun *f, uint64_t i, uint64_t n, uint64_t *sizes);
unsigned frun_nstreams(const struct frun *f);
uint32_t frun_stream_id(const struct frun *f, unsigned index);
/* The stream index of own frame i. */
unsigned frun_stream_at(const struct frun *f, uint64_t i);
