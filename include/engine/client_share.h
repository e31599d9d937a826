/*
 * client_share - what each client that waits would have by now if the link were
 * shared evenly among clients, and whose turn it is because he has too little.
 *
 * A client is an address, of IPv6 its network of 64 bits, however many
 * connections it has. V, the virtual time, is what a client has had that has
 * waited since ever, were all equal: for each byte that is sent it rises by 1/N,
 * where N counts the clients here: those that wait, and those that do not, but
 * would still be busy with what they have had, were the link shared evenly.
 * (Demers, Keshav, Shenker, "Analysis and simulation of a fair queueing
 * algorithm", SIGCOMM 1989; Parekh, Gallager, "A generalized processor sharing
 * approach to flow control", 1993.)
 *
 * The bound. Let c >= 1 be the factor. A client that begins to wait for b bytes
 * at V = a has something due at V = a + g, where g = min(0.9 * (c - 1) * b, G);
 * each of the b bytes that he is sent puts that off by s = c - g / b, which is
 * at least 0.1 * c + 0.9 and at most c, and each byte more by c. Whoever's V
 * has come goes before all others, the least first. Q is the most that is sent
 * at a time.
 *
 * Claim: V never passes what is due by more than Q. Proof: let the debt be the
 * sum of V - due over all clients that wait and whose V has come. When there is
 * none, no more than Q bytes pass before it is looked again; V rises by Q / N at
 * most, for N clients at most: the debt begins with Q or less. While there is
 * one, sending x bytes adds x / N to each debt, of N at most, hence x in all, and
 * takes s * x >= x from that of him who is sent to. So it does not grow, and
 * nobody's is more than all. (By c it is as by s.)
 *
 * Hence, whatever others send, and in which order:
 *  - he has been sent b bytes when V has risen by g + s * b + Q = c * b + Q at
 *    most. Under fair sharing that takes a rise of b. No client is slower than by
 *    the factor c.
 *  - Until then, when V has risen by v, he has had (v - g - Q) / s at least,
 *    and from then on a c-th of what it rises by. So nothing stands still for
 *    long, and a stream without an end has its share like anything else.
 *  - What is due is at most A = max(AHEAD, G) away. So from any moment on, and
 *    also after he was served before his time for long, he has (v - A - Q) / c
 *    at least.
 *  - A client with many connections is one of N: it is not due more often.
 *
 * The later the b bytes come, the more of what is short has gone before, and
 * the less a burst of short ones lasts that much longer: with g = (c - 1) * b /
 * 2 its mean was longer by 14 to 17 % in place of 4 to 5. What stands still
 * shall move all the same, and not only at the end of twice its time. N clients
 * let a large one stand still for N times what the link takes for G. So G is
 * what the link carries in 250 ms, or an N-th of what it carries in 10 s, as
 * far as that is known: who waits for its first byte gives up at some time.
 *
 * Inside a client these turns go round among all that wait, so that each
 * response of k has a k-th of them.
 *
 * All else may go by any order. But who is far ahead of his share (CREDIT) when
 * others wait has the excess added to the bytes that he is ordered by. So in the
 * long run a client that always asks has no more than another that does.
 *
 * A client that waits for several small things, such as the files of a page,
 * has a level: the bytes of all of them (client_level.h).
 *
 * Several workers: each knows its own clients, and is told of how many the
 * others have and what they have sent: the shares are of the link. A client that
 * waits at w workers is a w-th of one in N at each of them, and what one of them
 * sends him counts w times there: so he has one share of the link, a w-th of it
 * from each. With 1/w for the weight of his debt the proof above is the same, as
 * far as what was told still holds. At how many he waits is told by marks
 * (client_marks.h).
 *
 * Virtual times are in bytes with FAIR_SHARE_FRACTION_BITS binary places.
 *
 * Mostly one response waits, while one is made: he who is here alone is kept
 * beside the heaps until somebody comes. It makes no difference but in cost.
 *
 * Invariant: a client is here while something of his is put here, or V is less
 *            than what he has had; in due while he waits, unless he is alone,
 *            else in leaving.
 * Thread:    one scheduler's.
 * Owns:      the clients; their number is bounded: beyond the reserve the one
 *            that would leave next does so early.
 */
#ifndef ENGINE_CLIENT_SHARE_H
#define ENGINE_CLIENT_SHARE_H

#include "base/address.h"
#include "base/heap.h"
#include "base/list.h"
#include "engine/client_marks.h"
#include "engine/client_table.h"
#include "engine/fair_share.h"

enum {
    CLIENT_SHARE_GRACE = 384 * 1024,      /* G, at least, */
    CLIENT_SHARE_GRACE_MAX = 4096 * 1024, /* and at most, */
    CLIENT_SHARE_GRACES = 4,              /* and so many in a second; */
    CLIENT_SHARE_STILL_S = 10,            /* but of all who wait no longer */
    CLIENT_SHARE_AHEAD = 2048 * 1024,     /* what is due is no further away, nor
                                             than G */
    CLIENT_SHARE_CREDIT = 4096 * 1024,    /* more than a share, for nothing */
    CLIENT_SHARE_HEARD_MAX = 1024 * 1024, /* sent elsewhere, at a time */
    CLIENT_SHARE_WHOLE = 256,             /* one of N; a w-th is that by w */
    CLIENT_SHARE_STREAM = 64 * 1024       /* b of what may be of any length */
};

