/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs case files: flow_case FILE... [-n NAME] [-v] [-6] [-t] [-p]. README.md has the language.
 * Returns 0 if all cases passed. */
#include <stdarg.h>
#include "flow_case.h"

/* Who expects a timer gives it some room: the wheel's ticks, and 2 % of the time. */
#define ROOM_NS 600000ull

static bool verbose;
static struct {
	bool is6, tunnel, pieces, general;
} how;
static unsigned skipped;

void case_say(struct flow_case *c, const char *arrow, const char *text)
{
	struct said *s = &c->log[c->nlog++ % CASE_LOG];

	s->when_ns = c->now_ns - c->start_ns;
	snprintf(s->text, sizeof(s->text), "%s %.150s", arrow, text);
}

static void case_print_log(const struct flow_case *c)
{
	unsigned first = c->nlog > CASE_LOG ? c->nlog - CASE_LOG : 0;

	if (c->nlog > first + 200 && !verbose)
		first = c->nlog - 200;
	for (unsigned i = first; i < c->nlog; i++) {
		const struct said *s = &c->log[i % CASE_LOG];

		printf("  %12.6f %s\n", (double)s->when_ns / 1e9, s->text);
	}
}

_Noreturn void case_fail(struct flow_case *c, const char *what, ...)
{
	va_list args;

	if (c->known)
		longjmp(c->out, 1);
	printf("%s:%u: %s: ", c->file, c->line, c->name);
	va_start(args, what);
	vprintf(what, args);
	va_end(args);
	printf("\n  line: %s\n", c->text);
	case_print_log(c);
	longjmp(c->out, 1);
}

_Noreturn void case_skip(struct flow_case *c)
{
	longjmp(c->out, 2);
}

/* ---- lines ---- */

static void line_quiet(struct flow_case *c)
{
	char text[140];

	machine_start(c);
	machine_flush(c);
	if (c->ncame > 0 && !c->loose) {
		seg_print(c, &c->came[0], true, text, sizeof(text));
		case_fail(c, "a frame came that was not expected: %s", text);
	}
	c->ncame = 0;
}

static void line_take(struct flow_case *c, struct seg *s)
{
	*s = c->came[0];
	memmove(c->came, c->came + 1, --c->ncame * sizeof(c->came[0]));
}

/* +T < ... */
static void line_inject(struct flow_case *c, struct words *w, uint64_t wait, bool hold)
{
	struct seg s;

	if (wait > 0)
		machine_run(c, c->now_ns + wait, false);
	line_quiet(c);
	words_seg(c, w, false, &s);
	machine_in(c, &s, hold);
}

/* +T > ...: what comes next comes then. */
static void line_expect(struct flow_case *c, struct words *w, uint64_t wait, uint64_t room)
{
	uint64_t due = c->now_ns + wait, latest = due + (room != 0 ? room : ROOM_NS + wait / 50),
		 earliest = due > (room != 0 ? room : 1000) ? due - (room != 0 ? room : 1000) : 0;
	struct seg want, came;
	char text[140];

	machine_run(c, latest, true);
	words_seg(c, w, true, &want);
	if (c->ncame == 0)
		case_fail(c, "nothing came until %.6f", (double)(c->now_ns - c->start_ns) / 1e9);
	line_take(c, &came);
	if (want.new_isn) {
		if ((int32_t)(came.seq - c->sent_end) <= 0)
			case_fail(c,
				  "the new connection's numbers begin %d before the old one's end",
				  (int32_t)(c->sent_end - came.seq));
		want.seq += came.seq - c->our_isn;
		c->our_isn = came.seq;
		c->sent_end = came.seq + 1;
	}
	seg_print(c, &came, true, text, sizeof(text));
	if (came.when_ns < earliest)
		case_fail(c, "it came too early, at %.6f: %s",
			  (double)(came.when_ns - c->start_ns) / 1e9, text);
	seg_compare(c, &want, &came);
	c->now_ns = came.when_ns > c->now_ns ? came.when_ns : c->now_ns;
}

