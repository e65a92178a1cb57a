/* SPDX-License-Identifier: BSD-3-Clause */
/* Words of the lines of a case: numbers, times, segments. */
#include "flow_case.h"

void words_split(struct words *w, const char *text)
{
	char *at, *save = NULL;

	*w = (struct words){0};
	snprintf(w->text, sizeof(w->text), "%s", text);
	for (at = w->text; *at != 0; at++) {
		if (*at == '#' && (at == w->text || at[-1] == ' ' || at[-1] == '\t')) {
			*at = 0;
			break;
		}
	}
	for (at = strtok_r(w->text, " \t\r\n", &save); at != NULL && w->n < ARRAY_SIZE(w->w);
	     at = strtok_r(NULL, " \t\r\n", &save))
		w->w[w->n++] = at;
}

const char *words_next(struct words *w)
{
	return w->at < w->n ? w->w[w->at++] : NULL;
}

const char *words_need(struct flow_case *c, struct words *w, const char *what)
{
	const char *s = words_next(w);

	if (s == NULL)
		case_fail(c, "the line ends where %s must be", what);
	return s;
}

uint32_t text_u32(struct flow_case *c, const char *text)
{
	char *end;
	long long v = strtoll(text, &end, 0);

	if (end == text || *end != 0)
		case_fail(c, "'%s' is no number", text);
	return (uint32_t)v;
}

uint64_t words_number(struct flow_case *c, struct words *w, const char *what)
{
	const char *s = words_need(c, w, what);
	char *end;
	unsigned long long v = strtoull(s, &end, 0);

	if (end == s || *end != 0)
		case_fail(c, "'%s' is no number", s);
	return v;
}

/* 5us, 1.5ms, 2s; without a unit seconds. */
uint64_t words_time(struct flow_case *c, const char *text)
{
	char *end;
	double v = strtod(text, &end), unit = 1e9;

	if (strcmp(end, "ms") == 0)
		unit = 1e6;
	else if (strcmp(end, "us") == 0)
		unit = 1e3;
	else if (*end != 0 && strcmp(end, "s") != 0)
		case_fail(c, "'%s' is no time", text);
	return (uint64_t)(v * unit + 0.5);
}

/* ---- segments ---- */

static void text_flags(struct flow_case *c, const char *text, struct seg *s)
{
	static const char name[] = "FSRP.UEC";

	for (; *text != 0; text++) {
		const char *at = strchr(name, *text);

		if (*text == '-')
			continue; /* no flag at all */
		if (at == NULL)
			case_fail(c, "'%c' is no flag: they are S F R P U E C and . for ACK",
				  *text);
		s->flags |= (uint8_t)(1u << (at - name));
	}
}

/* 1(100), -5, =0 */
static void text_place(struct flow_case *c, const char *text, uint32_t base, struct seg *s)
{
	char copy[64], *open;

	snprintf(copy, sizeof(copy), "%s", text);
	open = strchr(copy, '(');
	if (open != NULL || text[0] != '*')
		s->has |= HAS_LEN;
	if (open != NULL) {
		char *close = strchr(open, ')');

		if (close == NULL)
			case_fail(c, "'%s' has no )", text);
		*close = *open = 0;
		s->len = text_u32(c, open + 1);
		if (s->len > 1600)
			case_fail(c, "no segment has %u bytes", s->len);
	}
	if (strcmp(copy, "*") == 0)
		return;
	s->has |= HAS_SEQ;
	s->seq = copy[0] == '=' ? text_u32(c, copy + 1) : base + text_u32(c, copy);
}

static void text_sack(struct flow_case *c, const char *text, uint32_t base, struct seg *s)
{
	const char *at = text;

	while (*at != 0 && s->nsack < 4) {
		int from, to, used = 0;

		if (sscanf(at, "%d-%d%n", &from, &to, &used) != 2)
			case_fail(c, "'%s' is not like 101-201,301-401", text);
		s->sack[s->nsack][0] = base + (uint32_t)from;
		s->sack[s->nsack++][1] = base + (uint32_t)to;
		at += used;
		if (*at == ',')
			at++;
	}
	s->has |= HAS_SACK;
}

static void seg_option_bytes(struct flow_case *c, struct seg *s, const uint8_t *o, unsigned n)
{
	if (s->noptions + n > sizeof(s->options))
		case_fail(c, "there is room for 40 bytes of options");
	memcpy(s->options + s->noptions, o, n);
	s->noptions += n;
}

static void seg_option_raw(struct flow_case *c, struct seg *s, const char *hex)
{
	unsigned v;

	for (; sscanf(hex, "%2x", &v) == 1; hex += 2) {
		uint8_t byte = (uint8_t)v;

		seg_option_bytes(c, s, &byte, 1);
		if (hex[1] == 0)
			break;
	}
}

static void seg_option_sack(struct flow_case *c, struct seg *s)
{
	uint8_t o[36] = {1, 1, 5, (uint8_t)(2 + 8 * s->nsack)};

	for (unsigned i = 0; i < s->nsack; i++) {
		for (unsigned k = 0; k < 2; k++) {
			put_be16(o + 4 + 8 * i + 4 * k, s->sack[i][k] >> 16);
			put_be16(o + 6 + 8 * i + 4 * k, s->sack[i][k] & 0xffff);
		}
	}
	seg_option_bytes(c, s, o, 4 + 8u * s->nsack);
}

