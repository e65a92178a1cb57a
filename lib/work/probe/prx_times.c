/* SPDX-License-Identifier: BSD-3-Clause */
/* Times of arrival from the time stamps of a device. */
#include "prx_own.h"

#define OLDEST_MS 10000 /* no frame waits for so long until a worker takes it */

/* Converts the time stamp of a frame to cycles. Returns false if the frame cannot have come at that
 * time. A time that lies in the future by no more than a conversion may be off counts as now. */
static inline bool read_stamp(const struct prx *x, const struct dp_clock *c,
			      const struct rte_mbuf *m, uint64_t now, uint64_t *when)
{
	const struct dp_clock_view *v = &x->view;
	uint64_t stamp, oldest = OLDEST_MS * x->port.scale[PRX_SCALES - 1].cycles;

	memcpy(&stamp, (const uint8_t *)m + c->offset, sizeof(stamp));
	uint64_t at = dp_clock_cycles(v, stamp);
	if (now + v->slack - at > oldest)
		return false;
	*when = (int64_t)(at - now) > 0 ? now : at;
	return true;
}

void prx_times(struct prx *x, const struct dp_clock *c, struct rte_mbuf *const *m, unsigned n,
	       uint64_t now, uint64_t *when)
{
	unsigned stamped = 0, odd = 0, unstamped = 0;

	dp_clock_look(c, &x->view);
	for (unsigned i = 0; i < n; i++) {
		when[i] = now;
		if (x->view.version == 0 || x->view.slack == DP_CLOCK_UNKNOWN ||
		    (m[i]->ol_flags & c->flag) == 0)
			unstamped++;
		else if (read_stamp(x, c, m[i], now, &when[i]))
			stamped++;
		else
			odd++;
	}
	cell_add(&x->port.stamped, stamped);
	cell_add(&x->port.unstamped, unstamped);
	cell_add(&x->port.odd, odd);
}
