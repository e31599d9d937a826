#include "server/config.h"

#include <confuse.h>
#include <errno.h>
#include <stdlib.h>

#include "io/small_file.h"
#include "server/config_file.h"
#include "server/config_outline.h"
#include "server/config_site.h"
#include "server/config_source.h"
#include "server/option_value.h"

/* --- libconfuse ----------------------------------------------------------- */

/* What a parse that fails says goes here: libconfuse hands its callbacks
 * nothing of ours, and its scanner is global too. NULL: it is known. */
static struct faults *parse_faults;
static const struct config_source *parse_source;

__attribute__((format(printf, 2, 0))) static void on_parse_error(
    cfg_t *cfg, const char *format, va_list arguments)
{
    char text[FAULT_BYTES_MAX];

    if (!parse_faults)
        return;
    vsnprintf(text, sizeof(text), format, arguments);
    faults_add(parse_faults, config_source_line(parse_source, cfg->line), "%s",
               text);
}

static cfg_opt_t option_of(const char *name, bool is_list)
{
    /* All are texts: option_set() reads them, as on the command line. */
    return is_list ? (cfg_opt_t)CFG_STR_LIST(name, NULL, CFGF_NONE)
                   : (cfg_opt_t)CFG_STR(name, NULL, CFGF_NONE);
}

/* What may stand in a section of that kind. NULL: no memory. */
static cfg_opt_t *make_keys(enum config_section_kind kind, struct arena *arena)
{
    /* More for hosts, for the sections inside, and for the end. */
    cfg_opt_t *keys = arena_take(arena, (option_row_count + 4) * sizeof(*keys));
    cfg_opt_t *at = keys;

    if (!keys)
        return NULL;
    for (size_t i = 0; i < option_row_count; i++)
        if (config_takes(kind, &option_rows[i]))
            *at++ = option_of(option_rows[i].name,
                              config_is_list(&option_rows[i]));
    if (kind == CONFIG_SITE)
        *at++ = option_of(CONFIG_HOSTS, true);
    for (enum config_section_kind inner = kind + 1; inner <= CONFIG_LOCATION;
         inner++) {
        cfg_opt_t *inside = make_keys(inner, arena);

        if (!inside)
            return NULL;
        *at++ = (cfg_opt_t)CFG_SEC(inner == CONFIG_SITE ? "site" : "location",
                                   inside, CFGF_MULTI | CFGF_TITLE);
    }
    *at = (cfg_opt_t)CFG_END();
    return keys;
}

/* Parses source, which has no fault but those that are known already. NULL: no
 * memory; to be given to cfg_free(). */
static cfg_t *parse(const struct config_source *source, struct arena *arena,
                    struct faults *faults)
{
    cfg_opt_t *keys = make_keys(CONFIG_TOP, arena);
    cfg_t *cfg = keys ? cfg_init(keys, CFGF_NONE) : NULL;
    FILE *from = cfg ? fmemopen(source->text, source->len, "r") : NULL;

    if (!from) {
        if (cfg)
            cfg_free(cfg);
        return NULL;
    }
    cfg_set_error_function(cfg, on_parse_error);
    parse_faults = faults->count == 0 ? faults : NULL;
    parse_source = source;
    if (cfg_parse_fp(cfg, from) != CFG_SUCCESS && faults->count == 0)
        faults_add(faults, 0, "cannot be parsed");
    parse_faults = NULL;
    fclose(from);
    return cfg;
}

/* --- Values --------------------------------------------------------------- */

struct reading {
    struct options *options;
    struct options scratch; /* for values the command line wins over */
    struct faults *faults;
    const char *folder;
};

/* text, copied; a relative path below the folder. NULL: no memory. */
static const char *keep(const struct reading *reading,
                        const struct option_row *row, const char *text)
{
    struct arena *arena = &reading->options->arena;
    size_t len;
    char *path;

    if (row->kind != OPTION_PATH || *text == '/' || *text == '\0' ||
        option_is_off(row, text))
        return arena_text(arena, bytes_of(text));
    len = strlen(reading->folder) + 1 + strlen(text) + 1;
    path = arena_take(arena, len);
    if (path)
        snprintf(path, len, "%s/%s", reading->folder, text);
    return path;
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

/* Whether there is no text, as the parse ended before, or a fault in its
 * place, which is known. */
static bool is_lost(const struct reading *reading, const char *text)
{
    return !text || (*text == CONFIG_REPLACED && reading->faults->count > 0);
}

/* Sets what key of the section says, in base. */
static void read_key(const struct reading *reading,
                     const struct config_section *section,
                     const struct config_key *key, cfg_opt_t *values,
                     void *base)
{
    option_clear(base, key->row);
    for (unsigned i = 0; i < cfg_opt_size(values); i++) {
        const char *text = cfg_opt_getnstr(values, i);
        const char *kept;
        int err = -ENOMEM;

        if (is_lost(reading, text))
            continue;
        kept = keep(reading, key->row, text);
        if (kept)
            err = option_set(base, key->row, kept, &reading->options->arena);
        if (err == -EINVAL)
            tell_bad_value(reading, section, key, text);
        else if (err != 0)
            faults_add(reading->faults, 0, "out of memory");
    }
}

/* Reads the keys of a section that are rows of the table into location, or at
 * the top into options as well. */
static void read_keys(struct reading *reading,
                      const struct config_section *section, cfg_t *cfg,
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
        read_key(reading, section, key, cfg_getopt(cfg, key->row->name),
                 key->row->scope == OPTION_LOCATION ? in : (void *)options);
    }
}

