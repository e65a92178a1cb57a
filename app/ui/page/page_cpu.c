/* SPDX-License-Identifier: BSD-3-Clause */
/* Page cpu: a row for each worker, and below them the machine's cores with the lcores on them. */
#include "page.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "out.h"

#define BUSY_FULL 0.95  /* a worker that is busy for this share of its time has none left */
#define WAIT_MUCH 0.001 /* a worker that waited for a CPU for this share cannot be on time */
#define BAR_MOST 24
#define CORE_GAP 2

/* A row of the page: a worker or a text. */
struct line {
	const json_t *worker; /* NULL: it is a text */
	char *text;
	enum role role;
};

/* A queue and the lcores of its workers: worker[0] receives, worker[1] sends. NAN: there is
 * none. */
struct served {
	double port, queue, worker[2];
};

/* What a column needs to draw a worker. */
struct cell {
	const struct page_in *in;
	const json_t *worker;
	const struct served *served;
	unsigned nserved;
	struct grid *g;
	int row, col, width;
};

struct col {
	const char *title, *unit;
	int width, rank;
	void (*draw)(const struct col *, const struct cell *);
	const char *path;
};

static void draw_number(const struct col *col, const struct cell *c)
{
	const json_t *v = json_object_get(c->worker, col->path);

	/* Numbers of CPUs and plans are names and not amounts: they are never shortened. */
	if (json_is_integer(v) && json_integer_value(v) >= 0)
		grid_rightf(c->g, c->row, c->col, c->width, ROLE_DYN_VALUES,
			    "%" JSON_INTEGER_FORMAT, json_integer_value(v));
	else
		grid_right(c->g, c->row, c->col, c->width, ROLE_ZERO, "-");
}

static void draw_si(const struct col *col, const struct cell *c)
{
	page_put_si(c->g, c->row, c->col, c->width, ROLE_DYN_VALUES,
		    page_num(c->worker, col->path, NAN));
}

static void draw_loss(const struct col *col, const struct cell *c)
{
	double v = page_num(c->worker, col->path, NAN);

	page_put_si(c->g, c->row, c->col, c->width, v > 0 ? ROLE_WARN : ROLE_DYN_VALUES, v);
}

static void draw_time(const struct col *col, const struct cell *c)
{
	double v = page_num(c->worker, col->path, NAN);

	page_put_ns(c->g, c->row, c->col, c->width, ROLE_DYN_VALUES, v > 0 ? v : NAN);
}

static void draw_share(const struct col *col, const struct cell *c)
{
	double v = page_num(c->worker, col->path, NAN),
	       most = strcmp(col->path, "wait") == 0 ? WAIT_MUCH : BUSY_FULL;

	if (isfinite(v))
		grid_rightf(c->g, c->row, c->col, c->width,
			    v >= most ? ROLE_WARN
			    : v > 0   ? ROLE_PORT_RATE
				      : ROLE_ZERO,
			    "%.1f%%", 100 * v);
	else
		grid_right(c->g, c->row, c->col, c->width, ROLE_ZERO, "-");
}

static void draw_bar(const struct col *col, const struct cell *c)
{
	double v = page_num(c->worker, col->path, NAN);

	if (isfinite(v))
		grid_bar(c->g, c->row, c->col, c->width, v, c->in->ascii);
}

static void draw_state(const struct col *col, const struct cell *c)
{
	const json_t *v = json_object_get(c->worker, col->path);

	grid_right(c->g, c->row, c->col, c->width, ROLE_PORT_STATUS,
		   json_is_true(v)    ? "asleep"
		   : json_is_false(v) ? "awake"
				      : "-");
}

