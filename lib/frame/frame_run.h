/* SPDX-License-Identifier: BSD-3-Clause */
/* The worker's half of lib/frame: writes the frames of one Tx queue, burst by burst. Plain bytes, no DPDK. A `struct frun` is made by control
 * from the port's schedule and is immutable; its state belongs to the worker.
 *
 * The port's schedule is a cycle of ncycle frames: frame k is of slot k mod ncycle, and the ordinal of a stream's frame is the number of frames of
 * that stream before it (plus o0). The queue's own frames are k = first + i * nqueues, i = 0, 1, ...; they run through `nlanes` lanes in turn, own
 * frame i is of lane i mod nlanes, and from visit to visit a lane's ordinal grows by the same stride. */
#pragma once
#include "base.h"

struct frun;
struct frame_plan; /* frame.h */

struct frun_slot {           /* one frame of the port's cycle */
	uint16_t stream;     /* index into stream_id */
	uint16_t plan;       /* index into plan */
};

struct frun_spec {
	const struct frun_slot *cycle;
	unsigned ncycle;     /* 1..FRUN_MAX_CYCLE */
	const struct frame_plan *const *plan; /* of every stream and size; copied into the frun as far as needed */
	unsigned nplans;
	const uint32_t *stream_id; /* stable number of each stream index */
	const uint64_t *o0;  /* per stream index: its ordinal at k = 0; NULL: all 0 */
	unsigned nstreams;
	unsigned first, nqueues;
	uint64_t sched_id;   /* equal numbers: the same order of streams, whatever their sizes: a position in one is a position in the other */
	bool offload;        /* checksums that the plans say a NIC can fill in are left to it: their fields hold 0 */
	/* Objects that frun_fill() gets: where in them the frame begins, and where lengths go that differ from frame to frame. Where the
	 * short one lies right behind the long one, one store writes both, and 0 to the two bytes that follow. */
	uint32_t data_off, len16_off, len32_off;
	uint32_t max_lanes;  /* short periods are written out to so many lanes at most; 0: what is fastest. Small where programs are many */
	const char *isa;     /* "scalar", "ssse3", "avx2", "avx512", "neon": at most that one; NULL: the best of this machine */
};
#define FRUN_MAX_CYCLE 65536
#define FRUN_MAX_BURST 512

/* Control. New program, one allocation, or NULL with *e (too many lanes). */
struct frun *frun_new(const struct frun_spec *spec, struct err *e);
void frun_free(struct frun *);
size_t frun_state_size(const struct frun *); /* bytes, to be zeroed, aligned to 64 */
size_t frun_size(const struct frun *);       /* bytes of the program itself */
/* "fixed", "copy", "affine", "columns", "scalar", with the variant: "affine/avx512"; how sums are kept: "none", "incremental", "full",
 * "nic". For show plan. */
const char *frun_engine(const struct frun *);
const char *frun_sums(const struct frun *);
unsigned frun_lanes(const struct frun *);

/* What all frames of a class are addressed to. */
enum frun_dst { FRUN_DST_ANY, FRUN_DST_UNICAST, FRUN_DST_MULTICAST, FRUN_DST_BROADCAST };

/* Buffers hold what does not change: the image of a payload class, written once per buffer and recognized by a mark. frun_fill() writes the rest. */
struct frun_class {
	const uint8_t *bytes; /* image */
	uint16_t len;         /* of its longest frame */
	uint16_t from;        /* bytes before are written by frun_fill() each time; 0: the image is the whole frame */
	bool offload, ip4, ip6, udp, tcp; /* what the NIC does for these frames */
	enum frun_dst dst;
	uint16_t l2_len, l3_len, l4_len;
};
unsigned frun_nclasses(const struct frun *);
const struct frun_class *frun_class(const struct frun *, unsigned c);
/* Class of own frame i; only needed with more than one class. */
unsigned frun_class_of(const struct frun *, uint64_t i);
/* All frames of one size? Then its length without FCS, else 0: frun_fill() writes the lengths into the objects. */
unsigned frun_len(const struct frun *);
/* The same of the port's frames, whatever queue sends them. */
unsigned frun_port_len(const struct frun *);
/* Nothing to write per frame: the image is all. */
bool frun_is_fixed(const struct frun *);

