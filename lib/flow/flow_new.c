/* SPDX-License-Identifier: BSD-3-Clause */
/* What control makes: machines, sets of tuples, paths; and whether a flow is possible. */
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include "flow.h"
#include "flow_int.h"
#include "flow_weights.h"

enum {
	AREA_MACHINE,
	AREA_CONN,
	AREA_FREE,
	AREA_OPENED,
	AREA_BUCKET,
	AREA_CHUNK,
	AREA_PEER6,
	AREA_BUFFER,
	AREAS
};

/* Zeroed memory, of which the system gives pages when they are used: large ones where it has them,
 * since connections are visited in any order. */
static void *new_area(size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		return NULL;
	if (bytes >= 4u << 20)
		madvise(p, bytes, MADV_HUGEPAGE);
	return p;
}

static uint32_t new_power(uint64_t n)
{
	uint32_t p = 1;

	while (p < n)
		p <<= 1;
	return p;
}

struct new_sizes {
	uint32_t conns, side, node, record, path, buckets, chunks, buffers;
};

static void new_sizes(const struct flow_machine_conf *conf, struct new_sizes *n)
{
	uint32_t side = conf->connections / 8 + 4096;

	n->conns = conf->connections + 1;
	n->side = conf->side_cells != 0 ? conf->side_cells : side;
	if (n->side > (1u << 20) - 1)
		n->side = (1u << 20) - 1;
	n->node = n->side * 4;
	n->record = conf->record_cells != 0 ? conf->record_cells : conf->connections + 4096;
	n->path = conf->paths != 0 ? conf->paths : 1024;
	/* between three and six connections of eight in a line */
	n->buckets = new_power(conf->connections / 6 + 16);
	/* Each connection may have some entries in the wheel that are stale, and one that is not;
	 * a chunk per slot may be nearly empty. */
	n->chunks = WHEEL_SLOTS + 1024 + conf->connections / 8;
	n->buffers = conf->buffers;
}

uint64_t flow_machine_bytes(const struct flow_machine_conf *conf, bool all)
{
	struct new_sizes n;
	uint64_t bytes;

	new_sizes(conf, &n);
	bytes = (uint64_t)n.conns * (sizeof(struct flow_conn) + 2 * sizeof(uint32_t));
	bytes += (uint64_t)n.buckets * sizeof(struct flow_bucket);
	bytes += (uint64_t)n.conns * 8; /* entries in the wheel */
	bytes += sizeof(struct flow_machine) + FLOW_CONTENTS * sizeof(struct flow_content_at);
	if (conf->is6)
		bytes += (uint64_t)n.conns * 16;
	if (!all)
		return bytes;
	bytes += (uint64_t)n.side * sizeof(struct flow_side) + (uint64_t)n.record * FLOW_RECORD;
	bytes += (uint64_t)n.node * sizeof(struct flow_node);
	bytes += (uint64_t)n.path * sizeof(struct flow_learned);
	bytes += (uint64_t)n.chunks * sizeof(struct flow_chunk);
	return bytes + (uint64_t)n.buffers * sizeof(struct flow_buffers);
}

static bool new_pool(struct flow_pool *p, uint32_t n, size_t size)
{
	*p = (struct flow_pool){.size = (uint32_t)size, .n = n + 1, .fresh = 1};
	p->mem = new_area((size_t)p->n * size);
	return p->mem != NULL;
}

static void new_pool_free(struct flow_pool *p)
{
	if (p->mem != NULL)
		munmap(p->mem, (size_t)p->n * p->size);
}

/* Pages that connections use are there from the start: a worker that opens millions would wait for
 * the system to clear them. Older systems give them when they are used. */
static void new_touch_area(void *p, size_t bytes)
{
#ifdef MADV_POPULATE_WRITE
	if (bytes != 0)
		madvise(p, bytes, MADV_POPULATE_WRITE);
#else
	(void)p, (void)bytes;
#endif
}

static void new_touch(struct flow_machine *m, const struct flow_machine_conf *conf)
{
	size_t n = conf->touched;

	if (n == 0)
		return;
	new_touch_area(m->conn, n * sizeof(struct flow_conn));
	new_touch_area(m->opened, n * sizeof(*m->opened));
	new_touch_area(m->chunk, (n / CHUNK_ENTRIES + 1) * sizeof(struct flow_chunk));
	if (conf->touched_hash)
		new_touch_area(m->bucket, m->mapped[AREA_BUCKET]);
}

