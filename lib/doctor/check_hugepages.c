/* SPDX-License-Identifier: BSD-3-Clause */
/* Hugepages of each NUMA node. A NIC that DPDK drives reads frames from them; without an IOMMU it
 * can from nothing else, since only they have known physical addresses. Kernel ports and the
 * built-in wire work without, a little slower. */
#include "exam.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define SIZES_MAX 8
#define USUAL_KB 2048
#define WANTED_BYTES (1ull << 30) /* what a node is advised to have */

struct pool {
	uint64_t page_kb, total, free;
};

/* Reads the pools in a folder, the one of the smallest pages first. Returns how many. */
static unsigned read_pools(struct exam *x, const char *folder, struct pool *out)
{
	char in[SIZES_MAX][SYS_NAME];
	unsigned count = sys_names(&x->sys, in, SIZES_MAX, "%s", folder), n = 0;

	for (unsigned i = 0; i < count; i++) {
		int64_t total, left;
		uint64_t kb;
		char end;
		if (sscanf(in[i], "hugepages-%" SCNu64 "k%c", &kb, &end) != 2 || kb < 4 ||
		    kb > 1ull << 30 ||
		    sys_number(&x->sys, 0, 1ll << 40, &total, "%s/%s/nr_hugepages", folder,
			       in[i]) != SYS_READ ||
		    sys_number(&x->sys, 0, 1ll << 40, &left, "%s/%s/free_hugepages", folder,
			       in[i]) != SYS_READ)
			continue;
		out[n++] = (struct pool){kb, (uint64_t)total, (uint64_t)left};
	}
	for (unsigned i = 0; i < n; i++)
		for (unsigned k = i + 1; k < n; k++)
			if (out[k].page_kb < out[i].page_kb) {
				struct pool t = out[i];
				out[i] = out[k];
				out[k] = t;
			}
	return n;
}

struct pages {
	uint64_t total_kb, free_kb;
	uint64_t most_kb; /* what is free of one size; a start takes pages of one */
	uint64_t own_kb;  /* what this process has of those that are not free */
	unsigned npools;
	struct pool pool[SIZES_MAX];
};

/* KB of all sizes that this process has. */
static uint64_t pages_own(struct exam *x)
{
	struct sbuf text = {0};
	uint64_t kb = 0;
	size_t n;

	sys_head(&x->sys, &text, "/proc/self/status");
	const char *value = sys_value(sbuf_str(&text), "HugetlbPages", &n);
	if (value != NULL && sscanf(value, "%" SCNu64, &kb) != 1)
		kb = 0;
	sbuf_free(&text);
	return kb;
}

static void pages_read(struct exam *x, const char *folder, struct pages *out)
{
	*out = (struct pages){0};
	out->npools = read_pools(x, folder, out->pool);
	for (unsigned i = 0; i < out->npools; i++) {
		out->total_kb += out->pool[i].total * out->pool[i].page_kb;
		uint64_t free_kb = out->pool[i].free * out->pool[i].page_kb;
		out->free_kb += free_kb;
		out->most_kb = free_kb > out->most_kb ? free_kb : out->most_kb;
	}
	if (out->total_kb > 0)
		out->own_kb = pages_own(x);
}

/* Are there enough for a start, or has the program started with enough? */
static bool pages_enough(const struct pages *p)
{
	return p->most_kb >= START_BYTES / 1024 || p->own_kb >= START_BYTES / 1024;
}

/* What is told of pages that are not enough. */
static struct doctor_finding *pages_few(struct exam *x, enum doctor_severity severity,
					const char *subject, const struct pages *p)
{
	struct sbuf text = {0};

	if (p->free_kb > 0) {
		exam_bytes(p->free_kb * 1024, &text);
		sbuf_add(&text, " are free; the smallest start takes about ");
		exam_bytes(START_BYTES, &text);
	} else {
		sbuf_add(&text, p->total_kb > 0 ? "all of them are taken" : "none");
	}
	struct doctor_finding *f = found(x, severity, subject, "%s", text.s);
	sbuf_free(&text);
	return f;
}

static void pages_ok(struct exam *x, const char *subject, const struct pages *p)
{
	struct sbuf text = {0};

	for (unsigned i = 0; i < p->npools; i++) {
		if (p->pool[i].total == 0)
			continue;
		sbuf_addf(&text, "%s%" PRIu64 " of %" PRIu64 " pages of ", text.len > 0 ? ", " : "",
			  p->pool[i].free, p->pool[i].total);
		exam_bytes(p->pool[i].page_kb * 1024, &text);
	}
	sbuf_add(&text, " are free");
	if (p->own_kb > 0) {
		sbuf_add(&text, ", and this program has ");
		exam_bytes(p->own_kb * 1024, &text);
	}
	found(x, DOCTOR_OK, subject, "%s", sbuf_str(&text));
	sbuf_free(&text);
}

