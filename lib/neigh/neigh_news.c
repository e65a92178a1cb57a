/* SPDX-License-Identifier: BSD-3-Clause */
#include "neigh_news.h"

#include <string.h>

void neigh_news_add(struct neigh_news_queue *q, enum neigh_news_kind kind,
		    const uint8_t ip[NEIGH_IP], const uint8_t *mac)
{
	struct neigh_news *at = &q->at[(q->head + q->n) % NEIGH_NEWS_MAX];

	if (q->n == NEIGH_NEWS_MAX) {
		q->lost++;
		return;
	}
	q->n++;
	*at = (struct neigh_news){.kind = kind};
	memcpy(at->ip, ip, NEIGH_IP);
	if (mac != NULL)
		memcpy(at->mac, mac, 6);
}

bool neigh_news_take(struct neigh_news_queue *q, struct neigh_news *out)
{
	if (q->n == 0)
		return false;
	*out = q->at[q->head];
	q->head = (q->head + 1) % NEIGH_NEWS_MAX;
	q->n--;
	return true;
}
