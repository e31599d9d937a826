/*
 * top_target - where `sprintd top` is to ask, as its argument says.
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
    struct sockaddr_un socket; /* when it is */
    char host[TOP_HOST_BYTES_MAX + 1];
    char port[6];
    char path[TOP_PATH_BYTES_MAX + 1]; /* of the document */
};

/* Understands [http://]HOST[:PORT][/PREFIX/][status.json] and
 * unix:PATH[:/PREFIX/]; without a prefix it is /_sprintd/. NULL, or why it
 * cannot. Nothing in target can end a line of a request. */
MUST_USE const char *top_target_read(struct top_target *target,
                                     const char *url);

#endif
