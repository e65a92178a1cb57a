/* SPDX-License-Identifier: BSD-3-Clause */
#include "args.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "out.h"
#include "value.h"

enum opt_id {
	OPT_FIRST = 256, /* above every short option */
	OPT_PORT, OPT_MAP, OPT_FILE, OPT_EXECUTE, OPT_BATCH, OPT_KEEP, OPT_JSON, OPT_CSV, OPT_COLOR, OPT_PROMISC, OPT_TAKE, OPT_MBUFS,
	OPT_TXD, OPT_RXD, OPT_MTU, OPT_LOG, OPT_LATER, OPT_DUMP, OPT_MAN, OPT_HELP, OPT_VERSION
};

struct opt {
	char letter; /* 0: none */
	const char *name;
	const char *arg; /* NULL: takes none */
	enum opt_id id;
	const char *help; /* lines; the first one stands beside the option */
};

static const struct opt opts[] = {
	{'p', "port", "SPEC", OPT_PORT,
	 "add a port; repeatable. Without -p and EAL device options: wire\n"
	 "wire            two ports cross-connected inside the process\n"
	 "null            takes frames, gives none\n"
	 "if:NAME         a Linux interface: AF_PACKET, or AF_XDP where it is unused and opens\n"
	 "xdp:NAME        AF_XDP; refused on an interface with an address without --take\n"
	 "packet:NAME     AF_PACKET\n"
	 "tap:NAME        a tap interface\n"
	 "pci:ADDR        a NIC bound to a DPDK driver\n"
	 "pcap:rx=F,tx=F  capture files\n"
	 "memif:ARGS      shared memory to another process\n"
	 "vdev:ARGS       any DPDK virtual device"},
	{'m', "map", "MAP", OPT_MAP, "core map, \"1.0, 2-3:4.1\": cores that receive : send . port; repeatable.\nNone: chosen automatically"},
	{'f', "file", "FILE", OPT_FILE, "run a command file; repeatable, in order with -e"},
	{'e', "execute", "CMDS", OPT_EXECUTE, "run commands, separated by ; or newlines; repeatable"},
	{'b', "batch", NULL, OPT_BATCH, "no prompt; end when files, -e and piped input are done"},
	{'k', "keep-going", NULL, OPT_KEEP, "in batch: go on after a refused command, exit code 2 at the end"},
	{0, "json", NULL, OPT_JSON, "every result as one JSON document on one line"},
	{0, "csv", NULL, OPT_CSV, "every result as CSV"},
	{0, "color", "WHEN", OPT_COLOR, "colours: auto (default), always, never"},
	{'P', "promiscuous", NULL, OPT_PROMISC, "ports start promiscuous"},
	{0, "take", NULL, OPT_TAKE, "let xdp: take an interface that has an address"},
	{0, "mbufs", "N", OPT_MBUFS, "buffers per pool at start"},
	{0, "txd", "N", OPT_TXD, "Tx descriptors per queue at start"},
	{0, "rxd", "N", OPT_RXD, "Rx descriptors per queue at start"},
	{0, "mtu", "BYTES", OPT_MTU, "MTU at start; buffers are sized for it"},
	{'l', "log", "FILE", OPT_LOG, "append the log to a file"},
	{'T', "theme", "FILE", OPT_LATER, "theme file (not in this version)"},
	{'s', "replay", "P:FILE", OPT_LATER, "replay file of a port (not in this version)"},
	{'G', "listen", NULL, OPT_LATER, "remote socket on the default address (not in this version)"},
	{'g', "listen-on", "ADDR", OPT_LATER, "remote socket on ADDR (not in this version)"},
	{0, "dump-commands", NULL, OPT_DUMP, "print the tables of settings and commands as JSON"},
	{0, "man", NULL, OPT_MAN, "print the manual page (roff)"},
	{'h', "help", NULL, OPT_HELP, "print this help"},
	{'V', "version", NULL, OPT_VERSION, "print the version"},
};

static const char usage[] =
	"usage: wirerate [EAL options --] [options] [command ...]\n"
	"\n"
	"With a terminal: a prompt. Words after the options are one command, run once:\n"
	"  wirerate -p wire start 0 for 2s\n";
