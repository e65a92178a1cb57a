/* SPDX-License-Identifier: BSD-3-Clause */
/* Inside of lib/sock. Files: sock_arm.c control's side, sock_thread.c the loop of a thread with its
 * timers, sock_line.c the life of a line and the calls of its record, sock_move.c bytes in and out,
 * sock_udp.c peers of a server of datagrams. */
#pragma once
#include <pthread.h>
#include "sock.h"
#include "spin.h"

#define SOCK_QUEUE 4       /* messages of a line that are not sent yet */
#define SOCK_TURN_SENDS 32 /* most sends and receives of a line before it is others' turn */
#define SOCK_OPENING 64    /* most connections of a thread that open at once at the start */
#define SOCK_PEERS 65536   /* most peers of a thread's datagram server */
#define SOCK_BUFFER 65536  /* bytes, where spec.buffer is 0 */

struct sock_message {
	uint64_t left, offset; /* left: WL_ENDLESS stays as it is */
	uint64_t stamp;
	uint16_t content;
	uint8_t close; /* enum wl_close, behind it */
	bool stamped;
};

enum sock_state {
	SOCK_NEW, /* a client's that has not begun to connect */
	SOCK_CONNECTING,
	SOCK_OPEN,
	SOCK_CLOSED
};
/* What a line can wait for in its thread's heap. */
enum sock_wait { SOCK_WAIT_TIMER, SOCK_WAIT_GO, SOCK_WAIT_SEND, SOCK_WAITS };

struct sock_server;
struct sock_one {
	struct sock_line l; /* first: the two are one object */
	struct sock_one *next, *prev;
	struct sock_one *active_next; /* of the thread's list of lines that can do something */
	struct sock_server *server;   /* of a datagram server's peer, whose socket it uses */
	struct sock_one *peer_next;   /* there */
	uint32_t mem[WL_MEM_WORDS];
	struct sock_message queue[SOCK_QUEUE];
	uint8_t head, queued;
	uint8_t state; /* enum sock_state */
	bool active, can_read, can_write;
	bool more;            /* it has had its turn, and could go on */
	bool may_end;         /* the kernel said that there is an end behind the data */
	bool peer_done;       /* the peer sends nothing more, and the record knows it */
	bool our_done;        /* so do we */
	bool closing;         /* the record has asked for WL_CLOSE_FIN */
	bool begun;           /* opened() was called */
	bool ready;           /* for go() */
	bool called;          /* go() was, and its transaction is not over */
	uint64_t done_before; /* counts.done when it was */
	bool idle_told;       /* may_send() was called, and nothing was sent since */
	bool broken;          /* to be closed as soon as its record has returned */
	uint8_t broken_why;
	uint32_t preamble_left;
	uint8_t *rest; /* received bytes that the record could not be given yet */
	uint32_t rest_n;
	uint64_t connect_ns, send_at_ns, due_ns, late_ns;
	uint64_t wait_ns[SOCK_WAITS];
	uint32_t wait_at[SOCK_WAITS]; /* its place in the heap, + 1; 0: it does not wait */
	uint8_t *mapped;              /* of TCP_ZEROCOPY_RECEIVE */
	cell_t mapped_bytes;
};

struct sock_server {
	struct sock_server *next;
	const struct sock_spec *spec;
	struct sock_thread *thread;
	int fd;
	bool blocked, resting;  /* its socket is full; it takes no more for a moment */
	struct sock_one **peer; /* by hash, SOCK_HASH chains; of datagrams */
	unsigned npeers;
};
#define SOCK_HASH 4096

struct sock_due {
	uint64_t at;
	struct sock_one *one;
	uint8_t what; /* enum sock_wait */
};

/* What epoll gives back: a line, or with the lowest bit set a server; NULL: the thread is woken. */
#define SOCK_TAG_SERVER 1ull