/* The size that the kernel takes where none is asked for, as it says itself; else the usual one,
 * else the smallest one. */
static const struct pool *pages_usual(struct exam *x, const struct pages *p)
{
	const struct pool *usual = &p->pool[0];
	struct sbuf text = {0};
	uint64_t kb = 0;
	size_t n;

	sys_head(&x->sys, &text, "/proc/meminfo");
	const char *value = sys_value(sbuf_str(&text), "Hugepagesize", &n);
	if (value == NULL || sscanf(value, "%" SCNu64, &kb) != 1)
		kb = USUAL_KB;
	sbuf_free(&text);
	for (unsigned i = 0; i < p->npools; i++)
		if (p->pool[i].page_kb == kb)
			usual = &p->pool[i];
	return usual;
}

/* The command that gives a node its pages. */
static void pages_mend(struct exam *x, struct doctor_finding *f, const char *folder,
		       const struct pages *p)
{
	const struct pool *pool = pages_usual(x, p);
	uint64_t n = WANTED_BYTES / 1024 / pool->page_kb;

	found_mend(f, "echo %" PRIu64 " > %s/hugepages-%" PRIu64 "kB/nr_hugepages",
		   pool->total + (n > 0 ? n : 1), folder, pool->page_kb);
}

/* The machine has too few that are free. The node of a NIC gets them, where one is known. */
static void pages_none(struct exam *x, const char *folder, const struct pages *all)
{
	struct pages own = {0};
	char near[96];
	bool wanted = exam_wants_dpdk(x), only = exam_wants_physical(x);

	for (unsigned i = 0; wanted && own.npools == 0 && i < x->nnics; i++) {
		snprintf(near, sizeof(near), "/sys/devices/system/node/node%d/hugepages",
			 x->nic[i].node);
		if (cpus_has(&x->nodes, x->nic[i].node))
			pages_read(x, near, &own);
	}
	struct doctor_finding *f = pages_few(x,
					     !wanted ? DOCTOR_NOTE
					     : only  ? DOCTOR_ERROR
						     : DOCTOR_WARNING,
					     NULL, all);
	if (!wanted)
		found_why(f, "kernel ports and the built-in wire work without, a little slower");
	else if (only)
		found_why(f, "without an IOMMU a NIC can read from hugepages alone");
	else
		found_why(
			f,
			"buffers would lie in small pages: NIC and CPU look up more addresses, which costs frames");
	pages_mend(x, f, own.npools > 0 ? near : folder, own.npools > 0 ? &own : all);
}

/* Is a NIC of this node in question that DPDK drives? */
static const struct nic *pages_nic(const struct exam *x, int node)
{
	for (unsigned i = 0; i < x->nnics; i++) {
		const struct nic *n = &x->nic[i];
		bool dpdk = n->for_dpdk || n->kind == DOCTOR_DRIVER_BOUND;
		if (n->node == node && dpdk && !n->missing)
			return n;
	}
	return NULL;
}

static void pages_node(struct exam *x, int node)
{
	char folder[96], name[32];
	struct pages p;

	snprintf(folder, sizeof(folder), "/sys/devices/system/node/node%d/hugepages", node);
	snprintf(name, sizeof(name), "node %d", node);
	pages_read(x, folder, &p);
	if (pages_enough(&p)) {
		pages_ok(x, name, &p);
		return;
	}
	const struct nic *n = pages_nic(x, node);
	if (p.npools == 0 || (n == NULL && p.total_kb == 0))
		return;
	struct doctor_finding *f = pages_few(x, n != NULL ? DOCTOR_WARNING : DOCTOR_NOTE, name, &p);
	if (n != NULL)
		found_why(
			f,
			"%s is on this node; its buffers would lie on another one, and each frame would cross over",
			nic_name(n));
	else
		found_why(f, "workers on this node would have their buffers on another one");
	pages_mend(x, f, folder, &p);
}

static void hugepages_run(struct exam *x)
{
	static const char folder[] = "/sys/kernel/mm/hugepages";
	struct pages all;

	pages_read(x, folder, &all);
	if (all.npools == 0) {
		struct doctor_finding *f =
			found(x, exam_wants_dpdk(x) ? DOCTOR_WARNING : DOCTOR_NOTE, NULL,
			      "not known: %s tells of no size", folder);
		found_why(f, "the kernel has no hugepages, or a container hides them");
	} else if (!pages_enough(&all)) {
		pages_none(x, folder, &all);
	} else if (cpus_count(&x->nodes) == 0) {
		pages_ok(x, NULL, &all);
	} else {
		for (int node = 0; node < NODES_MAX; node++)
			if (cpus_has(&x->nodes, node))
				pages_node(x, node);
	}
}

const struct check check_hugepages = {"hugepages", hugepages_run};