static bool new_memory(struct flow_machine *m, const struct flow_machine_conf *conf,
		       const struct new_sizes *n)
{
	size_t bytes[AREAS] = {
		[AREA_CONN] = (size_t)n->conns * sizeof(struct flow_conn),
		[AREA_FREE] = (size_t)n->conns * sizeof(uint32_t),
		[AREA_OPENED] = (size_t)n->conns * sizeof(uint32_t),
		[AREA_BUCKET] = (size_t)n->buckets * sizeof(struct flow_bucket),
		[AREA_CHUNK] = (size_t)n->chunks * sizeof(struct flow_chunk),
		[AREA_PEER6] = conf->is6 ? (size_t)n->conns * 16 : 0,
		[AREA_BUFFER] = (size_t)n->buffers * sizeof(struct flow_buffers),
	};
	void **at[AREAS] = {
		[AREA_CONN] = (void **)&m->conn,      [AREA_FREE] = (void **)&m->free,
		[AREA_OPENED] = (void **)&m->opened,  [AREA_BUCKET] = (void **)&m->bucket,
		[AREA_CHUNK] = (void **)&m->chunk,    [AREA_PEER6] = (void **)&m->peer6,
		[AREA_BUFFER] = (void **)&m->buffers,
	};

	for (unsigned i = AREA_CONN; i < AREAS; i++) {
		if (bytes[i] == 0)
			continue;
		*at[i] = new_area(bytes[i]);
		if (*at[i] == NULL)
			return false;
		m->mapped[i] = bytes[i];
	}
	new_touch(m, conf);
	m->content = new_area(FLOW_CONTENTS * sizeof(struct flow_content_at));
	return m->content != NULL && new_pool(&m->side, n->side, sizeof(struct flow_side)) &&
	       new_pool(&m->node, n->node, sizeof(struct flow_node)) &&
	       new_pool(&m->record, n->record, 64) &&
	       new_pool(&m->path, n->path, sizeof(struct flow_learned));
}

int flow_machine_new(struct flow_machine **out, const struct flow_machine_conf *conf, struct err *e)
{
	struct flow_machine *m;
	struct new_sizes n;

	*out = NULL;
	if (conf->connections == 0 || conf->connections > 1u << 27)
		return err_set(e, EINVAL, "%u connections: 1 to %u are possible", conf->connections,
			       1u << 27);
	if (conf->buffers > 65535)
		return err_set(e, EINVAL, "%u connections with buffers: at most 65535",
			       conf->buffers);
	new_sizes(conf, &n);
	m = new_area(sizeof(*m));
	if (m == NULL || !new_memory(m, conf, &n)) {
		if (m != NULL)
			flow_machine_free(m);
		return err_set(e, ENOMEM,
			       "no memory for %u connections (%llu MB): fewer, or a larger limit",
			       conf->connections,
			       (unsigned long long)flow_machine_bytes(conf, true) >> 20);
	}
	m->nconn = n.conns;
	m->fresh = 1;
	m->bucket_mask = n.buckets - 1;
	m->nchunk = n.chunks;
	m->chunk_fresh = 1;
	m->nbuffers = n.buffers;
	for (uint32_t i = n.buffers; i > 0; i--) {
		m->buffers[i - 1].next_free = m->buffers_free;
		m->buffers_free = i;
	}
	m->sink = conf->sink;
	m->verify_sums = conf->verify_sums;
	m->kernel_peer = conf->kernel_peer;
	m->straight = !conf->general;
	m->secret[0] = conf->secret[0];
	m->secret[1] = conf->secret[1];
	flow_now(m, conf->now_ns);
	m->tick = m->now_tick;
	*out = m;
	return 0;
}

void flow_machine_free(struct flow_machine *m)
{
	void *at[AREAS];

	if (m == NULL)
		return;
	at[AREA_CONN] = m->conn;
	at[AREA_FREE] = m->free;
	at[AREA_OPENED] = m->opened;
	at[AREA_BUCKET] = m->bucket;
	at[AREA_CHUNK] = m->chunk;
	at[AREA_PEER6] = m->peer6;
	at[AREA_BUFFER] = m->buffers;
	for (unsigned i = AREA_CONN; i < AREAS; i++) {
		if (at[i] != NULL)
			munmap(at[i], m->mapped[i]);
	}
	if (m->content != NULL)
		munmap(m->content, FLOW_CONTENTS * sizeof(struct flow_content_at));
	new_pool_free(&m->side);
	new_pool_free(&m->node);
	new_pool_free(&m->record);
	new_pool_free(&m->path);
	munmap(m, sizeof(*m));
}

