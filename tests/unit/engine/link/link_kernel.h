/*
 * link_kernel - a kernel of a test's own: what of each connection lies between
 * socket and wire, what is not acknowledged yet, and what time it is.
 *
 * Who includes it links with --wrap=getsockopt,setsockopt,ioctl,clock_gettime.
 */
#ifndef UNIT_LINK_KERNEL_H
#define UNIT_LINK_KERNEL_H

#include "engine/link/link.h"

#include <linux/tcp.h>

#include "suite.h"
#include "unit/draw.h"

enum { FLOWS = 32, FD_BASE = 1000, WORKERS = 4, MS_NS = 1000000 };

#define S_NS UINT64_C(1000000000)

extern uint32_t in_kernel[FLOWS];   /* between socket and wire, of each */
extern uint32_t in_socket[FLOWS];   /* not yet sent, of each */
extern struct tcp_info info[FLOWS]; /* what acknowledgements tell of each */
extern int unsent_max[FLOWS];       /* TCP_NOTSENT_LOWAT of each */
extern uint64_t clock_ns;           /* 0: the real one */
extern unsigned calls;              /* of all that is wrapped */
extern unsigned looks_local, looks_remote; /* of SO_MEMINFO, of TCP_INFO */

/* --- What is tested ------------------------------------------------------ */

extern struct link_shared shared;
extern struct link links[WORKERS];
extern struct link_flow flows[FLOWS];

void open_flow(struct link *link, int number);
void end(void);

/* All begins anew; flows are those of the workers in turn. */
void begin(enum link_mode mode, uint64_t rate, size_t workers);

int set_up(void **state);
int tear_down(void **state);
void pass_ns(uint64_t ns);
uint64_t limit(void);
uint64_t allow(int number, uint64_t key, uint64_t want);

/* Hands bytes over, and the kernel keeps them. */
void hand(int number, uint64_t bytes, uint64_t key);

/* Something is held; at the tick the kernel has so many bytes. */
void tick_with(uint32_t queued);

/* Its limit is always found too low. */
void become_fast(struct link *link, int number);

#endif
