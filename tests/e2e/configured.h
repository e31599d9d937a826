/*
 * configured - a server under a configuration file, asked by host.
 *
 * Thread: the test's.
 * Owns:   the file, in folder().
 */
#ifndef E2E_CONFIGURED_H
#define E2E_CONFIGURED_H

#include "client.h"

/* Writes a configuration file next to the site, so that "root = www" is what
 * site_text("../www/...") makes; its path. */
const char *configuration(const char *text);

/* Starts the server under such a file, at a free port of 127.0.0.1. */
struct server *start_configured(const char *text);
/* The same at any address, and with one more argument, or NULL. */
struct server *start_configured_at(const char *address, const char *text,
                                   const char *argument);

/* Asks for a target of a host, on a connection of its own. */
struct reply *ask_host(const struct server *server, const char *method,
                       const char *host, const char *target,
                       const char *fields);
struct reply *get_host(const struct server *server, const char *host,
                       const char *target);

/* Whether any field of that name has exactly that value. */
bool reply_says(const struct reply *reply, const char *name, const char *value);

#endif
