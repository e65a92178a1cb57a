/* SPDX-License-Identifier: BSD-3-Clause */
/* The verb `range` of Pktgen: sets a row range.WORD, or one of a few other rows, by Pktgen's
 * words. */
#include "cmd/verbs.h"

#include <errno.h>
#include <string.h>

#include "held.h"
#include "pktgen.h"

static const char *const firsts[] = {
	"dst",   "src",  "type", "proto",      "tcp",           "ttl",  "vlan",
	"size",  "cos",  "tos",  "hop_limits", "traffic_class", "gtpu", "teid",
	"vxlan", "mpls", "gre",  "gre_key",    "qinq",          NULL,
};
static const char *const about_first[] = {
	"destination mac, ip or port",
	"source mac, ip or port",
	"ipv4 or ipv6",
	"tcp, udp or icmp",
	"flags, seq or ack",
	"time to live or hop limit",
	"VLAN id",
	"frame size with FCS",
	"priority of the VLAN tag",
	"type of service or traffic class",
	"IPv6 hop limit",
	"IPv6 traffic class",
	"GTP-U tunnel endpoint",
	"GTP-U tunnel endpoint",
	"gid or vni",
	"entry: label, class and ttl at once",
	"key",
	"key of the gre header",
	"index: outer and inner VLAN id",
};
_Static_assert(ARRAY_SIZE(firsts) == ARRAY_SIZE(about_first) + 1, "one line for each word");
static const char *const seconds[] = {"mac", "ip",  "port", "flags", "flag", "seq",   "ack",
				      "gid", "vni", "vid",  "entry", "key",  "index", NULL};
static const char *const parts[] = {"start",   "min", "minimum",   "max",
				    "maximum", "inc", "increment", NULL};

/* Words whose row does not follow from the table of ranges: the row of another word, or a row that
 * is not a range, because Pktgen sets these in the single packet. */
static const struct {
	const char *words, *row;
} others[] = {
	{"tcp flag", "range.tcp-flags"}, {"teid", "range.teid"}, {"vxlan vid", "range.vni"},
	{"mpls entry", "mpls-entry"},    {"gre key", "gre.key"}, {"gre_key", "gre.key"},
	{"qinq index", "qinqids"},
};

/* Appends the name of the row; nothing: there is no such pair of words. v6: the value is an IPv6
 * address, which has rows of its own. */
static void row_name(const char *words, bool v6, struct sbuf *out)
{
	for (unsigned i = 0; i < ARRAY_SIZE(others); i++) {
		if (strcmp(others[i].words, words) == 0) {
			sbuf_add(out, others[i].row);
			return;
		}
	}
	for (unsigned i = 0; i < held_nwords; i++) {
		bool six = strchr(held_words[i].name, '6') != NULL;
		if (strcmp(held_words[i].words, words) == 0 &&
		    (six == v6 || strstr(words, " ip") == NULL)) {
			sbuf_addf(out, "range.%s", held_words[i].name);
			return;
		}
	}
}

/* Refuses a pair of words that is not known, and says what may follow the first one. args: the
 * second word, the part and the value. */
static int no_such(const char *word, const struct arg_val *args, struct err *e)
{
	struct sbuf can = {0}, words = {0}, row = {0};
	const char *given = args[0].given   ? seconds[args[0].choice]
			    : args[1].given ? parts[args[1].choice]
			    : args[2].given ? args[2].text
					    : "";
	int col = args[0].given ? args[0].col : args[1].given ? args[1].col : args[2].col;

	for (unsigned i = 0; seconds[i] != NULL; i++) {
		sbuf_reset(&words);
		sbuf_reset(&row);
		sbuf_addf(&words, "%s %s", word, seconds[i]);
		row_name(sbuf_str(&words), false, &row);
		if (row.len == 0)
			continue;
		sbuf_addf(&can, "%s%s", can.len > 0 ? ", " : "", seconds[i]);
	}
	const char *one_of = strchr(sbuf_str(&can), ',') != NULL ? "one of " : "";
	if (given[0] == '\0' && can.len > 0)
		err_at(e, EINVAL, col, "range %s: %s%s is missing", word, one_of, sbuf_str(&can));
	else if (can.len == 0)
		err_at(e, EINVAL, col, "range %s: \"%.40s\" has no meaning here; a value is wanted",
		       word, given);
	else
		err_at(e, EINVAL, col, "range %s: %s%s is wanted here, not \"%.*s\"", word, one_of,
		       sbuf_str(&can), (int)strcspn(given, " "), given);
	sbuf_free(&can);
	sbuf_free(&words);
	sbuf_free(&row);
	return -EINVAL;
}

enum { PORTS, FIRST, SECOND, PART, VALUE };

static int range_run(struct cmd_run *r, const struct arg_val *args, struct err *e)
{
	struct sbuf words = {0}, name = {0}, value = {0};
	struct err own = {.col = -1};

	sbuf_add(&words, firsts[args[FIRST].choice]);
	if (args[SECOND].given)
		sbuf_addf(&words, " %s", seconds[args[SECOND].choice]);
	const char *given = args[VALUE].given ? args[VALUE].text : "";
	row_name(sbuf_str(&words), strchr(given, ':') != NULL, &name);
	int rc = name.len == 0 ? no_such(firsts[args[FIRST].choice], &args[SECOND], &own) : 0;
	const struct setting *row =
		rc == 0 ? cmd_setting_find(r->cmd, sbuf_str(&name), &own) : NULL;
	if (row != NULL && !args[PART].given && !args[VALUE].given) {
		rc = err_at(&own, EINVAL, args[VALUE].col,
			    "range %s: the value is missing; `help %s` shows what is allowed",
			    sbuf_str(&words), row->name);
	} else if (row != NULL) {
		int col = args[PART].given ? args[PART].col : args[VALUE].col;
		if (args[PART].given)
			sbuf_addf(&value, "%s%s", parts[args[PART].choice],
				  given[0] != '\0' ? " " : "");
		sbuf_add(&value, given);
		rc = cmd_set(r->cmd, &args[PORTS].target, row, sbuf_str(&value), r->note, &own);
		own.col = own.col >= 0 ? col + own.col : args[PORTS].col;
	} else if (rc == 0) {
		rc = -EINVAL;
	}
	sbuf_free(&words);
	sbuf_free(&name);
	sbuf_free(&value);
	if (rc < 0 && e != NULL)
		*e = own;
	return rc;
}

static const struct arg_spec args_range[] = {
	[PORTS] = {ARG_TARGETS, "ports"},
	[FIRST] = {ARG_CHOICE, "word", 0, {.choices = firsts}, about_first},
	[SECOND] = {ARG_CHOICE, "of", ARG_OPT, {.choices = seconds}},
	[PART] = {ARG_CHOICE, "part", ARG_OPT, {.choices = parts}},
	[VALUE] = {ARG_REST, "value", ARG_OPT},
	{ARG_END},
};

const struct verb verb_range = {
	.name = "range",
	.args = args_range,
	.run = range_run,
	.help = "Say how a field changes from frame to frame, in Pktgen's words.\n"
		"start, min, max and inc are given all four at once, or one by its name.\n"
		"The ranges are held until `enable <ports> range`. The first frame has the value start; each next one inc more, and\n"
		"behind max comes min; inc 0 keeps the start. For example: range 0 dst port 1000 1000 1999 1; enable 0 range.\n"
		"`set <ports> udp.dst 1000..1999` varies a field at once, without this.",
};