/* Appends the queues that a worker serves on one side, PORT.QUEUE: "0.0-3,1.0". */
static void add_side(const struct cell *c, int side, struct sbuf *out)
{
	const double lcore = page_num(c->worker, "lcore", NAN);
	const struct served *first = NULL, *last = NULL;

	for (unsigned i = 0; i <= c->nserved; i++) {
		const struct served *q = i < c->nserved ? &c->served[i] : NULL;
		if (q != NULL && q->worker[side] != lcore)
			continue;
		if (q != NULL && last != NULL && q->port == last->port &&
		    q->queue == last->queue + 1) {
			last = q;
			continue;
		}
		if (first != last)
			sbuf_addf(out, "-%.0f", last->queue);
		if (q != NULL)
			sbuf_addf(out, "%s%.0f.%.0f", first != NULL ? "," : "", q->port, q->queue);
		first = last = q;
	}
}

static void draw_queues(const struct col *col, const struct cell *c)
{
	struct sbuf rx = {0}, tx = {0}, b = {0};

	(void)col;
	add_side(c, 0, &rx);
	add_side(c, 1, &tx);
	if (rx.len > 0 && tx.len > 0 && strcmp(rx.s, tx.s) == 0)
		sbuf_addf(&b, "rx+tx %s", rx.s);
	else
		sbuf_addf(&b, "%s%s%s%s%s", rx.len > 0 ? "rx " : "", sbuf_str(&rx),
			  rx.len > 0 && tx.len > 0 ? " " : "", tx.len > 0 ? "tx " : "",
			  sbuf_str(&tx));
	grid_left(c->g, c->row, c->col, c->width, ROLE_STAT_VALUES, b.len > 0 ? b.s : "-");
	sbuf_free(&rx);
	sbuf_free(&tx);
	sbuf_free(&b);
}

/* All columns of workers, from left to right. Where room is short, the highest rank goes first. */
static const struct col cols[] = {
	{"Lcore", "", 5, 0, draw_number, "lcore"},
	{"CPU", "", 4, 9, draw_number, "cpu"},
	{"Node", "", 4, 15, draw_number, "node"},
	{"Busy", "", 6, 1, draw_share, "busy"},
	{"", "", 10, 5, draw_bar, "busy"},
	{"Pkts", "/s", 6, 2, draw_si, "pps"},
	{"Cycles", "/pkt", 6, 3, draw_si, "cycles_per_packet"},
	{"Polls", "/s", 6, 6, draw_si, "loops_per_s"},
	{"Stalls", "/s", 6, 7, draw_loss, "stalls_per_s"},
	{"CPU", "wait", 6, 4, draw_share, "wait"},
	{"Long", "turns", 6, 11, draw_si, "stall.count"},
	{"Longest", "turn", 7, 10, draw_time, "stall.longest_ns"},
	{"State", "", 6, 12, draw_state, "asleep"},
	{"Yields", "", 6, 13, draw_si, "yields"},
	{"Sleeps", "", 6, 14, draw_si, "sleeps"},
	{"Events", "lost", 6, 16, draw_loss, "events_lost"},
	{"Plan", "", 6, 17, draw_number, "plan"},
	{"Queues", "", 16, 8, draw_queues},
};
#define NCOLS ARRAY_SIZE(cols)
#define BAR 4

static struct line *add_line(struct line **list, unsigned *n)
{
	*list = xrealloc(*list, (*n + 1) * sizeof(**list));
	(*list)[*n] = (struct line){0};
	return &(*list)[(*n)++];
}

static void add_text(struct line **list, unsigned *n, enum role role, const char *text)
{
	struct line *l = add_line(list, n);

	l->text = xstrdup(text);
	l->role = role;
}

/* A CPU of the snapshot. What is compared often is looked up once and kept here. */
struct place {
	int cpu, socket, core, node;
	const char *governor; /* "": not known */
	const json_t *json;
};

/* Appends the lcores that run on a CPU: " control", " lcore 3", or several of them where CPUs are
 * few. */
