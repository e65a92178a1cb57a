/* SPDX-License-Identifier: BSD-3-Clause */
/* Timers in lists by time. Time is cut into notches, and the number of a notch is read as digits of
 * 6 bits. The highest digit in which a timer's notch differs from the present notch gives the level
 * of its list, and the value of that digit gives the list. When time comes to a list, its timers
 * move to lists of lower levels, so each timer is moved a few times at most. */
#include "wheel.h"

/* A notch is 2^NOTCH_BITS cycles, about as long as a turn that moves frames. So the list of the
 * present notch is short, and can be searched for timers that are due. */
#define NOTCH_BITS 12
#define DIGIT_BITS 6

_Static_assert(1 << DIGIT_BITS == DP_WHEEL_LISTS, "a digit is a list");
_Static_assert(DP_WHEEL_LEVELS *DIGIT_BITS >= 64 - NOTCH_BITS,
	       "the last level holds the last notch");

static inline unsigned wheel_digit(uint64_t notch, unsigned level)
{
	return notch >> level * DIGIT_BITS & (DP_WHEEL_LISTS - 1);
}

static inline unsigned highest_digit(uint64_t differences)
{
	return differences == 0 ? 0 : (63 - (unsigned)__builtin_clzll(differences)) / DIGIT_BITS;
}

/* Returns the bits 0 to `last`, last < 64. */
static inline uint64_t bits_to(unsigned last)
{
	return (2ull << last) - 1;
}

/* Returns the list of the present notch. */
static inline struct dp_timer **wheel_present(struct dp_wheel *wheel)
{
	return &wheel->list[0][wheel_digit(wheel->notch, 0)];
}

static void link_timer(struct dp_timer **head, struct dp_timer *tm)
{
	tm->next = *head;
	tm->at = head;
	if (tm->next != NULL)
		tm->next->at = &tm->next;
	*head = tm;
}

static void unlink_timer(struct dp_timer *tm)
{
	*tm->at = tm->next;
	if (tm->next != NULL)
		tm->next->at = tm->at;
	tm->at = NULL;
}

/* Puts a timer into its list. One whose notch has passed goes into the list of the present
 * notch. */
static void wheel_place(struct dp_wheel *wheel, struct dp_timer *tm)
{
	uint64_t notch = RTE_MAX(tm->due >> NOTCH_BITS, wheel->notch);
	unsigned level = highest_digit(notch ^ wheel->notch), d = wheel_digit(notch, level);

	wheel->used[level] |= 1ull << d;
	link_timer(&wheel->list[level][d], tm);
}

void dp_timer_stop(struct dp_worker *w, struct dp_timer *tm)
{
	/* the bit in `used` stays, also if the list is empty now; wheel_later() clears it */
	(void)w;
	if (tm->at != NULL)
		unlink_timer(tm);
}

void dp_timer_start(struct dp_worker *w, struct dp_timer *tm, uint64_t due)
{
	struct dp_wheel *wheel = w->wheel;

	dp_timer_stop(w, tm);
	tm->due = due;
	wheel_place(wheel, tm);
	wheel->base.next = RTE_MIN(wheel->base.next, due);
}

/* Makes a later notch the present one. Timers in the lists up to there are placed anew. */
static void wheel_advance(struct dp_wheel *wheel, uint64_t notch)
{
	unsigned top = highest_digit(notch ^ wheel->notch);

	wheel->notch = notch;
	for (unsigned level = 0; level <= top; level++) {
		uint64_t bits = wheel->used[level] &
				(level < top ? UINT64_MAX : bits_to(wheel_digit(notch, top)));
		wheel->used[level] &= ~bits;
		for (; bits != 0; bits &= bits - 1) {
			struct dp_timer **head = &wheel->list[level][__builtin_ctzll(bits)],
					*tm = *head;
			*head = NULL;
			for (struct dp_timer *next; tm != NULL; tm = next) {
				next = tm->next;
				wheel_place(wheel, tm);
			}
		}
	}
}

/* Returns when the first timer after the present notch is due. If its list has several timers,
 * returns the begin of the time that the list spans. DP_NEVER: there is no timer. */
static uint64_t wheel_later(struct dp_wheel *wheel)
{
	for (unsigned level = 0; level < DP_WHEEL_LEVELS; level++) {
		uint64_t bits = wheel->used[level] & ~bits_to(wheel_digit(wheel->notch, level));
		for (; bits != 0; bits &= bits - 1) {
			unsigned d = (unsigned)__builtin_ctzll(bits), shift = level * DIGIT_BITS;
			const struct dp_timer *first = wheel->list[level][d];
			uint64_t notch = (wheel->notch >> shift >> DIGIT_BITS << DIGIT_BITS | d)
					 << shift;
			if (first != NULL)
				return first->next == NULL ? first->due : notch << NOTCH_BITS;
			wheel->used[level] &= ~(1ull << d); /* all its timers were stopped */
		}
	}
	return DP_NEVER;
}

/* Returns the time at which the wheel must be polled next. */
static uint64_t wheel_earliest(struct dp_wheel *wheel)
{
	uint64_t least = DP_NEVER;

	for (const struct dp_timer *tm = *wheel_present(wheel); tm != NULL; tm = tm->next)
		least = RTE_MIN(least, tm->due);
	return *wheel_present(wheel) != NULL ? least : wheel_later(wheel);
}

/* The wheel may hold timers already: some may have been started before it was in a plan. */
static void wheel_adopt(struct dp_worker *w, const struct dp_task *t, const void *old, uint64_t now)
{
	(void)t, (void)old, (void)now;
	w->wheel->base.next = wheel_earliest(w->wheel);
}

/* Collects the timers that are due, then fires them one by one: each may stop others. */
static unsigned wheel_poll(struct dp_worker *w, const struct dp_task *t, uint64_t now)
{
	struct dp_wheel *wheel = w->wheel;
	unsigned moved = 0;

	(void)t;
	if (now >> NOTCH_BITS > wheel->notch)
		wheel_advance(wheel, now >> NOTCH_BITS);
	for (struct dp_timer *tm = *wheel_present(wheel), *next; tm != NULL; tm = next) {
		next = tm->next;
		if (tm->due <= now) {
			unlink_timer(tm);
			link_timer(&wheel->due, tm);
		}
	}
	while (wheel->due != NULL) {
		struct dp_timer *tm = wheel->due;
		unlink_timer(tm);
		moved += tm->fn(w, tm->task, tm, now);
	}
	wheel->base.next = wheel_earliest(wheel);
	return moved;
}

const struct dp_kind dp_kind_wheel = {.name = "wheel", .adopt = wheel_adopt, .poll = wheel_poll};
