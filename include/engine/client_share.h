/*
 * client_share - what each client that waits would have by now if the link were
 * shared evenly among clients, and whose turn it is because it has too little.
 *
 * A client is an address, of IPv6 its network of 64 bits, however many
 * connections it has. V, the virtual time, is what a client would have had that
 * has always waited, if all had the same: V rises by 1/N for each byte that is
 * sent, where N counts the clients that are here. Those are the clients that
 * wait, and those that do not wait but would still be busy with what they have
 * had, if the link were shared evenly.
 * (Demers, Keshav, Shenker, "Analysis and simulation of a fair queueing
 * algorithm", SIGCOMM 1989; Parekh, Gallager, "A generalized processor sharing
 * approach to flow control", 1993.)
 *
 * The bound. Let c >= 1 be the factor. A client that begins to wait for b bytes
 * at V = a has something due at V = a + g, where g = min(0.9 * (c - 1) * b, G).
 * Each of the b bytes that the client is sent puts this off by s = c - g / b,
 * which is at least 0.1 * c + 0.9 and at most c; each byte after them puts it
 * off by c. A client with something due goes before all others, and of several
 * the one for which it was due first. Q is the most that is sent at a time.
 *
 * Claim: V never passes what is due by more than Q. Proof: let the debt be the
 * sum of V - due over all clients that wait and have something due. When there
 * is no debt, no more than Q bytes pass before the scheduler looks again; V
 * rises by Q / N at most, for N clients at most: the debt begins with Q or
 * less. While there is a debt, sending x bytes adds x / N to that of each
 * client, of N at most, hence x in all, and takes s * x >= x from that of the
 * client which is sent to. So the debt does not grow, and no client's is more
 * than all of it. (The same holds with c in the place of s.)
 *
 * From this follows, whatever others send, and in which order:
 *  - A client has been sent b bytes when V has risen by g + s * b + Q =
 *    c * b + Q at most. Under fair sharing that takes a rise of b. So no client
 *    is slower than by the factor c.
 *  - Before that, when V has risen by v, the client has had (v - g - Q) / s at
 *    least. After that it has a c-th of what V rises by. So nothing stands
 *    still for long, and a stream without an end has its share like anything
 *    else.
 *  - What is due is at most A = max(AHEAD, G) away. So from any moment on, even
 *    after the client was served before its time for long, it has
 *    (v - A - Q) / c at least when V has risen by v since.
 *  - A client with many connections is one of N: it is not due more often.
 *
 * Why g is large: the later the b bytes come, the more short responses have
 * gone before, and the less a burst of short ones is lengthened. With g = (c -
 * 1) * b / 2 the mean of such a burst was longer by 14 to 17 %, and is by 4 to
 * 5.
 *
 * Why g has a limit G: a large response shall move all the time, and not only
 * at the end of twice its time. Beside N clients it stands still while the link
 * carries N times G. So G is what the link carries in 250 ms, or an N-th of
 * what it carries in 10 s, as far as the link's rate is known: a client that
 * waits for its first byte gives up at some time.
 *
 * Inside a client these turns go round among all that wait, so that each
 * response of k has a k-th of them.
 *
 * What is not due may go in any order. But when others wait, a client that is
 * far ahead of its share (by more than CREDIT) has the excess added to the
 * bytes that its responses are ordered by. So in the long run a client that
 * always asks has no more than another that does.
 *
 * A client that waits for several small things, such as the files of a page,
 * has a level: the bytes of all of them (client_level.h).
 *
 * Several workers: shares are of the link, so each worker knows its own
 * clients, and is told how many clients the others have and what they have
 * sent. A client that waits at w workers is a w-th of one in N at each of them,
 * and what one of them sends it counts w times there: so it has one share of
 * the link, a w-th of it from each worker. With 1/w for the weight of its debt
 * the proof above is the same, as far as what was told still holds. Marks tell
 * at how many workers a client waits (client_marks.h).
 *
 * Virtual times are in bytes with FAIR_SHARE_FRACTION_BITS binary places.
 *
 * Mostly one response waits. So a client that is here alone is kept beside the
 * heaps until another comes, which makes no difference but in cost.
 *
 * Invariant: a client is here while something of it is put here, or V is less
 *            than what it has had. It is in the heap due while it waits, unless
 *            it is alone, and otherwise in the heap leaving.
 * Thread:    one scheduler's.
 * Owns:      the clients. Their number is bounded: beyond the reserve the one
 *            that would leave next leaves early.
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
    CLIENT_SHARE_GRACE = 384 * 1024,      /* the least G */
    CLIENT_SHARE_GRACE_MAX = 4096 * 1024, /* the largest G */
    CLIENT_SHARE_GRACES = 4,   /* the link carries so many G in a second */
    CLIENT_SHARE_STILL_S = 10, /* G stops nobody for longer than this */
    CLIENT_SHARE_AHEAD = 2048 * 1024,     /* the least A */
    CLIENT_SHARE_CREDIT = 4096 * 1024,    /* ahead of a share, uncharged */
    CLIENT_SHARE_HEARD_MAX = 1024 * 1024, /* bytes, heard of at a time */
    CLIENT_SHARE_WHOLE = 256, /* weight of a client; a w-th of it is 256 / w */
    CLIENT_SHARE_STREAM = 64 * 1024 /* b of a response of unknown length */
};