static void add_lcores(const json_t *cpu, struct sbuf *out)
{
	const json_t *list = json_object_get(cpu, "lcores"), *lcore;
	const char *role = page_str(cpu, "role", "");
	size_t i;

	json_array_foreach(list, i, lcore) {
		sbuf_add(out, i > 0 ? " +" : "");
		if (strncmp(role, "control", strlen("control")) == 0)
			sbuf_add(out, " control");
		else
			sbuf_addf(out, " lcore %.0f", json_number_value(lcore));
		role = strchr(role, ';') != NULL ? strchr(role, ';') + 2 : "";
	}
}

/* Returns the CPUs of the core of p[from] and the lcores that run on them as text: "core 3: 3 lcore
 * 3, 11". The caller frees it. */
static char *core_text(const struct place *p, unsigned n, unsigned from)
{
	struct sbuf b = {0};

	sbuf_addf(&b, "core %d:", p[from].core);
	for (unsigned i = from; i < n; i++) {
		if (p[i].core != p[from].core || p[i].socket != p[from].socket)
			continue;
		sbuf_addf(&b, "%s %d", i > from ? "," : "", p[i].cpu);
		add_lcores(p[i].json, &b);
	}
	return b.s;
}

/* Returns true when p[at] is the first CPU of its socket or, if `core` is set, of its core. */
static bool first_of(const struct place *p, unsigned at, bool core)
{
	for (unsigned i = 0; i < at; i++)
		if (p[i].socket == p[at].socket && (!core || p[i].core == p[at].core))
			return false;
	return true;
}

/* Adds the cores of the socket of p[from], as many beside each other as there is room for. */
static void add_socket(struct line **list, unsigned *n, const struct place *p, unsigned ncpus,
		       unsigned from, int columns)
{
	char **text = xcalloc(ncpus, sizeof(*text));
	unsigned cores = 0;
	int widest = 0, beside;
	struct sbuf b = {0};

	sbuf_addf(&b, "Socket %d", p[from].socket);
	if (p[from].node >= 0)
		sbuf_addf(&b, ", node %d", p[from].node);
	add_text(list, n, ROLE_STAT_LABEL, sbuf_str(&b));
	for (unsigned i = from; i < ncpus; i++) {
		if (p[i].socket != p[from].socket || !first_of(p, i, true))
			continue;
		text[cores] = core_text(p, ncpus, i);
		int w = grid_width(text[cores++]);
		widest = w > widest ? w : widest;
	}
	beside = columns / (widest + CORE_GAP) > 1 ? columns / (widest + CORE_GAP) : 1;
	for (unsigned i = 0; i < cores; i++) {
		if (i % (unsigned)beside == 0)
			sbuf_reset(&b);
		sbuf_addf(&b, "%*s%s", CORE_GAP, "", text[i]);
		if (i + 1 == cores || (i + 1) % (unsigned)beside == 0)
			add_text(list, n, ROLE_STAT_VALUES, sbuf_str(&b));
		else
			sbuf_addf(&b, "%*s", widest - grid_width(text[i]), "");
		free(text[i]);
	}
	free(text);
	sbuf_free(&b);
}

static void add_count(struct sbuf *b, const json_t *cpu, const char *key, const char *word)
{
	double v = page_num(cpu, key, NAN);

	if (isfinite(v))
		sbuf_addf(b, "%s%.0f %s%s", b->len > 0 ? ", " : "", v, word, v == 1 ? "" : "s");
}

/* Appends a CPU to a list in which neighbours stand together, "2-5,7". *first and *last are its
 * last range; both are -1 at the beginning. A cpu of -2 ends the list. */
static void add_range(int cpu, int *first, int *last, struct sbuf *out)
{
	if (*last >= 0 && cpu == *last + 1) {
		*last = cpu;
		return;
	}
	if (*last > *first)
		sbuf_addf(out, "-%d", *last);
	if (cpu >= 0)
		sbuf_addf(out, "%s%d", *last >= 0 ? "," : "", cpu);
	*first = *last = cpu;
}

