/*
 * local_names - finds the names and addresses by which this machine is reached.
 *
 * No name server is asked, since a name server that does not answer would delay
 * the start.
 *
 * Thread: any; may wait for the file system.
 */
#ifndef PROCESS_CERTIFICATES_LOCAL_NAMES_H
#define PROCESS_CERTIFICATES_LOCAL_NAMES_H

#include "io/tls/tls_names.h"

/* Finds localhost and its addresses, the machine's name and the name's forms in
 * /etc/hosts, and the addresses of the machine's interfaces if this process may
 * ask for them. */
void local_names_find(struct tls_names *names);

/* Adds those names in `text` that begin with `host` and a dot. `text` has the
 * form of /etc/hosts. */
void local_names_add_hosts(struct tls_names *names, struct bytes host,
                           struct bytes text);

#endif
