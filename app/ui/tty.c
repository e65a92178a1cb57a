/* SPDX-License-Identifier: BSD-3-Clause */
#include "tty.h"

#include <curses.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <term.h>
#include <termios.h>
#include <unistd.h>

#define UNREAD_MS 2000

static struct termios found; /* the modes that were kept, if `have` */
static volatile sig_atomic_t have, touched, on_screen;
static struct {
	int fd, pipe_fd;
	size_t n;
	char leave[256];
	char words[2048]; /* what was taken from the pipe last */
} screen;

bool tty_foreground(int fd)
{
	pid_t owner = tcgetpgrp(fd);

	return owner < 0 || owner == getpgrp();
}

void tty_save(void)
{
	have = tcgetattr(STDIN_FILENO, &found) == 0;
}

void tty_touch(void)
{
	static bool hooked;

	if (!hooked)
		atexit(tty_restore);
	hooked = true;
	touched = 1;
}

void tty_raw(void)
{
	struct termios raw = found;

	tty_touch();
	raw.c_lflag = (raw.c_lflag & ~(tcflag_t)(ICANON | ECHO)) | ISIG;
	raw.c_iflag &= ~(tcflag_t)ICRNL;
	raw.c_oflag &= ~(tcflag_t)(ONLCR | TABDLY); /* curses moves with newlines and tabs */
	raw.c_cc[VMIN] = 1;
	raw.c_cc[VTIME] = 0;
	while (have && tcsetattr(STDIN_FILENO, TCSANOW, &raw) != 0 && errno == EINTR)
		;
}

void tty_screen(int fd, const char *leave, int pipe_fd)
{
	on_screen = 0;
	screen.words[0] = '\0';
	if (leave == NULL)
		return;
	screen.fd = fd;
	screen.pipe_fd = pipe_fd;
	/* A CAN goes first, because what is being written may be cut within a sequence. */
	screen.n = strlen(leave) + 1 < sizeof(screen.leave) ? strlen(leave) + 1 : 0;
	screen.leave[0] = '\030';
	memcpy(screen.leave + 1, leave, screen.n > 0 ? screen.n - 1 : 0);
	on_screen = 1;
}

/* Writes all of the text. Returns false when the terminal took nothing for UNREAD_MS, or is
 * gone. */
static bool write_all(int fd, const char *text, size_t n)
{
	while (n > 0) {
		struct pollfd p = {.fd = fd, .events = POLLOUT};
		ssize_t done = write(fd, text, n);
		if (done < 0 && (errno == EINTR || (errno == EAGAIN && poll(&p, 1, UNREAD_MS) > 0)))
			continue;
		if (done <= 0)
			return false;
		text += done;
		n -= (size_t)done;
	}
	return true;
}

void tty_go_on(int fd)
{
	/* A program can let output go on only after a program has stopped it. */
	tcflow(fd, TCOOFF);
	tcflow(fd, TCOON);
}

void tty_last_words(const char *text)
{
	size_t n = strlen(text);

	snprintf(screen.words, sizeof(screen.words), "%s",
		 n < sizeof(screen.words) ? text : text + n + 1 - sizeof(screen.words));
}

static bool write_lines(const char *text, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!write_all(screen.fd, text[i] == '\n' ? "\r\n" : &text[i],
			       text[i] == '\n' ? 2 : 1))
			return false;
	return true;
}

/* Leaves the screen and writes the last words, and then what waits in the pipe. The pipe does not
 * block, so it is read until it is empty. */
static void leave_screen(void)
{
	char text[4096];
	ssize_t n;

	tty_go_on(screen.fd);
	if (!write_all(screen.fd, screen.leave, screen.n)) {
		tcflush(screen.fd, TCOFLUSH);
		write_all(screen.fd, screen.leave, screen.n);
		return;
	}
	bool read_on = write_lines(screen.words, strnlen(screen.words, sizeof(screen.words)));
	while (read_on && screen.pipe_fd >= 0 && (n = read(screen.pipe_fd, text, sizeof(text))) > 0)
		read_on = write_lines(text, (size_t)n);
}

/* At Ctrl-C a terminal drops what was written to it and has not been read, unless its modes say
 * otherwise. The sequences that leave the screen must not be dropped, so until they are written
 * Ctrl-C only sends its signal. */
static void keep_output_at_interrupts(void)
{
	struct termios now;

	if (tcgetattr(STDIN_FILENO, &now) != 0)
		return;
	now.c_lflag |= NOFLSH;
	tcsetattr(STDIN_FILENO, TCSANOW, &now);
}

void tty_restore(void)
{
	sigset_t ttou, old;

	if (!have || !touched)
		return;
	touched = 0;
	/* Here SIGTTOU would stop a process in the background, which would never end then. */
	sigemptyset(&ttou);
	sigaddset(&ttou, SIGTTOU);
	pthread_sigmask(SIG_BLOCK, &ttou, &old);
	if (on_screen) {
		on_screen = 0;
		keep_output_at_interrupts();
		leave_screen();
	}
	tcsetattr(STDIN_FILENO, TCSANOW, &found);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
}