/* false: the word is no option. */
static bool words_option(struct flow_case *c, struct words *w, const char *word, uint32_t sack_base,
			 struct seg *s)
{
	uint8_t o[4] = {2, 4};

	if (strcmp(word, "mss") == 0) {
		s->mss = (uint16_t)words_number(c, w, "an MSS");
		s->has |= HAS_MSS;
		put_be16(o + 2, s->mss);
		seg_option_bytes(c, s, o, 4);
	} else if (strcmp(word, "wscale") == 0) {
		s->wscale = (uint8_t)words_number(c, w, "a shift");
		s->has |= HAS_WSCALE;
		memcpy(o, (uint8_t[4]){1, 3, 3, s->wscale}, 4);
		seg_option_bytes(c, s, o, 4);
	} else if (strcmp(word, "sackOK") == 0) {
		s->has |= HAS_SACK_OK;
		memcpy(o, (uint8_t[4]){1, 1, 4, 2}, 4);
		seg_option_bytes(c, s, o, 4);
	} else if (strcmp(word, "sack") == 0) {
		text_sack(c, words_need(c, w, "SACK blocks"), sack_base, s);
		seg_option_sack(c, s);
	} else if (strcmp(word, "raw") == 0) {
		seg_option_raw(c, s, words_need(c, w, "hexadecimal bytes"));
	} else if (strcmp(word, "nooption") == 0) {
		s->has |= HAS_NO_OPTIONS;
	} else if (strcmp(word, "nomss") == 0) {
		s->absent |= 1u << 2;
	} else if (strcmp(word, "nowscale") == 0) {
		s->absent |= 1u << 3;
	} else if (strcmp(word, "nosackOK") == 0) {
		s->absent |= 1u << 4;
	} else if (strcmp(word, "nosack") == 0) {
		s->absent |= 1u << 5;
	} else {
		return false;
	}
	return true;
}

/* false: the word is no damage and no oddity of what the peer sends. */
static bool words_odd(struct flow_case *c, struct words *w, const char *word, struct seg *s)
{
	if (strcmp(word, "badsum") == 0)
		s->bad_sum = true;
	else if (strcmp(word, "nosum") == 0)
		s->zero_sum = true;
	else if (strcmp(word, "badipsum") == 0)
		s->bad_ip_sum = true;
	else if (strcmp(word, "doff") == 0)
		s->doff = (int)words_number(c, w, "a data offset");
	else if (strcmp(word, "cut") == 0)
		s->cut = (int)words_number(c, w, "missing bytes");
	else if (strcmp(word, "trailer") == 0)
		s->ip_more = (unsigned)words_number(c, w, "further bytes");
	else if (strcmp(word, "ipoptions") == 0)
		s->ip_options = (unsigned)words_number(c, w, "bytes of IP options") / 4 * 4;
	else if (strcmp(word, "fragment") == 0)
		s->fragment = (unsigned)words_number(c, w, "the IP fragment field");
	else if (strcmp(word, "tos") == 0)
		s->tos = (uint8_t)words_number(c, w, "a TOS byte");
	else if (strcmp(word, "urg") == 0)
		s->urg = (uint16_t)words_number(c, w, "an urgent pointer");
	else if (strcmp(word, "sport") == 0)
		s->sport = (uint16_t)words_number(c, w, "a port");
	else if (strcmp(word, "dport") == 0)
		s->dport = (uint16_t)words_number(c, w, "a port");
	else
		return false;
	return true;
}

void words_seg(struct flow_case *c, struct words *w, bool from_us, struct seg *s)
{
	uint32_t base = from_us ? c->our_isn : c->their_isn,
		 ack_base = from_us ? c->their_isn : c->our_isn;
	const char *word = words_need(c, w, "flags");

	*s = (struct seg){.doff = -1, .win = 65535};
	s->sport = from_us ? c->our_port : c->their_port;
	s->dport = from_us ? c->their_port : c->our_port;
	if (strcmp(word, "any") == 0) {
		s->has = HAS_ANY;
		return;
	}
	if (strcmp(word, "udp") == 0) {
		s->udp = true;
		text_place(c, words_need(c, w, "0(LENGTH)"), 0, s);
		s->has &= ~(unsigned)HAS_SEQ;
	} else {
		text_flags(c, word, s);
		text_place(c, words_need(c, w, "SEQ(LENGTH)"), base, s);
	}
	while ((word = words_next(w)) != NULL) {
		if (strcmp(word, "ack") == 0) {
			word = words_need(c, w, "a number");
			s->ack = word[0] == '=' ? text_u32(c, word + 1)
						: ack_base + text_u32(c, word);
			s->has |= HAS_ACK;
		} else if (strcmp(word, "win") == 0) {
			s->win = (uint16_t)words_number(c, w, "a window");
			s->has |= HAS_WIN;
		} else if (strcmp(word, "number") == 0) {
			s->number = (unsigned)words_number(c, w, "a number");
			s->has |= HAS_NUMBER;
		} else if (from_us && strcmp(word, "newisn") == 0) {
			s->new_isn = true;
		} else if (!words_option(c, w, word, ack_base, s) &&
			   (from_us || !words_odd(c, w, word, s))) {
			case_fail(c, "'%s' is nothing that a segment has", word);
		}
	}
}