/* +T none: nothing comes until then. */
static void line_none(struct flow_case *c, uint64_t wait)
{
	machine_run(c, c->now_ns + wait, true);
	if (c->ncame > 0)
		line_quiet(c);
}

/* pump N T: a peer that takes all, and acknowledges each segment one round trip later. */
static void line_pump(struct flow_case *c, struct words *w)
{
	unsigned rounds = (unsigned)words_number(c, w, "rounds");
	uint64_t rtt = words_time(c, words_need(c, w, "a round trip"));
	uint32_t acked = c->our_isn + 1;

	for (unsigned i = 0; i < rounds; i++) {
		struct seg acks[CASE_OUT], s;
		unsigned n = 0;

		machine_run(c, c->now_ns, false);
		while (c->ncame > 0) {
			line_take(c, &s);
			if ((int32_t)(s.seq + s.len - acked) > 0)
				acked = s.seq + s.len;
			acks[n++] = (struct seg){.flags = TH_ACK,
						 .doff = -1,
						 .win = 65535,
						 .ack = acked,
						 .seq = s.ack,
						 .sport = c->their_port,
						 .dport = c->our_port};
		}
		machine_run(c, c->now_ns + rtt, false);
		for (unsigned k = 0; k < n; k++)
			machine_in(c, &acks[k], false);
	}
}

static enum flow_icmp icmp_what(struct flow_case *c, const char *word)
{
	static const struct {
		const char *name;
		enum flow_icmp what;
	} all[] = {{"too-big", FLOW_ICMP_TOO_BIG}, {"unreachable", FLOW_ICMP_HOST},
		   {"port", FLOW_ICMP_PORT},       {"prohibited", FLOW_ICMP_PROHIBITED},
		   {"other", FLOW_ICMP_OTHER},     {"exceeded", FLOW_ICMP_EXCEEDED}};

	for (unsigned i = 0; i < ARRAY_SIZE(all); i++)
		if (strcmp(word, all[i].name) == 0)
			return all[i].what;
	case_fail(c, "there is no ICMP error '%s'", word);
}

static void line_icmp(struct flow_case *c, struct words *w)
{
	const char *what = words_need(c, w, "what ICMP says"), *word;
	uint32_t mtu = 0, seq = c->our_isn;
	uint16_t ident = c->tunnel ? CASE_IDENT : 0;
	uint8_t quote[48] = {0x45, [8] = 64, [9] = c->udp ? 17 : 6};
	unsigned sport = c->our_port, dport = c->their_port, l4 = c->is6 ? 40 : 20, len = l4 + 8;

	line_quiet(c);
	while ((word = words_next(w)) != NULL) {
		if (strcmp(word, "mtu") == 0)
			mtu = (uint32_t)words_number(c, w, "an MTU");
		else if (strcmp(word, "seq") == 0)
			seq = c->our_isn + text_u32(c, words_need(c, w, "a number"));
		else if (strcmp(word, "sport") == 0)
			sport = (unsigned)words_number(c, w, "a port");
		else if (strcmp(word, "ident") == 0)
			ident = (uint16_t)words_number(c, w, "an identity");
		else if (strcmp(word, "dport") == 0)
			dport = (unsigned)words_number(c, w, "a port");
		else if (strcmp(word, "len") == 0)
			len = (unsigned)words_number(c, w, "bytes of the quote") % 29 + l4 - 20;
		else
			case_fail(c, "ICMP has no '%s'", word);
	}
	seg_addresses(c, c->client, quote);
	put_be16(quote + l4, sport);
	put_be16(quote + l4 + 2, dport);
	put_be16(quote + l4 + 4, seq >> 16);
	put_be16(quote + l4 + 6, seq & 0xffff);
	case_say(c, "< ICMP", what);
	flow_icmp(c->m, icmp_what(c, what), mtu, quote, len, ident, c->now_ns);
	flow_poll(c->m, c->now_ns);
	machine_flush(c);
}

/* ---- the application ---- */

