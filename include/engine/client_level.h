/*
 * client_level - roughly how many bytes of small things a client waits for.
 *
 * Several files may be one thing to a client, such as a page. If two clients
 * ask for six files each, and their files are sent in turns, both clients have
 * their page late. So a client that waits for more than one small thing
 * (CLIENT_LEVEL_SMALL) has a level: the bytes of all its small things. Each
 * thing of the client is ordered by its own bytes plus the level, but the level
 * counts only up to a multiple of the thing's own bytes (sched.c). So a client
 * that waits for less in all goes first. Nothing changes in the order within a
 * client, nor for a client that waits for one thing only. Large things have no
 * part in the level: otherwise a client's download would delay the client's
 * small things, for as long as the download takes.
 *
 * A change of a level moves everything in the queue that its client waits for.
 * So a level changes in steps, and rises only while other clients wait, since
 * levels affect only the order among clients. The level of a client that waits
 * for more than CLIENT_LEVEL_MANY things never falls, and rises by at least a
 * quarter: so moving thousands of things takes thousands of requests.
 *
 * Thread: one scheduler's.
 */
#ifndef ENGINE_CLIENT_LEVEL_H
#define ENGINE_CLIENT_LEVEL_H

#include <stdbool.h>
#include <stdint.h>

enum {
    /* The highest level, in bytes. It is less than CLIENT_SHARE_CREDIT, so that
     * levels change no shares. */
    CLIENT_LEVEL_MAX = 1024 * 1024,
    CLIENT_LEVEL_SMALL = 64 * 1024, /* the largest thing that counts as small */
    /* A level never falls while its client waits for more things than this. A
     * page asks for fewer at a time. */
    CLIENT_LEVEL_MANY = 64
};

/* The level of a client that waits for nothing is all zero. */
struct client_level {
    uint64_t asked; /* bytes of small things that wait or were just taken */
    uint64_t bytes; /* the level, in bytes */
    uint32_t small; /* how many small things wait or were just taken */
};

/* Returns how many of a thing's known bytes count for the level: all of a small
 * thing, none of a large one. */
static inline uint64_t client_level_counted(uint64_t known)
{
    return known <= CLIENT_LEVEL_SMALL ? known : 0;
}

/* Notes that a thing begins to wait. `counted` is what client_level_counted()
 * has returned for the thing. */
static inline void client_level_count(struct client_level *level,
                                      uint64_t counted)
{
    level->asked += counted;
    level->small += counted > 0;
}

/* Notes that a thing waits no more. `counted` is what client_level_counted()
 * has returned for the thing. */
static inline void client_level_uncount(struct client_level *level,
                                        uint64_t counted)
{
    level->asked -= counted;
    level->small -= counted > 0;
}

/* Returns the new level of a client that waits for `things` things, small and
 * large. `is_among_others` says that other clients wait, too. */
uint64_t client_level_next(const struct client_level *level, uint32_t things,
                           bool is_among_others);

#endif
