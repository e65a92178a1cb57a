/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests what the screen is made of, without a terminal: keys out of bytes, the rows of the log, the
 * areas. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "ui/draw.h"
#include "ui/footer.h"
#include "ui/keys.h"
#include "ui/scroll.h"

#include <curses.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <term.h>
#undef key_help /* this is one of terminfo */
#include <unistd.h>

static struct keys *open_keys(const char *term)
{
	int fd = STDOUT_FILENO, bad;

	if (setupterm((char *)term, fd, &bad) != OK)
		skip();
	struct keys *k = keys_new();
	del_curterm(set_curterm(NULL));
	return k;
}

static void feed(struct keys *k, const char *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		keys_byte(k, (unsigned char)bytes[i]);
}

/* Appends the keys as text: "a", "<up>", pasted text in brackets. */
static void say(struct keys *k, struct sbuf *out)
{
	static const char *const name[] = {
		[K_UP] = "up",           [K_LEFT] = "left",      [K_PGUP] = "pgup",
		[K_F5] = "f5",           [K_F6] = "f6",          [K_BACKTAB] = "backtab",
		[K_WORD_RIGHT] = "word", [K_PAGE_UP] = "pageup", [K_DELETE] = "delete",
		[K_HOME] = "home",       [K_WHEEL_UP] = "wheel", [K_WHEEL_DOWN] = "wheeldown"};
	struct key key;

	while (keys_next(k, &key)) {
		if (key.code != K_CHAR)
			sbuf_addf(out, "<%s>", name[key.code]);
		else if (key.ch < L' ')
			sbuf_addf(out, "%s^%c", key.pasted ? "'" : "", (char)(key.ch + '@'));
		else
			sbuf_addf(out, "%s%lc", key.pasted ? "'" : "", (wint_t)key.ch);
	}
}

static const struct {
	const char *bytes, *keys;
} typed[] = {
	{"start\r", "start^M"},
	{"\033OA\033[A\033[15~\033[17~x", "<up><up><f5><f6>x"},
	{"\033[5~\033[Z\033[1;5C\033[1;5A\033[3~", "<pgup><backtab><word><pageup><delete>"},
	/* There is no such key, so it is dropped. What follows is text. */
	{"\033[OH", "H"},
	{"\033[38;5;1Rab", "ab"}, /* this is an answer that nobody has asked for */
	{"h\303\274\344\270\226", "hü世"},
	{"\033[<64;10;7M\033[<65;1;1M\033[<0;1;1M\033[<0;1;1m", "<wheel><wheeldown>"},
	{"\033[M`!!q", "<wheel>q"},
	{"\033[200~1 2\t\033[15~ \r\nü\033[201~3", "'1' '2'^I'['1'5'~' '^M'^J'ü3"},
};

static void test_keys_in_any_portions(void **state)
{
	struct keys *k = open_keys("xterm-256color");
	struct sbuf out = {0};

	(void)state;
	assert_int_not_equal(strlen(keys_paste_on(k)), 0);
	for (size_t i = 0; i < ARRAY_SIZE(typed); i++) {
		feed(k, typed[i].bytes, strlen(typed[i].bytes));
		say(k, &out);
		assert_string_equal(sbuf_str(&out), typed[i].keys);
		sbuf_reset(&out);
		/* Keys are taken out between any two bytes. */
		for (const char *p = typed[i].bytes; *p != '\0'; p++) {
			feed(k, p, 1);
			say(k, &out);
		}
		assert_string_equal(sbuf_str(&out), typed[i].keys);
		assert_true(keys_wait_ns(k) == 0);
		sbuf_reset(&out);
	}
	keys_free(k);
	sbuf_free(&out);
}

static void test_escape_alone_waits_for_its_time(void **state)
{
	struct keys *k = open_keys("xterm-256color");
	struct sbuf out = {0};

	(void)state;
	feed(k, "\033", 1);
	say(k, &out);
	assert_int_equal(out.len, 0);
	assert_true(keys_wait_ns(k) > 0);
	keys_timeout(k);
	feed(k, "\033b\033\033[A", 6);
	say(k, &out);
	assert_string_equal(sbuf_str(&out), "^[^[b^[<up>");
	sbuf_free(&out);
	keys_free(k);
}

