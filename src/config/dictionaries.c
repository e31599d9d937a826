#include "config/dictionaries.h"

#include <stdio.h>

#include "config/certificates/state_folder.h"
#include "config/config_check.h"

#define FOLDER "dictionaries"

static bool has_rules(const struct location_options *location)
{
    return location->root && location->dictionary_rules;
}

static bool site_has_rules(const struct site_options *site)
{
    bool is_found = has_rules(&site->options);

    for (size_t i = 0; i < site->location_count; i++)
        is_found |= has_rules(&site->locations[i].options);
    return is_found;
}

static bool are_wanted(const struct options *options)
{
    bool is_found = options->site_count == 0 && has_rules(&options->location);

    for (size_t i = 0; i < options->site_count; i++)
        is_found |= site_has_rules(&options->sites[i]);
    return is_found;
}

void dictionaries_find(struct options *options, struct faults *faults)
{
    char folder[PATH_MAX];
    char path[PATH_MAX + sizeof(FOLDER) + 1];

    if (!are_wanted(options))
        return;
    if (!state_folder_find(folder, options->state_directory)) {
        faults_add(faults, config_origin(options, "state-directory"),
                   "state-directory: there is no home to keep dictionaries in, "
                   "or its path is too long: name a folder");
        return;
    }
    snprintf(path, sizeof(path), "%s/" FOLDER, folder);
    options->dictionary_folder = arena_text(&options->arena, bytes_of(path));
    if (!options->dictionary_folder)
        faults_add(faults, 0, "out of memory");
}