/* ---- sets of tuples ---- */

static int new_field(struct flow_field *f, const struct flow_values *v, bool port, struct err *e)
{
	*f = (struct flow_field){.count = v->count, .base = v->base, .step = v->step};
	if (f->step == 0)
		f->step = 1;
	if (port && (v->count == 0 || v->count > 65536))
		return err_set(e, EINVAL, "%u values of a port: 1 to 65536 are possible", v->count);
	if (v->list == NULL)
		return 0;
	if (v->count == 0 || v->count > 1u << 20)
		return err_set(e, EINVAL, "a list of %u values: 1 to %u are possible", v->count,
			       1u << 20);
	f->list = xcalloc(v->count, sizeof(*f->list));
	memcpy(f->list, v->list, v->count * sizeof(*f->list));
	return 0;
}

static bool new_is_range(const struct flow_field *f)
{
	return f->list == NULL && (f->step == 1 || f->count == 1) && f->count != 0;
}

/* The order of the fields, the fastest first, and how far apart their values are in numbers. */
static int new_order(struct flow_tuples *t, const uint8_t nest[4], struct err *e)
{
	static const uint8_t usual[4] = {FLOW_REMOTE, FLOW_REMOTE_PORT, FLOW_LOCAL,
					 FLOW_LOCAL_PORT};
	unsigned seen = 0;
	uint64_t stride = 1;

	if (nest[0] == 0)
		nest = usual;
	for (unsigned i = 0; i < 4; i++) {
		struct flow_field *f;

		if (nest[i] < 1 || nest[i] > 4 || (seen & 1u << nest[i]) != 0)
			return err_set(e, EINVAL, "an order of tuples names each field once");
		seen |= 1u << nest[i];
		t->order[i] = (uint8_t)(nest[i] - 1);
		f = &t->f[t->order[i]];
		f->stride = stride;
		if (__builtin_mul_overflow(stride, f->count == 0 ? 1ull << 32 : f->count, &stride))
			stride = UINT64_MAX; /* more than can be counted, and than anybody opens */
	}
	t->count = stride;
	while (t->still < 4 && t->f[t->order[t->still]].count == 1)
		t->still++;
	return 0;
}

/* Servers with weights take turns, and the sources of each follow one another. */
static int new_weights(struct flow_tuples *t, const struct flow_tuples_conf *conf, struct err *e)
{
	uint64_t need, have, n;

	if (conf->remote_port->turn == NULL || t->order[0] != FLOW_REMOTE - 1 ||
	    t->order[1] != FLOW_REMOTE_PORT - 1)
		return err_set(e, EINVAL, "servers with weights run fastest");
	n = flow_weights_count(conf, &need, &have);
	if (n == 0)
		return err_set(e, EINVAL, "%llu sources, and a round of the servers needs %llu",
			       (unsigned long long)have, (unsigned long long)need);
	t->count = n;
	t->weights = flow_weights_new(conf);
	return 0;
}

static void new_one_remote(struct flow_tuples *t)
{
	const struct flow_field *addr = &t->f[FLOW_REMOTE - 1], *port = &t->f[FLOW_REMOTE_PORT - 1];

	t->one_remote = t->slot != NULL && addr->count == 1 && port->count == 1;
	t->one_addr = __builtin_bswap32(addr->base);
	t->one_port = __builtin_bswap16((uint16_t)port->base);
}

int flow_tuples_new(struct flow_tuples **out, const struct flow_tuples_conf *conf, struct err *e)
{
	static const struct flow_values any = {.count = 1};
	const struct flow_values *v[4] = {
		[FLOW_REMOTE - 1] = conf->remote,
		[FLOW_REMOTE_PORT - 1] = conf->remote_port,
		[FLOW_LOCAL - 1] = conf->local,
		[FLOW_LOCAL_PORT - 1] = conf->local_port,
	};
	struct flow_tuples *t = xcalloc_lines(sizeof(*t));
	bool dense = conf->dense && conf->remote != NULL;
	int rc = 0;

	*out = NULL;
	t->server = conf->remote == NULL;
	t->is6 = conf->local_prefix6 != NULL;
	if (t->is6) {
		memcpy(t->local6, conf->local_prefix6, 12);
		if (conf->remote_prefix6 != NULL)
			memcpy(t->remote6, conf->remote_prefix6, 12);
	}
	for (unsigned i = 0; i < 4 && rc == 0; i++) {
		bool port = i == FLOW_REMOTE_PORT - 1 || i == FLOW_LOCAL_PORT - 1;

		rc = new_field(&t->f[i], v[i] != NULL ? v[i] : &any, port, e);
		dense = dense && new_is_range(&t->f[i]);
	}
	if (rc == 0)
		rc = new_order(t, conf->nest, e);
	if (rc == 0 && conf->remote != NULL && conf->remote->turn != NULL)
		rc = new_weights(t, conf, e);
	dense = dense && t->weights == NULL;
	if (rc == 0 && dense && t->count <= FLOW_DENSE_MAX) {
		t->slot_bytes = t->count * sizeof(*t->slot);
		t->slot = new_area(t->slot_bytes);
		if (t->slot == NULL)
			rc = err_set(e, ENOMEM, "no memory for the slots of %llu tuples",
				     (unsigned long long)t->count);
		else if (conf->touched)
			new_touch_area(t->slot, t->slot_bytes);
	}
	if (rc < 0) {
		flow_tuples_free(t);
		return rc;
	}
	new_one_remote(t);
	if (t->weights == NULL)
		flow_tuples_begin(t, conf->start);
	*out = t;
	return 0;
}