/* The probe of own frame i, which has index i mod frun_probes_own(). */
struct frun_probe {
	uint16_t off;         /* in the frame; 0: none */
	uint16_t stream;      /* its stream's id */
	uint32_t every;       /* one of so many frames of the stream has one, the others its room */
};
/* NULL: no frame has one. Images hold PROBE_NONE; what a buffer of the class holds instead is right as well. */
const struct frun_probe *frun_probes(const struct frun *f);
unsigned frun_probes_own(const struct frun *f);
enum frun_probes_kind {
	FRUN_PROBES_SOME,     /* look at each */
	FRUN_PROBES_ALL,      /* in every frame, and nothing else follows */
	FRUN_PROBES_ROW,      /* the same, at one place, and streams follow each other */
	FRUN_PROBES_ONE,      /* the same, of one stream and at one place */
};
enum frun_probes_kind frun_probes_kind(const struct frun *f);
/* What the probes of a burst have in common, most significant bit first as probe_hi() and probe_lo() make them: port and queue, and when they are
 * sent. seq: by stream id, counts up. code: probe_delay_code() of each, NULL: all 0. */
struct frun_probing {
	uint64_t hi, lo;
	uint64_t *seq;
	const uint64_t *code;
};
/* The probes of n frames, the first of which has index `at`. Not of FRUN_PROBES_SOME. */
void frun_probe(const struct frun *f, uint32_t at, const struct frun_probing *b, void *const *obj, unsigned n);
/* The same as frun_fill() and then frun_probe(), in one pass; of programs that frun_fuses() says. */
bool frun_fuses(const struct frun *f);
void frun_fill_probe(const struct frun *f, void *state, uint32_t at, const struct frun_probing *b, void *const *obj, unsigned n);
/* Checksums that depend on what the probe says, of own frame i, which is whole but for these. false: it has none. */
bool frun_probe_sums(const struct frun *f, uint64_t i, uint8_t *frame);

/* ---- worker ---- */

/* The state of a new program: a run begins at i = 0. */
void frun_begin(const struct frun *f, void *state);
/* A changed program takes over while the run goes on; both programs are of the same queue. Same sched_id: the position stays. Otherwise
 * the cycle of `to` begins anew, and streams (by stream_id) keep their ordinals: base of the new cycle is k = i * nqueues of the old one.
 * Variations (by id) that both have go on; one that is new in `to` starts at its first value. Returns the position i in `to`. */
uint64_t frun_move(const struct frun *from, const void *from_state, const struct frun *to, void *state);
/* Stream `id` of `to` goes on where it stands in another program of the same queue: its ordinals and the variations that both have. `to`
 * stands at position 0, where nothing has been filled yet. false: one of them has no such stream. */
bool frun_take(const struct frun *from, const void *from_state, const struct frun *to, void *state, uint32_t id);
/* The next phase of the same schedule: ordinals come from to's o0, counted from where the schedule began if frun_move() began it later than
 * the run; variations keep their own starts. */
void frun_next(const struct frun *from, const void *from_state, const struct frun *to, void *state);
/* Own frames i.. are to be built next (after a tail that was given back). */
void frun_seek(const struct frun *f, void *state, uint64_t i);
uint64_t frun_pos(const struct frun *f, const void *state);
/* Objects have room for this much behind data_off, however short their frames are: whole lines are stored. */
#define FRUN_MIN_ROOM (2048 - 128)
/* Write the next n <= FRUN_MAX_BURST own frames into obj[0..n), each of which holds the image of its class. */
void frun_fill(const struct frun *f, void *state, void *const *obj, unsigned n);

/* ---- checksums ---- */

/* CRC32c (RFC 9260 appendix A) of bytes that follow others: begins with UINT32_MAX, ends with its complement. The second does without the CPU's
 * instruction. */
uint32_t frun_crc32c(uint32_t crc, const uint8_t *p, unsigned n);
uint32_t frun_crc32c_plain(uint32_t crc, const uint8_t *p, unsigned n);

/* ---- both: pure in f ---- */

/* Bytes with FCS of own frames i .. i + n - 1. */
uint64_t frun_bytes(const struct frun *f, uint64_t i, uint64_t n);
/* Bytes on the wire (size + 20) of the port's frames 0 .. k - 1, all queues; exact, k without limit. */
uint64_t frun_wire(const struct frun *f, uint64_t k);
/* The same at layer 2 (size with FCS). */
uint64_t frun_l2(const struct frun *f, uint64_t k);
/* Own frames before i, added up per stream index: frames[nstreams], bytes[nstreams] (with FCS). */
void frun_count(const struct frun *f, uint64_t i, uint64_t *frames, uint64_t *bytes);
/* Own frames i .. i + n - 1 by size with FCS, added to sizes[CNT_NSIZES] (count.h). */
void frun_sizes(const struct frun *f, uint64_t i, uint64_t n, uint64_t *sizes);
unsigned frun_nstreams(const struct frun *f);
uint32_t frun_stream_id(const struct frun *f, unsigned index);
/* Stream index of own frame i. */
unsigned frun_stream_at(const struct frun *f, uint64_t i);
