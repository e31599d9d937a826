/*
 * acme - a server that gets its certificates from an authority of the test's.
 *
 * Thread: the test's.
 */
#ifndef E2E_ACME_H
#define E2E_ACME_H

#include "pebble.h"

#define ACME_NAMES "www.sprintd.example.net,sprintd.example.net"

/* Where an authority looks, and what a server is told of it. */
struct acme_place {
    const char *directories[3]; /* ended by NULL */
    const char *ca;
    unsigned http, https;
    const char *retry; /* NULL: a second */
};

int acme_begin(void **state); /* a suite's begin and end */
int acme_after(void **state); /* each test's end */

const char *acme_folder(void); /* the state's */
const char *acme_live(void);   /* the certificate of ACME_NAMES */
const char *acme_record(void); /* how it stands */
struct acme_place acme_place_of(const struct pebble *pebble);

/* Starts a server with these arguments, and those that lead to the place. */
struct server *acme_serve(const struct acme_place *place,
                          const char *const more[]);
#define ACME_SERVE(place, ...) \
    acme_serve(place, (const char *const[]){__VA_ARGS__, NULL})

/* Runs `sprintd acme COMMAND` with the same arguments; its status. */
int acme_run(const struct acme_place *place, const char *command,
             const char *argument, struct outcome *outcome);

/* Whether curl trusts what it is shown for host, and gets the page. */
bool acme_is_trusted(const struct acme_place *place, const char *host,
                     const char *root);

/* What the server says of itself (--status /_s) at that path. */
const char *acme_status(const struct acme_place *place, const char *path);

/* Whether the server has logged that. */
bool acme_has_said(const struct server *server, const char *part);

/* How often it has. */
unsigned acme_count_said(const struct server *server, const char *part);

/* Runs `sprintd-acme once` of these names, by a clock that is as many seconds
 * ahead (libfaketime), and puts what it says into said; its status. Skips where
 * there is no such clock. */
int acme_once(const struct acme_place *place, int64_t ahead_s,
              const char **said);

/* The process of that name that parent has begun; 0: there is none. */
pid_t child_of(pid_t parent, const char *name);

/* The program that the server's steward keeps running; 0: none now. */
pid_t acme_program(const struct server *server);

size_t acme_count_files(const char *where);

#endif
