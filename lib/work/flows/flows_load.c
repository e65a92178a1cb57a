/* SPDX-License-Identifier: BSD-3-Clause */
/* The workload of a flow, of its settings. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "filebytes.h"
#include "flows_ctl.h"
#include "vary.h"

#define LOAD_SIZE 64 /* of requests and responses of bytes */

struct load {
	const struct ctl_port *cp;
	const struct stream *s;
	const struct flows_cfg *cfg;
	struct flows_design *d;
	char where[24];
};

static enum wl_close load_close(const struct flows_cfg *cfg)
{
	return cfg->close.keep ? WL_CLOSE_NOT : cfg->close.rst ? WL_CLOSE_RST : WL_CLOSE_FIN;
}

/* Reads one of the texts, which were checked when they were written. */
static int load_vary(const struct load *l, const char *word, const struct vtype *type,
		     const char *text, uint64_t most, struct wl_vary *out, struct err *e)
{
	struct err why;
	const struct vspec spec = {.type = type, .max = most};

	if (type->parse(&spec, text, out, &why) == 0)
		return 0;
	return err_set(e, EINVAL, "stream %u/%u: %s: %s", l->cp->p.id, l->s->cfg.id, word,
		       why.text);
}

static int load_think(const struct load *l, struct wl_vary *out, struct err *e)
{
	*out = (struct wl_vary)WL_FIXED(0);
	return l->cfg->think[0] == '\0' ? 0
					: load_vary(l, "think", &vt_wl_pauses, l->cfg->think,
						    WL_PAUSE_MAX_NS, out, e);
}

/* Bytes of a request or a response; file: that it is, or NULL. */
static int load_size(const struct load *l, const char *word, const char *text,
		     const struct filebytes *file, uint64_t usual, struct wl_vary *out,
		     struct err *e)
{
	usual = file != NULL ? file->n : usual;
	*out = (struct wl_vary){.least = usual, .most = usual};
	return text[0] == '\0' ? 0 : load_vary(l, word, &vt_wl_sizes, text, WL_SIZE_MAX, out, e);
}

static int load_bytes_fit(const struct load *l, const char *word, const struct filebytes *file,
			  const struct wl_vary *v, struct err *e)
{
	uint64_t least = l->d->udp && !l->d->load.bytes.plain ? WL_NUMBER : 1;
	uint64_t most = l->d->udp ? l->d->mss : WL_BYTES_MAX;

	if (v->least >= least && v->most <= most)
		return 0;
	if (file != NULL)
		return err_set(
			e, EINVAL,
			"stream %u/%u: %s.file: '%.200s' has %u bytes, and a datagram here at most %llu: take a "
			"smaller file, or a larger mtu of the port",
			l->cp->p.id, l->s->cfg.id, word, file->name, file->n,
			(unsigned long long)most);
	return err_set(
		e, EINVAL,
		"stream %u/%u: a %s of %llu bytes: `app bytes` over %s has %llu to %llu: `set %s %s %llu`",
		l->cp->p.id, l->s->cfg.id, word,
		(unsigned long long)(v->least < least ? v->least : v->most),
		l->d->udp ? "UDP" : "TCP", (unsigned long long)least, (unsigned long long)most,
		l->where, word, (unsigned long long)(v->least < least ? least : most));
}

static int load_bytes_pipeline(const struct load *l, const struct wl_bytes_conf *b, struct err *e)
{
	if (l->cfg->bytes_pipeline == 1 || (l->d->udp && (!b->plain || !l->d->client)))
		return 0;
	if (l->d->udp)
		return err_set(
			e, EINVAL,
			"stream %u/%u: bytes.pipeline %llu: datagrams that are files have no number, so nobody could tell which request a response "
			"belongs to: `set %s bytes.pipeline 1`, or neither request.file nor response.file",
			l->cp->p.id, l->s->cfg.id, (unsigned long long)l->cfg->bytes_pipeline,
			l->where);
	return err_set(
		e, EINVAL,
		"stream %u/%u: bytes.pipeline %llu: over TCP a connection of `app bytes` has one request open: `set %s bytes.pipeline 1`, "
		"`set %s app http` with http.pipeline, or `set %s frame eth/%s/udp`",
		l->cp->p.id, l->s->cfg.id, (unsigned long long)l->cfg->bytes_pipeline, l->where,
		l->where, l->where, l->d->is6 ? "ipv6" : "ipv4");
}