/* Inside whatever waits. Zeroed it is new. */
struct client_place {
    struct list link; /* of those of its client that wait; its owner's while it
                         is not put, and in no other list when it is */
    uint64_t client;  /* whose it is, from client_share_name() */
    uint64_t promise; /* private: as it was when it was sent to; 0: never */
};

/* What other workers have told. */
struct client_others {
    uint64_t sent;  /* bytes, since ever */
    uint32_t count; /* clients that wait */
    uint64_t parts; /* the same, each a w-th of CLIENT_SHARE_WHOLE */
};

struct client_share {
    uint64_t factor; /* c; 0: there are no shares */
    uint64_t still;  /* bytes that the link carries in CLIENT_SHARE_STILL_S */
    uint64_t grace;  /* G, of few clients, */
    uint64_t ahead;  /* and A */
    uint64_t now;    /* V */
    uint64_t rest;   /* shared out next time: too little to raise V */
    uint32_t count;  /* of clients here */
    struct heap due;
    struct heap leaving;
    struct client_entry *taken;             /* whose place was taken last, */
    const struct client_place *taken_place; /* and which: only to compare */
    struct client_entry *lone; /* where the only client here is kept */
    bool is_alone;             /* there is one, and so it is in no heap */
    struct client_table table; /* of them, but for the lone one */
    uint64_t taken_counted;    /* of that place */
    struct client_others others;
    struct client_marks marks;
    uint64_t missing; /* that those who wait are less than whole, in all */
    /* At how many other workers the client with that mark waits. NULL: there
     * are no others. */
    uint32_t (*count_elsewhere)(const void *context, uint32_t mark);
    const void *context;
    uint32_t looked; /* so often, all of due in turn */
    /* Called when the level of the client of a waiting place has changed. NULL:
     * nobody needs to know. */
    void (*on_level)(struct client_share *share, struct client_place *place,
                     uint64_t before, uint64_t after);
};

void client_share_init(struct client_share *share, uint64_t factor);
void client_share_fini(struct client_share *share);

/* The link carries so many bytes a second; 0: that is not known. */
void client_share_set_rate(struct client_share *share, uint64_t rate);

/* Makes room for count places in all that wait. 0 or -ENOMEM. */
MUST_USE int client_share_reserve(struct client_share *share, size_t count);

/* The number of the client that an address belongs to. The first function is
 * for what is not of IPv4. */
uint64_t client_share_name_other(const struct address *peer);

static inline uint64_t client_share_name(const struct address *peer)
{
    uint32_t octets;

    if (peer->family != ADDRESS_IPV4)
        return client_share_name_other(peer);
    memcpy(&octets, peer->octets, sizeof(octets));
    return (uint64_t)octets << 32 | 0xff; /* none of IPv6 is so */
}

/* A place waits for so many bytes, of which so many are known to come (its
 * owner keeps that number while it waits); a new one has promise = 0. Its level
 * may change by that. */
void client_share_put(struct client_share *share, struct client_place *place,
                      uint64_t bytes, uint64_t known);

/* The place, of which so many bytes are known to come, is sent to now, and put
 * again if something is left. */
void client_share_take(struct client_share *share, struct client_place *place,
                       uint64_t known);

/* The place, of which so many bytes are known to come, waits no more. */
void client_share_drop(struct client_share *share, struct client_place *place,
                       uint64_t known);

/* Charges the client of place, which may never have waited, for so many bytes
 * that were sent. */
void client_share_charge(struct client_share *share, struct client_place *place,
                         uint64_t bytes);

/* What the other workers say now; it has not been long since they were asked
 * last, as far as anything has waited here. */
void client_share_hear(struct client_share *share,
                       const struct client_others *others);

/* The place of the client that has too little for longest; NULL: nobody has too
 * little. Of a client that waits here alone it is the place that came first. */
struct client_place *client_share_first_due(struct client_share *share);

/* Whether client_share_first_due() finds somebody. */
static inline bool client_share_has_due(const struct client_share *share)
{
    const struct heap_item *first = heap_first(&share->due);

    return first && first->key <= share->now &&
           share->due.count + share->others.count > 1;
}

/* Of the next two: what is so where there are others. */
uint64_t client_share_excess_of(const struct client_share *share,
                                const struct client_place *place);
uint64_t client_share_level_of(const struct client_share *share,
                               const struct client_place *place);

/* How much his client is ahead of his share beyond the credit, in bytes. */
static inline uint64_t client_share_excess(const struct client_share *share,
                                           const struct client_place *place)
{
    return share->is_alone ? 0 : client_share_excess_of(share, place);
}

/* The level of its client: 0 of who is alone, with one place. */
static inline uint64_t client_share_level(const struct client_share *share,
                                          const struct client_place *place)
{
    if (share->is_alone || share->count == 0)
        return 0;
    return client_share_level_of(share, place);
}

/* The client that waits here when it is the only one; otherwise 0. */
uint64_t client_share_only(const struct client_share *share);

/* Those that wait here, each a w-th of CLIENT_SHARE_WHOLE. */
uint64_t client_share_parts(const struct client_share *share);

/* Clients that wait here. */
static inline uint32_t client_share_waiting(const struct client_share *share)
{
    return share->due.count + share->is_alone;
}

/* Whether shares have to be kept: some client waits, or would if all were sent
 * to evenly. */
static inline bool client_share_is_used(const struct client_share *share)
{
    return share->count > 0;
}

#endif
