/* SPDX-License-Identifier: BSD-3-Clause */
/* The program's side of the filter compiler: finds it, starts it, reads its answer, ends it. */
#include "filter.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "child.h"
#include "filter_wire.h"

#define HELPER "wirerate-filter"
#define SNAPLEN_MOST 262144 /* libpcap's own limit */
#define SHOWN_MOST 160      /* bytes of an expression that an error repeats */
#define EXIT_NOT_STARTED 127
#define ANSWER_MOST (sizeof(struct filter_head) + FILTER_INSNS_MOST * sizeof(struct filter_insn))

struct filter_job {
	pid_t pid; /* 0: it has ended */
	int fd;
	int rc; /* -EAGAIN until there is a result */
	uint64_t deadline_ns;
	char *expr;
	size_t got;
	uint8_t answer[ANSWER_MOST];
};

void filter_prog_free(struct filter_prog *p)
{
	free(p->insns);
	*p = (struct filter_prog){0};
}

static uint64_t filter_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* An error about an expression: it is repeated, but not all of a long one. */
static int filter_error(const char *expr, struct err *e, int code, const char *why)
{
	bool all = strlen(expr) <= SHOWN_MOST;

	return err_set(e, code, "filter \"%.*s%s\": %s", SHOWN_MOST, expr, all ? "" : "...", why);
}

/* A program that anybody may have put there is not started: it belongs to root, to us, or to the
 * one whose program this is, and nobody else may write it. */
static bool filter_trusts(const char *path)
{
	struct stat st, own;

	if (stat(path, &st) != 0 || !S_ISREG(st.st_mode) || (st.st_mode & S_IWOTH) != 0 ||
	    access(path, X_OK) != 0)
		return false;
	return st.st_uid == 0 || st.st_uid == geteuid() ||
	       (stat("/proc/self/exe", &own) == 0 && st.st_uid == own.st_uid);
}

/* Finds the compiler: in the build tree when this program runs there, which is one or two folders
 * down; else beside the program's folder, which is right when the installation was moved as a
 * whole; else where the build was to be installed. */
