#include "files/docroots.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

const struct docroot *docroots_find(const struct docroots *docroots,
                                    const char *directory, bool follow_symlinks)
{
    for (size_t i = 0; i < docroots->count; i++) {
        const struct docroots_item *item = &docroots->items[i];

        if (item->follow_symlinks == follow_symlinks &&
            strcmp(item->directory, directory) == 0)
            return item->root;
    }
    return NULL;
}

int docroots_open(struct docroots *docroots, struct arena *arena,
                  const char *directory, bool follow_symlinks)
{
    struct docroots_item *items;
    struct docroot *root;
    int err;

    if (docroots_find(docroots, directory, follow_symlinks))
        return 0;
    items = arena_grow(arena, docroots->items, docroots->count, sizeof(*items));
    root = arena_take(arena, sizeof(*root));
    if (!items || !root)
        return -ENOMEM;
    docroots->items = items;
    err = docroot_open(root, directory, follow_symlinks);
    if (err != 0)
        return err;
    /* A root that may not be entered would seem to be empty, so it is an
     * error. */
    if (faccessat(root->fd, ".", R_OK | X_OK, AT_EACCESS) == -1) {
        err = -errno;
        docroot_close(root);
        return err;
    }
    items[docroots->count++] = (struct docroots_item){directory,
                                                      follow_symlinks, root};
    return 0;
}

void docroots_close(struct docroots *docroots)
{
    for (size_t i = 0; i < docroots->count; i++)
        docroot_close(docroots->items[i].root);
    docroots->count = 0;
}
