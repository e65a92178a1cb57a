/* SPDX-License-Identifier: BSD-3-Clause */
/* The types of values of flows. Texts that lib/workload reads are read by it when they are written,
 * so that an error names the place in the text. */
#include "flows_app.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

#include "filebytes.h"
#include "workload.h"

/* ---- what connections do ---- */

static const char *const app_words[] = {
	[FLOWS_AUTO] = "auto",     [FLOWS_HTTP] = "http",     [FLOWS_BYTES] = "bytes",
	[FLOWS_STREAM] = "stream", [FLOWS_DIALOG] = "dialog", NULL,
};

/* The text of a dialog, from column `at` on, maybe in quotes. */
static int dialog_text(const struct vspec *s, const char *text, size_t at,
		       struct flows_app_value *a, struct err *e)
{
	struct wl_dialog_conf conf = {0};
	size_t n;
	char quote;

	at += strspn(text + at, " \t");
	quote = text[at];
	n = strlen(text + at);
	if (n > 1 && (quote == '\'' || quote == '"') && text[at + n - 1] == quote) {
		at++;
		n -= 2;
	}
	if (n == 0)
		return vspec_fail(s, EINVAL, (int)at, e, text,
				  "does not say the steps: \"dialog send 100, recv 1000\"");
	if (n >= sizeof(a->text))
		return vspec_fail(s, ERANGE, (int)(at + sizeof(a->text) - 1), e, text,
				  "has a dialog of more than %zu bytes", sizeof(a->text) - 1);
	memcpy(a->text, text + at, n);
	int rc = wl_dialog_parse(a->text, &conf, e);
	if (rc != 0 && e != NULL)
		e->col = (int)at + (e->col > 0 ? e->col : 0);
	return rc;
}

static int app_parse(const struct vspec *s, const char *text, void *out, struct err *e)
{
	struct flows_app_value a;
	size_t n = strcspn(text, " \t"), more = n + strspn(text + n, " \t");
	unsigned kind = 0;

	memset(&a, 0, sizeof(a));
	while (app_words[kind] != NULL &&
	       (strlen(app_words[kind]) != n || memcmp(app_words[kind], text, n) != 0))
		kind++;
	if (app_words[kind] == NULL)
		return vspec_fail(s, EINVAL, 0, e, text, "is nothing that connections do");
	a.kind = kind;
	if (kind != FLOWS_DIALOG && text[more] != '\0')
		return vspec_fail(s, EINVAL, (int)more, e, text, "has more after %s",
				  app_words[kind]);
	int rc = kind == FLOWS_DIALOG ? dialog_text(s, text, n, &a, e) : 0;
	if (rc == 0)
		memcpy(out, &a, sizeof(a));
	return rc;
}

static void app_print(const struct vspec *s, const void *v, struct sbuf *out)
{
	const struct flows_app_value *a = v;

	(void)s;
	sbuf_add(out, app_words[a->kind]);
	if (a->kind == FLOWS_DIALOG)
		sbuf_addf(out, " %s", a->text);
}

/* Offers words that begin like the last word of prefix, each with the rest of prefix before it. */
static void offer_words(const char *prefix, const char *const *words,
			void (*offer)(void *, const char *), void *arg)
{
	size_t begin = strlen(prefix);

	while (begin > 0 && prefix[begin - 1] != ' ')
		begin--;
	for (; *words != NULL; words++) {
		struct sbuf whole = {0};
		if (strncmp(*words, prefix + begin, strlen(prefix + begin)) != 0)
			continue;
		sbuf_addn(&whole, prefix, begin);
		sbuf_add(&whole, *words);
		offer(arg, whole.s);
		sbuf_free(&whole);
	}
}

static void app_complete(const struct vspec *s, const char *prefix,
			 void (*offer)(void *, const char *), void *arg)
{
	static const char *const steps[] = {"send", "recv", "think", "close", NULL};
	size_t n = strlen(prefix), last = n;

	(void)s;
	if (strchr(prefix, ' ') == NULL) {
		offer_words(prefix, app_words, offer, arg);
		return;
	}
	/* a step begins behind the word dialog and behind each comma */
	while (last > 0 && prefix[last - 1] != ' ')
		last--;
	while (last > 0 && prefix[last - 1] == ' ')
		last--;
	if (strncmp(prefix, "dialog ", 7) == 0 && (last == 6 || prefix[last - 1] == ','))
		offer_words(prefix, steps, offer, arg);
}