static const char exit_codes[] =
	"exit codes: 0 done, 1 a criterion failed, 2 usage or a command was refused, 3 the\n"
	"environment lacks something, 4 the measurement is not valid, 5 a peer failed\n";

static const struct opt *opt_by_id(int id)
{
	for (size_t i = 0; i < ARRAY_SIZE(opts); i++)
		if (opts[i].letter == id || (opts[i].letter == 0 && (int)opts[i].id == id))
			return &opts[i];
	return NULL;
}

static void opt_name(const struct opt *o, char *buf, size_t n)
{
	if (o->letter != 0)
		snprintf(buf, n, "-%c, --%s", o->letter, o->name);
	else
		snprintf(buf, n, "--%s", o->name);
}

/* ":" first: getopt tells a missing value apart; "+": it stops at the first word of the command. */
static void make_getopt(char *shorts, struct option *longs)
{
	*shorts++ = '+';
	*shorts++ = ':';
	for (size_t i = 0; i < ARRAY_SIZE(opts); i++) {
		const struct opt *o = &opts[i];
		longs[i] = (struct option){o->name, o->arg != NULL ? required_argument : no_argument, NULL,
					   o->letter != 0 ? o->letter : (int)o->id};
		if (o->letter == 0)
			continue;
		*shorts++ = o->letter;
		if (o->arg != NULL)
			*shorts++ = ':';
	}
	*shorts = '\0';
	longs[ARRAY_SIZE(opts)] = (struct option){0};
}

static int unknown_option(const char *word, int letter, struct err *e)
{
	const struct opt *o = letter != 0 ? opt_by_id(letter) : NULL;
	const char *names[ARRAY_SIZE(opts)];
	char name[48];

	if (o != NULL) {
		opt_name(o, name, sizeof(name));
		return err_set(e, EINVAL, "option %s takes no value: '%s'", name, word);
	}
	if (letter != 0)
		return err_set(e, EINVAL, "unknown option -%c; EAL options stand before \"--\"; wirerate --help lists the options", letter);
	for (size_t i = 0; i < ARRAY_SIZE(opts); i++)
		names[i] = opts[i].name;
	snprintf(name, sizeof(name), "%.*s", (int)strcspn(word + 2, "="), word + 2);
	const char *near = str_nearest(name, names, ARRAY_SIZE(names));
	if (near != NULL)
		return err_set(e, EINVAL, "unknown option --%s; did you mean --%s? wirerate --help lists the options", name, near);
	return err_set(e, EINVAL, "unknown option --%s; EAL options stand before \"--\"; wirerate --help lists the options", name);
}

static int number(const struct opt *o, const char *text, uint64_t min, uint64_t max, uint64_t *out, struct err *e)
{
	const struct vspec spec = {.type = &vt_uint, .min = min, .max = max};
	struct err why;
	char name[48];
	int rc = vt_uint.parse(&spec, text, out, &why);

	if (rc == 0)
		return 0;
	opt_name(o, name, sizeof(name));
	return err_set(e, EINVAL, "option %s: %s", name, why.text);
}

static int color(const char *text, enum args_color *out, struct err *e)
{
	static const char *const words[] = {"auto", "always", "never"};

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (strcmp(text, words[i]) == 0) {
			*out = (enum args_color)i;
			return 0;
		}
	return err_set(e, EINVAL, "option --color: '%s'; allowed: auto, always, never", text);
}

/* Whole files are read before anything starts: a missing one is told at once, not after the ones before it have run. */
static int read_file(const char *path, char **text, struct err *e)
{
	FILE *f = fopen(path, "re");
	struct sbuf b = {0};
	char chunk[4096];
	size_t n;

	if (f == NULL)
		return err_set(e, EINVAL, "cannot read the command file '%s': %m", path);
	while ((n = fread(chunk, 1, sizeof(chunk), f)) > 0)
		sbuf_addn(&b, chunk, n);
	int bad = ferror(f) ? errno : 0;
	fclose(f);
	*text = b.s != NULL ? b.s : xstrdup("");
	if (bad != 0)
		return err_set(e, EINVAL, "cannot read the command file '%s': %s", path, strerror(bad));
	if (strlen(*text) != b.len)
		return err_set(e, EINVAL, "the command file '%s' holds a zero byte; is it a text file?", path);
	return 0;
}

