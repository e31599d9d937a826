/*
 * download - replies that come in at the same time, and when each came.
 *
 * What is downloaded are files whose names say how large they are: made by
 * download_file(), their bytes are checked as they come.
 *
 * Thread: the test's.
 * Owns:   nothing: the clients are closed after the test.
 */
#ifndef E2E_DOWNLOAD_H
#define E2E_DOWNLOAD_H

#include "client.h"

struct download {
    struct client *client;
    size_t size;
    size_t got;         /* of its body */
    unsigned head_left; /* of the four bytes that end the head */
    bool is_unchecked;  /* set it, and the body is thrown away unseen */
    uint64_t asked_us;
    uint64_t ended_us; /* 0: not yet */
};

void download_file(size_t size);
void download_files(const size_t *sizes, size_t count);

/* On a connection on which nothing has been asked for. */
void download_begin(struct download *download, struct client *client,
                    size_t size);
/* The next on the same one; the last has to have ended. */
void download_again(struct download *download, size_t size);

static inline bool download_has_ended(const struct download *download)
{
    return download->ended_us != 0;
}

static inline uint64_t download_us(const struct download *download)
{
    return download->ended_us - download->asked_us;
}

/* Waits until something comes, and reads what has come of all of them. How
 * many bytes of bodies that was. Fails when nothing comes for long. */
size_t downloads_turn(struct download *downloads, size_t count);

/* Turns until all have ended. How many bytes came. */
size_t downloads_finish(struct download *downloads, size_t count);

#endif
