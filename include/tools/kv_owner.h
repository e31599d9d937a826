/*
 * kv_owner - makes root work on a store's folder as the folder's owner.
 *
 * A store belongs to the user of its server. An attacker who takes that server
 * over can replace any file in the store's folder by a symlink. LMDB follows
 * symlinks, makes missing files and trusts what it reads. So root becomes the
 * store's owner, for good, before it looks into a store.
 *
 * Root enters the folder first. The owner need not have access to the path
 * (/var/lib/private), and nobody can replace the folder after root has entered
 * it. Only root and the owner may be able to change where the path leads
 * (safe_path.h): root must not use one user's rights for another's purpose.
 *
 * Once root has become the owner, the process can print to its terminal. It can
 * read the terminal only if the command reads standard input.
 *
 * Thread: the main thread of a process that does nothing else.
 * Owns:   nothing; changes the process.
 */
#ifndef TOOLS_KV_OWNER_H
#define TOOLS_KV_OWNER_H

#include "base/bytes.h"
#include "kv/kv_offline.h"

/* Enters the folder at `path`, and becomes the folder's owner. A user who is
 * not root stays as it is. The caller must have opened all other files before.
 * If `makes` is true, the command reads standard input, and a missing folder
 * will be made by the owner of the folder above. *path_out is the folder's name
 * from now on. Returns EX_OK, or an exit status after one line on stderr. The
 * status is EX_NOPERM if users other than root and the owner could make the
 * path lead elsewhere. With `makes`, it is also EX_NOPERM if anybody can make
 * folders there, since the owner may be just the user who was first. */
MUST_USE int kv_owner_become(const char *path, bool makes,
                             const char **path_out);

/* Opens the folder that a copy of the store goes into, if the store's owner
 * could have put the copy there, too. So nobody can lead root to another
 * folder. Users other than root may choose any folder. Returns EX_OK; the
 * caller must then close target->folder. Otherwise returns an exit status after
 * one line on stderr. */
MUST_USE int kv_owner_open_target(struct kv_target *target, const char *store,
                                  const char *to);

#endif
