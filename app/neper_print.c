/* SPDX-License-Identifier: BSD-3-Clause */
#include "neper_print.h"

#include "out.h"

#include <stdlib.h>
#include <string.h>

static json_t *print_number(const char *value)
{
	if (strpbrk(value, ".n") != NULL)
		return json_real(strtod(value, NULL));
	return json_integer(strtoll(value, NULL, 10));
}

static void print_emit(void *arg, const char *key, const char *value, bool number)
{
	struct neper_print *p = arg;
	struct sbuf line = {0};

	json_object_set_new(json_object_get(p->doc, "neper"), key,
			    number ? print_number(value) : json_string(value));
	if (p->mode == OUT_TEXT) {
		sbuf_addf(&line, "%s=%s\n", key, value);
		p->text(p->arg, sbuf_str(&line));
	}
	sbuf_free(&line);
}

static void print_line(void *arg, const char *text)
{
	struct neper_print *p = arg;
	struct sbuf line = {0};

	sbuf_addf(&line, "%s\n", text);
	if (p->mode == OUT_TEXT)
		p->text(p->arg, sbuf_str(&line));
	else
		p->note(p->arg, sbuf_str(&line));
	sbuf_free(&line);
}

static void print_note(void *arg, const char *text)
{
	struct neper_print *p = arg;
	struct sbuf line = {0};

	sbuf_addf(&line, "%s\n", text);
	p->note(p->arg, sbuf_str(&line));
	sbuf_free(&line);
}

void neper_print_init(struct neper_print *p, const struct neper_kind *k, struct neper_out *out)
{
	p->doc = json_pack("{s:{s:s}}", "neper", "workload", k->name);
	*out = (struct neper_out){.emit = print_emit,
				  .line = print_line,
				  .note = print_note,
				  .arg = p};
}

void neper_print_end(struct neper_print *p)
{
	struct sbuf text = {0};

	if (p->mode != OUT_TEXT) {
		out_write((enum out_mode)p->mode, p->doc, NULL, &text);
		p->text(p->arg, sbuf_str(&text));
	}
	sbuf_free(&text);
}