static const char *app_about(const struct vspec *s, const char *word)
{
	static const char *const about[] = {
		[FLOWS_AUTO] = "http on TCP, bytes on UDP",
		[FLOWS_HTTP] = "HTTP/1.1 requests and their responses",
		[FLOWS_BYTES] = "so many bytes as a request, so many as the response",
		[FLOWS_STREAM] = "bytes without an end, up, down or both",
		[FLOWS_DIALOG] = "steps that you write: send 100, recv 1000, think 5ms, x3",
	};

	(void)s;
	for (unsigned i = 0; app_words[i] != NULL; i++)
		if (strcmp(word, app_words[i]) == 0)
			return about[i];
	return NULL;
}

const struct vtype flows_vt_app = {
	.name = "workload",
	.syntax =
		"auto | http | bytes | stream | dialog STEP, STEP, ...[, xN]; a step is send N, recv N, think T or close",
	.size = sizeof(struct flows_app_value),
	.parse = app_parse,
	.print = app_print,
	.complete = app_complete,
	.about = app_about,
};

/* ---- how they end ---- */

static int close_parse(const struct vspec *s, const char *text, void *out, struct err *e)
{
	struct flows_close_value c;
	size_t n = strcspn(text, " \t"), at = n + strspn(text + n, " \t");
	const char *who = text + at;

	memset(&c, 0, sizeof(c));
	c.rst = n == 3 && memcmp(text, "rst", 3) == 0;
	c.keep = n == 4 && memcmp(text, "keep", 4) == 0;
	if (!c.rst && !c.keep && (n != 3 || memcmp(text, "fin", 3) != 0))
		return vspec_fail(s, EINVAL, 0, e, text, "is no way to close a connection");
	c.server = strcmp(who, "server") == 0;
	if (who[0] != '\0' && (c.keep || (!c.server && strcmp(who, "client") != 0)))
		return vspec_fail(s, EINVAL, (int)at, e, text, "%s",
				  c.keep ? "has more after keep"
					 : "does not say who closes, client or server");
	memcpy(out, &c, sizeof(c));
	return 0;
}

static void close_print(const struct vspec *s, const void *v, struct sbuf *out)
{
	const struct flows_close_value *c = v;

	(void)s;
	sbuf_add(out, c->keep ? "keep" : c->rst ? "rst " : "fin ");
	if (!c->keep)
		sbuf_add(out, c->server ? "server" : "client");
}

static void close_complete(const struct vspec *s, const char *prefix,
			   void (*offer)(void *, const char *), void *arg)
{
	static const char *const how[] = {"fin", "rst", "keep", NULL}, *const who[] = {"client",
										       "server",
										       NULL};

	(void)s;
	if (strchr(prefix, ' ') == NULL)
		offer_words(prefix, how, offer, arg);
	else if (strncmp(prefix, "keep", 4) != 0)
		offer_words(prefix, who, offer, arg);
}

const struct vtype flows_vt_close = {
	.name = "close",
	.syntax = "fin [client | server] | rst [client | server] | keep",
	.size = sizeof(struct flows_close_value),
	.parse = close_parse,
	.print = close_print,
	.complete = close_complete,
};

/* ---- numbers ---- */

static int tps_parse(const struct vspec *s, const char *text, void *out, struct err *e)
{
	struct flows_tps_value v;

	memset(&v, 0, sizeof(v));
	v.on = strcmp(text, "off") != 0;
	int rc = v.on ? vt_per_second.parse(s, text, &v.rate, e) : 0;
	if (rc == 0)
		memcpy(out, &v, sizeof(v));
	return rc;
}

static void tps_print(const struct vspec *s, const void *v, struct sbuf *out)
{
	const struct flows_tps_value *t = v;

	if (t->on)
		vt_per_second.print(s, &t->rate, out);
	else
		sbuf_add(out, "off");
}

