/* SPDX-License-Identifier: BSD-3-Clause */
/* The settings of RSS of a port: what the device is to work by, whether it can, and the way back
 * when it refuses. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "port_int.h"

struct port_rss {
	struct rss_setup own; /* what the device came with */
	struct rss_cfg asked; /* what it was asked for last */
	bool own_known;       /* the device has said what it came with */
	bool told;            /* it was ever told to work by something else */
	unsigned set;         /* how often its settings have been set */
	/* For each queue the frames that had come to it when the device was last told to work by
	 * something else, those that waited there included. */
	uint64_t before[PORT_MAX_QUEUES];
	char own_text[96]; /* what `show ports` says where nothing is set */
};

static const struct {
	uint32_t bit;
	const char *word;
	uint64_t hf;
} rss_words[] = {{RSS_IP, "ip", RTE_ETH_RSS_IP | RTE_ETH_RSS_IPV6_EX},
		 {RSS_TCP, "tcp", RTE_ETH_RSS_TCP | RTE_ETH_RSS_IPV6_TCP_EX},
		 {RSS_UDP, "udp", RTE_ETH_RSS_UDP | RTE_ETH_RSS_IPV6_UDP_EX},
		 {RSS_SCTP, "sctp", RTE_ETH_RSS_SCTP}};

static const struct rss_ops *ops_of(const struct port *p)
{
	return p->spec->rss != NULL ? p->spec->rss : &rss_dev_ops;
}

void rss_words_text(uint64_t hf, const char *none, struct sbuf *out)
{
	bool any = false;

	for (size_t i = 0; i < ARRAY_SIZE(rss_words); i++) {
		if ((hf & rss_words[i].hf) == 0)
			continue;
		sbuf_addf(out, "%s%s", any ? " " : "", rss_words[i].word);
		any = true;
	}
	if (!any)
		sbuf_add(out, none);
}

static int rss_refuse(const struct port *p, struct err *e, int code, const char *fmt, ...)
	WR_PRINTF(4, 5);

static int rss_refuse(const struct port *p, struct err *e, int code, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return err_set(e, code, "port %u (%s): %s", p->id, p->name, text);
}

static int want_fields(const struct port *p, uint32_t fields, const struct rss_caps *caps,
		       struct rss_setup *to, struct err *e)
{
	struct sbuf offered = {0};
	int rc = 0;

	if (fields == RSS_AUTO)
		return 0;
	to->hf = 0;
	for (size_t i = 0; i < ARRAY_SIZE(rss_words) && rc == 0; i++) {
		if ((fields & rss_words[i].bit) == 0)
			continue;
		to->hf |= rss_words[i].hf & caps->hf;
		if ((rss_words[i].hf & caps->hf) != 0)
			continue;
		rss_words_text(caps->hf, "no hash at all", &offered);
		rc = rss_refuse(p, e, ENOTSUP, "its device does not hash %s; it offers %s",
				rss_words[i].word, sbuf_str(&offered));
	}
	sbuf_free(&offered);
	return rc;
}

