/*
 * top_target - the server that `sprintd top` asks, read from the argument.
 *
 * Thread: any; values only.
 */
#ifndef TOOLS_TOP_TARGET_H
#define TOOLS_TOP_TARGET_H

#include <sys/socket.h>
#include <sys/un.h>

#include "base/bytes.h"

#define TOP_DOCUMENT "status.json"

enum { TOP_HOST_BYTES_MAX = 255, TOP_PATH_BYTES_MAX = 1024 };

struct top_target {
    bool is_unix;
    struct sockaddr_un socket; /* set if is_unix */
    char host[TOP_HOST_BYTES_MAX + 1];
    char port[6];
    char path[TOP_PATH_BYTES_MAX + 1]; /* path of the document */
};

/* Reads [http://]HOST[:PORT][/PREFIX/][status.json] or unix:PATH[:/PREFIX/];
 * the default prefix is /_sprintd/. Returns NULL, or why `url` is invalid. No
 * text in *target has a character that could end a line of a request. */
MUST_USE const char *top_target_read(struct top_target *target,
                                     const char *url);

#endif
