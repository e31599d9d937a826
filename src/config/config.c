#include "config/config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "config/config_parser.h"
#include "config/config_site.h"
#include "config/option_value.h"
#include "io/small_file.h"

/* --- Values --------------------------------------------------------------- */

struct reading {
    struct options *options;
    struct options scratch; /* gets values that the command line overrides */
    struct faults *faults;
    const char *folder;
};

/* Joins `folder` and `below` to a path. Returns NULL if there is no memory. */
static const char *join(const char *folder, struct bytes below,
                        struct arena *arena)
{
    size_t len = strlen(folder) + 1 + below.len + 1;
    char *path = arena_take(arena, len);

    if (path)
        snprintf(path, len, "%s%s%.*s", folder, below.len > 0 ? "/" : "",
                 (int)below.len, below.data);
    return path;
}

/* Copies `text`. If it is a relative path, the copy begins with the folder.
 * Returns NULL if there is no memory. */
static const char *keep(const struct reading *reading,
                        const struct option_row *row, const char *text)
{
    struct arena *arena = &reading->options->arena;

    if ((row->kind == OPTION_PATH || row->kind == OPTION_PATHS) &&
        *text != '/' && *text != '\0' && !option_is_off(row, text))
        return join(reading->folder, bytes_of(text), arena);
    return arena_text(arena, bytes_of(text));
}

static void tell_bad_value(const struct reading *reading,
                           const struct config_section *section,
                           const struct config_key *key, const char *text)
{
    char why[FAULT_BYTES_MAX] = "";
    FILE *to = fmemopen(why, sizeof(why) - 1, "w");

    if (to) {
        option_explain(to, key->row, text);
        fclose(to);
    }
    config_fault(reading->faults, section, key->line, "key '%s': '%.100s' %s",
                 key->row->name, text, why);
}

/* Sets an option to the values of a section's key. `base` is the struct that
 * the option lies in. */
static void set_values(const struct reading *reading,
                       const struct config_section *section,
                       const struct config_key *key, void *base)
{
    option_clear(base, key->row);
    for (size_t i = 0; i < key->values.count; i++) {
        const char *text = key->values.items[i];
        const char *kept = keep(reading, key->row, text);
        int err = -ENOMEM;

        if (kept)
            err = option_set(base, key->row, kept, &reading->options->arena);
        if (err == -EINVAL)
            tell_bad_value(reading, section, key, text);
        else if (err != 0)
            faults_add(reading->faults, 0, "out of memory");
    }
}

/* Sets the options that a section's keys name, in `location` or, if only the
 * top level can have them, in reading->options. */
static void read_keys(struct reading *reading,
                      const struct config_section *section,
                      struct location_options *location, int *origins)
{
    for (size_t i = 0; i < section->key_count; i++) {
        const struct config_key *key = &section->keys[i];
        struct options *options = reading->options;
        struct location_options *in = location;
        int *origin;

        if (!key->row)
            continue;
        origin = &origins[option_number(key->row)];
        if (*origin == ORIGIN_COMMAND_LINE) {
            options = &reading->scratch;
            in = &options->location;
        } else {
            *origin = key->line;
        }
        set_values(reading, section, key,
                   option_is_below_top(key->row->scope) ? in : (void *)options);
    }
}

/* --- Sites ---------------------------------------------------------------- */

/* The functions below return false only if there is no memory. */

static bool init_origins(struct option_origins *origins,
                         const struct config_section *section,
                         struct arena *arena)
{
    *origins = (struct option_origins){
        .line = section->line,
        .rows = arena_take(arena, option_count() * sizeof(*origins->rows)),
        .locations = arena_take(arena,
                                section->count * sizeof(*origins->locations))};
    return origins->rows && origins->locations;
}

static bool read_location(struct reading *reading,
                          const struct config_section *section,
                          struct site_location *location,
                          struct option_origins *origins)
{
    struct arena *arena = &reading->options->arena;

    if (!init_origins(origins, section, arena) ||
        !config_site_path(section, location, arena, reading->faults))
        return false;
    read_keys(reading, section, &location->options, origins->rows);
    return true;
}

