/* SPDX-License-Identifier: BSD-3-Clause */
/* The images of a frun. Lines that vary, or in which frames differ, are written for each frame;
 * frames that agree in the others are of one class and share its image. */
#include "run_new.h"

#include <stdlib.h>

/* Frames up to this length are better written whole than kept in several classes of buffers. */
#define SMALL_LEN 256

/* The template of run_recipe i without the checksums that a NIC fills in. At least 64 bytes of 0
 * follow its len bytes. The caller frees it. */
static uint8_t *run_template(const struct run_make *m, uint32_t i)
{
	const struct frame_recipe *p = m->source[i];
	uint8_t *b = xcalloc(1, p->len + 2u * RUN_LINE);

	memcpy(b, p->bytes, p->len);
	for (unsigned c = 0; m->spec->offload && p->offload && c < p->nsums; c++)
		memset(b + p->sum[c].off, 0, 2);
	return b;
}

/* Marks the lines of bytes from .. to - 1 as written for each frame. */
static void write_bytes(struct run_make *m, uint32_t from, uint32_t to)
{
	for (uint32_t l = from / RUN_LINE; l * RUN_LINE < to; l++)
		m->written[l] = true;
}

/* Marks the lines of what varies, of checksums that follow it, and of checksums that the NIC fills
 * in, since a driver changes these in the buffer. */
static void write_moving(struct run_make *m, uint32_t i)
{
	const struct frame_recipe *p = m->source[i];
	bool nic = m->spec->offload && p->offload;

	for (unsigned v = 0; v < p->nvars; v++)
		write_bytes(m, p->var[v].bit / 8, (p->var[v].bit + p->var[v].bits + 7) / 8);
	for (unsigned c = 0; c < p->nsums && (nic || m->f.recipe[i].moves); c++)
		write_bytes(m, p->sum[c].off, p->sum[c].off + (p->sum[c].crc32c ? 4u : 2u));
}

static uint32_t run_image_longest(const struct run_make *m)
{
	uint32_t best = 0;

	for (uint32_t i = 1; i < m->f.nrecipes; i++)
		if (m->source[i]->len > m->source[best]->len)
			best = i;
	return best;
}

/* Marks the lines of headers in which frames differ. */
static void write_differing(struct run_make *m)
{
	uint32_t hdrs = 0, l = run_image_longest(m);
	const uint8_t *b = m->source[l]->bytes;
	bool random = false;

	for (uint32_t i = 0; i < m->f.nrecipes; i++) {
		hdrs = m->source[i]->hdr_len > hdrs ? m->source[i]->hdr_len : hdrs;
		random |= m->source[i]->random_payload;
	}
	if (random && m->f.nrecipes > 1)
		write_bytes(m, 0, hdrs);
	for (uint32_t i = 0; i < m->f.nrecipes; i++)
		for (uint32_t at = 0; at < hdrs && at < m->source[i]->len; at++)
			if (m->source[i]->bytes[at] != b[at])
				write_bytes(m, at, at + 1);
}

/* True if frame i may use buffers that hold the image of this class. */
static bool run_image_agrees(const struct run_make *m, const struct frun_class *c,
			     const uint8_t *image, bool random, uint32_t i)
{
	const struct frame_recipe *p = m->source[i];
	unsigned both = p->len < c->len ? p->len : c->len;
	bool nic = m->spec->offload && p->offload;

	if (p->random_payload != random || nic != c->offload ||
	    (nic && (p->offload_ip4 != c->ip4 || p->offload_udp != c->udp ||
		     p->l2_len != c->l2_len || p->l3_len != c->l3_len || p->l4_len != c->l4_len)))
		return false;
	for (unsigned l = 0; l * RUN_LINE < both; l++) {
		unsigned at = l * RUN_LINE, n = both - at < RUN_LINE ? both - at : RUN_LINE;
		if (random && at >= p->hdr_len)
			break;
		if (!m->written[l] && memcmp(p->bytes + at, image + at, n) != 0)
			return false;
	}
	return true;
}

static void add_class(struct run_make *m, uint32_t i, uint32_t *of)
{
	const struct frame_recipe *p = m->source[i];
	struct frun *f = &m->f;

	f->class = xrealloc(f->class, (f->nclasses + 1u) * sizeof(*f->class));
	struct frun_class *c = &f->class[f->nclasses];
	*c = (struct frun_class){.len = p->len};
	if (m->spec->offload && p->offload) {
		c->offload = true;
		c->ip4 = p->offload_ip4;
		c->ip6 = p->offload_ip6;
		c->udp = p->offload_udp;
		c->tcp = p->offload_tcp;
		c->l2_len = p->l2_len;
		c->l3_len = p->l3_len;
		c->l4_len = p->l4_len;
	}
	of[f->nclasses++] = i;
}

/* Gives each frame a class. `order` has longer frames first, so that an image is as long as any
 * frame of its class. of: by class, the frame whose bytes are the image. */