/* A paste may pause for long. Only its end ends it, or Ctrl-C. */
static void test_a_paste_has_no_time(void **state)
{
	struct keys *k = open_keys("xterm-256color");
	struct sbuf out = {0};

	(void)state;
	feed(k, "\033[200~a\033", 8);
	assert_true(keys_wait_ns(k) == 0);
	assert_true(keys_pasting(k));
	feed(k, "[201~\033[15~", 10);
	say(k, &out);
	assert_string_equal(sbuf_str(&out), "'a<f5>");
	feed(k, "\033[200~abc", 9);
	keys_drop(k);
	feed(k, "d", 1);
	sbuf_reset(&out);
	say(k, &out);
	assert_string_equal(sbuf_str(&out), "d");
	sbuf_free(&out);
	keys_free(k);
}

static void test_a_terminal_without_paste(void **state)
{
	struct keys *k = open_keys("vt100");

	(void)state;
	assert_string_equal(keys_paste_on(k), "");
	keys_free(k);
}

struct rows {
	int first, last, n;
	wchar_t text[64][256];
};

static void take_row(void *arg, int row, enum role role, const wchar_t *text, size_t n)
{
	struct rows *r = arg;

	(void)role;
	assert_true(row >= 0 && row < 64 && n < 256);
	if (r->n++ == 0)
		r->first = row;
	r->last = row;
	wmemcpy(r->text[row], text, n);
	r->text[row][n] = L'\0';
}

static unsigned view(struct scroll *s, struct rows *r, int rows, int cols)
{
	memset(r, 0, sizeof(*r));
	return scroll_draw(s, rows, cols, take_row, r);
}

static void test_the_log_wraps_and_scrolls(void **state)
{
	struct scroll *s = scroll_new(10);
	static struct rows r;

	(void)state;
	assert_int_equal(view(s, &r, 4, 10), 0);
	assert_int_equal(r.n, 0);
	scroll_add(s, ROLE_LOG_TEXT, "one\n\n0123456789ab\n", false);
	assert_int_equal(view(s, &r, 4, 10), 0);
	assert_int_equal(r.n, 4);
	assert_true(wcscmp(r.text[0], L"one") == 0 && wcscmp(r.text[1], L"") == 0);
	assert_true(wcscmp(r.text[2], L"0123456789") == 0 && wcscmp(r.text[3], L"ab") == 0);
	/* If there are few rows, they lie at the bottom. */
	view(s, &r, 6, 10);
	assert_int_equal(r.first, 2);
	/* The view moves up, further than there are rows, and back. */
	view(s, &r, 2, 10);
	scroll_by(s, 100);
	assert_int_equal(view(s, &r, 2, 10), 2);
	assert_true(wcscmp(r.text[0], L"one") == 0);
	/* New lines do not move a view of older ones. */
	scroll_add(s, ROLE_LOG_TEXT, "new", false);
	assert_int_equal(view(s, &r, 2, 10), 3);
	assert_true(wcscmp(r.text[0], L"one") == 0);
	scroll_by(s, -2);
	assert_int_equal(view(s, &r, 2, 10), 1);
	scroll_end(s);
	assert_int_equal(view(s, &r, 2, 10), 0);
	assert_true(wcscmp(r.text[1], L"new") == 0);
	/* A long text is shown from its beginning, a short one at the end. */
	unsigned long mark = scroll_mark(s);
	scroll_add(s, ROLE_LOG_TEXT, "a\nb\nc", false);
	scroll_from(s, mark);
	assert_int_equal(view(s, &r, 2, 10), 1);
	assert_true(wcscmp(r.text[0], L"a") == 0);
	/* The oldest lines go. */
	for (int i = 0; i < 12; i++)
		scroll_add(s, ROLE_LOG_TEXT, "x", false);
	scroll_by(s, 100);
	assert_int_equal(view(s, &r, 3, 10), 7);
	assert_true(wcscmp(r.text[0], L"x") == 0);
	scroll_free(s);
}

