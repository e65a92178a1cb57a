/* SPDX-License-Identifier: BSD-3-Clause */
/* What clients with one request at a time, those with several and servers of bytes share: sizes and
 * contents of messages. */
#pragma once
#include "workload.h"

static inline const struct wl_bytes_conf *bytes_conf(const struct wl_turn *t)
{
	return t->flow->conf;
}

/* The size of a message of transaction `number`, which counts from 0 over TCP, and over UDP as it
 * stands in datagrams. */
static inline uint32_t bytes_varied(struct wl_turn *t, uint32_t number, bool response)
{
	const struct wl_bytes_conf *conf = bytes_conf(t);

	return (uint32_t)wl_vary_at(response ? &conf->response : &conf->request,
				    t->arm->identity(t), number * 2ull + response);
}
static inline uint32_t bytes_request_size(struct wl_turn *t, uint32_t number)
{
	const struct wl_vary *v = &bytes_conf(t)->request;

	return wl_varies(v) ? bytes_varied(t, number, false) : (uint32_t)v->least;
}
static inline uint32_t bytes_response_size(struct wl_turn *t, uint32_t number)
{
	const struct wl_vary *v = &bytes_conf(t)->response;

	return wl_varies(v) ? bytes_varied(t, number, true) : (uint32_t)v->least;
}
static inline void bytes_check(struct wl_turn *t, uint16_t content, uint64_t at,
			       const uint8_t *data, uint32_t n)
{
	if (WL_RARE(t->flow->verify) && data != NULL &&
	    !wl_content_same(&t->flow->content[content], at, data, n))
		cell_add(&t->flow->counts->mismatched, n);
}