/* SA_RESETHAND has put the default back, so the signal ends the process when it comes again. */
static void tty_fatal(int signo)
{
	tty_restore();
	raise(signo);
}

void tty_on_fatal(void)
{
	static const int fatals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGQUIT};
	struct sigaction sa = {.sa_handler = tty_fatal, .sa_flags = SA_RESETHAND | SA_NODEFER}, old;

	sigemptyset(&sa.sa_mask);
	for (size_t i = 0; i < ARRAY_SIZE(fatals); i++) {
		/* A signal that the parent ignores (nohup, a shell's background job) or that a
		 * sanitizer has taken stays as it is. */
		if (sigaction(fatals[i], NULL, &old) == 0 && !(old.sa_flags & SA_SIGINFO) &&
		    old.sa_handler == SIG_DFL)
			sigaction(fatals[i], &sa, NULL);
	}
}

void tty_die(int signo)
{
	sigset_t set;

	tty_restore();
	fflush(NULL);
	signal(signo, SIG_DFL);
	sigemptyset(&set);
	sigaddset(&set, signo);
	raise(signo);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

void tty_die_at_once(int signo)
{
	sigset_t set;

	tty_restore();
	signal(signo, SIG_DFL);
	sigemptyset(&set);
	sigaddset(&set, signo);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	raise(signo);
}

/* Copies a string without its padding, "$<5>": no terminal of today needs it, and only tputs()
 * understands it. */
static char *tty_unpadded(const char *s)
{
	struct sbuf b = {0};

	while (*s != '\0') {
		const char *end = s[0] == '$' && s[1] == '<' ? strchr(s, '>') : NULL;
		if (end != NULL)
			s = end + 1;
		else
			sbuf_addc(&b, *s++);
	}
	return b.s != NULL ? b.s : xstrdup("");
}

static char *tty_cap(const char *name)
{
	const char *s = tigetstr((char *)name);

	return tty_unpadded(s == NULL || s == (char *)-1 ? "" : s);
}

static void take_keys(struct tty_caps *t)
{
	static const char *const others[] = {"kich1", "kpp", "knp", "kcbt"};
	const unsigned functions = 63;

	t->keys = xcalloc(functions + ARRAY_SIZE(others), sizeof(*t->keys));
	for (unsigned i = 0; i < functions + ARRAY_SIZE(others); i++) {
		char name[16];
		if (i < functions)
			snprintf(name, sizeof(name), "kf%u", i + 1);
		const char *s = tigetstr((char *)(i < functions ? name : others[i - functions]));
		/* A shorter sequence is the one of Meta and a letter. */
		if (s != NULL && s != (char *)-1 && s[0] == '\033' && strlen(s) > 2)
			t->keys[t->nkeys++] = xstrdup(s);
	}
}

bool tty_caps(struct tty_caps *t, int fd)
{
	const char *type = getenv("TERM");
	int err;

	*t = (struct tty_caps){0};
	bool ok = type != NULL && *type != '\0' && strcmp(type, "dumb") != 0 &&
		  setupterm((char *)type, fd, &err) == OK;
	if (ok) {
		t->cr = tty_cap("cr");
		t->up = tty_cap("cuu1");
		t->clear_down = tty_cap("ed");
		t->clear = tty_cap("clear");
		t->bold = tty_cap("bold");
		t->normal = tty_cap("sgr0");
		const char *fg = tigetstr((char *)"setaf");
		t->red = tty_unpadded(
			fg == NULL || fg == (char *)-1
				? ""
				: tparm((char *)fg, COLOR_RED, 0, 0, 0, 0, 0, 0, 0, 0));
		take_keys(t);
		const char *cup = tigetstr((char *)"cup"), *clear_all = tigetstr((char *)"clear");
		t->can_screen = cup != NULL && cup != (char *)-1 && clear_all != NULL &&
				clear_all != (char *)-1;
		/* The description was loaded for us alone: libedit and curses load their own. */
		TERMINAL *mine = set_curterm(NULL);
		if (mine != NULL)
			del_curterm(mine);
		ok = *t->cr != '\0' && *t->up != '\0' && *t->clear_down != '\0';
	}
	if (!ok) {
		tty_caps_free(t); /* can_screen is false then */
		char **all[] = {&t->cr,   &t->up,  &t->clear_down, &t->clear,
				&t->bold, &t->red, &t->normal};
		for (size_t i = 0; i < ARRAY_SIZE(all); i++)
			*all[i] = xstrdup("");
	}
	return ok;
}

void tty_caps_free(struct tty_caps *t)
{
	free(t->cr);
	free(t->up);
	free(t->clear_down);
	free(t->clear);
	free(t->bold);
	free(t->red);
	free(t->normal);
	for (unsigned i = 0; i < t->nkeys; i++)
		free(t->keys[i]);
	free(t->keys);
	*t = (struct tty_caps){0};
}

bool tty_wants_color(int fd)
{
	const char *type = getenv("TERM"), *no = getenv("NO_COLOR");

	return isatty(fd) && type != NULL && *type != '\0' && strcmp(type, "dumb") != 0 &&
	       (no == NULL || *no == '\0');
}