/* Adds the bytes of a file to the contents, and returns their number. */
static uint16_t load_content(struct flows_load *out, const struct filebytes *f)
{
	wl_content_init_whole(&out->plain[out->ncontent], f->b, f->n);
	return out->ncontent++;
}

static int load_bytes(const struct load *l, struct flows_load *out, struct err *e)
{
	struct wl_bytes_conf *b = &out->bytes;
	const struct filebytes *ask = out->request_file, *answer = out->response_file;
	int rc = load_size(l, "request", l->cfg->request, ask, LOAD_SIZE, &b->request, e);

	rc = rc < 0 ? rc
		    : load_size(l, "response", l->cfg->response, answer, LOAD_SIZE, &b->response,
				e);
	/* a service of others knows no number in its datagrams */
	b->plain = l->d->udp && (ask != NULL || answer != NULL);
	b->request_unknown = b->plain && ask == NULL && !l->d->client;
	b->response_unknown = b->plain && answer == NULL && l->d->client;
	rc = rc < 0 ? rc : load_bytes_fit(l, "request", ask, &b->request, e);
	rc = rc < 0 ? rc : load_bytes_fit(l, "response", answer, &b->response, e);
	rc = rc < 0 ? rc : load_bytes_pipeline(l, b, e);
	rc = rc < 0 ? rc : load_think(l, &b->think, e);
	if (ask != NULL)
		b->request_content = load_content(out, ask);
	if (answer != NULL)
		b->response_content = load_content(out, answer);
	b->transactions = l->cfg->transactions;
	b->pipeline = (uint8_t)l->cfg->bytes_pipeline;
	/* as long as TCP would send the request again */
	b->timeout_ns = l->cfg->rto_ns * (l->cfg->retries + 1u);
	if (rc == 0 && l->d->udp && b->timeout_ns > WL_PAUSE_MAX_NS)
		rc = err_set(
			e, EINVAL,
			"stream %u/%u: over UDP a request is given up behind flow.rto * (flow.retries + 1), "
			"and that is %llu s; allowed: up to %llu s: `set %s flow.retries %llu`",
			l->cp->p.id, l->s->cfg.id, (unsigned long long)(b->timeout_ns / 1000000000),
			(unsigned long long)(WL_PAUSE_MAX_NS / 1000000000), l->where,
			(unsigned long long)(WL_PAUSE_MAX_NS / l->cfg->rto_ns - 1));
	b->server_closes = l->cfg->close.server;
	b->close = load_close(l->cfg);
	/* one transaction at a time needs less memory, and a server answers whatever comes */
	out->wl = l->d->client && b->pipeline > 1 && b->transactions != 1 ? &wl_bytes_pipelined
									  : &wl_bytes;
	out->conf = b;
	return rc;
}

static int load_stream(const struct load *l, struct flows_load *out, struct err *e)
{
	static const enum wl_direction ways[] = {WL_UP, WL_DOWN, WL_BOTH};
	struct wl_stream_conf *t = &out->stream;
	bool down = l->cfg->direction == FLOWS_DOWN;
	struct wl_vary size, gap;
	int rc = load_size(l, down ? "response" : "request",
			   down ? l->cfg->response : l->cfg->request, NULL, 0, &size, e);

	rc = rc < 0 ? rc : load_think(l, &gap, e);
	if (rc < 0)
		return rc;
	if (wl_varies(&size) || wl_varies(&gap))
		return err_set(
			e, EINVAL,
			"stream %u/%u: of `app stream` neither sizes nor think vary: one value of each",
			l->cp->p.id, l->s->cfg.id);
	*t = (struct wl_stream_conf){.direction = ways[l->cfg->direction]};
	if (l->d->udp) {
		t->datagram =
			size.least != 0 ? (uint32_t)RTE_MIN(size.least, UINT32_MAX) : l->d->mss;
		t->gap_ns = gap.least != 0 ? gap.least : 1000000;
		if (t->datagram < WL_NUMBER || t->datagram > l->d->mss)
			return err_set(
				e, EINVAL,
				"stream %u/%u: datagrams of %llu bytes: %u to %u are possible: `set %s %s %u`",
				l->cp->p.id, l->s->cfg.id, (unsigned long long)size.least,
				WL_NUMBER, l->d->mss, l->where, down ? "response" : "request",
				l->d->mss);
	} else {
		t->bytes = size.least;
	}
	out->wl = &wl_stream;
	out->conf = t;
	return 0;
}