static void run_image_classify(struct run_make *m, const uint32_t *order, uint32_t *of)
{
	struct frun *f = &m->f;

	f->nclasses = 0;
	for (uint32_t n = 0; n < f->nrecipes; n++) {
		uint32_t i = order[n], c = 0;
		while (c < f->nclasses &&
		       !run_image_agrees(m, &f->class[c], m -> source[of[c]] -> bytes,
					 m -> source[of[c]] -> random_payload, i))
			c++;
		if (c == f->nclasses)
			add_class(m, i, of);
		f->recipe[i].class = (uint16_t)c;
	}
}

static enum frun_dst dst_of(const struct frame_recipe *p)
{
	static const uint8_t broadcast[6] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff};

	if (p->len < sizeof(broadcast) || (p->nvars > 0 && p->var[0].bit < 8 * sizeof(broadcast)))
		return FRUN_DST_ANY;
	if (memcmp(p->bytes, broadcast, sizeof(broadcast)) == 0)
		return FRUN_DST_BROADCAST;
	return p->bytes[0] & 1 ? FRUN_DST_MULTICAST : FRUN_DST_UNICAST;
}

static void find_dst(struct run_make *m, const uint32_t *of)
{
	struct frun *f = &m->f;

	for (uint32_t c = 0; c < f->nclasses; c++)
		f->class[c].dst = dst_of(m->source[of[c]]);
	for (uint32_t i = 0; i < f->nrecipes; i++)
		if (dst_of(m->source[i]) != f->class[f->recipe[i].class].dst)
			f->class[f->recipe[i].class].dst = FRUN_DST_ANY;
}

static int by_len(const void *a, const void *b, void *make)
{
	const struct run_make *m = make;
	uint16_t x = m->source[*(const uint32_t *)a]->len, y = m->source[*(const uint32_t *)b]->len;

	return x > y ? -1 : x < y;
}

static void make_classes(struct run_make *m)
{
	struct frun *f = &m->f;
	uint32_t *order = xcalloc(f->nrecipes, sizeof(*order)),
		 *of = xcalloc(f->nrecipes, sizeof(*of)), from = 0;

	for (uint32_t i = 0; i < f->nrecipes; i++)
		order[i] = i;
	qsort_r(order, f->nrecipes, sizeof(*order), by_len, m);
	run_image_classify(m, order, of);
	uint16_t max = m->source[order[0]]->len;
	if (f->nclasses > 1 && max <= SMALL_LEN) {
		write_bytes(m, 0, max);
		run_image_classify(m, order, of);
	}
	find_dst(m, of);
	while (from * RUN_LINE < max && m->written[from])
		from++;
	m->class_at = xcalloc(f->nclasses, sizeof(*m->class_at));
	for (uint32_t c = 0; c < f->nclasses; c++) {
		const struct frame_recipe *p = m->source[of[c]];
		f->class[c].from = (uint16_t)(from * RUN_LINE);
		if (p->random_payload && p->hdr_len <= from * RUN_LINE && p->len > from * RUN_LINE)
			f->class[c].from =
				(uint16_t)((p->len + RUN_LINE - 1) / RUN_LINE * RUN_LINE);
		uint8_t *b = run_template(m, of[c]);
		f->image = xrealloc(f->image, m->nimage + p->len);
		memcpy(f->image + m->nimage, b, p->len);
		m->class_at[c] = m->nimage;
		m->nimage += p->len;
		free(b);
	}
	free(order);
	free(of);
}

void run_make_images(struct run_make *m)
{
	struct frun *f = &m->f;

	for (uint32_t i = 0; i < f->nrecipes; i++)
		write_moving(m, i);
	write_differing(m);
	make_classes(m);
	for (unsigned l = 0; l < ARRAY_SIZE(m->written); l++)
		f->nlines += m->written[l];
	f->line_off = xcalloc(f->nlines + 1u, sizeof(*f->line_off));
	f->line = xcalloc((size_t)f->nrecipes * f->nlines + 1, RUN_LINE);
	f->line_of = xcalloc(ARRAY_SIZE(m->written), sizeof(*f->line_of));
	unsigned n = 0;
	for (unsigned l = 0; l < ARRAY_SIZE(m->written); l++) {
		f->line_of[l] = (uint16_t)n;
		if (m->written[l])
			f->line_off[n++] = (uint16_t)(l * RUN_LINE);
	}
	for (uint32_t i = 0; i < f->nrecipes; i++) {
		uint8_t *b = run_template(m, i);
		f->recipe[i].line = m->nline;
		for (n = 0; n < f->nlines; n++, m->nline += RUN_LINE) {
			unsigned off = f->line_off[n], len = f->recipe[i].len;
			if (off < len)
				memcpy(f->line + m->nline, b + off,
				       len - off < RUN_LINE ? len - off : RUN_LINE);
		}
		free(b);
	}
}