static int filter_find(char *path, size_t size, struct err *e)
{
	char exe[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
	const char *const beside[] = {"", "/lib/filter/" HELPER, "/lib/filter/" HELPER};

	exe[n > 0 ? n : 0] = '\0';
	for (unsigned up = 0; up < ARRAY_SIZE(beside); up++) {
		char *slash = strrchr(exe, '/');
		if (slash == NULL)
			break;
		*slash = '\0';
		if (up == 0)
			continue;
		snprintf(path, size, "%s%s", exe, beside[up]);
		if (filter_trusts(path))
			return 0;
		snprintf(path, size, "%s/libexec/wirerate/" HELPER, exe);
		if (up == 1 && filter_trusts(path))
			return 0;
	}
	snprintf(path, size, "%s", WR_LIBEXEC "/" HELPER);
	if (filter_trusts(path))
		return 0;
	return err_set(
		e, ENOENT,
		"the program %s, which compiles filters, is not where this program was installed, nor is it %s; "
		"install all of wirerate, or run it in its build folder",
		HELPER, path);
}

static int filter_allowed(const char *expr, unsigned snaplen, struct err *e)
{
	size_t n = strlen(expr);
	char why[128];

	if (expr[strspn(expr, " \t\r\n")] == '\0')
		return err_set(e, EINVAL, "the filter is empty; without one every frame is taken");
	if (n > FILTER_CHARS_MOST) {
		snprintf(why, sizeof(why), "it has %zu characters, and at most %u are allowed", n,
			 FILTER_CHARS_MOST);
		return filter_error(expr, e, EINVAL, why);
	}
	if (snaplen == 0 || snaplen > SNAPLEN_MOST)
		return err_set(e, EINVAL, "a filter for frames cut to %u bytes: 1 to %u", snaplen,
			       SNAPLEN_MOST);
	return 0;
}

int filter_start(const char *expr, unsigned snaplen, int linktype, struct filter_job **out,
		 struct err *e)
{
	char path[PATH_MAX + 64], snap[16], link[16];
	int end[2];
	int rc = filter_allowed(expr, snaplen, e);

	if (rc == 0)
		rc = filter_find(path, sizeof(path), e);
	if (rc < 0)
		return rc;
	if (pipe2(end, O_CLOEXEC) != 0)
		return err_set(e, errno, "no pipe for the filter compiler: %s", strerror(errno));
	fcntl(end[0], F_SETFL, O_NONBLOCK);
	snprintf(snap, sizeof(snap), "%u", snaplen);
	snprintf(link, sizeof(link), "%d", linktype);
	struct filter_job *j = xcalloc(1, sizeof(*j));
	/* What the loader has to say, of a library that is not there, comes the same way. */
	rc = child_start(&(struct child_ask){.path = path,
					     .argv = (char *[]){HELPER, FILTER_WIRE, snap, link,
								(char *)expr, NULL},
					     .out = end[1],
					     .err = end[1],
					     .no_input = true,
					     .group = true},
			 &j->pid);
	close(end[1]);
	if (rc != 0) {
		close(end[0]);
		free(j);
		return err_set(e, rc, "the filter compiler %s cannot be started: %s", path,
			       strerror(rc));
	}
	j->fd = end[0];
	j->rc = -EAGAIN;
	j->deadline_ns = filter_now_ns() + FILTER_WALL_S * 1000000000ull;
	j->expr = xstrdup(expr);
	*out = j;
	return 0;
}

int filter_fd(const struct filter_job *j)
{
	return j->fd;
}

uint64_t filter_deadline_ns(const struct filter_job *j)
{
	return j->deadline_ns;
}

/* Waits for the end of a compiler that has closed its output or was killed. Returns its status, or
 * -1. */
static int filter_reap(struct filter_job *j)
{
	int status = j->pid > 0 ? child_wait(j->pid) : -1;

	j->pid = 0;
	return status;
}

static int filter_too_long(const struct filter_job *j, struct err *e)
{
	char why[160];

	snprintf(
		why, sizeof(why),
		"libpcap did not compile it in %d s of CPU time and %d s in all; write a shorter one",
		FILTER_CPU_S, FILTER_WALL_S);
	return filter_error(j->expr, e, ETIMEDOUT, why);
}

/* An end without an answer. */
static int filter_died(const struct filter_job *j, int status, struct err *e)
{
	char why[512];

	/* When both limits of CPU time are the same, the kernel kills. */
	if (status != -1 && WIFSIGNALED(status) &&
	    (WTERMSIG(status) == SIGKILL || WTERMSIG(status) == SIGXCPU ||
	     WTERMSIG(status) == SIGALRM))
		return filter_too_long(j, e);
	/* posix_spawn() cannot tell everywhere that there was nothing to start. */
	if (status != -1 && WIFEXITED(status) && WEXITSTATUS(status) == EXIT_NOT_STARTED &&
	    j->got == 0)
		return filter_error(j->expr, e, ENOEXEC, "its compiler cannot be started here");
	if (status != -1 && WIFSIGNALED(status))
		snprintf(why, sizeof(why), "libpcap did not survive it (%s)",
			 strsignal(WTERMSIG(status)));
	else if (j->got > 0)
		snprintf(why, sizeof(why), "its compiler says: %.*s", (int)j->got,
			 (const char *)j->answer);
	else
		snprintf(why, sizeof(why), "its compiler ended without an answer");
	why[strcspn(why, "\n")] = '\0';
	return filter_error(j->expr, e, EIO, why);
}

static int filter_refused(const struct filter_job *j, const struct filter_head *head, struct err *e)
{
	static const char *const kinds[FILTER_ANSWERS] = {
		[FILTER_HOST] = "host names are not looked up; give an address in place of",
		[FILTER_NET] = "names of networks are not looked up; give an address in place of",
		[FILTER_ETHER] =
			"names of Ethernet addresses are not looked up; give an address in place of",
	};
	const char *text = (const char *)(j->answer + sizeof(*head));
	char why[512];
	int n = (int)head->n;

	if (head->answer == FILTER_SYNTAX)
		snprintf(why, sizeof(why), "libpcap says: %.*s", n, text);
	else if (head->answer == FILTER_TOO_LARGE)
		snprintf(why, sizeof(why),
			 "it is %.*s instructions long, and at most %u are allowed", n, text,
			 FILTER_INSNS_MOST);
	else
		snprintf(why, sizeof(why), "%s \"%.*s\"", kinds[head->answer], n, text);
	return filter_error(j->expr, e, EINVAL, why);
}

/* The compiler has closed its output: everything that it had to say is here. */
static int filter_judge(struct filter_job *j, int status, struct filter_prog *out, struct err *e)
{
	struct filter_head head;
	struct err why;

	if (j->got < sizeof(head))
		return filter_died(j, status, e);
	memcpy(&head, j->answer, sizeof(head));
	if (strncmp(head.version, FILTER_WIRE, sizeof(head.version)) != 0)
		return filter_died(j, status, e);
	size_t body = j->got - sizeof(head);
	size_t unit = head.answer == FILTER_PROGRAM ? sizeof(struct filter_insn) : 1;
	if (head.answer >= FILTER_ANSWERS || body != head.n * unit)
		return filter_died(j, status, e);
	if (head.answer != FILTER_PROGRAM)
		return filter_refused(j, &head, e);
	struct filter_prog p = {.n = head.n, .insns = xcalloc(head.n, unit)};
	memcpy(p.insns, j->answer + sizeof(head), body);
	if (filter_check(&p, &why) != 0) {
		filter_prog_free(&p);
		return filter_error(j->expr, e, EINVAL, why.text);
	}
	*out = p;
	return 0;
}

int filter_poll(struct filter_job *j, struct filter_prog *out, struct err *e)
{
	if (j->rc != -EAGAIN)
		return j->rc;
	for (;;) {
		uint8_t past;
		bool full = j->got == sizeof(j->answer);
		ssize_t n = read(j->fd, full ? &past : j->answer + j->got,
				 full ? 1 : sizeof(j->answer) - j->got);

		if (n < 0 && errno == EINTR)
			continue;
		if (n > 0 && !full) {
			j->got += (size_t)n;
			continue;
		}
		if (n < 0 && errno == EAGAIN && filter_now_ns() < j->deadline_ns)
			return -EAGAIN;
		if (n != 0)
			kill(j->pid, SIGKILL);
		int status = filter_reap(j);
		j->rc = n < 0 && errno == EAGAIN ? filter_too_long(j, e)
						 : filter_judge(j, status, out, e);
		return j->rc;
	}
}

void filter_job_free(struct filter_job *j)
{
	if (j == NULL)
		return;
	if (j->pid > 0) {
		kill(j->pid, SIGKILL);
		filter_reap(j);
	}
	close(j->fd);
	free(j->expr);
	free(j);
}

int filter_compile(const char *expr, unsigned snaplen, int linktype, struct filter_prog *out,
		   struct err *e)
{
	struct filter_job *j;
	int rc = filter_start(expr, snaplen, linktype, &j, e);

	if (rc < 0)
		return rc;
	while ((rc = filter_poll(j, out, e)) == -EAGAIN) {
		uint64_t now = filter_now_ns();
		int ms = now < j->deadline_ns ? (int)((j->deadline_ns - now) / 1000000) + 1 : 0;
		poll(&(struct pollfd){.fd = j->fd, .events = POLLIN}, 1, ms);
	}
	filter_job_free(j);
	return rc;
}