static int want_key(const struct port *p, const struct rss_cfg *c, const struct rss_caps *caps,
		    struct rss_setup *to, struct err *e)
{
	if (c->key.n != 0 && c->symmetric == RSS_SYMMETRIC_KEY)
		return rss_refuse(
			p, e, EINVAL,
			"rss.symmetric key is a key of its own; set %u rss.key default, or rss.symmetric off, first",
			p->id);
	if ((c->key.n != 0 || c->symmetric == RSS_SYMMETRIC_KEY) && caps->key_len == 0)
		return rss_refuse(p, e, ENOTSUP, "its device takes no key");
	if (c->key.n != 0 && c->key.n != caps->key_len)
		return rss_refuse(p, e, EINVAL, "the key has %u bytes; that of its device has %u",
				  c->key.n, caps->key_len);
	if (c->symmetric == RSS_SYMMETRIC_SORT && !caps->sort)
		return rss_refuse(
			p, e, ENOTSUP,
			"its device offers no hash that sorts (symmetric_toeplitz_sort, which DPDK asks for since %s); rss.symmetric key "
			"needs only a key",
			DPDK_RSS_SORT_SINCE);
	bool other = p->rss_state->own.function == RSS_FUNCTION_OTHER;
	if (c->symmetric == RSS_SYMMETRIC_KEY && other && !caps->toeplitz)
		return rss_refuse(
			p, e, ENOTSUP,
			"its device hashes by another function than Toeplitz and takes none else, and no key makes that one symmetric");
	to->key_len = caps->key_len;
	if (c->key.n != 0) {
		memset(to->key, 0, sizeof(to->key));
		memcpy(to->key, c->key.b, c->key.n);
	}
	if (c->symmetric == RSS_SYMMETRIC_KEY)
		rss_fill_key(to);
	if (c->symmetric == RSS_SYMMETRIC_KEY && other) {
		to->function = RSS_FUNCTION_TOEPLITZ;
		to->algorithm = RTE_ETH_HASH_FUNCTION_TOEPLITZ;
	}
	if (c->symmetric == RSS_SYMMETRIC_SORT) {
		to->function = RSS_FUNCTION_SORT;
		to->algorithm = DPDK_RSS_SORT;
	}
	return 0;
}

static int want_table(const struct port *p, const struct rss_list *list,
		      const struct rss_caps *caps, struct rss_setup *to, struct err *e)
{
	if (list->n == 0)
		return 0;
	if (caps->entries == 0)
		return rss_refuse(p, e, ENOTSUP, "its device has no table that can be set");
	if (list->n > caps->entries)
		return rss_refuse(p, e, EINVAL, "%u entries are given; the device's table has %u",
				  list->n, caps->entries);
	for (unsigned i = 0; i < list->n; i++)
		if (list->queue[i] >= p->nrxq)
			return rss_refuse(
				p, e, EINVAL,
				"entry %u of the table is queue %u; its Rx queues are 0 to %u", i,
				list->queue[i], p->nrxq - 1);
	to->entries = caps->entries;
	rss_fill_table(to, list->queue, list->n);
	return 0;
}

static bool same_key(const struct rss_setup *a, const struct rss_setup *b)
{
	return a->key_len == b->key_len && memcmp(a->key, b->key, a->key_len) == 0;
}

static bool same_table(const struct rss_setup *a, const struct rss_setup *b)
{
	return a->entries == b->entries &&
	       memcmp(a->table, b->table, a->entries * sizeof(a->table[0])) == 0;
}

/* Several numbers of DPDK's may be one function to us. */
static bool same_function(const struct rss_setup *a, const struct rss_setup *b)
{
	return a->function == b->function &&
	       (a->function != RSS_FUNCTION_OTHER || a->algorithm == b->algorithm);
}

static bool same_hash(const struct rss_setup *a, const struct rss_setup *b)
{
	return a->hf == b->hf && same_function(a, b);
}

static bool rss_same(const struct rss_setup *a, const struct rss_setup *b)
{
	return same_key(a, b) && same_hash(a, b) && same_table(a, b);
}

static const char part_table[] = "its table";

/* Tells the device what differs. Drivers such as mlx5 use another hash only when they make their
 * rules anew, which a table makes them do, and some go back to a table of their own then. So each
 * change of the hash is followed by the table, and what came of it is read afterwards: a device
 * whose table cannot be written may well have the right one. *what: the part that it refused. */
static int rss_tell(struct port *p, const struct rss_setup *now, const struct rss_setup *to,
		    const char **what)
{
	bool key = !same_key(now, to), hash = key || !same_hash(now, to);
	int rc = 0;

	if (hash) {
		*what = key ? "its key" : "what it hashes";
		rc = ops_of(p)->set_hash(p, to, key);
	}
	if (rc == 0 && !same_table(now, to)) {
		*what = part_table;
		rc = ops_of(p)->set_table(p, to);
	} else if (rc == 0 && hash && to->entries != 0) {
		(void)ops_of(p)->set_table(p, to);
	}
	return rc;
}

