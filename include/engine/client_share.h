/*
 * client_share - computes what each waiting client would have been sent by now
 * if the link were shared evenly among clients, and finds the client that has
 * had too little.
 *
 * A client is an IPv4 address, or an IPv6 network of 64 bits, however many
 * connections come from there. V, the virtual time, is the number of bytes that
 * a client would have been sent under even shares if it had always waited. V
 * rises by 1/N for each byte that is sent, where N counts the clients that are
 * here. A client is here while it waits, and also while it would still be
 * receiving its earlier bytes if the link were shared evenly.
 * (Demers, Keshav, Shenker, "Analysis and simulation of a fair queueing
 * algorithm", SIGCOMM 1989; Parekh, Gallager, "A generalized processor sharing
 * approach to flow control", 1993.)
 *
 * The bound. Let c >= 1 be the factor. A client that begins to wait for b bytes
 * at V = a has something due at V = a + g, where g = min(0.9 * (c - 1) * b, G).
 * Each of the b bytes that the client is sent puts off this V by s = c - g / b,
 * which is at least 0.1 * c + 0.9 and at most c; each byte beyond the b puts it
 * off by c. A client with something due goes before all others; of several such
 * clients, the one whose V was passed first goes first. Q is the largest number
 * of bytes that is sent at a time.
 *
 * Claim: V never passes the V at which something is due by more than Q. Proof:
 * let the debt be the sum of V - due over all clients that wait and have
 * something due. When there is no debt, no more than Q bytes pass before the
 * scheduler looks again; V rises by Q / N at most, for N clients at most: the
 * debt begins with Q or less. While there is a debt, sending x bytes adds x / N
 * to the debt of each of at most N clients, hence x in all, and takes s * x >=
 * x from the debt of the client which is sent to. So the debt does not grow,
 * and the debt of one client is never more than the whole. (The same holds with
 * c in the place of s.)
 *
 * This has consequences, whatever is sent to others, and in whatever order:
 *  - A client has been sent b bytes when V has risen by g + s * b + Q = c * b +
 *    Q at most. Under fair sharing V would have risen by b meanwhile. So no
 *    client is slowed down by more than the factor c.
 *  - Until the b bytes are sent, a client has had at least (v - g - Q) / s
 *    bytes when V has risen by v. Afterwards the client has a c-th of each rise
 *    of V. So nothing stands still for long, and an endless stream has its
 *    share, too.
 *  - The V at which something is due is at most A = max(AHEAD, G) ahead. So a
 *    client is sent at least (v - A - Q) / c bytes while V rises by v, whenever
 *    this rise begins, and however early the client was served before.
 *  - A client with many connections counts as one of the N: it does not have
 *    something due more often than others.
 *
 * Why g is large: the later the b bytes come, the more short responses go
 * before them, and the less a burst of short responses is delayed. With
 * g = (c - 1) * b / 2 the mean time of such a burst was longer by 14 to 17 %;
 * with the g above it is longer by 4 to 5 %.
 *
 * Why g has a limit G: a large response shall move all the time, and not only
 * at the end of twice its fair time. Beside N clients a large response stands
 * still while the link carries N times G, and a client that waits too long for
 * its first byte gives up. So G is what the link carries in 250 ms, or an N-th
 * of what it carries in 10 s, as far as the link's rate is known.
 *
 * When a client has something due, its responses take turns: each of k
 * responses has a k-th of these turns.
 *
 * Responses of clients with nothing due may go in any order. But when others
 * wait, and a client is far ahead of its share (by more than CREDIT), the
 * excess is added to the bytes by which its responses are ordered. So in the
 * long run all clients that always ask get equal shares.
 *
 * A client that waits for several small things, such as the files of a page,
 * has a level: the bytes of all of them (client_level.h).
 *
 * Several workers: a share is a share of the whole link. So each worker knows
 * its own clients, and is told how many clients the other workers have and how
 * many bytes they have sent. At each of the w workers where a client waits, the
 * client counts as a w-th of a client in N, and each byte that it is sent there
 * counts w times. So the client has one share of the link, a w-th of the share
 * from each worker. With a weight of 1/w for the debt of such a client the
 * proof above holds as well, as long as the told numbers are up to date. Marks
 * tell at how many workers a client waits (client_marks.h).
 *
 * Virtual times are in bytes with FAIR_SHARE_FRACTION_BITS binary places.
 *
 * Mostly only one response waits. So a client that is here alone is kept
 * outside the heaps until another client comes; this saves time and changes
 * nothing else.
 *
 * Invariant: a client is here while it has a place that is put, or has had more
 *            than V. A client that is alone is in no heap. Any other client is
 *            in the heap due while it waits, and otherwise in the heap leaving.
 * Thread:    one scheduler's.
 * Owns:      the clients. Their number is bounded: when the reserve is used up,
 *            the client that would leave next leaves early.
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
    CLIENT_SHARE_GRACE = 384 * 1024,      /* the smallest G, in bytes */
    CLIENT_SHARE_GRACE_MAX = 4096 * 1024, /* the largest G, in bytes */
    CLIENT_SHARE_GRACES = 4,   /* in a second, the link carries 4 times G */
    CLIENT_SHARE_STILL_S = 10, /* longest standstill that G may cause */
    CLIENT_SHARE_AHEAD = 2048 * 1024, /* the smallest A, in bytes */
    /* A client has no excess until it is ahead of its share by so many
     * bytes. */
    CLIENT_SHARE_CREDIT = 4096 * 1024,
    /* Most bytes sent elsewhere that one client_share_hear() shares out. */
    CLIENT_SHARE_HEARD_MAX = 1024 * 1024,
    /* The weight of a client that waits at a single worker. A client that waits
     * at w workers has the weight 256 / w at each. */
    CLIENT_SHARE_WHOLE = 256,
    CLIENT_SHARE_STREAM = 64 * 1024 /* b for a response of unknown length */
};

