/* SPDX-License-Identifier: BSD-3-Clause */
/* Filters: texts that compile and texts that do not, what keeps the compiler from running on, and
 * programs that nobody may run. */
#include "cmocka_names.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "filter_skip.h"

static struct err e;

static int compile(const char *expr, struct filter_prog *p)
{
	*p = (struct filter_prog){0};
	e = (struct err){.col = -2};
	return filter_compile(expr, 65535, FILTER_ETHERNET, p, &e);
}

static void refused(const char *expr, int code, const char *part)
{
	struct filter_prog p;

	assert_int_equal(compile(expr, &p), -code);
	if (strstr(e.text, part) == NULL)
		fail_msg("\"%s\" is not in \"%s\"", part, e.text);
	assert_null(p.insns);
}

static uint32_t run(const char *expr, const void *bytes, uint32_t n)
{
	struct filter_view v = {.data = bytes, .data_bytes = n, .frame_bytes = n};
	struct filter_prog p;

	if (compile(expr, &p) != 0)
		fail_msg("%s", e.text);
	uint32_t rc = filter_run(p.insns, &v);
	filter_prog_free(&p);
	return rc;
}

/* From 10.0.0.1 port 1024 to 10.0.0.2 port 80. */
static const uint8_t udp[] = {2,    0, 0,  0,  0, 2, 2, 0, 0, 0,  0, 1, 8,  0,
			      0x45, 0, 0,  28, 0, 0, 0, 0, 4, 17, 0, 0, 10, 0,
			      0,    1, 10, 0,  0, 2, 4, 0, 0, 80, 0, 8, 0,  0};

static void test_frames(void **state)
{
	(void)state;
	assert_int_equal(run("udp port 80", udp, sizeof(udp)), 65535);
	assert_int_equal(run("udp port 81", udp, sizeof(udp)), 0);
	assert_int_equal(run("src host 10.0.0.1 and dst net 10.0.0.0/24", udp, sizeof(udp)), 65535);
	assert_int_equal(run("len = 42", udp, sizeof(udp)), 65535);
	assert_int_equal(run("ip proto 17", udp, sizeof(udp)), 65535);
	/* a frame that ends before what is asked for */
	assert_int_equal(run("udp port 80", udp, 37), 0);
	assert_int_equal(run("not udp port 80", udp, 37), 0);
	assert_int_equal(run("ether[1000] = 0 or udp", udp, sizeof(udp)), 0);
	assert_int_equal(run("udp", udp, 0), 0);
	assert_int_equal(run("ip[12:4] / ip[1] = 1", udp, sizeof(udp)), 0);
	assert_int_equal(run("1 << ip[8] = 16", udp, sizeof(udp)), 65535);
}

static void test_snaplen(void **state)
{
	struct filter_prog p;

	(void)state;
	assert_int_equal(filter_compile("udp", 96, FILTER_ETHERNET, &p, &e), 0);
	assert_int_equal(p.insns[p.n - 2].k, 96);
	filter_prog_free(&p);
	assert_int_equal(filter_compile("udp", 0, FILTER_ETHERNET, &p, &e), -EINVAL);
	assert_int_equal(filter_compile("udp", 262145, FILTER_ETHERNET, &p, &e), -EINVAL);
	assert_non_null(strstr(e.text, "262144"));
}

static void test_names(void **state)
{
	(void)state;
	refused("host example.com", EINVAL,
		"host names are not looked up; give an address in place of \"example.com\"");
	refused("udp and dst host localhost", EINVAL, "\"localhost\"");
	refused("src or dst host a.b and port 5", EINVAL, "\"a.b\"");
	refused("net loopback", EINVAL, "names of networks are not looked up");
	refused("ether host router", EINVAL, "Ethernet addresses are not looked up");
	refused("port nosuchservice", EINVAL, "libpcap says: unknown port 'nosuchservice'");
	/* with a C library that cannot open its files this would be protocol 0 */
	refused("ip proto nosuchprotocol", EINVAL,
		"libpcap says: unknown ip proto 'nosuchprotocol'");
	if (access("/etc/services", R_OK) == 0)
		assert_int_equal(run("udp port domain or tcp port http", udp, sizeof(udp)), 0);
	if (access("/etc/protocols", R_OK) == 0)
		assert_int_equal(run("ip proto ospf", udp, sizeof(udp)), 0);
	assert_int_equal(run("host fe80::1 or host 10.0.0.2", udp, sizeof(udp)), 65535);
}