/* Long lines leave the log before there are too many of them; one alone stays whole. */
static void test_the_log_is_bounded(void **state)
{
	const unsigned cols = 50000, most = SCROLL_CHARS / cols;
	struct scroll *s = scroll_new(1000);
	char *line = test_malloc(2 * SCROLL_CHARS + 1);

	(void)state;
	memset(line, 'x', 2 * SCROLL_CHARS);
	line[2 * SCROLL_CHARS] = '\0';
	scroll_add(s, ROLE_LOG_TEXT, line, false);
	assert_int_equal(scroll_rows(s, 0, 2 * (int)SCROLL_CHARS), 1);
	line[cols] = '\0';
	for (unsigned i = 0; i < 2 * most; i++)
		scroll_add(s, ROLE_LOG_TEXT, line, false);
	assert_int_equal(scroll_rows(s, 0, (int)cols), most);
	scroll_add(s, ROLE_LOG_TEXT, "end", false);
	assert_int_equal(scroll_rows(s, 0, (int)cols), most + 1);
	test_free(line);
	scroll_free(s);
}

/* No width and no text makes the log read or write outside of its memory, and a wide character
 * stays whole. */
static void test_the_log_at_every_width(void **state)
{
	struct scroll *s = scroll_new(50);
	static struct rows r;

	(void)state;
	scroll_add(s, ROLE_LOG_ERROR, "a\tb\001\377 世界 e\314\201x\r\n", false);
	for (int cols = 0; cols < 20; cols++)
		for (int rows = 0; rows < 20; rows++) {
			scroll_by(s, rows);
			view(s, &r, rows, cols);
			for (int i = r.first; r.n > 0 && i <= r.last; i++)
				assert_true(wcswidth(r.text[i], 255) <= cols ||
					    (cols == 1 && wcslen(r.text[i]) == 1));
		}
	scroll_end(s);
	view(s, &r, 1, 40);
	assert_true(wcscmp(r.text[0], L"a       b?? 世界 e\x0301x") == 0);
	scroll_free(s);
}

static void test_what_was_not_shown_is_replayed_once(void **state)
{
	struct scroll *s = scroll_new(10);
	char *text = NULL;
	size_t n = 0;
	FILE *f = open_memstream(&text, &n);

	(void)state;
	scroll_add(s, ROLE_LOG_TEXT, "seen", true);
	scroll_add(s, ROLE_LOG_TEXT, "hü\n\nthere", false);
	scroll_add(s, ROLE_LOG_ERROR, "bad", false);
	scroll_replay(s, f, "<", ">");
	assert_string_equal(text, "hü\n\nthere\n<bad>\n");
	scroll_replay(s, f, "<", ">");
	assert_int_equal(n, strlen("hü\n\nthere\n<bad>\n"));
	fclose(f);
	free(text);
	scroll_free(s);
}

static void test_the_log_keeps_words(void **state)
{
	struct scroll *s = scroll_new(10);
	static struct rows r;

	(void)state;
	scroll_add(s, ROLE_LOG_TEXT,
		   "  stop <ports>   Stop sending, nothing else.\nwords of a message that goes on",
		   false);
	view(s, &r, 10, 40);
	assert_int_equal(r.n, 3);
	assert_true(wcscmp(r.text[7], L"  stop <ports>   Stop sending, nothing") == 0);
	assert_true(wcscmp(r.text[8], L"                 else.") == 0);
	assert_true(wcscmp(r.text[9], L"words of a message that goes on") == 0);
	/* A text without a blank, and one that was typed, is broken where the row ends. */
	scroll_add(s, ROLE_LOG_TEXT, "ab 0123456789012345678901234567890123456789", false);
	scroll_add(s, ROLE_LOG_ECHO, "wirerate> set 0 ipv4.src 10.0.0.1", false);
	view(s, &r, 4, 30);
	assert_true(wcscmp(r.text[0], L"ab 012345678901234567890123456") == 0);
	assert_true(wcscmp(r.text[1], L"  7890123456789") == 0);
	assert_true(wcscmp(r.text[2], L"wirerate> set 0 ipv4.src 10.0.") == 0 &&
		    wcscmp(r.text[3], L"0.1") == 0);
	/* Every character comes once, in its order, at any width. */
	static const wchar_t whole[] =
		L"stop<ports>Stopsending,nothingelse.wordsofamessagethatgoeson"
		L"ab0123456789012345678901234567890123456789wirerate>set0ipv4.src10.0.0.1";
	for (int cols = 6; cols < 80; cols++) {
		unsigned k = 0;
		view(s, &r, 60, cols);
		for (unsigned i = 0; i < 60; i++)
			for (const wchar_t *p = r.text[i]; *p != L'\0'; p++)
				if (*p != L' ')
					assert_true(*p == whole[k++]);
		assert_int_equal(k, wcslen(whole));
	}
	scroll_free(s);
}