static int load_dialog(const struct load *l, struct flows_load *out, struct err *e)
{
	struct err why;

	if (wl_dialog_parse(l->cfg->app.text, &out->dialog, &why) < 0)
		return err_set(e, EINVAL, "stream %u/%u: app: %s", l->cp->p.id, l->s->cfg.id,
			       why.text);
	out->dialog.close = load_close(l->cfg);
	out->dialog.content = 0;
	out->wl = &wl_dialog;
	out->conf = &out->dialog;
	return 0;
}

/* The first address of the servers, as a client names its host. */
static void load_host(const struct flows_design *d, struct sbuf *out)
{
	uint32_t low = d->remote.list != NULL ? d->remote.list[0] : d->remote.base;
	uint8_t v[VT_FIELD_BYTES] = {0};
	vary_u x = low;

	if (d->is6) {
		for (unsigned i = 0; i < 12; i++)
			x |= (vary_u)d->remote6[i] << (120 - 8 * i);
		sbuf_addc(out, '[');
	}
	vary_store(x, v);
	const struct vtype *t = d->is6 ? &vt_ip6 : &vt_ip4;
	t->print(&(struct vspec){.type = t}, v, out);
	if (d->is6)
		sbuf_addc(out, ']');
}

static const char *load_text(const char *text)
{
	return text[0] != '\0' ? text : NULL;
}

static int load_http(const struct load *l, struct flows_load *out, struct err *e)
{
	const struct flows_cfg *cfg = l->cfg;
	const char *size = l->d->client ? cfg->request : cfg->response;
	struct wl_vary bytes;
	struct sbuf host = {0};
	struct err why;
	struct wl_http_settings set = {.client = l->d->client,
				       .method = load_text(cfg->method),
				       .path = load_text(cfg->path),
				       .header = load_text(cfg->header),
				       .status = load_text(cfg->status),
				       .chunked = cfg->chunked,
				       .pipeline = l->d->client ? (unsigned)cfg->pipeline : 1,
				       .transactions = cfg->transactions,
				       .close = load_close(cfg),
				       .server_closes = cfg->close.server,
				       .fill = (enum wl_fill)out->plain[0].fill};
	const struct filebytes *own = l->d->client ? out->request_file : out->response_file;
	const struct filebytes *other = l->d->client ? out->response_file : out->request_file;
	int rc = load_think(l, &set.think, e);

	if (own != NULL) {
		set.whole = own->b;
		set.whole_bytes = own->n;
	}
	if (other != NULL) {
		set.known = other->b;
		set.known_bytes = other->n;
	}
	rc = rc < 0 ? rc
		    : load_size(l, l->d->client ? "request" : "response", size, NULL, 0, &bytes, e);
	if (rc < 0)
		return rc;
	set.size = size[0] != '\0' ? &bytes : NULL;
	load_host(l->d, &host);
	set.host = cfg->host[0] != '\0' ? cfg->host : sbuf_str(&host);
	rc = wl_http_make(&set, &out->http, &why);
	sbuf_free(&host);
	if (rc < 0)
		return err_set(e, -rc, "stream %u/%u: %s", l->cp->p.id, l->s->cfg.id, why.text);
	out->wl = out->http->wl;
	out->conf = &out->http->conf;
	out->content = out->http->content;
	out->ncontent = out->http->ncontent;
	return 0;
}

/* Whether some flow compares what it receives. Then all send bytes that depend on their place. */
static bool load_verified(const struct ctl *c)
{
	for (unsigned i = 0; i < c->nports; i++)
		for (unsigned k = 0; k < c->port[i]->nstreams; k++)
			if (flows_is_on(c->port[i]->stream[k]) &&
			    flows_cfg_of(&c->port[i]->stream[k]->cfg)->verify)
				return true;
	return false;
}

