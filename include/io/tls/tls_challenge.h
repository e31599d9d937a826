/*
 * tls_challenge - answers what an authority of certificates asks by TLS, to see
 * whether a name is ours (RFC 8737): a client that speaks "acme-tls/1" and
 * nothing else gets the certificate that whoever asked the authority has put
 * into a folder, under the name that is asked for; and then the connection
 * ends.
 *
 * Thread: any; waits for the file system, when somebody asks so.
 */
#ifndef IO_TLS_TLS_CHALLENGE_H
#define IO_TLS_TLS_CHALLENGE_H

#include "base/bytes.h"

enum { TLS_CHALLENGE_FILE_MAX = 48 };

/* Writes the name of the file for a name: with a dot, which no token has
 * (handler/challenge.h), as the file holds a key. */
void tls_challenge_file(struct bytes name,
                        char file_out[TLS_CHALLENGE_FILE_MAX]);

#endif