/* A command of control. */
struct sock_order {
	struct sock_order *next;
	const struct sock_spec *spec;
	int fd;
	uint32_t n;
	uint8_t first[];
};

struct sock_thread {
	struct sock_arm *arm;
	unsigned number, nlines;
	unsigned opening;          /* lines that connect */
	struct sock_one *unopened; /* the first that has not begun to; NULL: there is none */
	pthread_t id;
	bool running;
	int epoll, wake;
	/* Lines come and go under the lock, so that others may walk along them. */
	pthread_mutex_t lock;
	struct sock_one *first, *last;
	struct sock_server *servers;
	struct sock_order *orders, **orders_end; /* under the lock */
	struct sock_one *active, **active_end;
	struct sock_due *heap;
	uint32_t nheap, heap_size;
	void **cells; /* by number; those that are free form a list */
	uint32_t ncells, free_cell;
	uint64_t now, tick_at, slot_at;
	uint64_t rest_until; /* when listeners that could not accept begin again; 0: none rests */
	uint64_t cpu_ns;     /* all that it has used, when it has ended */
	bool gone;
	uint8_t *buffer; /* SOCK_BUFFER_MOST bytes */
	struct sock_spin spin;
};

struct sock_arm {
	struct sock_conf conf;
	struct sock_thread *thread;
	int event_fd;
	unsigned events;             /* atomic */
	unsigned clients, connected; /* connected: atomic */
	bool stop, go;               /* atomic */
	uint64_t go_ns;
	uint64_t budget_left, budget_open; /* atomic */
	pthread_mutex_t lock;              /* of error */
	struct err error;
	bool has_error, started;
};

void sock_tell(struct sock_arm *, enum sock_event);
void sock_fail(struct sock_arm *, const struct err *); /* keeps the first one, and tells it */

/* sock_thread.c, on the thread */
void *sock_thread_main(void *thread);
void sock_activate(struct sock_one *);
void sock_wait_for(struct sock_one *, enum sock_wait, uint64_t at); /* UINT64_MAX: no more */
void sock_link(struct sock_thread *, struct sock_one *);
void sock_unlink(struct sock_thread *, struct sock_one *);
int sock_watch(struct sock_thread *, int fd, uint32_t events, void *what);

/* sock_line.c */
struct sock_one *sock_one_new(struct sock_thread *, const struct sock_spec *);
void sock_one_free(struct sock_one *);
void sock_open_line(struct sock_one *); /* a client's begins to connect */
void sock_accepted(struct sock_thread *, const struct sock_spec *, int fd);
bool sock_settled(struct sock_one *); /* after connect(); false: it is gone */
void sock_begin(struct sock_one *);
void sock_go_line(struct sock_one *);
void sock_timer_line(struct sock_one *);
void sock_call(struct sock_one *, void (*fn)(struct wl_turn *));
/* Gives received bytes to the record; how many it took before its queue was full. */
uint32_t sock_give(struct sock_one *, const uint8_t *data, uint32_t n);
void sock_peer_done(struct sock_one *);
void sock_close_if_over(struct sock_one *);
void sock_close(struct sock_one *, enum wl_end why);
/* Why sends and receives of a connection fail, as the end of it. */
enum wl_end sock_why(int error);

/* sock_move.c */
/* As much as can be, in this turn. SOCK_GONE: the line is no more. */
enum sock_moved { SOCK_WAITS_ON, SOCK_MORE, SOCK_GONE };
enum sock_moved sock_move(struct sock_one *);
void sock_send(struct sock_one *);
void sock_errors(struct sock_one *); /* takes what lies in the queue of errors (zerocopy) */

/* sock_udp.c */
void sock_udp_in(struct sock_server *);
void sock_udp_may_send(struct sock_server *);
void sock_udp_watch(struct sock_server *); /* `blocked` has changed */
void sock_udp_forget(struct sock_one *);

static inline struct sock_one *sock_one(struct sock_line *l)
{
	return (struct sock_one *)l;
}