static void tps_complete(const struct vspec *s, const char *prefix,
			 void (*offer)(void *, const char *), void *arg)
{
	if (strncmp("off", prefix, strlen(prefix)) == 0)
		offer(arg, "off");
	vt_per_second.complete(s, prefix, offer, arg);
}

static enum vplain tps_plain(const struct vspec *s, const void *v, double *out)
{
	const struct flows_tps_value *t = v;

	return t->on ? vt_per_second.plain(s, &t->rate, out) : VPLAIN_TEXT;
}

static void tps_number(const struct vspec *s, double n, struct sbuf *out)
{
	vt_per_second.number(s, n, out);
}

const struct vtype flows_vt_tps = {
	.name = "rate",
	.syntax = "off | " PER_SECOND_SYNTAX,
	.size = sizeof(struct flows_tps_value),
	.parse = tps_parse,
	.print = tps_print,
	.complete = tps_complete,
	.plain = tps_plain,
	.number = tps_number,
};

static int number_parse(const struct vspec *s, const char *text, void *out, struct err *e)
{
	const uint64_t none = 0;

	if (strcmp(text, s->choices[0]) != 0)
		return vt_uint.parse(s, text, out, e);
	memcpy(out, &none, sizeof(none));
	return 0;
}

static void number_print(const struct vspec *s, const void *v, struct sbuf *out)
{
	uint64_t n;

	memcpy(&n, v, sizeof(n));
	if (n == 0)
		sbuf_add(out, s->choices[0]);
	else
		vt_uint.print(s, v, out);
}

static void number_complete(const struct vspec *s, const char *prefix,
			    void (*offer)(void *, const char *), void *arg)
{
	if (strncmp(s->choices[0], prefix, strlen(prefix)) == 0)
		offer(arg, s->choices[0]);
}

static void number_allowed(const struct vspec *s, struct sbuf *out)
{
	sbuf_addf(out, "%s | ", s->choices[0]);
	vt_uint.allowed(&(struct vspec){.type = &vt_uint, .min = s->min, .max = s->max}, out);
}

static enum vplain number_plain(const struct vspec *s, const void *v, double *out)
{
	uint64_t n;

	(void)s;
	memcpy(&n, v, sizeof(n));
	return n == 0 ? VPLAIN_TEXT : value_plain_u64(n, out);
}

const struct vtype flows_vt_number = {
	.name = "number",
	.syntax = "a number, or the word for none",
	.size = sizeof(uint64_t),
	.parse = number_parse,
	.print = number_print,
	.complete = number_complete,
	.allowed = number_allowed,
	.plain = number_plain,
};

/* ---- texts of lib/workload ---- */

/* Where a text is in what HTTP is made of; the other settings are those that allow it. */
static const struct text_of {
	const struct vtype *type;
	struct wl_http_settings with;
	size_t at;
} texts_http[] = {
	{&flows_vt_method,
	 {.client = true, .host = "-"},
	 offsetof(struct wl_http_settings, method)},
	{&flows_vt_path, {.client = true, .host = "-"}, offsetof(struct wl_http_settings, path)},
	{&flows_vt_host, {.client = true}, offsetof(struct wl_http_settings, host)},
	{&flows_vt_header,
	 {.client = true, .host = "-"},
	 offsetof(struct wl_http_settings, header)},
	{&flows_vt_status, {0}, offsetof(struct wl_http_settings, status)},
};

/* lib/workload names the setting at the beginning of its errors, and so does `set`. */
static void text_unnamed(struct err *e)
{
	size_t n = e != NULL ? strcspn(e->text, " ") : 0;

	if (n > 0 && e->text[n - 1] == ':' && e->text[n] == ' ')
		memmove(e->text, e->text + n + 1, strlen(e->text + n + 1) + 1);
}

