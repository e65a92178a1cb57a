/* SPDX-License-Identifier: BSD-3-Clause */
/* Those words of `enable` and `disable` that are about ports as hosts: what they answer, and where
 * frames go. */
#include "cmd/verbs.h"
#include "pktgen.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int pktgen_may_host(struct cmd_run *r, unsigned port, struct err *e)
{
	const struct setting *row = cmd_setting_find(r->cmd, "ip", e);
	struct set_obj obj;

	if (row == NULL)
		return -EINVAL;
	if (row->store == NULL || row->store->may == NULL ||
	    !cmd_object(r->cmd, row->scope, port, 0, &obj))
		return 0;
	return row->store->may(row, &obj, NULL, e);
}

bool pktgen_is_host(struct cmd_run *r, unsigned port)
{
	const struct setting *row = cmd_setting_find(r->cmd, "ip", NULL);
	struct sbuf text = {0};

	if (row == NULL)
		return false;
	cmd_setting_text(r->cmd, row, port, 0, &text);
	bool has = strcmp(sbuf_str(&text), "none") != 0;
	sbuf_free(&text);
	return has;
}

static void tell_no_address(struct cmd_run *r, unsigned port, const char *so)
{
	if (!pktgen_is_host(r, port))
		sbuf_addf(
			r->note,
			"warning: port %u: it has no address, %s; `set %u ip 10.0.0.1/24` gives it one\n",
			port, so, port);
}

/* ---- what is answered ---- */

/* Appends the list without, or with, the words; both are separated by commas. */
static void list_change(const char *list, const char *words, bool with, struct sbuf *out)
{
	size_t begin = out->len;

	for (const char *at = list; strcmp(list, "none") != 0 && *at != '\0';) {
		size_t n = strcspn(at, ",");
		bool one = false;
		for (const char *w = words; *w != '\0'; w += strcspn(w, ","), w += *w == ',')
			one = one || (strcspn(w, ",") == n && strncmp(w, at, n) == 0);
		if (!one)
			sbuf_addf(out, "%s%.*s", out->len > begin ? "," : "", (int)n, at);
		at += n + (at[n] == ',');
	}
	if (with)
		sbuf_addf(out, "%s%s", out->len > begin ? "," : "", words);
	if (out->len == begin)
		sbuf_add(out, "none");
}

static int port_set(struct cmd_run *r, const struct setting *row, unsigned port, const char *text,
		    struct sbuf *note, struct err *e)
{
	struct target one = {.n = 1, .item[0] = {.p0 = port, .p1 = port}};

	return cmd_set(r->cmd, &one, row, text, note, e);
}

/* Adds the words to the setting `answer` of the ports, or takes them out. A port that can be no
 * host answers nothing already. */
static int answer_change(struct cmd_run *r, const struct portset *ports, const char *words, bool on,
			 struct err *e)
{
	const struct setting *row = cmd_setting_find(r->cmd, "answer", e);
	unsigned n = ctl_nports(app_of(r)->ctl), p;
	int rc = 0;

	if (row == NULL)
		return -EINVAL;
	char **was = xcalloc(n, sizeof(*was)); /* of ports that were changed */
	for (p = 0; p < n && rc == 0; p++) {
		struct sbuf now = {0}, text = {0};
		if (!portset_has(ports, p))
			continue;
		rc = pktgen_may_host(r, p, e);
		if (rc < 0 && !on) {
			rc = 0;
			continue;
		}
		bool set = cmd_setting_text(r->cmd, row, p, 0, &now);
		list_change(sbuf_str(&now), words, on, &text);
		char *back = xstrdup(set ? sbuf_str(&now) : "default");
		if (rc == 0)
			rc = port_set(r, row, p, sbuf_str(&text), r->note, e);
		if (rc == 0)
			was[p] = back;
		else
			free(back);
		sbuf_free(&now);
		sbuf_free(&text);
	}
	for (p = 0; p < n; p++) {
		if (was[p] != NULL && rc < 0)
			port_set(r, row, p, was[p], NULL, NULL);
		else if (was[p] != NULL && on)
			tell_no_address(r, p, "so it answers nothing");
		free(was[p]);
	}
	free(was);
	return rc;
}

static int answer_switch(struct cmd_run *r, const struct arg_val *a, const char *words, bool on,
			 struct err *e)
{
	struct portset ports;
	int rc = arg_ports(r, a, &ports, e);

	return rc < 0 ? rc : answer_change(r, &ports, words, on, e);
}

int pktgen_enable_ping(struct cmd_run *r, const struct arg_val *ports, bool on, struct err *e)
{
	return answer_switch(r, ports, "ping", on, e);
}

int pktgen_enable_arp(struct cmd_run *r, const struct arg_val *ports, bool on, struct err *e)
{
	return answer_switch(r, ports, "arp", on, e);
}

/* In Pktgen no port looks at what it receives without `process`. Here one that was given an address
 * does, and files that Pktgen saved, which turn everything off, are not to silence it. */
