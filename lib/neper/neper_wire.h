/* SPDX-License-Identifier: BSD-3-Clause */
/* neper's control connection as bytes in and bytes out: four messages of 72 bytes, numbers in the
 * order of the network. No I/O. */
#pragma once
#include "base.h"

#define NEPER_BYTES 72
#define NEPER_SECRET 32
enum neper_type { NEPER_HELLO = 1, NEPER_ACK, NEPER_DONE, NEPER_BYE };
struct neper_message {
	char secret[NEPER_SECRET + 1]; /* of HELLO; the last byte is always 0 */
	uint32_t magic, type, threads, flows;
	int32_t length;
	uint32_t client_number;
	uint64_t pacing; /* bytes/s */
	uint64_t rate;   /* of DONE and BYE: what the sender has measured */
};
void neper_message_put(const struct neper_message *, uint8_t out[NEPER_BYTES]);
void neper_message_get(const uint8_t in[NEPER_BYTES], struct neper_message *);

/* One end of a control connection: which message it may get next. */
struct neper_talk {
	bool client;
	const char *secret;
	uint32_t magic;
	uint8_t next; /* enum neper_type; 0: none */
};
void neper_talk_init(struct neper_talk *, bool client, const char *secret, uint32_t magic);
/* n bytes have come, and are all that wait. Returns how many it takes: 0 or NEPER_BYTES, with *m;
 * or -EPROTO with *e, which begins "the server" or "the client". -EKEYREJECTED: the secret is not
 * ours. */
int neper_talk_in(struct neper_talk *, const uint8_t *in, size_t n, struct neper_message *m,
		  struct err *e);
/* The client has sent DONE, so BYE may come. */
void neper_talk_done(struct neper_talk *);
/* The peer sends nothing more: 0 if that was its right, else -EPROTO with *e. n bytes wait. */
int neper_talk_end(const struct neper_talk *, size_t n, struct err *e);
