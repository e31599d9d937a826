/*
 * kv_owner - as whom root works on a store's folder: as its owner.
 *
 * A store belongs to the server that has it, and whoever takes that server over
 * can put symlinks in the place of any file in its folder. LMDB follows them,
 * makes what is missing and trusts what it reads. So root, when it looks into a
 * store of another user, becomes that user first, and for good.
 *
 * The folder is entered before: its owner need not be able to walk to it
 * (/var/lib/private), and nobody can put another in its place meanwhile.
 *
 * Thread: the main one, in a process that does nothing else.
 * Owns:   nothing; changes the process.
 */
#ifndef SERVER_KV_OWNER_H
#define SERVER_KV_OWNER_H

#include "base/bytes.h"

/* What is read and written besides must be open by now. makes: a folder that is
 * not there is to be made, by the owner of the one that it will be in.
 * *path_out: how to name the folder from here on. Who is not root stays as they
 * are. EX_OK, or a status after one line on stderr; EX_NOPERM also where root
 * would work as root, and others could lead it elsewhere. */
MUST_USE int kv_owner_become(const char *path, bool makes,
                             const char **path_out);

#endif