void flow_tuples_free(struct flow_tuples *t)
{
	if (t == NULL)
		return;
	for (unsigned i = 0; i < 4; i++)
		free(t->f[i].list);
	flow_weights_free(t->weights);
	if (t->slot != NULL)
		munmap(t->slot, t->slot_bytes);
	free(t);
}

uint64_t flow_tuples_count(const struct flow_tuples *t)
{
	return t->count;
}

uint64_t flow_tuples_bytes(const struct flow_tuples *t)
{
	return t->slot_bytes;
}

void flow_tuples_at(const struct flow_tuples *t, uint64_t i, struct flow_tuple *out)
{
	uint32_t value[4], ports;
	uint16_t port[2];

	if (t->weights != NULL)
		flow_weights_at(t, i, value);
	for (unsigned k = 0; k < 4 && t->weights == NULL; k++) {
		const struct flow_field *f = &t->f[k];
		uint64_t at = i / f->stride % (f->count == 0 ? 1ull << 32 : f->count);

		value[k] = f->list != NULL ? f->list[at] : f->base + (uint32_t)at * f->step;
	}
	port[0] = __builtin_bswap16((uint16_t)value[FLOW_LOCAL_PORT - 1]);
	port[1] = __builtin_bswap16((uint16_t)value[FLOW_REMOTE_PORT - 1]);
	memcpy(&ports, port, 4);
	flow_tuple_of(t, __builtin_bswap32(value[FLOW_REMOTE - 1]),
		      __builtin_bswap32(value[FLOW_LOCAL - 1]), ports, out);
}

static bool new_has(const struct flow_field *f, uint32_t value)
{
	uint64_t i = value - f->base;

	if (f->list == NULL)
		return i % f->step == 0 && (f->count == 0 || i / f->step < f->count);
	for (i = 0; i < f->count; i++) {
		if (f->list[i] == value)
			return true;
	}
	return false;
}

static uint32_t new_last4(const uint8_t v6[16])
{
	return (uint32_t)v6[12] << 24 | (uint32_t)v6[13] << 16 | (uint32_t)v6[14] << 8 | v6[15];
}

bool flow_tuples_have(const struct flow_tuples *t, const struct flow_tuple *tuple)
{
	bool is6 = tuple->is6;

	if (is6 != t->is6 || !new_has(&t->f[FLOW_LOCAL_PORT - 1], tuple->local_port))
		return false;
	if (is6 && memcmp(t->local6, tuple->local.v6, 12) != 0)
		return false;
	if (!new_has(&t->f[FLOW_LOCAL - 1], is6 ? new_last4(tuple->local.v6) : tuple->local.v4))
		return false;
	if (t->server)
		return true;
	if (is6 && memcmp(t->remote6, tuple->remote.v6, 12) != 0)
		return false;
	return new_has(&t->f[FLOW_REMOTE_PORT - 1], tuple->remote_port) &&
	       new_has(&t->f[FLOW_REMOTE - 1],
		       is6 ? new_last4(tuple->remote.v6) : tuple->remote.v4);
}

/* ---- paths ---- */

/* The parts of headers that are written for each frame are 0 in the path, so that sums of the rest
 * can be continued. */