/* A driver may accept what the device does not do. Returns the part. */
static const char *rss_ignored(const struct port *p, const struct rss_setup *was,
			       const struct rss_setup *to, const struct rss_cfg *want)
{
	struct rss_setup is;

	if (ops_of(p)->get(p, &is) != 0)
		return NULL; /* nobody can tell */
	if (is.key_len != 0 && to->key_len != 0 && !same_key(&is, to))
		return "its key";
	if (is.entries != 0 && to->entries != 0 && !same_table(&is, to))
		return part_table;
	if (!same_function(&is, to))
		return "its hash function";
	if ((want->fields == RSS_OFF && is.hf != 0) || (to->hf != was->hf && is.hf == was->hf))
		return "what it hashes";
	for (size_t i = 0; i < ARRAY_SIZE(rss_words); i++)
		if ((want->fields & rss_words[i].bit) != 0 && (is.hf & rss_words[i].hf) == 0)
			return "what it hashes";
	return NULL;
}

static void rss_text(struct port *p, const struct rss_setup *to)
{
	struct sbuf text = {0};

	rss_words_text(to->hf, "off", &text);
	if (to->hf == p->rss_state->own.hf)
		snprintf(p->rss, sizeof(p->rss), "%s", p->rss_state->own_text);
	else
		snprintf(p->rss, sizeof(p->rss), "%s", sbuf_str(&text));
	sbuf_free(&text);
}

/* Finds what the settings come to, and whether the device offers it. */
static int rss_wanted(const struct port *p, const struct rss_cfg *want, struct rss_setup *to,
		      struct err *e)
{
	struct rss_caps caps;

	if (!p->started || p->rss_state == NULL)
		return rss_refuse(p, e, ENODEV, "its device does not run; `show ports` says why");
	if (p->nrxq < 2)
		return rss_refuse(
			p, e, EINVAL,
			"it has %u Rx queue%s, so there is nothing to spread frames over; start with more, as in -m 1-2.%u",
			p->nrxq, p->nrxq == 1 ? "" : "s", p->id);
	int rc = ops_of(p)->caps(p, &caps);
	if (rc != 0)
		return rss_refuse(p, e, ENODEV, "its device does not say what it can do: %s",
				  rte_strerror(-rc));
	if (caps.hf == 0 && caps.entries == 0)
		return rss_refuse(p, e, ENOTSUP, "its device offers no RSS");
	*to = p->rss_state->own;
	rc = want_fields(p, want->fields, &caps, to, e);
	if (rc == 0)
		rc = want_key(p, want, &caps, to, e);
	return rc == 0 ? want_table(p, &want->table, &caps, to, e) : rc;
}

/* The device works by something else from now on. */
static void rss_changed(struct port *p)
{
	struct rte_ring *ring[PORT_MAX_QUEUES];
	unsigned nrings = p->spec->rings != NULL ? port_rings(p, ring) : 0;

	for (unsigned q = 0; q < p->nrxq; q++) {
		/* First those that wait: one that is taken meanwhile counts twice, not never. */
		uint64_t waiting = q < nrings ? rte_ring_count(ring[q]) : 0;
		p->rss_state->before[q] = waiting + cell_get(&p->rxq[q]->cnt.packets);
	}
}

uint64_t rss_before(const struct port *p, unsigned queue)
{
	return p->rss_state != NULL ? p->rss_state->before[queue] : 0;
}

unsigned rss_times_set(const struct port *p)
{
	return p->rss_state != NULL ? p->rss_state->set : 0;
}

/* The device did not do all that it was told: what it has taken of it is taken back, and a part
 * that it refused is as it was. Returns what is to be said of that. */
