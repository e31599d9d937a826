/*
 * kv_owner - makes root work on a store's folder as the folder's owner.
 *
 * A store belongs to the user of its server, and an attacker who takes that
 * server over can replace any file in its folder by a symlink. LMDB follows
 * them, makes missing files and trusts what it reads. So root becomes the
 * store's owner, for good, before it looks into a store.
 *
 * Root enters the folder first: its owner need not have access to the path
 * (/var/lib/private), and nobody can replace the folder meanwhile. Only root
 * and its owner may be able to change where the path leads (safe_path.h): root
 * must not use one user's rights for another's purpose.
 *
 * After that, root's terminal can only be printed to.
 *
 * Thread: the main thread of a process that does nothing else.
 * Owns:   nothing; changes the process.
 */
#ifndef TOOLS_KV_OWNER_H
#define TOOLS_KV_OWNER_H

#include "base/bytes.h"
#include "kv/kv_offline.h"

/* Other files must be open already. makes: the command reads standard input,
 * and makes a missing folder, as the owner of its parent. *path_out: the
 * folder's name from now on. A user who is not root does not change. EX_OK, or
 * an exit status after one line on stderr; EX_NOPERM also if others than root
 * and the owner could redirect the path, or if makes and the folder's owner is
 * simply whoever was first to make it where anybody can. */
MUST_USE int kv_owner_become(const char *path, bool makes,
                             const char **path_out);

/* Opens the folder that a copy of the store goes into, if the store's owner
 * could have put the copy there, too: nobody can lead root to another. Users
 * other than root may choose any. Returns EX_OK, and target->folder must be
 * closed; or an exit status after one line. */
MUST_USE int kv_owner_open_target(struct kv_target *target, const char *store,
                                  const char *to);

#endif