static void test_areas(void **state)
{
	struct layout l;

	(void)state;
	layout_make(&l, 24, 80);
	assert_int_equal(l.page_rows, 14);
	assert_true(l.log_rows >= 4);
	/* Larger screens give the page what it can use, and the log the rest. */
	layout_make(&l, 43, 132);
	assert_true(l.log_rows == 8 && l.page_rows == 32);
	layout_make(&l, 60, 200);
	assert_true(l.page_rows == 49 && l.log_rows == 8);
	layout_make(&l, 200, 200);
	assert_true(l.page_rows > 53 && l.log_rows > 16);
	for (int rows = 1; rows <= 500; rows++) {
		layout_make(&l, rows, 80);
		/* Every row belongs to one area: page, line, log, prompt or footer. */
		assert_int_equal(l.page_rows + (l.sep >= 0) + l.log_rows + 1 + (l.footer >= 0),
				 rows);
		assert_true(l.sep < 0 || l.sep == l.page_rows);
		assert_int_equal(l.log, l.page_rows + (l.sep >= 0));
		assert_int_equal(l.prompt, l.log + l.log_rows);
		assert_true(l.footer < 0 || l.footer == l.prompt + 1);
		const int most = l.page_rows;
		/* The log has what the page leaves, whatever it had before. */
		for (int need = most + 2; need >= -1; need--) {
			const struct layout was = l;
			layout_fit(&l, need);
			assert_int_equal(l.page_rows, need < 0 ? 0 : need < most ? need : most);
			assert_int_equal(l.page_rows + (l.sep >= 0) + l.log_rows + 1 +
						 (l.footer >= 0),
					 rows);
			assert_true(l.sep < 0 || l.sep == l.page_rows);
			assert_int_equal(l.log, l.page_rows + (l.sep >= 0));
			assert_true(l.log_rows >= was.log_rows && l.prompt == was.prompt &&
				    l.footer == was.footer && l.page_most == most);
		}
		layout_fit(&l, most);
		assert_int_equal(l.page_rows, most);
	}
}

static void note_row(void *arg, int row, enum role role, const wchar_t *text, size_t n)
{
	wchar_t(*rows)[8] = arg;

	(void)role;
	wmemcpy(rows[row], text, n);
	rows[row][n] = L'\0';
}

/* What was just printed is shown from its beginning, even when the area becomes larger or
 * smaller. */
static void test_the_beginning_stays(void **state)
{
	struct scroll *s = scroll_new(100);
	wchar_t rows[20][8] = {L""};

	(void)state;
	for (int i = 0; i < 10; i++)
		scroll_add(s, ROLE_LOG_TEXT, "old", false);
	scroll_draw(s, 5, 20, note_row, rows);
	unsigned long mark = scroll_mark(s);
	scroll_add(s, ROLE_LOG_TEXT, "a\nb\nc\nd\ne\nf\ng\nh\ni\nj", false);
	scroll_from(s, mark);
	static const struct {
		int rows;
		unsigned below;
		const wchar_t *first;
	} at[] = {
		{5, 5, L"a"}, {8, 2, L"a"}, {3, 7, L"a"}, {10, 0, L"a"}, {4, 0, L"g"}, {5, 0, L"f"},
	};
	for (unsigned i = 0; i < ARRAY_SIZE(at); i++) {
		assert_int_equal(scroll_draw(s, at[i].rows, 20, note_row, rows), at[i].below);
		assert_true(wcscmp(rows[0], at[i].first) == 0);
	}
	/* After scrolling this does not hold any more. */
	scroll_from(s, mark);
	scroll_by(s, 2);
	assert_int_equal(scroll_draw(s, 5, 20, note_row, rows), 7);
	assert_int_equal(scroll_draw(s, 6, 20, note_row, rows), 7);
	scroll_free(s);
}