int flows_design_load(struct flows_design *d, struct ctl *c, const struct ctl_port *cp,
		      const struct stream *s, struct err *e)
{
	struct load l = {.cp = cp, .s = s, .cfg = flows_cfg_of(&s->cfg), .d = d};
	struct flows_load *out = &d->load;
	unsigned kind = l.cfg->app.kind;
	struct err why;
	int rc;

	if (flows_arm_load(d, cp, s))
		return 0;
	if (flows_files_check(&s->cfg, d->udp, &why) < 0)
		return err_set(e, EINVAL, "stream %u/%u: %s", cp->p.id, s->cfg.id, why.text);
	out->request_file = filebytes_hold(s->cfg.request_file);
	out->response_file = filebytes_hold(s->cfg.response_file);
	flows_where(cp, s, l.where);
	if (kind == FLOWS_AUTO)
		kind = d->udp ? FLOWS_BYTES : FLOWS_HTTP;
	wl_content_init(&out->plain[0], NULL, 0, load_verified(c) ? WL_FILL_PATTERN : WL_FILL_X);
	out->content = out->plain;
	out->ncontent = 1;
	if (d->udp && (kind == FLOWS_HTTP || kind == FLOWS_DIALOG))
		return err_set(
			e, EINVAL,
			"stream %u/%u: %s runs on TCP, and the frame has UDP: `set %s app bytes`, or `set %s frame eth/%s/tcp`",
			cp->p.id, s->cfg.id, kind == FLOWS_HTTP ? "http" : "a dialog", l.where,
			l.where, d->is6 ? "ipv6" : "ipv4");
	rc = kind == FLOWS_BYTES    ? load_bytes(&l, out, e)
	     : kind == FLOWS_STREAM ? load_stream(&l, out, e)
	     : kind == FLOWS_DIALOG ? load_dialog(&l, out, e)
				    : load_http(&l, out, e);
	if (rc == 0)
		d->endless = l.cfg->close.keep ||
			     (kind == FLOWS_STREAM
				      ? ((const struct wl_stream_conf *)out->conf)->bytes == 0
				      : kind != FLOWS_DIALOG && l.cfg->transactions == 0);
	return rc;
}

void flows_load_free(struct flows_load *l)
{
	if (l->http != NULL)
		wl_http_free(l->http);
	filebytes_drop(l->request_file);
	filebytes_drop(l->response_file);
	flows_arm_unref(l->arm);
}

uint64_t flows_records(const struct flows_design *d, unsigned nqueues)
{
	const struct flows_load *l = &d->load;
	struct wl_flow f = {.wl = l->wl, .conf = l->conf, .client = d->client};

	/* those of a program's protocol are few, and so are those that a server has */
	if (l->arm != NULL || !d->client || l->wl->cells == NULL)
		return 0;
	return (d->most / nqueues + 1) * l->wl->cells(&f, d->udp);
}

uint64_t flows_load_hash(uint64_t h, const struct stream_cfg *of)
{
	const struct flows_cfg *cfg = flows_cfg_of(of);
	const struct filebytes *const file[] = {of->request_file, of->response_file};
	const char *const text[] = {cfg->app.text, cfg->think,  cfg->request,
				    cfg->response, cfg->method, cfg->path,
				    cfg->host,     cfg->header, cfg->status};

	h = fnv1a_number(fnv1a_number(h, cfg->app.kind), (uint64_t)cfg->direction);
	h = fnv1a(h, &cfg->close, sizeof(cfg->close));
	h = fnv1a_number(fnv1a_number(h, cfg->transactions), cfg->chunked);
	h = fnv1a_number(fnv1a_number(h, cfg->pipeline), cfg->bytes_pipeline);
	for (unsigned i = 0; i < ARRAY_SIZE(text); i++)
		h = fnv1a(h, text[i], strlen(text[i]) + 1);
	for (unsigned i = 0; i < ARRAY_SIZE(file); i++)
		h = fnv1a_number(h, file[i] != NULL ? file[i]->hash : 0);
	return h;
}