static int text_check(const struct vtype *type, const char *text, struct err *e)
{
	struct wl_http *made;

	for (unsigned i = 0; i < ARRAY_SIZE(texts_http); i++) {
		struct wl_http_settings s = texts_http[i].with;
		if (texts_http[i].type != type)
			continue;
		memcpy((char *)&s + texts_http[i].at, &text, sizeof(text));
		int rc = wl_http_make(&s, &made, e);
		if (rc == 0)
			wl_http_free(made);
		else
			text_unnamed(e);
		return rc;
	}
	return 0;
}

/* Numbers that vary are kept as canonical text. */
static int vary_parse(const struct vspec *s, const char *text, void *out, struct err *e)
{
	struct wl_vary v;
	struct sbuf canonical = {0};
	bool dflt = strcmp(text, s->choices[0]) == 0;
	int rc = dflt ? 0 : s->of->type->parse(s->of, text, &v, e);

	if (rc != 0)
		return rc;
	if (!dflt)
		s->of->type->print(s->of, &v, &canonical);
	if (strcmp(sbuf_str(&canonical), s->choices[0]) == 0)
		sbuf_reset(&canonical);
	if (canonical.len >= s->type->size) {
		rc = vspec_fail(s, ERANGE, 0, e, text, "is too long");
	} else {
		memset(out, 0, s->type->size);
		memcpy(out, sbuf_str(&canonical), canonical.len);
	}
	sbuf_free(&canonical);
	return rc;
}

static int text_parse(const struct vspec *s, const char *text, void *out, struct err *e)
{
	size_t n = strlen(text), size = s->type->size;

	if (n >= size)
		return vspec_fail(s, ERANGE, (int)size - 1, e, text, "is too long (%zu bytes)", n);
	bool dflt = strcmp(text, s->choices[0]) == 0;
	int rc = dflt ? 0 : text_check(s->type, text, e);
	if (rc == 0) {
		memset(out, 0, size);
		memcpy(out, text, dflt ? 0 : n);
	}
	return rc;
}

static void text_print(const struct vspec *s, const void *v, struct sbuf *out)
{
	const char *text = v;

	if (text[0] == '\0')
		sbuf_add(out, s->choices[0]);
	else
		sbuf_addn(out, text, strnlen(text, s->type->size));
}

/* Offers all choices; those behind the first are values that are often wanted. */
static void text_complete(const struct vspec *s, const char *prefix,
			  void (*offer)(void *, const char *), void *arg)
{
	if (s->of != NULL)
		s->of->type->complete(s->of, prefix, offer, arg);
	for (unsigned i = 0; s->choices[i] != NULL; i++)
		if (strncmp(s->choices[i], prefix, strlen(prefix)) == 0)
			offer(arg, s->choices[i]);
}

static void vary_allowed(const struct vspec *s, struct sbuf *out)
{
	sbuf_addf(out, "%s | ", s->choices[0]);
	vspec_allowed(s->of, out);
}

static enum vplain vary_plain(const struct vspec *s, const void *v, double *out)
{
	const char *text = v;
	struct wl_vary vary;

	return text[0] != '\0' && s->of->type->parse(s->of, text, &vary, NULL) == 0
		       ? s->of->type->plain(s->of, &vary, out)
		       : VPLAIN_TEXT;
}

static void vary_number(const struct vspec *s, double n, struct sbuf *out)
{
	s->of->type->number(s->of, n, out);
}

#define TEXT(what, words, bytes) \
	.name = what, .syntax = words, .size = bytes, .parse = text_parse, .print = text_print, \
	.complete = text_complete

const struct vtype flows_vt_vary = {.name = "numbers",
				    .syntax = "a word, a number, A..B, or several with weights",
				    .size = VT_TEXT_MAX,
				    .parse = vary_parse,
				    .print = text_print,
				    .complete = text_complete,
				    .allowed = vary_allowed,
				    .plain = vary_plain,
				    .number = vary_number};
const struct vtype flows_vt_method = {
	TEXT("methods", "GET, HEAD, POST, PUT, or several with weights: GET:7,POST:1",
	     VT_TEXT_MAX)};
const struct vtype flows_vt_path = {
	TEXT("paths", "/index.html, or several with weights: /a:7,/b:1", VT_TEXT_MAX)};
const struct vtype flows_vt_host = {
	TEXT("hosts", "address, NAME[:PORT], or several with weights: a.example::7,b.example::1",
	     VT_TEXT_MAX)};