static void test_used_rows(void **state)
{
	struct grid g;

	(void)state;
	grid_init(&g, 5, 10);
	assert_int_equal(grid_used(&g), 0);
	grid_put(&g, 0, 0, -1, ROLE_DEFAULT, "x");
	assert_int_equal(grid_used(&g), 1);
	/* it is two columns wide and reaches the edge */
	grid_put(&g, 3, 8, -1, ROLE_DEFAULT, "\xe6\xbc\xa2");
	assert_int_equal(grid_used(&g), 4);
	grid_put(&g, 4, 9, -1, ROLE_DEFAULT, "x");
	assert_int_equal(grid_used(&g), 5);
	grid_free(&g);
	grid_init(&g, 0, 0);
	assert_int_equal(grid_used(&g), 0);
	grid_free(&g);
}

/* Writes the footer as it stands on the line. */
static void keys_line(const struct key_help *list, bool pages_too, int cols, char *line,
		      size_t size)
{
	struct footer f;

	footer_make(&f, list, pages_too, cols);
	memset(line, ' ', size);
	int end = 0;
	for (unsigned i = 0; i < f.n; i++) {
		char text[64];
		if (f.at[i] < 0)
			continue;
		int n = snprintf(text, sizeof(text), "%s%s%s", f.item[i].key, f.tight ? "" : " ",
				 f.item[i].text);
		assert_true(f.at[i] >= end && f.at[i] + n <= cols);
		memcpy(line + f.at[i], text, (size_t)n);
		end = f.at[i] + n;
	}
	line[end] = '\0';
}

static void test_the_line_of_keys_names_the_pages(void **state)
{
	static const struct key_help some[] = {{"Ctrl-C", NULL, "cancel"},
					       {"x", "not here", NULL},
					       {"PgUp PgDn", NULL, "log"},
					       {NULL, NULL, NULL}};
	char line[512];

	(void)state;
	keys_line(keys_help, true, 80, line, sizeof(line));
	assert_string_equal(
		line,
		"1main 2queues 3cpu 4streams 5frame 6ports 7xstats 8log 9help 0latency F5start");
	keys_line(keys_help, true, 120, line, sizeof(line));
	assert_string_equal(
		line,
		"1 main  2 queues  3 cpu  4 streams  5 frame  6 ports  7 xstats  8 log  9 help  0 latency  F5 start  F6 stop");
	keys_line(keys_help, true, 40, line, sizeof(line));
	assert_string_equal(line, "1main 2queues 3cpu 4streams F5start");
	keys_line(keys_help, true, 200, line, sizeof(line));
	assert_non_null(strstr(line, "0 latency  F5 start  F6 stop  Left Right port  "));
	keys_line(some, false, 80, line, sizeof(line));
	assert_string_equal(line, "Ctrl-C cancel  PgUp PgDn log");
	for (int cols = 0; cols < 260; cols++)
		keys_line(keys_help, true, cols, line, sizeof(line));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_keys_in_any_portions),
		cmocka_unit_test(test_escape_alone_waits_for_its_time),
		cmocka_unit_test(test_a_paste_has_no_time),
		cmocka_unit_test(test_a_terminal_without_paste),
		cmocka_unit_test(test_the_log_wraps_and_scrolls),
		cmocka_unit_test(test_the_log_keeps_words),
		cmocka_unit_test(test_the_log_is_bounded),
		cmocka_unit_test(test_the_log_at_every_width),
		cmocka_unit_test(test_what_was_not_shown_is_replayed_once),
		cmocka_unit_test(test_areas),
		cmocka_unit_test(test_the_beginning_stays),
		cmocka_unit_test(test_used_rows),
		cmocka_unit_test(test_the_line_of_keys_names_the_pages),
	};

	if (setlocale(LC_CTYPE, "C.UTF-8") == NULL)
		return 77;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
