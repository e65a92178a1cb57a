/* SPDX-License-Identifier: BSD-3-Clause */
/* Sizes as a sequence. */
#include "sizes.h"

#include "vary.h"

/* The laps of a range: how many sizes the first one has, if it begins with `first`, and how many
 * each later lap has. */
struct laps {
	unsigned first, later;
	bool aligned; /* first is a size of later laps: all is one cycle */
};

static struct laps laps_of(const struct sizes *s)
{
	struct laps l = {.later = (unsigned)(s->hi - s->lo) / s->step + 1, .aligned = true};

	if (s->first != 0) {
		l.first = (unsigned)(s->down ? s->first - s->lo : s->hi - s->first) / s->step + 1;
		l.aligned = (s->down ? s->hi - s->first : s->first - s->lo) % s->step == 0;
	}
	return l;
}

static unsigned range_count(const struct sizes *s)
{
	struct laps l = laps_of(s);

	return l.aligned ? l.later : l.first + (SIZES_MAX_COUNT - l.first) / l.later * l.later;
}

static void expand_range(const struct sizes *s, uint16_t *out)
{
	struct laps l = laps_of(s);
	unsigned n = range_count(s);

	for (unsigned i = 0; i < n; i++) {
		unsigned from = i < l.first ? s->first : s->down ? s->hi : s->lo;
		unsigned at = (i < l.first ? i : (i - l.first) % l.later) * s->step;
		out[i] = (uint16_t)(s->down ? from - at : from + at);
	}
}

unsigned sizes_count(const struct sizes *s)
{
	unsigned n = 0;

	switch (s->kind) {
	case SIZES_RANGE:
		return range_count(s);
	case SIZES_LIST:
		for (unsigned i = 0; i < s->n; i++)
			n += s->item[i].weight;
		return n;
	case SIZES_RANDOM:
		return (unsigned)s->repeat;
	default:
		return 1;
	}
}

static void expand_list(const struct sizes *s, uint16_t *out)
{
	for (unsigned round = 0, more = 1; more != 0; round++) {
		more = 0;
		for (unsigned i = 0; i < s->n; i++) {
			if (s->item[i].weight <= round)
				continue;
			*out++ = s->item[i].size;
			more |= s->item[i].weight > round + 1;
		}
	}
}

void sizes_expand(const struct sizes *s, uint16_t *out)
{
	unsigned n = sizes_count(s);

	switch (s->kind) {
	case SIZES_RANGE:
		expand_range(s, out);
		break;
	case SIZES_LIST:
		expand_list(s, out);
		break;
	case SIZES_RANDOM:
		for (unsigned i = 0; i < n; i++)
			out[i] = (uint16_t)(s->lo + (vary_r32(vary_key(s->seed, 0, i), i) *
							     (uint64_t)(s->hi - s->lo + 1) >>
						     32));
		break;
	case SIZES_FIXED:
		out[0] = s->item[0].size;
		break;
	default:
		out[0] = 0;
		break;
	}
}

void sizes_bounds(const struct sizes *s, uint16_t *min, uint16_t *max)
{
	unsigned n = s->kind == SIZES_FIXED ? 1 : s->kind == SIZES_LIST ? s->n : 0;

	*min = *max = n != 0 ? s->item[0].size : 0;
	for (unsigned i = 1; i < n; i++) {
		if (s->item[i].size < *min)
			*min = s->item[i].size;
		if (s->item[i].size > *max)
			*max = s->item[i].size;
	}
	if (s->kind == SIZES_RANGE || s->kind == SIZES_RANDOM) {
		*min = s->lo;
		*max = s->hi;
	}
	/* the end that the step does not hit is no size of the range */
	if (s->kind == SIZES_RANGE) {
		struct laps l = laps_of(s);
		unsigned far = (l.later - 1) * s->step,
			 own = l.first > 0 ? (l.first - 1) * s->step : 0;
		if (s->down)
			*min = (uint16_t)(!l.aligned && s->first - own < s->hi - far
						  ? s->first - own
						  : s->hi - far);
		else
			*max = (uint16_t)(!l.aligned && s->first + own > s->lo + far
						  ? s->first + own
						  : s->lo + far);
	}
}
