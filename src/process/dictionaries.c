#include "process/dictionaries.h"

#include <errno.h>
#include <stdio.h>
#include <sysexits.h>

#include "confine/root_files.h"

int dictionaries_open(struct dictionary_store **store_out,
                      const struct options *options,
                      const struct identity *identity)
{
    const char *folder = options->dictionary_folder;
    int err;

    *store_out = NULL;
    if (!folder)
        return EX_OK;
    /* The default folder may belong to another user, if the server ran as that
     * user before. The user could make the folder's path lead elsewhere, and
     * root would put served files there. */
    err = root_files_check_way(folder);
    if (err == 0) {
        root_files_make_folders(identity, folder);
        err = root_files_check_folder(folder);
    }
    if (err == 0)
        err = dictionary_store_open(store_out, folder,
                                    (unsigned)options->dictionary_versions);
    if (err == 0)
        return EX_OK;
    fprintf(stderr,
            "sprintd: dictionary: '%s': %s; --state-directory names another "
            "place\n",
            folder, root_files_explain(err));
    return err == -EACCES || err == -EPERM ? EX_NOPERM : EX_CANTCREAT;
}
