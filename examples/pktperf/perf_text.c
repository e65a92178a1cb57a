/* SPDX-License-Identifier: BSD-3-Clause */
/* Rates are by measured time, a port's rate is divided by its queues once, and times are means. */
#include <inttypes.h>
#include <math.h>
#include <unistd.h>

#include "clock.h"
#include "out.h"
#include "pktperf.h"
#include "wire.h"

static const char *const perf_rows[PERF_ROWS] = {"RxQs",     "TxQs",   "TxFull", "TxDrop",
						 "NoTxMBUF", "RxTime", "TxTime"};

void perf_figures(const struct snap_queue *from, const struct snap_queue *to, unsigned n,
		  double seconds, double out[PERF_ROWS])
{
	uint64_t sum[PERF_ROWS] = {0}, rx = 0, tx = 0;

	for (unsigned i = 0; i < n; i++, from++, to++) {
		sum[PERF_RX] += to->rx.packets - from->rx.packets;
		sum[PERF_TX] += to->tx.packets - from->tx.packets;
		sum[PERF_FULL] += to->tx.stalls - from->tx.stalls;
		sum[PERF_DROP] += to->tx.dropped - from->tx.dropped;
		sum[PERF_DROP] += to->tx.unsent - from->tx.unsent;
		sum[PERF_NOMBUF] += to->tx.nombuf - from->tx.nombuf;
		sum[PERF_RX_TIME] += to->rx_times.cycles - from->rx_times.cycles;
		sum[PERF_TX_TIME] += to->tx_times.cycles - from->tx_times.cycles;
		rx += to->rx_times.bursts - from->rx_times.bursts;
		tx += to->tx_times.bursts - from->tx_times.bursts;
	}
	for (unsigned r = 0; r < PERF_ROWS; r++)
		out[r] = (double)sum[r] / seconds;
	out[PERF_RX_TIME] = (double)sum[PERF_RX_TIME] / (double)rx; /* 0 / 0 is NAN */
	out[PERF_TX_TIME] = (double)sum[PERF_TX_TIME] / (double)tx;
}

/* Appends a text with numbers in the place of each '%'. */
static void perf_line(struct sbuf *out, const char *text, const double *v)
{
	for (; *text != '\0'; text++)
		if (*text == '%')
			out_count(*v++, 0, out);
		else
			sbuf_addc(out, *text);
}

/* A port's block; of: its facts in ctl_ports_json(). */
static void perf_port(const struct perf *p, const struct snap_port *from,
		      const struct snap_port *to, double seconds, json_t *of, struct sbuf *out)
{
	double bits = wire_l1_bits((double)p->size), mbps = (double)to->speed_mbps;
	double v[14] = {mbps, mbps * 1e6 / bits, bits, 0, 0, NAN};
	double errors = (double)(to->rx_errors - from->rx_errors) / seconds;
	double missed = (double)(to->rx_missed - from->rx_missed) / seconds;
	double failed = (double)(to->tx_errors - from->tx_errors) / seconds, figure[PERF_ROWS];
	struct ctl_load l;

	if (portset_has(&p->senders, to->port) && ctl_load(p->ctl, to->port, &l, NULL) == 0) {
		v[3] = l.is_max ? v[1] : l.pps;
		v[4] = v[3] / l.nqueues;
		v[5] = clock_hz() * (double)p->burst / v[4];
	}
	json_unpack(of, "{s:F,s:F,s:F,s:F}", "mbufs", v + 6, "memory_bytes", v + 7, "rxd", v + 8,
		    "txd", v + 9);
	v[10] = (double)to->rx_missed;
	v[11] = (double)to->rx_errors;
	v[12] = (double)to->tx_errors;
	v[13] = (double)to->rx_nombuf;
	sbuf_addf(out, " %-7u: %s, link %s", to->port, to->name, snap_link_name(to->link));
	perf_line(out,
		  ", % Mbps, MaxPPS:%, WireSize:% bits\n"
		  "        : PPS:%, Pkts/Thread:%, Cycles/Burst (TxCPB):%\n"
		  "        : MBUFs:% Size:% Rx/Tx:%/%\n"
		  "        : RxMissed:%, ierr:%, oerr:%, RxNoMbuf:%\n\n  Queue ID    |",
		  v);
	for (unsigned q = 0; q < to->nqueues; q++)
		sbuf_addf(out, "%10u  |", q);
	sbuf_add(out, "        Total |\n  ------------+");
	for (unsigned q = 0; q < to->nqueues; q++)
		sbuf_add(out, "------------+");
	sbuf_add(out, "--------------+");
	for (unsigned r = 0; r < PERF_ROWS; r++) {
		sbuf_addf(out, "\n  %-12s|", perf_rows[r]);
		for (unsigned q = 0; q < to->nqueues; q++, sbuf_addc(out, '|')) {
			perf_figures(&from->queue[q], &to->queue[q], 1, seconds, figure);
			out_count(figure[r], 12, out);
		}
		perf_figures(from->queue, to->queue, to->nqueues, seconds, figure);
		out_count(figure[r], 14, out);
		sbuf_addc(out, '|');
		if (r == PERF_RX && errors + missed > 0)
			perf_line(out, "  Err : %  Miss: %", (double[]){errors, missed});
		if (r == PERF_TX && failed > 0)
			perf_line(out, "  Err : %", &failed);
	}
	sbuf_add(out, "\n\n");
}

void perf_text(struct perf *p, const struct snap *from, const struct snap *to, bool totals,
	       struct sbuf *out)
{
	double seconds = (double)(to->time_ns - from->time_ns) / 1e9;
	json_t *doc = ctl_ports_json(p->ctl), *ports = json_object_get(doc, "ports");

	if (totals)
		sbuf_addf(out, "Port    : Totals of %.3f seconds per queue", seconds);
	else
		sbuf_addf(out, "Port    : Rate Statistics per queue (%c)",
			  "|/-\\"[p->prints++ % 4]);
	sbuf_addf(out, ", PID:%d, Size: %" PRIu64 ", Burst: %" PRIu64 "\n        : TxRate:",
		  (int)getpid(), p->size, p->burst);
	vt_rate_steady.print(&(struct vspec){&vt_rate_steady}, &p->rate, out);
	sbuf_add(out, "\n        : Mapping:");
	for (unsigned i = 0; i < p->opts.nmaps; i++)
		sbuf_addf(out, " %s", p->map[i]);
	sbuf_add(out, "\n\n");
	for (unsigned i = 0; i < to->nports; i++)
		if (to->port[i].used)
			perf_port(p, &from->port[i], &to->port[i], totals ? 1 : seconds,
				  json_array_get(ports, i), out);
	json_decref(doc);
}
