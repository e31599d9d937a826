/*
 * listen_address - reads where to listen, in the form of --listen:
 *
 *   [http:// | https://]  ADDRESS:PORT | [ADDRESS]:PORT | :PORT | unix:PATH
 *
 * Thread: any; no state.
 */
#ifndef CONFIG_LISTEN_ADDRESS_H
#define CONFIG_LISTEN_ADDRESS_H

#include <stddef.h>

#include "base/bytes.h"

enum { LISTEN_ADDRESS_MAX = 64 };

struct listen_address {
    bool is_tls;
    const char *path;   /* path of a unix socket, in the text; NULL: TCP */
    bool is_everywhere; /* all addresses */
    char address[LISTEN_ADDRESS_MAX];
    unsigned port; /* 0: any free port */
};

/* Reads where to listen. Returns false if `text` does not have this form. The
 * address itself is not checked. */
MUST_USE bool listen_address_read(struct listen_address *where,
                                  const char *text);

/* Returns the path of a unix socket; NULL if `text` names no unix socket. */
const char *listen_address_path(const char *text);

#endif
