/* SPDX-License-Identifier: BSD-3-Clause */
/* Inside lib/neigh: what is to be told to people, until control takes it. */
#pragma once
#include "neigh.h"

#define NEIGH_NEWS_MAX 16
struct neigh_news_queue {
	unsigned head, n, lost;
	struct neigh_news at[NEIGH_NEWS_MAX];
};
/* Adds one. If too many wait it is counted as lost. mac may be NULL. */
void neigh_news_add(struct neigh_news_queue *q, enum neigh_news_kind kind,
		    const uint8_t ip[NEIGH_IP], const uint8_t *mac);
bool neigh_news_take(struct neigh_news_queue *q, struct neigh_news *out);
