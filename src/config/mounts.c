#include "config/mounts.h"

#include "config/store_rule.h"
#include "http/path.h"

bool mounts_find(const struct options *options, struct bytes path,
                 struct mount_told *mount_out)
{
    struct bytes prefix;
    const char *folder;

    for (size_t i = 0; i < options->kv.count; i++) {
        if (store_rule_read(options->kv.items[i], &prefix, &folder) ||
            !path_leads(prefix, path))
            continue;
        *mount_out = (struct mount_told){.option = "kv", .prefix = prefix};
        return true;
    }
    *mount_out = (struct mount_told){.option = "status",
                                     .prefix = options->status};
    return options->status.len > 0 && path_leads(options->status, path);
}