static bool read_hosts(struct reading *reading,
                       const struct config_section *section,
                       struct site_options *site,
                       struct option_origins *origins)
{
    for (size_t i = 0; i < section->key_count; i++) {
        const struct config_key *key = &section->keys[i];

        if (key->row)
            continue;
        origins->hosts = key->line;
        for (size_t j = 0; j < key->values.count; j++)
            if (!config_site_host(section, key->line, key->values.items[j],
                                  site, &reading->options->arena,
                                  reading->faults))
                return false;
    }
    return true;
}

/* Reads a site. Locations at the top level belong to an unnamed site, for which
 * `section` is the top level. */
static bool read_site(struct reading *reading,
                      const struct config_section *section,
                      struct site_options *site, struct option_origins *origins)
{
    struct options *options = reading->options;
    struct arena *arena = &options->arena;

    *site = (struct site_options){
        .name = arena_text(arena, section->title),
        .options = options->location,
        .locations = arena_take(arena,
                                section->count * sizeof(*site->locations))};
    if (!site->name || !site->locations ||
        !init_origins(origins, section, arena))
        return false;
    if (section->kind == CONFIG_SITE) {
        read_keys(reading, section, &site->options, origins->rows);
        if (!read_hosts(reading, section, site, origins))
            return false;
    }
    for (section = section->first; section; section = section->next) {
        size_t i = site->location_count;

        site->locations[i].options = site->options;
        if (!read_location(reading, section, &site->locations[i],
                           &origins->locations[i]))
            return false;
        site->location_count++;
    }
    return true;
}

static bool read_sites(struct reading *reading,
                       const struct config_section *top)
{
    struct options *options = reading->options;
    bool has_sites = !top->first || top->first->kind == CONFIG_SITE;
    const struct config_section *section = has_sites ? top->first : top;
    size_t count = has_sites ? top->count : 1;

    options->sites = arena_take(&options->arena,
                                count * sizeof(*options->sites));
    options->site_origins = arena_take(&options->arena,
                                       count * sizeof(*options->site_origins));
    if (!options->sites || !options->site_origins)
        return false;
    for (; section; section = section->next) {
        size_t i = options->site_count;

        if (!read_site(reading, section, &options->sites[i],
                       &options->site_origins[i]))
            return false;
        options->site_count++;
    }
    return true;
}

/* --- The file ------------------------------------------------------------- */

/* Drops the default root: if there is a configuration file, only the root that
 * it names is served. */
static void forget_default_root(struct options *options)
{
    size_t number = option_number(option_find(BYTES("root")));

    if (options->origins.rows[number] == ORIGIN_DEFAULT)
        options->location.root = NULL;
}

void config_read(struct options *options, struct bytes text, const char *folder,
                 struct faults *faults)
{
    struct reading reading = {.options = options,
                              .scratch = *options,
                              .faults = faults,
                              .folder = folder};
    struct arena arena = {0}; /* for the sections while they are read */
    struct config_section *top;

    forget_default_root(options);
    top = config_parse(text, folder, options, &arena, faults);
    if (top)
        read_keys(&reading, top, &options->location, options->origins.rows);
    if (!top || !read_sites(&reading, top))
        faults_add(faults, 0, "out of memory");
    config_site_check(options, faults);
    arena_fini(&arena);
}

/* Returns the absolute path of the folder in which `path` lies; NULL if there
 * is no memory, or if the working directory was removed. */
static const char *find_folder(const char *path, struct arena *arena)
{
    const char *slash = strrchr(path, '/');
    struct bytes folder = bytes_between(path, slash ? slash : path);
    const char *whole;
    char *current;

    if (*path == '/')
        return arena_text(arena, folder);
    current = getcwd(NULL, 0);
    whole = current ? join(current, folder, arena) : NULL;
    free(current);
    return whole;
}

void config_load(struct options *options, struct faults *faults)
{
    const char *folder = find_folder(options->config, &options->arena);
    struct small_file file;
    int err = small_file_read(&file, options->config);

    faults->file = options->config;
    if (err == -EINVAL)
        faults_add(faults, 0, "is no file");
    else if (err == -EFBIG)
        faults_add(faults, 0, "is longer than %d bytes", SMALL_FILE_BYTES_MAX);
    else if (err != 0)
        faults_add(faults, 0, "cannot be read: %s", strerror(-err));
    if (err != 0)
        forget_default_root(options);
    else if (folder)
        config_read(options, (struct bytes){file.text, file.len}, folder,
                    faults);
    else
        faults_add(faults, 0, "the working directory is not known: %s",
                   strerror(errno));
    small_file_fini(&file);
}
