/*
 * client_level - the bytes of all small things that a client waits for, about.
 *
 * What a client waits for is one thing, such as a page. Two clients that ask
 * for six files each would otherwise be sent these in turns, and both have
 * their page late. So a client that waits for more than one small thing
 * (CLIENT_LEVEL_SMALL) has a level: the bytes of all of these. The level is
 * added to what each thing of the client is ordered by, up to some times that
 * (sched.c). A client that waits for less in all goes first then; within a
 * client nothing changes, and one that waits for one thing only is ordered by
 * that alone. A large thing has no part in the level: what is small would wait
 * for a download of its own client, which takes any time.
 *
 * A level that changes moves all that its client waits for. So a level goes in
 * steps. That of a client that waits alone rises when another comes: within a
 * client a level changes nothing. And that of a client that waits for many
 * things (CLIENT_LEVEL_MANY) only rises, by a quarter: else each request that
 * the client makes and gives up could move thousands. Now it takes as many.
 *
 * Thread: one scheduler's.
 */
#ifndef ENGINE_CLIENT_LEVEL_H
#define ENGINE_CLIENT_LEVEL_H

#include <stdbool.h>
#include <stdint.h>

enum {
    CLIENT_LEVEL_MAX = 1024 * 1024, /* below a client's credit: no share */
    CLIENT_LEVEL_SMALL = 64 * 1024, /* what may be part of a page */
    CLIENT_LEVEL_MANY = 64 /* more things than a page asks for at a time */
};

/* Zeroed it is that of a client that waits for nothing. */
struct client_level {
    uint64_t asked; /* bytes of small things that wait, or were just taken */
    uint64_t bytes; /* the level */
    uint32_t small; /* how many small things there are */
};

/* Of the bytes that are known to come of a thing: those that count. */
static inline uint64_t client_level_counted(uint64_t known)
{
    return known <= CLIENT_LEVEL_SMALL ? known : 0;
}

/* A thing of so many counted bytes waits from now on. */
static inline void client_level_count(struct client_level *level,
                                      uint64_t counted)
{
    level->asked += counted;
    level->small += counted > 0;
}

/* A thing of so many counted bytes waits no more. */
static inline void client_level_uncount(struct client_level *level,
                                        uint64_t counted)
{
    level->asked -= counted;
    level->small -= counted > 0;
}

/* The level that a client shall have now, which waits for so many things in
 * all. */
uint64_t client_level_next(const struct client_level *level, uint32_t things,
                           bool is_among_others);

#endif