static void line_open(struct flow_case *c)
{
	const struct flow_tuple t = {.is6 = c->is6,
				     .local = {.v4 = 0x0a000001, .v6 = {0xfd, [15] = 1}},
				     .remote = {.v4 = 0x0a000002, .v6 = {0xfd, [15] = 2}},
				     .local_port = c->our_port,
				     .remote_port = c->their_port};

	if (!c->spec.buffered) {
		if (flow_open(c->m, c->version, 1, c->now_ns, 0, c->now_ns) != 1)
			case_fail(c, "it was not opened");
		return;
	}
	if (c->channel != 0)
		flow_forget(c->m, c->channel, c->now_ns);
	c->written = c->read = 0;
	c->channel = flow_open_one(c->m, c->version, &t, c->now_ns);
	if (c->channel == 0)
		case_fail(c, "it was not opened");
}

static void line_send(struct flow_case *c, struct words *w)
{
	uint32_t n = (uint32_t)words_number(c, w, "bytes") % (FLOW_BUFFER + 1), took;
	uint8_t data[FLOW_BUFFER];

	wl_content_put(&c->content, c->written, data, n);
	took = flow_write(c->m, c->channel, data, n, c->now_ns);
	if (took != n)
		case_fail(c, "%u of %u bytes were taken", took, n);
	c->written += n;
}

static void line_read(struct flow_case *c, struct words *w)
{
	uint32_t n = (uint32_t)words_number(c, w, "bytes") % (FLOW_BUFFER + 1), got;
	uint8_t data[FLOW_BUFFER];

	got = flow_read(c->m, c->channel, data, n, c->now_ns);
	if (got != n)
		case_fail(c, "there were %u of %u bytes", got, n);
	if (!wl_content_same(&c->content, c->read, data, n))
		case_fail(c, "the bytes that were read are not those that came");
	c->read += n;
}

/* false: the word is nothing that an application does. */
static bool line_app(struct flow_case *c, struct words *w, const char *word)
{
	static const char *const names[] = {"open", "send", "read", "close", "reset", "forget"};
	unsigned i = 0;

	while (i < ARRAY_SIZE(names) && strcmp(names[i], word) != 0)
		i++;
	if (i == ARRAY_SIZE(names))
		return false;
	line_quiet(c);
	case_say(c, "app", c->text);
	if (i == 0)
		line_open(c);
	else if (i == 1)
		line_send(c, w);
	else if (i == 2)
		line_read(c, w);
	else if (i == 3 || i == 4)
		flow_close(c->m, c->channel, i == 3 ? WL_CLOSE_FIN : WL_CLOSE_RST, c->now_ns);
	else
		flow_forget(c->m, c->channel, c->now_ns);
	if (i == 5)
		c->channel = 0;
	flow_poll(c->m, c->now_ns);
	machine_flush(c);
	return true;
}

/* ---- what must hold ---- */

static void line_judge(struct flow_case *c, struct words *w, const char *name, uint64_t is)
{
	const char *op = words_need(c, w, "= < > <= or >=");
	const char *text = words_need(c, w, "a value");
	/* a time has a unit */
	uint64_t must = strchr(text, 's') != NULL ? words_time(c, text) : text_u32(c, text);
	bool good;

	if (strcmp(op, "=") == 0)
		good = is == must;
	else if (strcmp(op, "<") == 0)
		good = is < must;
	else if (strcmp(op, ">") == 0)
		good = is > must;
	else if (strcmp(op, "<=") == 0)
		good = is <= must;
	else if (strcmp(op, ">=") == 0)
		good = is >= must;
	else
		case_fail(c, "'%s' is not = < > <= or >=", op);
	if (!good)
		case_fail(c, "%s is %llu", name, (unsigned long long)is);
}

static bool count_find(const struct counter *table, const void *cells, const char *name,
		       uint64_t *value)
{
	for (const struct counter *k = table; k->name != NULL; k++) {
		if (strcmp(k->name, name) == 0) {
			memcpy(value, (const char *)cells + k->offset, 8);
			return true;
		}
	}
	return false;
}