/* A place is embedded in the struct that waits. A new place is all zero. */
struct client_place {
    /* Links the client's waiting places. While the place is not put, its owner
     * may use the link for another list. */
    struct list link;
    uint64_t client;  /* the client's name, from client_share_name() */
    uint64_t promise; /* private (client_due.h); 0: nothing was ever sent */
};

/* What the other workers have published, added up. */
struct client_others {
    uint64_t sent;  /* bytes sent since the start */
    uint32_t count; /* clients that wait */
    uint64_t parts; /* the sum of their CLIENT_SHARE_WHOLE / w */
};

struct client_share {
    uint64_t factor; /* c; 0: no shares are kept */
    uint64_t still;  /* bytes that the link carries in CLIENT_SHARE_STILL_S */
    uint64_t grace;  /* G, when few clients wait */
    uint64_t ahead;  /* A, in bytes */
    uint64_t now;    /* V, the virtual time */
    uint64_t rest;   /* bytes too few to raise V, which are shared out later */
    uint32_t count;  /* number of clients that are here */
    struct heap due;
    struct heap leaving;
    struct client_entry *taken; /* the client of the place taken last */
    /* The place taken last. It may be gone, so it is only compared. */
    const struct client_place *taken_place;
    /* How many bytes of taken_place still count in its client's level. */
    uint64_t taken_counted;
    struct client_entry *lone; /* the entry for a client that is here alone */
    bool is_alone;             /* a client is here alone, in `lone` */
    /* All clients that are here, except the lone one. */
    struct client_table table;
    struct client_others others;
    struct client_marks marks;
    uint64_t missing; /* CLIENT_SHARE_WHOLE for each waiting client, minus
                         client_share_parts() */
    /* Returns at how many other workers a client with `mark` waits. NULL when
     * there are no other workers. */
    uint32_t (*count_elsewhere)(const void *context, uint32_t mark);
    const void *context;
    /* Index in `due` of the client at which client_share_hear() goes on. */
    uint32_t looked;
    /* Called for each waiting place of a client whose level has changed. NULL
     * when nobody needs to know. */
    void (*on_level)(struct client_share *share, struct client_place *place,
                     uint64_t before, uint64_t after);
};

