/* SPDX-License-Identifier: BSD-3-Clause */
#include "neper_wire.h"

#include <errno.h>
#include <string.h>

static void put_be32(uint8_t *p, uint32_t v)
{
	put_be16(p, v >> 16);
	put_be16(p + 2, v & 0xffff);
}
static uint32_t get_be32(const uint8_t *p)
{
	return (uint32_t)get_be16(p) << 16 | get_be16(p + 2);
}
static void put_be64(uint8_t *p, uint64_t v)
{
	put_be32(p, (uint32_t)(v >> 32));
	put_be32(p + 4, (uint32_t)v);
}
static uint64_t get_be64(const uint8_t *p)
{
	return (uint64_t)get_be32(p) << 32 | get_be32(p + 4);
}

void neper_message_put(const struct neper_message *m, uint8_t out[NEPER_BYTES])
{
	memset(out, 0, NEPER_BYTES);
	memcpy(out, m->secret, strnlen(m->secret, NEPER_SECRET));
	put_be32(out + 32, m->magic);
	put_be32(out + 36, m->type);
	put_be32(out + 40, m->threads);
	put_be32(out + 44, m->flows);
	put_be32(out + 48, (uint32_t)m->length);
	put_be32(out + 52, m->client_number);
	put_be64(out + 56, m->pacing);
	put_be64(out + 64, m->rate);
}

void neper_message_get(const uint8_t in[NEPER_BYTES], struct neper_message *m)
{
	memcpy(m->secret, in, NEPER_SECRET);
	m->secret[NEPER_SECRET] = '\0';
	m->magic = get_be32(in + 32);
	m->type = get_be32(in + 36);
	m->threads = get_be32(in + 40);
	m->flows = get_be32(in + 44);
	m->length = (int32_t)get_be32(in + 48);
	m->client_number = get_be32(in + 52);
	m->pacing = get_be64(in + 56);
	m->rate = get_be64(in + 64);
}

static const char *type_name(uint32_t type)
{
	static const char *const names[] = {"", "HELLO", "ACK", "DONE", "BYE"};

	return type < ARRAY_SIZE(names) ? names[type] : "";
}

void neper_talk_init(struct neper_talk *t, bool client, const char *secret, uint32_t magic)
{
	*t = (struct neper_talk){.client = client,
				 .secret = secret,
				 .magic = magic,
				 .next = client ? NEPER_ACK : NEPER_HELLO};
}

void neper_talk_done(struct neper_talk *t)
{
	t->next = NEPER_BYE;
}

static const char *talk_peer(const struct neper_talk *t)
{
	return t->client ? "the server" : "the client";
}

static int talk_check(const struct neper_talk *t, const uint8_t *in, const struct neper_message *m,
		      struct err *e)
{
	char secret[NEPER_SECRET] = {0};

	memcpy(secret, t->secret, strnlen(t->secret, NEPER_SECRET));
	if (t->next == NEPER_HELLO && memcmp(in, secret, NEPER_SECRET) != 0)
		return err_set(e, EKEYREJECTED,
			       "the client's secret is not '%s': it runs another workload, or is "
			       "no neper",
			       t->secret);
	if (m->type != t->next)
		return err_set(e, EPROTO,
			       "%s sent a message of type %u%s%s%s where %s (%u) was due",
			       talk_peer(t), m->type, *type_name(m->type) != '\0' ? " (" : "",
			       type_name(m->type), *type_name(m->type) != '\0' ? ")" : "",
			       type_name(t->next), t->next);
	if (m->magic != t->magic)
		return err_set(e, EPROTO,
			       "%s has the magic %u, this end has %u; give both the same --magic",
			       talk_peer(t), m->magic, t->magic);
	return 0;
}

int neper_talk_in(struct neper_talk *t, const uint8_t *in, size_t n, struct neper_message *m,
		  struct err *e)
{
	int rc;

	if (t->next == 0)
		return err_set(e, EPROTO, "%s sent %zu bytes where none were due", talk_peer(t), n);
	if (n < NEPER_BYTES)
		return 0;
	neper_message_get(in, m);
	rc = talk_check(t, in, m, e);
	if (rc != 0)
		return rc;
	if (n > NEPER_BYTES && (t->client || t->next == NEPER_DONE))
		return err_set(e, EPROTO, "%s sent %zu bytes behind its %s", talk_peer(t),
			       n - NEPER_BYTES, type_name(t->next));
	t->next = !t->client && t->next == NEPER_HELLO ? NEPER_DONE : 0;
	return NEPER_BYTES;
}

int neper_talk_end(const struct neper_talk *t, size_t n, struct err *e)
{
	if (n > 0)
		return err_set(e, EPROTO,
			       "%s closed the control connection in the middle of a message, "
			       "after %zu of %d bytes",
			       talk_peer(t), n, NEPER_BYTES);
	if (!t->client && t->next == 0)
		return 0;
	if (t->client && t->next == NEPER_ACK)
		return err_set(
			e, EPROTO,
			"the server closed the control connection without an answer: it runs "
			"another workload, or is no neper");
	return err_set(e, EPROTO, "%s closed the control connection before the run was over",
		       talk_peer(t));
}