static void line_count(struct flow_case *c, struct words *w)
{
	const char *name = words_need(c, w, "a counter");
	uint64_t value = 0;

	if (strncmp(name, "machine.", 8) == 0) {
		if (!count_find(flow_machine_counts_table, flow_machine_counts(c->m), name + 8,
				&value))
			case_fail(c, "a machine has no counter '%s'", name + 8);
	} else if (strcmp(name, "done") == 0) {
		value = c->transactions.done;
	} else if (strcmp(name, "failed") == 0) {
		value = c->transactions.failed;
	} else if (!count_find(flow_counts_table, &c->counts, name, &value) &&
		   !count_find(wl_numbers_table, &c->numbers, name, &value)) {
		case_fail(c, "there is no counter '%s'", name);
	}
	line_judge(c, w, name, value);
}

static void line_state(struct flow_case *c, const char *name)
{
	struct flow_info info;
	const char *is = machine_info(c, &info) ? flow_state_name(info.state) : "CLOSED";

	if (strcasecmp(is, name) != 0)
		case_fail(c, "the state is %s", is);
}

static bool line_info(struct flow_case *c, struct words *w, const char *word)
{
	struct flow_info i = {0};
	bool there = machine_info(c, &i);
	const struct {
		const char *name;
		uint64_t is;
	} rows[] = {
		{"cwnd", i.cwnd},       {"ssthresh", i.ssthresh},      {"srtt", i.srtt_ns},
		{"rto", i.rto_ns},      {"peerwindow", i.peer_window}, {"mss", i.mss},
		{"unacked", i.unacked},
	};

	for (unsigned k = 0; k < ARRAY_SIZE(rows); k++) {
		if (strcmp(rows[k].name, word) != 0)
			continue;
		if (!there)
			case_fail(c, "there is no connection");
		line_judge(c, w, word, rows[k].is);
		return true;
	}
	return false;
}

static void line_ended(struct flow_case *c, const char *name)
{
	static const char *const names[] = {
		[WL_END_REFUSED] = "refused",
		[WL_END_CONNECT_TIMEOUT] = "connect_timeout",
		[WL_END_UNREACHABLE] = "unreachable",
		[WL_END_ABORTED_OPENING] = "aborted_opening",
		[WL_END_CLOSED] = "closed",
		[WL_END_RESET_BY_US] = "reset_by_us",
		[WL_END_RESET_BY_PEER] = "reset_by_peer",
		[WL_END_TIMED_OUT] = "timed_out",
		[WL_END_ABORTED] = "aborted",
	};
	struct flow_channel ch;

	if (!flow_channel(c->m, c->channel, &ch))
		case_fail(c, "there is no channel");
	if (!ch.gone)
		case_fail(c, "the connection is not gone");
	if (strcmp(names[ch.ended], name) != 0)
		case_fail(c, "it ended as %s", names[ch.ended]);
}

static bool line_channel(struct flow_case *c, struct words *w, const char *word)
{
	struct flow_channel ch;

	flow_channel(c->m, c->channel, &ch);
	if (strcmp(word, "readable") == 0)
		line_judge(c, w, word, ch.readable);
	else if (strcmp(word, "writable") == 0)
		line_judge(c, w, word, ch.writable);
	else if (strcmp(word, "peerdone") == 0)
		line_judge(c, w, word, ch.peer_done);
	else
		return false;
	return true;
}

static void case_lines(struct flow_case *c, const char *const *lines, unsigned n);

/* established [KEY VALUE]...: a handshake, and what the peer's SYN says: mss 1460, sack, wscale,
 * win 65535, rtt 10ms. */
