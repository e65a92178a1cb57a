/* SPDX-License-Identifier: BSD-3-Clause */
#include "args_int.h"
#include "sess.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "cmd.h"
#include "file.h"
#include "opts.h"
#include "out.h"
#include "set/set.h"
#include "userfile.h"
#include "value.h"

struct opt;
typedef int opt_fn(struct args *a, const struct opt *o, const char *value, struct err *e);

struct opt {
	struct opt_word w;
	opt_fn *take;  /* what is done with the value */
	size_t offset; /* in struct args, of the member that `take` sets, if it sets just one */
	/* what an option without a value stands for: enum args_what or enum out_mode */
	uint64_t means;
	const char *help; /* lines; the first one stands beside the option */
};

static opt_fn take_port, take_map, take_file, take_text, take_ip, take_flag, take_out, take_color,
	take_number, take_string, take_what, take_later, take_socket, take_listen, take_allow,
	take_limit, take_dperf;

#define AT(member) offsetof(struct args, member)

static const struct opt opts[] = {
	{OPT_WORD('p', "port", "SPEC"), take_port, 0, 0,
	 "add a port; repeatable. Behind them come devices of EAL options; without either: wire\n"
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
	{OPT_WORD('m', "map", "MAP"), take_map, 0, 0,
	 "core map, \"1.0, 2-3:4.1\": cores that receive : send . port; repeatable.\n"
	 "None: chosen automatically"},
	{OPT_WORD('f', "file", "FILE"), take_file, 0, 0,
	 "run a command file, or a Lua script when it ends in .lua; repeatable, in order with -e. "
	 "One of Pktgen's (NAME.pkt, or `# pktgen` as its "
	 "first line) goes on after a refused line"},
	{OPT_WORD('e', "execute", "CMDS"), take_text, 0, 0,
	 "run commands, separated by ; or newlines; repeatable"},
	{OPT_WORD(0, "dperf", "FILE"), take_dperf, 0, 0,
	 "run a configuration file of dperf, of a client or a server; twice for both. Its ports are the\n"
	 "program's, unless -p names others. -e and -f run before it starts"},
	{OPT_WORD(0, "dperf-dump", NULL), take_what, 0, ARGS_DPERF_DUMP,
	 "print what the files of --dperf come to, as a command file"},
	{OPT_WORD(0, "dperf-manual", NULL), take_what, 0, ARGS_DPERF_MANUAL,
	 "print the directives of dperf and what becomes of them (Markdown)"},
	{OPT_WORD(0, "ip", "A/LEN[,GATEWAY]"), take_ip, 0, 0,
	 "the first port has this address: `set 0 ip A/LEN; set 0 gateway GATEWAY`; in order with -e"},
	{OPT_WORD('b', "batch", NULL), take_flag, AT(batch), 0,
	 "no prompt; end when files, -e and piped input are done"},
	{OPT_WORD('k', "keep-going", NULL), take_flag, AT(keep_going), 0,
	 "in batch: go on after a refused command, exit code 2 at the end"},
	{OPT_WORD(0, "daemon", NULL), take_flag, AT(daemon), 0,
	 "go on in the background for clients (`wirerate attach`); returns when the ports are up and\n"
	 "-f and -e have begun without an error. The log goes to -l FILE, else to syslog"},
	{OPT_WORD(0, "serve", NULL), take_flag, AT(serve), 0,
	 "the same in the foreground, for systemd (Type=notify) and containers; ends by SIGTERM"},
	{OPT_WORD(0, "pid-file", "FILE"), take_string, AT(pid_file), 0,
	 "with --daemon and --serve: write the process's number there"},
	{OPT_WORD(0, "no-screen", NULL), take_flag, AT(no_screen), 0,
	 "begin with the prompt alone; `screen on` opens the full screen"},
	{OPT_WORD(0, "json", NULL), take_out, 0, OUT_JSON,
	 "every result as one JSON document on one line"},
	{OPT_WORD(0, "csv", NULL), take_out, 0, OUT_CSV, "every result as CSV"},
	{OPT_WORD(0, "json-stream", NULL), take_flag, AT(stream), 0,
	 "lines of JSON while it runs: start, interval, trial, result, end ...; implies --batch"},
	{OPT_WORD(0, "report", "FILE"), take_string, AT(report), 0,
	 "write the whole run as one JSON document at its end"},
	{OPT_WORD(0, "color", "WHEN"), take_color, 0, 0, "colours: auto (default), always, never"},
	{OPT_WORD('P', "promiscuous", NULL), take_flag, AT(promiscuous), 0,
	 "ports start promiscuous"},
	{OPT_WORD(0, "take", NULL), take_flag, AT(take), 0,
	 "let xdp: take an interface that has an address"},
	{OPT_WORD(0, "mbufs", "N"), take_number, AT(mbufs), 0, "buffers per pool at start"},
	{OPT_WORD(0, "txd", "N"), take_number, AT(txd), 0, "Tx descriptors per queue at start"},
	{OPT_WORD(0, "rxd", "N"), take_number, AT(rxd), 0, "Rx descriptors per queue at start"},
	{OPT_WORD(0, "mtu", "BYTES"), take_number, AT(mtu), 0,
	 "MTU at start; buffers are sized for it"},
	{OPT_WORD('l', "log", "FILE"), take_string, AT(log_file), 0, "append the log to a file"},
	{OPT_WORD('T', "theme", "NAME"), take_string, AT(theme), 0,
	 "colours of the screen: dark, light, high-contrast, colourblind, mono, or a file"},
	{OPT_WORD('s', "replay", "P:FILE"), take_later, 0, 0,
	 "replay file of a port (not in this version)"},
	{OPT_WORD(0, "lua-jit", NULL), take_flag, AT(lua_jit), 0,
	 "compile scripts: loops are faster, and nothing interrupts them but a\nsecond Ctrl-C, which ends the program"},
	{OPT_WORD(0, "socket", "[=NAME]"), take_socket, 0, 0,
	 "remote control over a Unix socket of this user, $XDG_RUNTIME_DIR/wirerate/NAME.sock,\n"
	 "/run/wirerate for root; a NAME with a slash is a path. Without one: wirerate"},
	{OPT_WORD('G', "listen", NULL), take_listen, 0, 0,
	 "remote control over TCP at 127.0.0.1:22022, with a token"},
	{OPT_WORD('g', "listen-on", "ADDR"), take_listen, 0, 0,
	 "the same at HOST:PORT, HOST or :PORT; without encryption: beyond this machine\n"
	 "only in networks that you trust, else through ssh -L"},
	{OPT_WORD(0, "token-file", "FILE"), take_string, AT(rpc.token_file), 0,
	 "the token of clients over TCP, mode 0600; made when it is not there.\n"
	 "Default: the file `token` beside the Unix socket; `attach` has none"},
	{OPT_WORD(0, "rpc-allow", "LIST"), take_allow, 0, 0,
	 "what is refused over TCP and to Lua from clients: files (commands that name one), quit,\n"
	 "lua (without sandbox), all"},
	{OPT_WORD(0, "rpc-limit", "LIST"), take_limit, 0, 0,
	 "limits of remote clients, NAME=VALUE,...: clients=128 line=1M queue=256 rate=5000\n"
	 "out=16M lua-time=60s lua-memory=64M"},
	{OPT_WORD(0, "dump-commands", NULL), take_what, 0, ARGS_DUMP,
	 "print the tables of settings and commands as JSON"},
	{OPT_WORD(0, "dump-lua", NULL), take_what, 0, ARGS_LUA,
	 "print annotations of the Lua module for LuaLS"},
	{OPT_WORD(0, "dump-lua-manual", NULL), take_what, 0, ARGS_LUA_MANUAL,
	 "print the manual of the Lua module (Markdown)"},
	{OPT_WORD(0, "dump-schema", NULL), take_what, 0, ARGS_SCHEMA,
	 "print the JSON Schema of all that is printed as JSON"},
	{OPT_WORD(0, "man", NULL), take_what, 0, ARGS_MAN, "print the manual page (roff)"},
	{OPT_WORD('h', "help", NULL), take_what, 0, ARGS_HELP, "print this help"},
	{OPT_WORD('V', "version", NULL), take_what, 0, ARGS_VERSION, "print the version"},
};

static const char usage[] =
	"usage: wirerate [EAL options --] [options] [command ...]\n"
	"\n"
	"With a terminal: a full screen with a prompt. Words after the options are one command, run once:\n"
	"  wirerate -p wire start 0 for 2s\n"
	"`wirerate attach [NAME | PATH | HOST:PORT] [options]` is the prompt of a program that serves.\n"
	"`wirerate doctor [DEVICE ...]` tells what is wrong with this machine, and opens no port.\n";
static const char exit_codes[] =
	"exit codes: 0 done, 1 a criterion failed, 2 usage or a command was refused, 3 the\n"
	"environment lacks something, 4 the measurement is not valid, 5 a peer failed\n";

/* "-p, --port: " and why it cannot be so. */
static int opt_fail(const struct opt *o, const char *why, struct err *e)
{
	struct sbuf name = {0};

	opt_print(&o->w, &name);
	err_set(e, EINVAL, "option %s: %s", sbuf_str(&name), why);
	sbuf_free(&name);
	return -EINVAL;
}

static int take_number(struct args *a, const struct opt *o, const char *value, struct err *e)
{
	const struct setting *const *rows, *row = NULL;
	struct err why;
	unsigned n;

	/* The type of the setting that has the same name parses the value. */
	rows = set_rows(&n);
	for (unsigned i = 0; row == NULL && i < n; i++)
		if (strcmp(rows[i]->name, o->w.name) == 0)
			row = rows[i];
	int rc = row != NULL ? row->v.type->parse(&row->v, value, (char *)a + o->offset, &why)
			     : -EINVAL;
	if (rc == 0)
		return 0;
	return opt_fail(o, why.text, e);
}

static int take_flag(struct args *a, const struct opt *o, const char *value, struct err *e)
{
	(void)value;
	(void)e;
	*(bool *)((char *)a + o->offset) = true;
	return 0;
}

static int take_what(struct args *a, const struct opt *o, const char *value, struct err *e)
{
	(void)value;
	(void)e;
	a->what = (enum args_what)o->means;
	return 0;
}

static int take_out(struct args *a, const struct opt *o, const char *value, struct err *e)
{
	(void)value;
	if (a->out_mode != OUT_TEXT && a->out_mode != (int)o->means)
		return err_set(e, EINVAL, "--json and --csv exclude each other; give one of them");
	a->out_mode = (int)o->means;
	return 0;
}

static int take_later(struct args *a, const struct opt *o, const char *value, struct err *e)
{
	(void)a;
	(void)value;
	return opt_fail(o, "not in this version", e);
}

static int take_color(struct args *a, const struct opt *o, const char *value, struct err *e)
{
	static const char *const words[] = {"auto", "always", "never"};

	(void)o;
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (strcmp(value, words[i]) == 0) {
			a->color = (enum args_color)i;
			return 0;
		}
	return err_set(e, EINVAL, "option --color: '%s'; allowed: auto, always, never", value);
}

static int take_string(struct args *a, const struct opt *o, const char *value, struct err *e)
{
	(void)e;
	*(const char **)((char *)a + o->offset) = value;
	return 0;
}

static int take_socket(struct args *a, const struct opt *o, const char *value, struct err *e)
{
	struct sbuf path = {0};
	struct err why;

	(void)o;
	a->rpc.socket = value != NULL ? value : "";
	int rc = rpc_socket_path(a->rpc.socket, &path, &why);
	sbuf_free(&path);
	/* only the form of the name is checked here; whether the socket can be made shows when it
	 * is made */
	return rc != -EINVAL ? 0 : err_set(e, EINVAL, "option --socket: %s", why.text);
}

static int take_listen(struct args *a, const struct opt *o, const char *value, struct err *e)
{
	(void)o;
	(void)e;
	a->rpc.listen = value != NULL ? value : "";
	return 0;
}

static int take_allow(struct args *a, const struct opt *o, const char *value, struct err *e)
{
	struct err why;

	(void)o;
	return rpc_allow_parse(value, &a->rpc.allow, &why) == 0
		       ? 0
		       : err_set(e, EINVAL, "option --rpc-allow: %s", why.text);
}

static int take_limit(struct args *a, const struct opt *o, const char *value, struct err *e)
{
	struct err why;

	(void)o;
	return rpc_limits_parse(value, &a->rpc.limits, &why) == 0
		       ? 0
		       : err_set(e, EINVAL, "option --rpc-limit: %s", why.text);
}

/* Files are read while options are parsed, before anything starts. So a missing file is an error at
 * once, and not only after the files before it have run. */
int args_read_file(const char *path, char **text, struct err *e)
{
	const struct userfile_kind kind = {.what = "the command file ",
					   .guess = "is it a text file?",
					   .most_bytes = FILE_TEXT_MAX,
					   .text = true,
					   .pipe = true};
	struct sbuf b = {0};
	int rc = userfile_read(path, &kind, &b, e);

	*text = b.s != NULL ? b.s : xstrdup("");
	return rc;
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

/* Adds an item that runs a script. Unlike command files, scripts are read when their turn comes. */
static int add_script(struct args *a, const char *path, struct err *e)
{
	struct sbuf text = {0};

	if (access(path, R_OK) != 0)
		return err_set(e, EINVAL, "cannot read the script '%s': %m", path);
	sbuf_add(&text, "script ");
	cmd_quote(path, &text);
	struct args_item *it = add_item(a, path);
	free(it->where);
	*it = (struct args_item){.text = text.s, .script = path};
	return 0;
}

/* Says whether a command file was written for Pktgen: its name ends in .pkt, or its first line is a
 * comment that has the word pktgen in it. Pktgen goes on behind a line that it refuses, and such
 * files rely on that. */
static bool is_pktgen(const char *path, const char *text)
{
	size_t n = strlen(path), line = strcspn(text, "\n");

	if (n >= 4 && strcmp(path + n - 4, ".pkt") == 0)
		return true;
	for (size_t i = 1; text[0] == '#' && i + 6 <= line; i++)
		if (strncasecmp(text + i, "pktgen", 6) == 0)
			return true;
	return false;
}

static int take_file(struct args *a, const struct opt *o, const char *value, struct err *e)
{
	size_t n = strlen(value);

	(void)o;
	if (n >= 4 && strcmp(value + n - 4, ".lua") == 0)
		return add_script(a, value, e);
	struct args_item *it = add_item(a, value);
	int rc = args_read_file(value, &it->text, e);
	it->pktgen = rc == 0 && is_pktgen(value, it->text);
	return rc;
}

static int take_text(struct args *a, const struct opt *o, const char *value, struct err *e)
{
	(void)o;
	(void)e;
	add_item(a, "-e")->text = xstrdup(value);
	return 0;
}

static void add_with_comma(struct sbuf *list, const char *text, size_t n)
{
	sbuf_add(list, list->len > 0 ? "," : "");
	sbuf_addn(list, text, n);
}

/* What has a length is an address of the port, what has none is a gateway. */
static int take_ip(struct args *a, const struct opt *o, const char *value, struct err *e)
{
	struct sbuf own = {0}, gateway = {0};

	(void)o;
	(void)e;
	for (const char *at = value; *at != '\0'; at += *at == ',') {
		size_t n = strcspn(at, ",");
		add_with_comma(memchr(at, '/', n) != NULL ? &own : &gateway, at, n);
		at += n;
	}
	/* Without a length there is no address: the setting says what it takes. */
	struct sbuf *text = own.len > 0 ? &own : &gateway, line = {0};
	sbuf_addf(&line, "set 0 ip %s", sbuf_str(text));
	if (text == &own && gateway.len > 0)
		sbuf_addf(&line, "; set 0 gateway %s", sbuf_str(&gateway));
	sbuf_free(&own);
	sbuf_free(&gateway);
	add_item(a, "--ip")->text = line.s;
	return 0;
}

static void add_word(const char ***list, unsigned *n, const char *text)
{
	*list = xrealloc(*list, (*n + 1) * sizeof(**list));
	(*list)[(*n)++] = text;
}

static int take_port(struct args *a, const struct opt *o, const char *value, struct err *e)
{
	(void)o;
	(void)e;
	add_word(&a->port, &a->nports, value);
	return 0;
}

static int take_dperf(struct args *a, const struct opt *o, const char *value, struct err *e)
{
	(void)o;
	(void)e;
	add_word(&a->dperf, &a->ndperf, value);
	return 0;
}

static int take_map(struct args *a, const struct opt *o, const char *value, struct err *e)
{
	(void)o;
	(void)e;
	add_word(&a->map, &a->nmaps, value);
	return 0;
}

/* Makes one command of the words that the shell has split and unquoted: words that need quotes get
 * them back. A single word with blanks is not quoted, because it is the whole command: wirerate
 * "start 0 for 2s". The caller frees the result. */
static char *args_join(char **word, int n)
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

/* Gives the arguments before the first "--" to EAL. Returns the index of "--", or 0 without one:
 * then no argument is for EAL. */
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

/* Options may stand behind `attach` and the name to attach to, and behind `doctor` and its devices.
 * Whether argv[optind] is one of these words, which is taken then. */
static bool take_word(struct args *a, int argc, char **argv)
{
	if (optind >= argc)
		return false;
	if (!a->attach && strcmp(argv[optind], "attach") == 0)
		a->attach = true;
	else if (a->attach && a->attach_to == NULL)
		a->attach_to = argv[optind];
	else if (!a->attach && a->what == ARGS_RUN && strcmp(argv[optind], "doctor") == 0)
		a->what = ARGS_DOCTOR;
	else if (a->what == ARGS_DOCTOR)
		add_word(&a->doctor, &a->ndoctor, argv[optind]);
	else
		return false;
	optind++;
	return true;
}

static int read_options(struct args *a, int argc, char **argv, struct err *e)
{
	static const struct opt_table table = {.row = opts,
					       .row_bytes = sizeof(*opts),
					       .n = ARRAY_SIZE(opts),
					       .whose = "",
					       .hint = "EAL options stand before \"--\"; ",
					       .list = "wirerate --help lists the options",
					       .in_order = true};
	struct opts *reading = opts_begin(&table);
	const void *row;
	const char *value;
	int rc;

	do {
		while ((rc = opts_next(reading, argc, argv, &row, &value, e)) == 1) {
			const struct opt *o = row;
			rc = o->take(a, o, value, e);
			if (rc != 0)
				break;
		}
	} while (rc == 0 && take_word(a, argc, argv));
	opts_end(reading);
	return rc;
}

int args_parse(struct args *a, int argc, char **argv, struct err *e)
{
	int rc;

	*a = (struct args){.out_mode = OUT_TEXT, .argv = xcalloc((size_t)argc + 1, sizeof(*argv))};
	memcpy(a->argv, argv, (size_t)argc * sizeof(*argv));
	rpc_limits_init(&a->rpc.limits);
	int skip = split_eal(a, argc, argv);
	argc -= skip;
	argv += skip; /* argv[0] is now the program's name or "--", which getopt ignores */
	rc = read_options(a, argc, argv, e);
	if (rc != 0)
		return rc;
	if (optind < argc && args_is_alone(a, argv[optind])) {
		a->what = ARGS_ALONE;
		a->alone = argv + optind;
		a->nalone = argc - optind;
		return 0;
	}
	if (optind < argc)
		a->command = args_join(argv + optind, argc - optind);
	if (a->attach)
		return args_attach(a, argv + optind, argc - optind, e);
	if (a->what == ARGS_DOCTOR)
		return args_doctor(a, e);
	if (a->command != NULL && a->command[0] == '\0')
		return err_set(
			e, EINVAL,
			"the command after the options is empty; wirerate help lists the commands");
	if (a->stream && a->out_mode == OUT_CSV)
		return err_set(
			e, EINVAL,
			"--csv and --json-stream exclude each other: one of them wants standard output");
	a->batch = a->batch || a->stream;
	rc = args_dperf(a, e);
	return rc != 0 ? rc : args_serve(a, e);
}

void args_exec(const struct args *a, struct sess *s)
{
	for (unsigned i = 0; i < a->nitems; i++) {
		sess_keep_going(s, a->item[i].pktgen);
		sess_exec(s, a->item[i].text, a->item[i].where);
	}
	sess_keep_going(s, false);
}

void args_free(struct args *a)
{
	for (unsigned i = 0; i < a->nitems; i++) {
		free(a->item[i].where);
		free(a->item[i].text);
	}
	free(a->item);
	for (unsigned i = 0; a->dperf_device != NULL && i < a->nports; i++)
		free(a->dperf_device[i]);
	free(a->dperf_device);
	free(a->port);
	free(a->map);
	free(a->doctor);
	free(a->dperf);
	free(a->dperf_text);
	free(a->dperf_map);
	free(a->dperf_notes);
	free(a->dperf_stop);
	free(a->text);
	free(a->command);
	free(a->argv);
	*a = (struct args){0};
}

void args_help(struct sbuf *out)
{
	struct sbuf head = {0};

	sbuf_add(out, usage);
	sbuf_addc(out, '\n');
	for (size_t i = 0; i < ARRAY_SIZE(opts); i++) {
		sbuf_reset(&head);
		sbuf_add(&head, "  ");
		opt_print_head(&opts[i].w, &head);
		opt_print_help(sbuf_str(&head), opts[i].help, 27, out);
	}
	sbuf_free(&head);
	sbuf_add(
		out,
		"\nEAL options (cores, memory, devices) stand before \"--\": wirerate -l 0-3 -- -p wire\n"
		"Commands: wirerate help\n\n");
	sbuf_add(out, exit_codes);
}

static void args_roff(const char *text, size_t n, struct sbuf *out)
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

	sbuf_add(
		out,
		".SH ATTACHING\n.B wirerate attach\n[NAME | PATH | HOST:PORT] [options]\n.br\n"
		"is the prompt and the screen of a program that was started with \\-\\-daemon, \\-\\-serve or \\-\\-socket. quit\n"
		"detaches, shutdown ends a daemon. Exit code 5: it is gone.\n");
	sbuf_add(
		out,
		".SH DOCTOR\n.B wirerate doctor\n[options] [DEVICE ...]\n.br\n"
		"tells what is wrong with this machine, why it matters, and the command that mends it. It opens no port and\n"
		"changes nothing. A DEVICE is a PCI address or the name of an interface; without one it is about those of\n"
		"\\-p, else about all NICs. Exit code 1: a warning or an error was found.\n");
	sbuf_add(out, ".SH OPTIONS\n");
	for (size_t i = 0; i < ARRAY_SIZE(opts); i++) {
		const char *p = opts[i].help;
		sbuf_reset(&head);
		opt_print_head(&opts[i].w, &head);
		const char *h = sbuf_str(&head);
		h += strspn(h, " ");
		sbuf_add(out, ".TP\n.B ");
		args_roff(h, strlen(h), out);
		sbuf_addc(out, '\n');
		for (size_t n; *p != '\0'; p += n + (p[n] == '\n')) {
			n = strcspn(p, "\n");
			if (p != opts[i].help)
				sbuf_add(out, ".br\n");
			args_roff(p, n, out);
			sbuf_addc(out, '\n');
		}
	}
	sbuf_free(&head);
}

void args_man_exit(struct sbuf *out)
{
	sbuf_add(
		out,
		".SH EXIT STATUS\n0 done; 1 a criterion failed; 2 usage or a command was refused; 3 the "
		"environment lacks something;\n"
		"4 the measurement is not valid; 5 a peer failed. A signal ends the process by that signal.\n");
}
