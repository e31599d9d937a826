/*
 * listen_address - where to listen, as --listen says it:
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
    const char *path;   /* of a unix socket, in the text; NULL: by TCP */
    bool is_everywhere; /* all addresses */
    char address[LISTEN_ADDRESS_MAX];
    unsigned port; /* 0: any free one */
};

/* Reads where to listen. False: text has no such form. Whether the address is
 * one is not looked at. */
MUST_USE bool listen_address_read(struct listen_address *where,
                                  const char *text);

/* The path of a unix socket; NULL: it is no unix socket. */
const char *listen_address_path(const char *text);

#endif