/* Adds "Isolated CPUs: 2-7", if the kernel tells it. */
static void add_isolated(struct line **list, unsigned *n, const struct place *p, unsigned ncpus)
{
	int first = -1, last = -1;
	bool known = false;
	struct sbuf b = {0};

	sbuf_add(&b, "Isolated CPUs: ");
	size_t empty = b.len;
	for (unsigned i = 0; i < ncpus; i++) {
		const json_t *v = json_object_get(p[i].json, "isolated");
		known |= json_is_boolean(v);
		if (json_is_true(v))
			add_range(p[i].cpu, &first, &last, &b);
	}
	add_range(-2, &first, &last, &b);
	if (b.len == empty)
		sbuf_add(&b, "none");
	if (known)
		add_text(list, n, ROLE_STAT_VALUES, b.s);
	sbuf_free(&b);
}

/* Adds a line "Governor powersave: CPUs 0-7" for each governor. The line is a warning unless the
 * governor is "performance", because others change the clock of a CPU while it measures. */
static void add_governors(struct line **list, unsigned *n, const struct place *p, unsigned ncpus)
{
	for (unsigned i = 0; i < ncpus; i++) {
		const char *name = p[i].governor;
		int first = -1, last = -1;
		unsigned before = 0;
		struct sbuf b = {0};

		while (before < i && strcmp(p[before].governor, name) != 0)
			before++;
		if (before < i || name[0] == '\0')
			continue;
		sbuf_addf(&b, "Governor %s: CPUs ", name);
		for (unsigned k = i; k < ncpus; k++)
			if (strcmp(p[k].governor, name) == 0)
				add_range(p[k].cpu, &first, &last, &b);
		add_range(-2, &first, &last, &b);
		add_text(list, n, strcmp(name, "performance") == 0 ? ROLE_STAT_VALUES : ROLE_WARN,
			 b.s);
		sbuf_free(&b);
	}
}

static void add_topology(struct line **list, unsigned *n, const json_t *cpu, int columns)
{
	const json_t *cpus = json_object_get(cpu, "cpus"), *item;
	struct sbuf b = {0};
	size_t k;

	if (!json_is_object(cpu))
		return;
	add_text(list, n, ROLE_DEFAULT, "");
	add_text(list, n, ROLE_STAT_VALUES, page_str(cpu, "model", "-"));
	add_text(list, n, ROLE_STAT_VALUES, page_str(cpu, "kernel", "-"));
	add_count(&b, cpu, "sockets", "socket");
	add_count(&b, cpu, "cores", "core");
	add_count(&b, cpu, "threads", "thread");
	add_text(list, n, ROLE_STAT_VALUES, sbuf_str(&b));
	sbuf_free(&b);
	struct place *p = xcalloc(json_array_size(cpus) + 1, sizeof(*p));
	unsigned ncpus = 0;
	json_array_foreach(cpus, k, item)
		p[ncpus++] = (struct place){
			.cpu = page_int(item, "cpu", -1),
			.socket = page_int(item, "socket", 0),
			.core = page_int(item, "core", 0),
			.node = page_int(item, "node", -1),
			.governor = page_str(item, "governor", ""),
			.json = item,
		};
	add_isolated(list, n, p, ncpus);
	add_governors(list, n, p, ncpus);
	struct sbuf floating = {0};
	add_lcores(json_object_get(cpu, "floating"), &floating);
	if (floating.len > 0) {
		sbuf_add(&floating, ": on no CPU of their own");
		add_text(list, n, ROLE_WARN, floating.s + 1);
	}
	sbuf_free(&floating);
	for (unsigned i = 0; i < ncpus; i++)
		if (first_of(p, i, false))
			add_socket(list, n, p, ncpus, i, columns);
	free(p);
}

/* Returns all queues of ports in use, with their workers. The caller frees the array. */
static struct served *who_serves(const json_t *snap, unsigned *n)
{
	struct served *all = NULL;
	unsigned nports;
	const json_t **ports = page_ports(snap, &nports), *q;
	size_t k;