int pktgen_enable_process(struct cmd_run *r, const struct arg_val *a, bool on, struct err *e)
{
	const struct setting *row = cmd_setting_find(r->cmd, "answer", e);
	struct portset ports;

	if (on)
		return answer_switch(r, a, "arp,nd", true, e);
	int rc = row == NULL ? -EINVAL : arg_ports(r, a, &ports, e);
	for (unsigned p = 0; rc == 0 && p < ctl_nports(app_of(r)->ctl); p++) {
		struct sbuf now = {0};
		if (!portset_has(&ports, p) || !pktgen_is_host(r, p))
			continue;
		cmd_setting_text(r->cmd, row, p, 0, &now);
		if (strcmp(sbuf_str(&now), "none") != 0)
			sbuf_addf(
				r->note,
				"port %u has an address, and goes on to answer %s; `set %u answer none` makes it silent\n",
				p, sbuf_str(&now), p);
		sbuf_free(&now);
	}
	return rc;
}

/* ---- where frames go ---- */

/* Those ports of the list, or of all, that can be hosts. A port that was named and can be none
 * refuses `enable`. */
static int hosts_of(struct cmd_run *r, const struct arg_val *a, bool on, struct portset *out,
		    struct err *e)
{
	unsigned n = ctl_nports(app_of(r)->ctl);
	struct portset ports;
	int rc = 0;

	*out = (struct portset){{0}};
	if (!a->given)
		app_all_ports(app_of(r), &ports);
	else if (cmd_target_ports(r->cmd, &a->target, &ports, e) < 0)
		return -EINVAL;
	for (unsigned p = 0; p < n; p++) {
		if (!portset_has(&ports, p))
			continue;
		int may = pktgen_may_host(r, p, e);
		if (may == 0)
			portset_add(out, p);
		else if (a->given && on)
			return may;
		else
			rc = may;
	}
	return on && portset_empty(out) ? rc : 0;
}

/* Takes `auto` back from those streams of a port that were set to it; another destination stays. */
static int port_auto_off(struct cmd_run *r, const struct setting *row, unsigned port, uint32_t s0,
			 uint32_t s1, struct err *e)
{
	int rc = 0;

	for (uint32_t s = s0; rc == 0 && s <= s1 && s < ctl_nstreams(app_of(r)->ctl, port); s++) {
		struct target one = {
			.n = 1,
			.item[0] = {.p0 = port, .p1 = port, .has_streams = true, .s0 = s, .s1 = s}};
		struct sbuf now = {0};
		if (ctl_stream_cfg(app_of(r)->ctl, port, s) != NULL &&
		    cmd_setting_text(r->cmd, row, port, s, &now) &&
		    strcmp(sbuf_str(&now), "auto") == 0)
			rc = cmd_set(r->cmd, &one, row, "default", r->note, e);
		sbuf_free(&now);
	}
	return rc;
}

/* Says where a port's frames go on to, if nobody has set it and the port has an address. */
static void tell_still_auto(struct cmd_run *r, const struct setting *row, unsigned port)
{
	struct sbuf now = {0};

	if (!pktgen_is_host(r, port) || ctl_stream_cfg(app_of(r)->ctl, port, 0) == NULL)
		return;
	cmd_setting_text(r->cmd, row, port, 0, &now);
	if (strcmp(sbuf_str(&now), "auto") == 0)
		sbuf_addf(
			r->note,
			"port %u has an address, and eth.dst is auto there unless it is set: `set %u dst mac MAC` sets it\n",
			port, port);
	sbuf_free(&now);
}

int pktgen_enable_auto(struct cmd_run *r, const struct arg_val *a, bool on, struct err *e)
{
	const struct setting *row = cmd_setting_find(r->cmd, "eth.dst", e);
	unsigned n = ctl_nports(app_of(r)->ctl);
	struct target t = {.n = 1, .item[0] = {.p1 = UINT32_MAX}};
	struct portset ports;

	if (row == NULL)
		return -EINVAL;
	int rc = hosts_of(r, a, on, &ports, e);
	if (a->given)
		t = a->target;
	for (unsigned i = 0; i < t.n; i++) {
		uint32_t s0 = t.item[i].has_streams ? t.item[i].s0 : 0;
		uint32_t s1 = t.item[i].has_streams ? t.item[i].s1 : UINT32_MAX;
		for (uint32_t p = t.item[i].p0; rc == 0 && p < n && p <= t.item[i].p1; p++) {
			struct target all = {.n = 1,
					     .item[0] = {.p0 = p,
							 .p1 = p,
							 .has_streams = true,
							 .s0 = s0,
							 .s1 = s1}};
			if (!portset_has(&ports, p))
				continue;
			rc = on ? cmd_set(r->cmd, &all, row, "auto", r->note, e)
				: port_auto_off(r, row, p, s0, s1, e);
		}
	}
	for (unsigned p = 0; p < n && rc == 0; p++) {
		if (portset_has(&ports, p) && on)
			tell_no_address(r, p, "from which it could ask where frames go");
		else if (portset_has(&ports, p))
			tell_still_auto(r, row, p);
	}
	return rc;
}