/* A place is embedded in whatever waits. A new one is all zero. */
struct client_place {
    struct list link; /* in the list of its client's places that wait; free for
                         other lists of its owner while the place is not put */
    uint64_t client;  /* from client_share_name() */
    uint64_t promise; /* private (client_due.h); 0: nothing was ever sent */
};

/* What the other workers have published, added up. */
struct client_others {
    uint64_t sent;  /* bytes, since the start */
    uint32_t count; /* clients that wait */
    uint64_t parts; /* these clients, each counted as CLIENT_SHARE_WHOLE / w */
};

struct client_share {
    uint64_t factor; /* c; 0: there are no shares */
    uint64_t still;  /* bytes that the link carries in CLIENT_SHARE_STILL_S */
    uint64_t grace;  /* G, when few clients wait */
    uint64_t ahead;  /* A */
    uint64_t now;    /* V */
    uint64_t rest;   /* bytes, too few to raise V: shared out next time */
    uint32_t count;  /* clients that are here */
    struct heap due;
    struct heap leaving;
    struct client_entry *taken; /* the client of the place taken last */
    const struct client_place *taken_place; /* that place: only to compare */
    uint64_t taken_counted;                 /* its bytes that are in a level */
    struct client_entry *lone; /* where the only client here is kept */
    bool is_alone;             /* lone is here, and so in no heap */
    struct client_table table; /* all clients here but the lone one */
    struct client_others others;
    struct client_marks marks;
    uint64_t missing; /* CLIENT_SHARE_WHOLE for each that waits, less parts */
    /* At how many other workers the client with that mark waits. NULL: there
     * are no other workers. */
    uint32_t (*count_elsewhere)(const void *context, uint32_t mark);
    const void *context;
    uint32_t looked; /* where client_share_hear() goes on in due */
    /* Called when the level of a waiting place's client has changed. NULL:
     * nobody needs to know. */
    void (*on_level)(struct client_share *share, struct client_place *place,
                     uint64_t before, uint64_t after);
};

void client_share_init(struct client_share *share, uint64_t factor);
void client_share_fini(struct client_share *share);

/* Tells how many bytes a second the link carries; 0: that is not known. */
void client_share_set_rate(struct client_share *share, uint64_t rate);

/* Makes room for count places in all that wait. 0 or -ENOMEM. */
MUST_USE int client_share_reserve(struct client_share *share, size_t count);

/* The number of the client that an address belongs to.
 * client_share_name_other() is for an address that is not of IPv4. */
uint64_t client_share_name_other(const struct address *peer);

static inline uint64_t client_share_name(const struct address *peer)
{
    uint32_t octets;

    if (peer->family != ADDRESS_IPV4)
        return client_share_name_other(peer);
    memcpy(&octets, peer->octets, sizeof(octets));
    return (uint64_t)octets << 32 | 0xff; /* none of IPv6 is so */
}

/* Lets place wait for so many bytes. known: how many of them are known to come;
 * take and drop are told the same number. The promise of a new place is 0. The
 * level of the place's client may change. */
void client_share_put(struct client_share *share, struct client_place *place,
                      uint64_t bytes, uint64_t known);

/* Takes out place, which is sent to now and put again if something is left.
 * known: as it was put. */
void client_share_take(struct client_share *share, struct client_place *place,
                       uint64_t known);

/* Takes out place, which waits no more. known: as it was put. */
void client_share_drop(struct client_share *share, struct client_place *place,
                       uint64_t known);

/* Charges the client of place, which may never have waited, for so many bytes
 * that were sent. */
void client_share_charge(struct client_share *share, struct client_place *place,
                         uint64_t bytes);

/* Tells what the other workers publish now; to be called often while anything
 * waits here. */
void client_share_hear(struct client_share *share,
                       const struct client_others *others);

/* The place that is due first: of the client that has had too little for
 * longest, the place whose turn is next. NULL: no client has too little. */
struct client_place *client_share_first_due(struct client_share *share);

/* Whether client_share_first_due() finds somebody. */
static inline bool client_share_has_due(const struct client_share *share)
{
    const struct heap_item *first = heap_first(&share->due);

    return first && first->key <= share->now &&
           share->due.count + share->others.count > 1;
}

/* What the next two functions answer while other clients are here. */
uint64_t client_share_excess_of(const struct client_share *share,
                                const struct client_place *place);
uint64_t client_share_level_of(const struct client_share *share,
                               const struct client_place *place);

/* By how many bytes the client of a place is ahead of its share, beyond the
 * credit. */
static inline uint64_t client_share_excess(const struct client_share *share,
                                           const struct client_place *place)
{
    return share->is_alone ? 0 : client_share_excess_of(share, place);
}

/* The level of a place's client. A client that is alone, with one place, has
 * none: 0. */
static inline uint64_t client_share_level(const struct client_share *share,
                                          const struct client_place *place)
{
    if (share->is_alone || share->count == 0)
        return 0;
    return client_share_level_of(share, place);
}

/* The client that waits here when it is the only one; otherwise 0. */
uint64_t client_share_only(const struct client_share *share);

/* The clients that wait here, each counted as CLIENT_SHARE_WHOLE / w. */
uint64_t client_share_parts(const struct client_share *share);

/* The number of clients that wait here. */
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