/* What devices know to cut: tunnels, labels and options may be more than they do. */
static bool path_cut(const struct flow_path *p)
{
	unsigned at = 12, type;

	for (; at + 2 <= p->l3; at += 4) {
		type = (unsigned)p->bytes[at] << 8 | p->bytes[at + 1];
		if (type != 0x8100 && type != 0x88a8)
			break;
	}
	return p->nfix == 0 && at + 2 == p->l3 && p->l4 - p->l3 == (p->is6 ? 40 : 20);
}

int flow_path_init(struct flow_path *p, const uint8_t *bytes, unsigned l3, unsigned l4,
		   uint16_t ident, const struct flow_fix *fix, unsigned nfix, struct err *e)
{
	uint8_t *ip = p->bytes + l3;

	if (l4 > FLOW_PREFIX_MAX || l4 < l3 + 20)
		return err_set(e, EINVAL, "%u bytes of headers before TCP or UDP: at most %u", l4,
			       FLOW_PREFIX_MAX);
	if (nfix > FLOW_FIXES)
		return err_set(e, EINVAL, "%u lengths and checksums in outer headers: at most %u",
			       nfix, FLOW_FIXES);
	for (unsigned i = 0; i < nfix; i++)
		if (fix[i].from > l4 ||
		    (fix[i].kind >= FLOW_FIX_UDP && (l4 - fix[i].from) % 2 != 0))
			return err_set(e, EINVAL,
				       "an odd number of bytes in the checksum of an outer header");
	memset(p, 0, sizeof(*p));
	memset(p->bytes, WL_X, sizeof(p->bytes));
	memcpy(p->bytes, bytes, l4);
	p->l3 = (uint16_t)l3;
	p->l4 = (uint16_t)l4;
	p->places = ((struct flow_out){.l3 = p->l3, .l4 = p->l4, .payload = p->l4}).places;
	p->ident = ident;
	p->nfix = (uint8_t)nfix;
	if (nfix > 0)
		memcpy(p->fix, fix, nfix * sizeof(*fix));
	p->is6 = ip[0] >> 4 == 6;
	p->plain = !p->is6 && nfix == 0;
	p->cut = path_cut(p);
	if (p->is6) {
		memset(ip + 4, 0, 2);
		memset(ip + 8, 0, 32);
		flow_path_sums(p);
		return l4 >= l3 + 40 ? 0 : err_set(e, EINVAL, "an IPv6 header has 40 bytes");
	}
	if (ip[0] >> 4 != 4 || (ip[0] & 15u) * 4 != l4 - l3)
		return err_set(e, EINVAL, "the innermost header is neither IPv4 nor IPv6");
	memset(ip + 2, 0, 4);
	memset(ip + 10, 0, 10);
	flow_path_sums(p);
	p->ip_sum = wl_sum(ip, l4 - l3);
	return 0;
}

int flow_check(const struct flow_spec *spec, struct err *e)
{
	const struct workload *wl = spec->wl == NULL ? NULL : spec->wl->wl;

	if (wl == NULL || spec->counts == NULL || spec->tuples == NULL || spec->npath == 0 ||
	    spec->path == NULL || spec->wl->counts == NULL || spec->wl->ncontent == 0)
		return err_set(e, EINVAL,
			       "a flow needs a workload, counters, tuples, contents and paths");
	if (spec->udp ? !wl->udp : !wl->tcp)
		return err_set(e, EINVAL, "%s does not run on %s", wl->name,
			       spec->udp ? "UDP" : "TCP");
	if (spec->wl->ncontent > 4096)
		return err_set(e, EINVAL, "%u contents: at most 4096", spec->wl->ncontent);
	if (spec->to != NULL && (spec->nto == 0 || spec->npath % spec->nto != 0))
		return err_set(e, EINVAL, "%u paths are not %u for each client", spec->npath,
			       spec->nto);
	if (spec->mss < 64)
		return err_set(e, EINVAL, "segments of %u bytes: at least 64; a larger MTU",
			       spec->mss);
	if (spec->retries > 14)
		return err_set(e, EINVAL, "%u retries: at most 14", spec->retries);
	if (spec->window > 1u << 30 || spec->window_most > 1u << 30 ||
	    (!spec->udp && spec->window == 0))
		return err_set(e, EINVAL, "a window of %u bytes: 1 to %u", spec->window, 1u << 30);
	if (spec->delack_ns > 500000000)
		return err_set(e, EINVAL, "acknowledgements are delayed by at most 500 ms");
	if (spec->tuples->server != (spec->role == FLOW_SERVER) || spec->tuples->is6 != spec->is6 ||
	    spec->path[0].is6 != spec->is6)
		return err_set(e, EINVAL, "the tuples or the headers are of another kind of flow");
	return 0;
}