static void line_established(struct flow_case *c, struct words *w)
{
	const char *options = "mss 1460 sackOK wscale 0", *word;
	unsigned win = 65535;
	const char *rtt = "10ms";
	char text[3][256];

	while ((word = words_next(w)) != NULL) {
		if (strcmp(word, "win") == 0)
			win = (unsigned)words_number(c, w, "a window");
		else if (strcmp(word, "rtt") == 0)
			rtt = words_need(c, w, "a round trip");
		else if (strcmp(word, "with") == 0)
			options = strstr(c->text, "with") + 4;
		if (strcmp(word, "with") == 0)
			break;
	}
	snprintf(text[0], sizeof(text[0]), "> S%s 0%s", c->client ? "" : ".",
		 c->client ? "" : " ack 1");
	if (c->client) {
		snprintf(text[1], sizeof(text[1]), "+%s < S. 0 ack 1 win %u %s", rtt, win, options);
		case_lines(c,
			   (const char *[]){"open", text[0], text[1],
					    c->spec.buffered ? "> . 1 ack 1" : ""},
			   4);
	} else {
		snprintf(text[1], sizeof(text[1]), "< S 0 win %u %s", win, options);
		snprintf(text[2], sizeof(text[2]), "+%s < . 1 ack 1 win %u", rtt, win);
		case_lines(c, (const char *[]){text[1], text[0], text[2]}, 3);
	}
}

static void line_other(struct flow_case *c, struct words *w, const char *word)
{
	machine_start(c);
	if (strcmp(word, "loose") == 0)
		c->loose = true;
	else if (strcmp(word, "any") == 0)
		c->ncame = 0;
	else if (strcmp(word, "isn") == 0)
		c->their_isn = text_u32(c, words_need(c, w, "a number"));
	else if (strcmp(word, "newpeer") == 0)
		c->their_port = (uint16_t)words_number(c, w, "a port"), c->isn_known = false;
	else if (strcmp(word, "established") == 0)
		line_established(c, w);
	else if (strcmp(word, "icmp") == 0)
		line_icmp(c, w);
	else if (strcmp(word, "pump") == 0)
		line_pump(c, w);
	else if (strcmp(word, "count") == 0)
		line_count(c, w);
	else if (strcmp(word, "state") == 0)
		line_state(c, words_need(c, w, "a state"));
	else if (strcmp(word, "ended") == 0)
		line_ended(c, words_need(c, w, "a fate"));
	else if (!line_app(c, w, word) && !line_info(c, w, word) && !line_channel(c, w, word))
		case_fail(c, "'%s' is not known", word);
}

static void line_run(struct flow_case *c, struct words *w)
{
	const char *word = words_next(w);
	uint64_t wait = 0, room = 0;
	char copy[64], *tilde;

	if (word == NULL)
		return;
	if (strcmp(word, "known") == 0) {
		c->known = true;
		return;
	}
	if (strcmp(word, "only") == 0) {
		if ((strcmp(words_need(c, w, "ipv4 or ipv6"), "ipv6") == 0) != c->is6)
			case_skip(c);
		return;
	}
	if (strcmp(word, "flow") == 0) {
		machine_flow(c, w);
		return;
	}
	if (word[0] == '+') {
		snprintf(copy, sizeof(copy), "%s", word + 1);
		tilde = strchr(copy, '~');
		if (tilde != NULL) {
			*tilde = 0;
			room = words_time(c, tilde + 1);
		}
		wait = words_time(c, copy);
		word = words_need(c, w, "what happens then");
	}
	if (strcmp(word, ">") == 0) {
		line_expect(c, w, wait, room);
		return;
	}
	if (strcmp(word, "<") == 0 || strcmp(word, "<<") == 0) {
		line_inject(c, w, wait, word[1] == '<');
		return;
	}
	if (strcmp(word, "none") == 0) {
		line_none(c, wait);
		return;
	}
	if (wait > 0)
		machine_run(c, c->now_ns + wait, false);
	line_other(c, w, word);
}

static void case_lines(struct flow_case *c, const char *const *lines, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		struct words w;
		unsigned times = 1;

		snprintf(c->text, sizeof(c->text), "%s", lines[i]);
		words_split(&w, lines[i]);
		if (w.n > 2 && strcmp(w.w[0], "repeat") == 0) {
			w.at = 1;
			times = (unsigned)words_number(c, &w, "how often");
		}
		for (unsigned at = w.at; times > 0; times--) {
			w.at = at;
			line_run(c, &w);
		}
	}
}