static struct args_item *add_item(struct args *a, const char *where)
{
	a->item = xrealloc(a->item, (a->nitems + 1) * sizeof(*a->item));
	struct args_item *it = &a->item[a->nitems++];
	struct sbuf b = {0};

	sbuf_addf(&b, "%s:1", where);
	*it = (struct args_item){.where = b.s};
	return it;
}

static int add_file(struct args *a, const char *path, struct err *e)
{
	size_t n = strlen(path);

	if (n >= 4 && strcmp(path + n - 4, ".lua") == 0)
		return err_set(e, EINVAL, "option -f, --file: '%s' is a Lua script: not in this version; give a file of commands", path);
	struct args_item *it = add_item(a, path);
	return read_file(path, &it->text, e);
}

static void add_text(const char ***list, unsigned *n, const char *text)
{
	*list = xrealloc(*list, (*n + 1) * sizeof(**list));
	(*list)[(*n)++] = text;
}

static int set_out_mode(struct args *a, int mode, struct err *e)
{
	if (a->out_mode != OUT_TEXT && a->out_mode != mode)
		return err_set(e, EINVAL, "--json and --csv exclude each other; give one of them");
	a->out_mode = mode;
	return 0;
}

static int take(struct args *a, const struct opt *o, struct err *e)
{
	char name[48];

	switch (o->id) {
	case OPT_PORT: add_text(&a->port, &a->nports, optarg); return 0;
	case OPT_MAP: add_text(&a->map, &a->nmaps, optarg); return 0;
	case OPT_FILE: return add_file(a, optarg, e);
	case OPT_EXECUTE: add_item(a, "-e")->text = xstrdup(optarg); return 0;
	case OPT_BATCH: a->batch = true; return 0;
	case OPT_KEEP: a->keep_going = true; return 0;
	case OPT_JSON: return set_out_mode(a, OUT_JSON, e);
	case OPT_CSV: return set_out_mode(a, OUT_CSV, e);
	case OPT_COLOR: return color(optarg, &a->color, e);
	case OPT_PROMISC: a->promiscuous = true; return 0;
	case OPT_TAKE: a->take = true; return 0;
	case OPT_MBUFS: return number(o, optarg, 1, 1u << 30, &a->mbufs, e);
	case OPT_TXD: return number(o, optarg, 1, UINT16_MAX, &a->txd, e);
	case OPT_RXD: return number(o, optarg, 1, UINT16_MAX, &a->rxd, e);
	case OPT_MTU: return number(o, optarg, 68, UINT16_MAX, &a->mtu, e);
	case OPT_LOG: a->log_file = optarg; return 0;
	case OPT_DUMP: a->what = ARGS_DUMP; return 0;
	case OPT_MAN: a->what = ARGS_MAN; return 0;
	case OPT_HELP: a->what = ARGS_HELP; return 0;
	case OPT_VERSION: a->what = ARGS_VERSION; return 0;
	default:
		opt_name(o, name, sizeof(name));
		return err_set(e, EINVAL, "option %s: not in this version", name);
	}
}

/* The shell has split and unquoted the words: what it took away is put back, so that the command reads the same. A lone word
 * with blanks is not a quoted word but the whole command: wirerate "start 0 for 2s". */
static char *join(char **word, int n)
{
	struct sbuf b = {0};

	for (int i = 0; i < n; i++) {
		const char *w = word[i];
		if (i > 0)
			sbuf_addc(&b, ' ');
		if (n == 1 || (*w != '\0' && strpbrk(w, " \t\n;#\"'{}") == NULL)) {
			sbuf_add(&b, w);
			continue;
		}
		char q = strchr(w, '"') == NULL ? '"' : '\'';
		sbuf_addc(&b, q);
		sbuf_add(&b, w);
		sbuf_addc(&b, q);
	}
	return b.s;
}

/* What stands before the first "--" is EAL's; without "--" everything is ours. */
static int split_eal(struct args *a, int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (strcmp(argv[i], "--") == 0) {
			a->eal = argv + 1;
			a->neal = (unsigned)i - 1;
			return i;
		}
	return 0;
}

