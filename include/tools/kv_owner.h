/*
 * kv_owner - as whom root works on a store's folder: as its owner.
 *
 * A store belongs to the server that has it, and an attacker who takes that
 * server over can put symlinks in the place of any file in its folder. LMDB
 * follows them, makes what is missing and trusts what it reads. So root, when
 * it looks into a store of another user, becomes that user first, and for good.
 *
 * The folder is entered before: its owner need not be able to walk to it
 * (/var/lib/private), and nobody can put another in its place meanwhile. Nobody
 * but root and its owner may have a say in which folder that is (safe_path.h):
 * root must not do with the rights of one user what another has wished.
 *
 * Nor is the terminal of root within that user's reach then, but to print.
 *
 * Thread: the main one, in a process that does nothing else.
 * Owns:   nothing; changes the process.
 */
#ifndef TOOLS_KV_OWNER_H
#define TOOLS_KV_OWNER_H

#include "base/bytes.h"
#include "kv/kv_offline.h"

/* What is read and written besides must be open by now. makes: standard input
 * is read, and a folder that is not there is to be made, by the owner of the
 * one that it will be in. *path_out: how to name the folder from here on. A
 * user who is not root stays the same. EX_OK, or a status after one line on
 * stderr; EX_NOPERM also where others than root and the owner could lead it
 * elsewhere, or lines would go to whoever was the first to make a folder in one
 * of everybody's. */
MUST_USE int kv_owner_become(const char *path, bool makes,
                             const char **path_out);

/* Opens what a copy of the store is to be in, so that nobody leads root to
 * another folder than the store's owner could have had the copy in, too. A user
 * who is not root goes anywhere. EX_OK, and target->folder is to be closed; or
 * a status after one line. */
MUST_USE int kv_owner_open_target(struct kv_target *target, const char *store,
                                  const char *to);

#endif
