/* SPDX-License-Identifier: BSD-3-Clause */
/* Of several Rx queues of a port on an interface, the kernel chooses that of a frame: on a tap the
 * one in which its flow was last sent to it, else by a hash of its own. Nothing of this can be
 * asked or told. */
#include <errno.h>

#include "kport.h"

static int krss_caps(const struct port *p, struct rss_caps *out)
{
	(void)p;
	*out = (struct rss_caps){0};
	return 0;
}

static int krss_get(const struct port *p, struct rss_setup *out)
{
	(void)p;
	*out = (struct rss_setup){0};
	return -ENOTSUP;
}

static int krss_set(struct port *p, const struct rss_setup *to)
{
	(void)p, (void)to;
	return -ENOTSUP;
}

static int krss_hash(struct port *p, const struct rss_setup *to, bool key)
{
	(void)key;
	return krss_set(p, to);
}

const struct rss_ops kport_rss = {krss_caps, krss_get, krss_hash, krss_set};