	*n = 0;
	for (unsigned i = 0; i < nports; i++) {
		const json_t *queues = json_object_get(ports[i], "queues");
		all = xrealloc(all, (*n + json_array_size(queues) + 1) * sizeof(*all));
		json_array_foreach(queues, k, q)
			all[(*n)++] = (struct served){
				.port = page_num(ports[i], "port", 0),
				.queue = page_num(q, "queue", (double)k),
				.worker = {page_num(q, "rx.worker", NAN),
					   page_num(q, "tx.worker", NAN)},
			};
	}
	free(ports);
	return all;
}

/* Places the columns that have room. Of the room that is left the bar gets a quarter, up to
 * BAR_MOST columns in all, and the list of queues gets the rest. */
static void lay_out(int room, int *width, int *at)
{
	int rank[NCOLS], used = 0;

	for (size_t i = 0; i < NCOLS; i++) {
		width[i] = cols[i].width;
		rank[i] = cols[i].rank;
	}
	page_fit(width, rank, NCOLS, 1, room, at);
	for (size_t i = 0; i < NCOLS; i++)
		used = at[i] >= 0 ? at[i] + width[i] : used;
	int spare = room > used ? room - used : 0, bar = at[BAR] < 0 ? 0
							 : spare / 4 < BAR_MOST - width[BAR]
								 ? spare / 4
								 : BAR_MOST - width[BAR];
	width[BAR] += bar;
	width[NCOLS - 1] += spare - bar;
	page_fit(width, rank, NCOLS, 1, room, at);
}

static void draw_titles(struct grid *g, const int *width, const int *at, int rows)
{
	for (size_t i = 0; i < NCOLS; i++) {
		const char *text[] = {cols[i].title, cols[i].unit};
		for (int r = 0; r < rows && at[i] >= 0; r++) {
			if (cols[i].draw == draw_queues)
				grid_left(g, r, at[i], width[i], ROLE_STAT_LABEL, text[r]);
			else
				grid_right(g, r, at[i], width[i], ROLE_STAT_LABEL, text[r]);
		}
	}
}

static void cpu_draw(const struct page_in *in, struct grid *g, struct page_out *out)
{
	int width[NCOLS], at[NCOLS], titles = g->rows >= 5 ? 2 : g->rows >= 3 ? 1 : 0;
	const json_t *workers = json_object_get(in->snap, "workers"), *w;
	struct line *list = NULL;
	unsigned n = 0, nworkers, nserved;
	struct served *served = who_serves(in->snap, &nserved);
	size_t k;

	json_array_foreach(workers, k, w)
		if (json_is_object(w))
			add_line(&list, &n)->worker = w;
	if (n == 0)
		add_text(&list, &n, ROLE_DEFAULT, "no workers");
	nworkers = n;
	add_topology(&list, &n, json_object_get(in->snap, "cpu"), g->cols);
	lay_out(g->cols, width, at);
	page_list(in, n, g->rows - titles, out);
	/* Once all workers are scrolled away, their titles would stand above something else. */
	if (out->top < nworkers)
		draw_titles(g, width, at, titles);
	for (unsigned r = 0; r < out->rows; r++) {
		const struct line *l = &list[out->top + r];
		struct cell c = {.in = in,
				 .worker = l->worker,
				 .served = served,
				 .nserved = nserved,
				 .g = g,
				 .row = titles + (int)r};
		for (size_t i = 0; i < NCOLS && l->worker != NULL; i++) {
			c.col = at[i];
			c.width = width[i];
			if (at[i] >= 0)
				cols[i].draw(&cols[i], &c);
		}
		if (l->worker == NULL)
			grid_left(g, c.row, 0, -1, l->role, l->text);
	}
	for (unsigned i = 0; i < n; i++)
		free(list[i].text);
	free(list);
	free(served);
}

const struct page page_cpu = {
	.name = "cpu",
	.alias = "workers,system,sys",
	.parts = "stats,cpu",
	.draw = cpu_draw,
	.help = "What each worker does with its time, and the cores of the machine.",
};