int args_parse(struct args *a, int argc, char **argv, struct err *e)
{
	struct option longs[ARRAY_SIZE(opts) + 1];
	char shorts[2 * ARRAY_SIZE(opts) + 3];
	int c, rc;

	*a = (struct args){.out_mode = OUT_TEXT};
	make_getopt(shorts, longs);
	int skip = split_eal(a, argc, argv);
	argc -= skip;
	argv += skip; /* argv[0] is now the program's name or "--": getopt passes over it */
	opterr = 0;
	optind = 0;
	while ((c = getopt_long(argc, argv, shorts, longs, NULL)) != -1) {
		if (c == '?')
			return unknown_option(argv[optind - 1], optopt, e);
		if (c == ':') {
			const struct opt *o = opt_by_id(optopt);
			char name[48] = "";
			if (o != NULL)
				opt_name(o, name, sizeof(name));
			return err_set(e, EINVAL, "option %s needs a value: %s", name, o != NULL ? o->arg : "");
		}
		const struct opt *o = opt_by_id(c);
		if (o != NULL && (rc = take(a, o, e)) != 0)
			return rc;
	}
	if (optind < argc)
		a->command = join(argv + optind, argc - optind);
	if (a->command != NULL && a->command[0] == '\0')
		return err_set(e, EINVAL, "the command after the options is empty; wirerate help lists the commands");
	return 0;
}

void args_free(struct args *a)
{
	for (unsigned i = 0; i < a->nitems; i++) {
		free(a->item[i].where);
		free(a->item[i].text);
	}
	free(a->item);
	free(a->port);
	free(a->map);
	free(a->command);
	*a = (struct args){0};
}

static void opt_head(const struct opt *o, struct sbuf *b)
{
	if (o->letter != 0)
		sbuf_addf(b, "-%c, ", o->letter);
	else
		sbuf_add(b, "    ");
	sbuf_addf(b, "--%s", o->name);
	if (o->arg != NULL)
		sbuf_addf(b, " %s", o->arg);
}

void args_help(struct sbuf *out)
{
	struct sbuf head = {0};

	sbuf_add(out, usage);
	sbuf_addc(out, '\n');
	for (size_t i = 0; i < ARRAY_SIZE(opts); i++) {
		const char *p = opts[i].help;
		sbuf_reset(&head);
		opt_head(&opts[i], &head);
		sbuf_addf(out, "  %-24s ", sbuf_str(&head));
		for (size_t n; *p != '\0'; p += n + (p[n] == '\n')) {
			n = strcspn(p, "\n");
			sbuf_addf(out, "%*s%.*s\n", p == opts[i].help ? 0 : 27, "", (int)n, p);
		}
	}
	sbuf_free(&head);
	sbuf_add(out, "\nEAL options (cores, memory, devices) stand before \"--\": wirerate -l 0-3 -- -p wire\n"
		      "Commands: wirerate help\n\n");
	sbuf_add(out, exit_codes);
}

static void roff(const char *text, size_t n, struct sbuf *out)
{
	for (size_t i = 0; i < n; i++) {
		if (i == 0 && (text[i] == '.' || text[i] == '\''))
			sbuf_add(out, "\\&");
		if (text[i] == '\\')
			sbuf_add(out, "\\e");
		else if (text[i] == '-')
			sbuf_add(out, "\\-");
		else
			sbuf_addc(out, text[i]);
	}
}

void args_man(struct sbuf *out)
{
	struct sbuf head = {0};

	sbuf_add(out, ".SH OPTIONS\n");
	for (size_t i = 0; i < ARRAY_SIZE(opts); i++) {
		const char *p = opts[i].help;
		sbuf_reset(&head);
		opt_head(&opts[i], &head);
		const char *h = sbuf_str(&head);
		h += strspn(h, " ");
		sbuf_add(out, ".TP\n.B ");
		roff(h, strlen(h), out);
		sbuf_addc(out, '\n');
		for (size_t n; *p != '\0'; p += n + (p[n] == '\n')) {
			n = strcspn(p, "\n");
			if (p != opts[i].help)
				sbuf_add(out, ".br\n");
			roff(p, n, out);
			sbuf_addc(out, '\n');
		}
	}
	sbuf_free(&head);
}

void args_man_exit(struct sbuf *out)
{
	sbuf_add(out, ".SH EXIT STATUS\n0 done; 1 a criterion failed; 2 usage or a command was refused; 3 the environment lacks something;\n"
		      "4 the measurement is not valid; 5 a peer failed. A signal ends the process by that signal.\n");
}