void client_share_init(struct client_share *share, uint64_t factor);
void client_share_fini(struct client_share *share);

/* Sets how many bytes a second the link carries. `rate` is 0 when the rate is
 * not known. */
void client_share_set_rate(struct client_share *share, uint64_t rate);

/* Makes room for `count` waiting places in all. Returns 0 or -ENOMEM. */
MUST_USE int client_share_reserve(struct client_share *share, size_t count);

/* Both return the name of the client to which an address belongs.
 * client_share_name_other() is for addresses other than IPv4. */
uint64_t client_share_name_other(const struct address *peer);

static inline uint64_t client_share_name(const struct address *peer)
{
    uint32_t octets;

    if (peer->family != ADDRESS_IPV4)
        return client_share_name_other(peer);
    memcpy(&octets, peer->octets, sizeof(octets));
    /* No IPv6 client has this name, since 0xff begins a multicast address. */
    return (uint64_t)octets << 32 | 0xff;
}

/* Lets `place` wait for `bytes` bytes, of which `known` bytes are sure to come.
 * client_share_take() and client_share_drop() get the same `known`. The promise
 * of a new place is 0. The level of the place's client may change. */
void client_share_put(struct client_share *share, struct client_place *place,
                      uint64_t bytes, uint64_t known);

/* Takes out `place`, whose client is sent something now. The caller puts it
 * again if something is left. `known` is as for client_share_put(). */
void client_share_take(struct client_share *share, struct client_place *place,
                       uint64_t known);

/* Takes out `place`, which waits no more. `known` is as for
 * client_share_put(). */
void client_share_drop(struct client_share *share, struct client_place *place,
                       uint64_t known);

/* Charges the client of `place` for `bytes` bytes that were sent. The place
 * need not have waited. */
void client_share_charge(struct client_share *share, struct client_place *place,
                         uint64_t bytes);

/* Takes over `others`, the sums of what the other workers have published.
 * Raises V for the bytes that they have sent since the last call. Called often
 * while anything waits here. */
void client_share_hear(struct client_share *share,
                       const struct client_others *others);

/* Finds the client that has had something due for longest. Returns the first of
 * this client's waiting places; NULL when no client has something due. */
struct client_place *client_share_first_due(struct client_share *share);

/* Whether client_share_first_due() would find a place. */
static inline bool client_share_has_due(const struct client_share *share)
{
    const struct heap_item *first = heap_first(&share->due);

    return first && first->key <= share->now &&
           share->due.count + share->others.count > 1;
}

/* Called only by client_share_excess() and client_share_level(), when more than
 * one client may be here. */
uint64_t client_share_excess_of(const struct client_share *share,
                                const struct client_place *place);
uint64_t client_share_level_of(const struct client_share *share,
                               const struct client_place *place);

/* Returns how many bytes beyond CLIENT_SHARE_CREDIT the client of a place is
 * ahead of its share; 0 when it is not so far ahead. */
static inline uint64_t client_share_excess(const struct client_share *share,
                                           const struct client_place *place)
{
    return share->is_alone ? 0 : client_share_excess_of(share, place);
}

/* Returns the level of a place's client. Returns 0 for a client that is here
 * alone, since it has a single place, and a level needs several. */
static inline uint64_t client_share_level(const struct client_share *share,
                                          const struct client_place *place)
{
    if (share->is_alone || share->count == 0)
        return 0;
    return client_share_level_of(share, place);
}

/* Returns the name of the only client that waits here; 0 when none or several
 * wait. */
uint64_t client_share_only(const struct client_share *share);

/* Returns the sum of the weights of the clients that wait here. A client that
 * waits at w workers has the weight CLIENT_SHARE_WHOLE / w. */
uint64_t client_share_parts(const struct client_share *share);

/* Returns the number of clients that wait here. */
static inline uint32_t client_share_waiting(const struct client_share *share)
{
    return share->due.count + share->is_alone;
}

/* Whether any client is here, so that shares have to be kept. */
static inline bool client_share_is_used(const struct client_share *share)
{
    return share->count > 0;
}

#endif