static void test_syntax(void **state)
{
	char *text = malloc(1 << 20);

	(void)state;
	refused("udp prt 5", EINVAL,
		"filter \"udp prt 5\": libpcap says: can't parse filter expression: syntax error");
	refused("port 70000", EINVAL, "libpcap says: ");
	refused("udp and", EINVAL, "libpcap says: ");
	refused("\x1b[2J\x01\xff", EINVAL, "libpcap says: ");
	refused("inbound", EINVAL, "direction");
	refused("ip6 protochain 17", EINVAL, "protochain");
	refused("", EINVAL, "empty");
	refused(" \t\n", EINVAL, "empty");
	refused("ip broadcast", EINVAL, "libpcap says: ");
	memset(text, 'x', 1 << 20);
	text[(1 << 20) - 1] = '\0';
	refused(text, EINVAL, "1048575 characters, and at most 4096 are allowed");
	assert_true(strlen(e.text) < 300);
	text[FILTER_CHARS_MOST + 1] = '\0';
	refused(text, EINVAL, "4097 characters");
	text[FILTER_CHARS_MOST] = '\0';
	refused(text, EINVAL, "libpcap says: ");
	free(text);
}

/* Deep, long, and what takes libpcap minutes. */
static void test_large(void **state)
{
	struct sbuf text = {0};
	struct filter_prog p;

	(void)state;
	sbuf_add(&text, "port 1");
	for (unsigned i = 2; text.len < FILTER_CHARS_MOST - 8; i++)
		sbuf_addf(&text, " or %u", i);
	refused(text.s, ETIMEDOUT, "write a shorter one");
	sbuf_reset(&text);
	for (unsigned i = 1; text.len < FILTER_CHARS_MOST - 18; i++)
		sbuf_addf(&text, "%sip6 protochain %u", i > 1 ? " or " : "", i % 100);
	refused(text.s, EINVAL, "at most 4096 are allowed");
	sbuf_reset(&text);
	for (unsigned i = 0; i < FILTER_CHARS_MOST - 2; i++)
		sbuf_addc(&text, i < FILTER_CHARS_MOST / 2 - 1 ? '(' : ' ');
	sbuf_add(&text, "ip");
	refused(text.s, EINVAL, "libpcap says: ");
	for (size_t i = 0; i < text.len - 2; i++)
		text.s[i] = '!';
	assert_int_equal(compile(text.s, &p), 0);
	filter_prog_free(&p);
	sbuf_reset(&text);
	sbuf_add(&text, "host 1.2.3.4");
	for (unsigned i = 0; i < 5000; i++)
		sbuf_add(&text, " or host 1.2.3.4");
	refused(text.s, EINVAL, "characters, and at most 4096 are allowed");
	sbuf_free(&text);
}

/* Kills whoever asks for a socket in this process and in those that it starts. False: it cannot be
 * done here. */
static bool sockets_kill(void)
{
	struct sock_filter in[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_socket, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog prog = {ARRAY_SIZE(in), in};

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog) == 0;
}

enum { NO_SOCKET = 20, NOT_REFUSED, CANNOT };

/* In a process of its own: compiles a filter where a socket is death. */
static int without_sockets(const char *expr)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		struct filter_prog p;
		if (!sockets_kill())
			_exit(CANNOT);
		if (expr == NULL)
			_exit(socket(AF_INET, SOCK_DGRAM, 0) >= 0 ? 0 : 1);
		_exit(compile(expr, &p) == -EINVAL && strstr(e.text, "not looked up") != NULL
			      ? NO_SOCKET
			      : NOT_REFUSED);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static void test_asks_nobody(void **state)
{
	int rc = without_sockets(NULL);

	(void)state;
	if (rc == CANNOT) {
		print_message("no seccomp here\n");
		skip();
	}
	assert_int_equal(rc, -SIGSYS);
	assert_int_equal(without_sockets("host example.com"), NO_SOCKET);
	assert_int_equal(without_sockets("net example"), NO_SOCKET);
	assert_int_equal(without_sockets("ether host example"), NO_SOCKET);
	assert_int_equal(without_sockets("ip host example.com or host 1.2.3.4"), NO_SOCKET);
}