const struct vtype flows_vt_status = {
	TEXT("statuses", "200 to 599, or several with weights: 200:99,503:1", VT_TEXT_MAX)};
const struct vtype flows_vt_header = {
	TEXT("fields", "none, or NAME: VALUE, with \\n between fields", FLOWS_HEADER_MAX)};

/* ---- files ---- */

static int file_parse(const struct vspec *s, const char *text, void *out, struct err *e)
{
	struct filebytes *f = NULL;

	if (text[0] == '\0')
		return vspec_fail(s, EINVAL, 0, e, text, "is empty");
	if (strcmp(text, "none") != 0) {
		int rc = filebytes_read(text, WL_WHOLE_MAX, &f, e);
		if (rc != 0) {
			if (e != NULL)
				e->col = 0;
			return rc;
		}
	}
	memcpy(out, &f, sizeof(f));
	return 0;
}

static void file_print(const struct vspec *s, const void *v, struct sbuf *out)
{
	const struct filebytes *f;

	(void)s;
	memcpy(&f, v, sizeof(f));
	sbuf_add(out, f != NULL ? f->name : "none");
}

const struct vtype flows_vt_file = {.name = "file",
				    .syntax = "the name of a file of 1 byte to 16 MiB, or none",
				    .size = sizeof(struct filebytes *),
				    .parse = file_parse,
				    .print = file_print};
_Static_assert(WL_WHOLE_MAX == 16u << 20, "what the syntax says");

/* ---- servers that are dead ---- */

static bool dead_address(const char *text, size_t n, uint8_t out[16])
{
	static const uint8_t mapped[16] = {[10] = 0xff, [11] = 0xff};
	char one[INET6_ADDRSTRLEN];

	if (n >= sizeof(one))
		return false;
	memcpy(one, text, n);
	one[n] = '\0';
	memcpy(out, mapped, sizeof(mapped));
	return inet_pton(AF_INET, one, out + 12) == 1 || inet_pton(AF_INET6, one, out) == 1;
}

static int dead_parse(const struct vspec *s, const char *text, void *out, struct err *e)
{
	struct flows_dead_value d;

	memset(&d, 0, sizeof(d));
	for (const char *p = text; strcmp(text, "none") != 0; p++) {
		size_t n = strcspn(p, ",");
		if (d.n == FLOWS_DEAD_MOST)
			return vspec_fail(s, ERANGE, (int)(p - text), e, text,
					  "has more than %d addresses", FLOWS_DEAD_MOST);
		if (!dead_address(p, n, d.address[d.n]))
			return vspec_fail(s, EINVAL, (int)(p - text), e, text,
					  "has \"%.*s\", which is no address", (int)n, p);
		d.n++;
		p += n;
		if (*p == '\0')
			break;
	}
	memcpy(out, &d, sizeof(d));
	return 0;
}

static void dead_print(const struct vspec *s, const void *v, struct sbuf *out)
{
	const struct flows_dead_value *d = v;
	char text[INET6_ADDRSTRLEN];

	(void)s;
	for (unsigned i = 0; i < d->n; i++) {
		const uint8_t *a = d->address[i];
		bool four = a[10] == 0xff && a[11] == 0xff && memcmp(a, (uint8_t[10]){0}, 10) == 0;
		inet_ntop(four ? AF_INET : AF_INET6, four ? a + 12 : a, text, sizeof(text));
		sbuf_addf(out, "%s%s", i > 0 ? "," : "", text);
	}
	if (d->n == 0)
		sbuf_add(out, "none");
}

static void dead_allowed(const struct vspec *s, struct sbuf *out)
{
	(void)s;
	sbuf_addf(out, "none | ADDRESS[,ADDRESS...], at most %d", FLOWS_DEAD_MOST);
}

const struct vtype flows_vt_dead = {.name = "addresses",
				    .syntax = "none | ADDRESS[,ADDRESS...]",
				    .size = sizeof(struct flows_dead_value),
				    .parse = dead_parse,
				    .print = dead_print,
				    .allowed = dead_allowed};