static const char *rss_take_back(struct port *p, const struct rss_setup *told,
				 const struct rss_setup *was)
{
	struct rss_setup is;
	const char *part = "";

	if (ops_of(p)->get(p, &is) != 0)
		is = *told;
	(void)rss_tell(p, &is, was, &part);
	if (!rss_same(&is, was))
		rss_changed(p);
	if (ops_of(p)->get(p, &is) == 0 && rss_same(&is, was))
		return "";
	return ", and it cannot be brought back to what it did before: `show rss` tells what it does";
}

static int rss_apply(struct port *p, const struct rss_cfg *want, struct err *e)
{
	struct rss_setup now, to;
	const char *what = "", *ignored = NULL;
	int rc = rss_wanted(p, want, &to, e);

	if (rc != 0)
		return rc;
	if (!p->rss_state->own_known || ops_of(p)->get(p, &now) != 0)
		return rss_refuse(
			p, e, ENOTSUP,
			"its device does not tell what it works by, so that nothing could be taken back");
	p->rss_state->told |= !rss_same(&now, &to);
	rc = rss_tell(p, &now, &to, &what);
	if (rc == 0)
		ignored = rss_ignored(p, &now, &to, want);
	if (rc == 0 && ignored == NULL) {
		rss_text(p, &to);
		if (!rss_same(&now, &to))
			rss_changed(p);
		return 0;
	}
	const char *back = rss_take_back(p, &to, &now);
	eal_log_drain();
	if (ignored == part_table && same_table(&now, &to))
		return rss_refuse(
			p, e, ENOTSUP,
			"its device has another table after a change of its hash, and does not take its former one%s",
			back);
	if (ignored != NULL)
		return rss_refuse(p, e, ENOTSUP,
				  "its device accepts a change of %s and goes on as before%s",
				  ignored, back);
	return rss_refuse(p, e, ENOTSUP, "its device refuses a change of %s: %s%s", what,
			  rte_strerror(-rc), back);
}

int rss_try(struct port *p, const struct rss_cfg *want, struct err *e)
{
	static const struct rss_cfg nothing;

	if (memcmp(want, &nothing, sizeof(*want)) == 0 &&
	    (p->rss_state == NULL || memcmp(&p->rss_state->asked, want, sizeof(*want)) == 0))
		return 0;
	int rc = rss_apply(p, want, e);
	if (rc == 0) {
		p->rss_state->asked = *want;
		p->rss_state->set++;
	}
	return rc;
}

/* Asks for what is set, once, also where it is refused: the device is then shown as what it is. */
static void rss_ask(struct port *p)
{
	struct err e = {.text = ""};
	struct rss_setup is;

	p->rss_state->asked = p->cfg->rss;
	if (rss_apply(p, &p->cfg->rss, &e) == 0)
		return;
	port_note(p, "%s", e.text);
	if (p->rss_state->own_known && ops_of(p)->get(p, &is) == 0)
		rss_text(p, &is);
}

void rss_follow(struct port *p)
{
	if (p->rss_state != NULL && p->started &&
	    memcmp(&p->rss_state->asked, &p->cfg->rss, sizeof(p->cfg->rss)) != 0) {
		p->rss_state->set++;
		rss_ask(p);
	}
}

int rss_now(const struct port *p, struct rss_setup *out, struct err *e)
{
	if (!p->started)
		return err_set(e, ENODEV, "its device does not run");
	int rc = ops_of(p)->get(p, out);
	return rc == 0 ? 0
		       : err_set(e, ENOTSUP, "its device does not tell its key and table: %s",
				 rte_strerror(-rc));
}

void rss_started(struct port *p)
{
	if (p->rss_state == NULL) {
		p->rss_state = xcalloc(1, sizeof(*p->rss_state));
		p->rss_state->own_known = ops_of(p)->get(p, &p->rss_state->own) == 0;
	}
	snprintf(p->rss_state->own_text, sizeof(p->rss_state->own_text), "%s", p->rss);
	/* One device works by what it came with again, another one has kept a part of what it was
	 * told: it is asked also where nothing is set any more. */
	p->rss_state->asked = (struct rss_cfg){0};
	if (p->rss_state->told)
		rss_ask(p);
	else
		rss_follow(p);
}
