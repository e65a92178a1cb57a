/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of a client and of its server must agree about. Each is right by itself, so dperf,
 * which sees one of them, refuses none of this: its ends then throw away what the other one
 * sends. */
#include "dperf_int.h"

static void pair_protocol(const struct dperf_conf *c, const struct dperf_conf *peer,
			  struct dperf_wrong *w)
{
	const struct dperf_line *l = dperf_find(c, DPERF_PROTOCOL, 0);

	if (c->udp && !peer->udp)
		dperf_fail(w, l->line, l->col,
			   "protocol: this file has UDP and %s has TCP; both ends must agree",
			   peer->name);
}

/* A datagram is one frame, which the other end must have room for as well. */
static void pair_room(const struct dperf_conf *c, const struct dperf_conf *peer,
		      struct dperf_wrong *w)
{
	const struct dperf_line *size = dperf_find(c, DPERF_PAYLOAD_SIZE, 0);
	const struct dperf_line *file = dperf_find(c, DPERF_PAYLOAD_FILE, 0);
	unsigned room = dperf_room(peer);
	const char *more = dperf_has(peer, DPERF_JUMBO) ? "" : ", or more with jumbo there";

	if (!c->udp || !peer->udp)
		return;
	for (unsigned i = 0; size != NULL && i < size->n; i++)
		if (size->v[i].n > room)
			dperf_fail(w, size->line, size->v[i].col,
				   "payload_size: %s bytes, and a frame of %s has room for %u%s",
				   size->v[i].text, peer->name, room, more);
	if (file != NULL && c->payload_bytes > room)
		dperf_fail(
			w, file->line, file->v[0].col,
			"payload_file: '%.200s' has %u bytes, and a frame of %s has room for %u%s",
			file->v[0].text, c->payload_bytes, peer->name, room, more);
}

/* Nothing in a datagram that is a file says which request it answers. */
static void pair_pipeline(const struct dperf_conf *c, const struct dperf_conf *peer,
			  struct dperf_wrong *w)
{
	const struct dperf_line *l = dperf_find(c, DPERF_PIPELINE, 0);
	const struct dperf_line *file = dperf_find(peer, DPERF_PAYLOAD_FILE, 0);

	if (l != NULL && l->v[0].n > 1 && file != NULL && peer->udp)
		dperf_fail(w, l->line, l->col,
			   "pipeline excludes payload_file, which is in line %u of %s: a datagram "
			   "that is a file has no number, which tells what was answered",
			   file->line, peer->name);
}

void dperf_check_pair(const struct dperf_conf *c, const struct dperf_conf *peer,
		      struct dperf_wrong *w)
{
	pair_protocol(c, peer, w);
	pair_room(c, peer, w);
	pair_pipeline(c, peer, w);
}
