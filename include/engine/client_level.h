/*
 * client_level - about how many bytes of small things a client waits for.
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
 * A change of a level moves all that its client waits for. So a level changes
 * in steps, and rises only while other clients wait: within a client it changes
 * nothing. The level of a client that waits for more than CLIENT_LEVEL_MANY
 * things never falls, and rises by a quarter at least: so it takes thousands of
 * requests to move thousands.
 *
 * Thread: one scheduler's.
 */
#ifndef ENGINE_CLIENT_LEVEL_H
#define ENGINE_CLIENT_LEVEL_H

#include <stdbool.h>
#include <stdint.h>

enum {
    CLIENT_LEVEL_MAX = 1024 * 1024, /* below CLIENT_SHARE_CREDIT: shares stay */
    CLIENT_LEVEL_SMALL = 64 * 1024, /* the largest thing of a page */
    CLIENT_LEVEL_MANY = 64 /* more things than a page asks for at a time */
};

/* The level of a client that waits for nothing is all zero. */
struct client_level {
    uint64_t asked; /* bytes of small things that wait, or were just taken */
    uint64_t bytes; /* the level */
    uint32_t small; /* how many small things there are */
};

/* How many of a thing's known bytes count: those of a small thing, or none. */
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

/* The new level of a client that waits for so many things in all.
 * is_among_others: other clients wait, too. */
uint64_t client_level_next(const struct client_level *level, uint32_t things,
                           bool is_among_others);

#endif