/* It never runs beyond what is in the job, and the job is never waited for. */
static void test_job(void **state)
{
	struct filter_prog p = {0};
	struct filter_job *j;
	int rc;

	(void)state;
	filter_job_free(NULL);
	assert_int_equal(filter_start("udp", 65535, FILTER_ETHERNET, &j, &e), 0);
	while ((rc = filter_poll(j, &p, &e)) == -EAGAIN)
		poll(&(struct pollfd){.fd = filter_fd(j), .events = POLLIN}, 1, -1);
	assert_int_equal(rc, 0);
	filter_prog_free(&p);
	assert_int_equal(filter_poll(j, &p, &e), 0);
	assert_null(p.insns);
	filter_job_free(j);
	/* given up at any moment */
	for (unsigned i = 0; i < 20; i++) {
		assert_int_equal(filter_start("udp", 65535, FILTER_ETHERNET, &j, &e), 0);
		if (i % 2 == 1 && filter_poll(j, &p, &e) == 0)
			filter_prog_free(&p);
		filter_job_free(j);
	}
	/* nobody is left behind */
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
}

static void unsafe(struct filter_insn first, struct filter_insn second)
{
	struct filter_insn in[] = {first, second, {.code = BPF_RET | BPF_K}};
	struct filter_prog p = {in, 3};

	assert_int_equal(filter_check(&p, &e), -EINVAL);
}

static void test_check(void **state)
{
	const struct filter_insn nop = {.code = BPF_MISC | BPF_TAX};
	struct filter_insn in[FILTER_INSNS_MOST + 1] = {0};
	struct filter_prog p = {in, 0};

	(void)state;
	assert_int_equal(filter_check(&p, &e), -EINVAL);
	unsafe((struct filter_insn){.code = BPF_JMP | BPF_JA, .k = 2}, nop);
	unsafe((struct filter_insn){.code = BPF_JMP | BPF_JA, .k = UINT32_MAX}, nop);
	unsafe((struct filter_insn){.code = BPF_JMP | BPF_JEQ, .jt = 2}, nop);
	unsafe((struct filter_insn){.code = BPF_JMP | BPF_JEQ, .jf = 2}, nop);
	unsafe((struct filter_insn){.code = BPF_ST, .k = 16}, nop);
	unsafe((struct filter_insn){.code = BPF_LDX | BPF_MEM, .k = 16}, nop);
	unsafe((struct filter_insn){.code = BPF_ALU | BPF_DIV}, nop);
	unsafe((struct filter_insn){.code = BPF_ALU | BPF_MOD}, nop);
	unsafe((struct filter_insn){.code = BPF_ALU | 0xf0}, nop);
	unsafe((struct filter_insn){.code = BPF_LD | BPF_W | BPF_ABS, .k = (uint32_t)SKF_AD_OFF},
	       nop);
	unsafe((struct filter_insn){.code = BPF_LD | 0x18 | BPF_ABS}, nop);
	unsafe((struct filter_insn){.code = 0xffff}, nop);
	unsafe((struct filter_insn){.code = 0x107}, nop);
	in[0] = nop;
	p.n = 1;
	assert_int_equal(filter_check(&p, &e), -EINVAL);
	in[FILTER_INSNS_MOST - 1].code = in[FILTER_INSNS_MOST].code = BPF_RET | BPF_K;
	p.n = FILTER_INSNS_MOST;
	assert_int_equal(filter_check(&p, &e), 0);
	p.n++;
	assert_int_equal(filter_check(&p, &e), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_frames), cmocka_unit_test(test_snaplen),
		cmocka_unit_test(test_names),  cmocka_unit_test(test_syntax),
		cmocka_unit_test(test_large),  cmocka_unit_test(test_asks_nobody),
		cmocka_unit_test(test_job),    cmocka_unit_test(test_check),
	};

	return filter_skip() ? 77 : cmocka_run_group_tests(tests, NULL, NULL);
}