/* --- Sites ---------------------------------------------------------------- */

static int *take_origins(const struct reading *reading)
{
    return arena_take(&reading->options->arena, option_row_count * sizeof(int));
}

static bool read_location(struct reading *reading,
                          const struct config_section *section, cfg_t *cfg,
                          const struct site_options *site,
                          struct site_location *location,
                          struct option_origins *origins)
{
    *location = (struct site_location){.options = site->options};
    *origins = (struct option_origins){.line = section->line,
                                       .rows = take_origins(reading)};
    if (!origins->rows ||
        !config_site_path(section, location, &reading->options->arena,
                          reading->faults))
        return false;
    read_keys(reading, section, cfg, &location->options, origins->rows);
    return true;
}

static bool read_locations(struct reading *reading,
                           const struct config_section *section, cfg_t *cfg,
                           struct site_options *site,
                           struct option_origins *origins)
{
    struct arena *arena = &reading->options->arena;
    const struct config_section *inside = section->first;

    site->locations = arena_take(arena,
                                 section->count * sizeof(*site->locations));
    origins->locations = arena_take(arena, section->count *
                                               sizeof(*origins->locations));
    if (!site->locations || !origins->locations)
        return false;
    for (unsigned i = 0; inside; inside = inside->next, i++) {
        cfg_t *found = cfg_getnsec(cfg, "location", i);

        if (!found)
            break; /* the parse ended before */
        if (!read_location(reading, inside, found, site, &site->locations[i],
                           &origins->locations[i]))
            return false;
        site->location_count++;
    }
    return true;
}

static bool read_hosts(struct reading *reading,
                       const struct config_section *section, cfg_t *cfg,
                       struct site_options *site,
                       struct option_origins *origins)
{
    cfg_opt_t *values = cfg_getopt(cfg, CONFIG_HOSTS);
    struct arena *arena = &reading->options->arena;

    for (size_t i = 0; i < section->key_count; i++)
        if (!section->keys[i].row)
            origins->hosts = section->keys[i].line;
    if (origins->hosts == 0)
        return true;
    for (unsigned i = 0; i < cfg_opt_size(values); i++) {
        const char *text = cfg_opt_getnstr(values, i);

        if (!is_lost(reading, text) &&
            !config_site_host(section, origins->hosts, text, site, arena,
                              reading->faults))
            return false;
    }
    return true;
}

/* Locations at the top are those of a site that nobody wrote. False: no
 * memory. */
static bool read_top_locations(struct reading *reading,
                               const struct config_section *top, cfg_t *cfg)
{
    struct options *options = reading->options;

    options->sites = arena_take(&options->arena, sizeof(*options->sites));
    options->site_origins = arena_take(&options->arena,
                                       sizeof(*options->site_origins));
    if (!options->sites || !options->site_origins)
        return false;
    options->sites[0] = (struct site_options){.name = "",
                                              .options = options->location};
    options->site_origins[0].rows = take_origins(reading);
    options->site_count = 1;
    return options->site_origins[0].rows &&
           read_locations(reading, top, cfg, &options->sites[0],
                          &options->site_origins[0]);
}

/* False: no memory. */
static bool read_sites(struct reading *reading,
                       const struct config_section *top, cfg_t *cfg)
{
    struct options *options = reading->options;
    const struct config_section *section = top->first;

    options->sites = arena_take(&options->arena,
                                top->count * sizeof(*options->sites));
    options->site_origins = arena_take(&options->arena,
                                       top->count *
                                           sizeof(*options->site_origins));
    if (!options->sites || !options->site_origins)
        return false;
    for (unsigned i = 0; section; section = section->next, i++) {
        cfg_t *found = cfg_getnsec(cfg, "site", i);
        struct site_options *site = &options->sites[i];
        struct option_origins *origins = &options->site_origins[i];

        if (!found)
            break; /* the parse ended before */
        *site = (struct site_options){.name = arena_text(&options->arena,
                                                         section->title),
                                      .options = options->location};
        *origins = (struct option_origins){.line = section->line,
                                           .rows = take_origins(reading)};
        if (!site->name || !origins->rows)
            return false;
        read_keys(reading, section, found, &site->options, origins->rows);
        if (!read_hosts(reading, section, found, site, origins) ||
            !read_locations(reading, section, found, site, origins))
            return false;
        options->site_count++;
    }
    return true;
}

/* --- The file ------------------------------------------------------------- */

/* A file says what it serves. */
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
    struct arena arena = {0}; /* for as long as it takes */
    struct config_section *top = NULL;
    struct config_source source;
    cfg_t *cfg = NULL;

    forget_default_root(options);
    if (config_source_read(&source, text, folder, options, &arena, faults))
        top = config_outline(&source, &arena, faults);
    if (top)
        cfg = parse(&source, &arena, faults);
    if (cfg) {
        read_keys(&reading, top, cfg, &options->location,
                  options->origins.rows);
        if (top->first && top->first->kind == CONFIG_LOCATION
                ? !read_top_locations(&reading, top, cfg)
                : !read_sites(&reading, top, cfg))
            faults_add(faults, 0, "out of memory");
        config_site_check(options, faults);
        cfg_free(cfg);
    } else {
        faults_add(faults, 0, "out of memory");
    }
    arena_fini(&arena);
}

void config_load(struct options *options, struct faults *faults)
{
    const char *folder = config_file_folder(options->config, &options->arena);
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