/* ---- files ---- */

/* One case: its lines from `first` on. Returns whether it passed. */
static bool case_run(const char *file, char **lines, unsigned first, unsigned end, const char *name)
{
	struct flow_case *c = calloc(1, sizeof(*c));
	volatile bool passed = false;
	bool known;
	int why;

	if (c == NULL)
		abort();
	c->file = file;
	snprintf(c->name, sizeof(c->name), "%s", name);
	c->start_ns = c->now_ns = 1000 * SECOND;
	c->their_isn = 4000000000u; /* so that numbers go round early */
	c->our_isn = 5000;
	c->is6 = how.is6;
	c->tunnel = how.tunnel;
	c->pieces = how.pieces;
	c->general = how.general;
	c->l3 = how.tunnel ? CASE_TUNNEL + 14 : 14;
	why = setjmp(c->out);
	if (why == 0) {
		for (unsigned i = first; i < end; i++) {
			c->line = i + 1;
			case_lines(c, (const char *const *)&lines[i], 1);
		}
		machine_end(c);
		passed = true;
		if (verbose) {
			printf("%s: passed\n", name);
			case_print_log(c);
		}
	}
	machine_drop(c);
	known = c->known;
	free(c);
	if (why == 2) {
		skipped++;
		return true;
	}
	if (known && passed)
		printf("%s: %s: passes now: its line 'known' is to go\n", file, name);
	else if (known)
		printf("%s: %s: a known defect\n", file, name);
	return passed != known;
}

struct script {
	char *text, **line;
	unsigned n;
};

static void script_load(struct script *s, const char *file)
{
	FILE *f = fopen(file, "r");
	size_t n = 0, room = 1 << 20;
	char *at;

	*s = (struct script){.text = calloc(1, room + 1), .line = calloc(65536, sizeof(char *))};
	if (f == NULL || s->text == NULL || s->line == NULL) {
		fprintf(stderr, "%s cannot be read\n", file);
		exit(2);
	}
	n = fread(s->text, 1, room, f);
	fclose(f);
	s->text[n] = 0;
	for (at = s->text; at != NULL && *at != 0 && s->n < 65536;) {
		char *end = strchr(at, '\n');

		s->line[s->n++] = at;
		if (end != NULL)
			*end++ = 0;
		at = end;
	}
}

/* Runs the cases of a file, or those with a name. */
static void script_run(const char *file, const char *only, unsigned *passed, unsigned *failed)
{
	struct script s;

	script_load(&s, file);
	for (unsigned i = 0; i < s.n;) {
		unsigned end = i + 1;
		char name[80];

		if (sscanf(s.line[i], "case %79s", name) != 1) {
			if (s.line[i][0] != 0 && s.line[i][0] != '#') {
				printf("%s:%u: a line stands before the first case\n", file, i + 1);
				++*failed;
			}
			i++;
			continue;
		}
		while (end < s.n && strncmp(s.line[end], "case ", 5) != 0)
			end++;
		if (only == NULL || strcmp(only, name) == 0)
			++*(case_run(file, s.line, i + 1, end, name) ? passed : failed);
		i = end;
	}
	free(s.line);
	free(s.text);
}

int main(int argc, char **argv)
{
	unsigned passed = 0, failed = 0;
	const char *only = NULL;

	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "-v") == 0)
			verbose = true;
		else if (strcmp(argv[i], "-6") == 0)
			how.is6 = true;
		else if (strcmp(argv[i], "-t") == 0)
			how.tunnel = true;
		else if (strcmp(argv[i], "-p") == 0)
			how.pieces = true;
		else if (strcmp(argv[i], "-g") == 0)
			how.general = true;
		else if (strcmp(argv[i], "-n") == 0 && i + 1 < argc)
			only = argv[++i];
	}
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "-n") == 0)
			i++;
		else if (argv[i][0] != '-')
			script_run(argv[i], only, &passed, &failed);
	}
	printf("%u cases passed, %u failed, %u skipped\n", passed - skipped, failed, skipped);
	return failed > 0 || passed == skipped;
}
