#include "server/configuration.h"

#include <sysexits.h>

#include "server/command_line.h"
#include "server/config.h"
#include "server/config_check.h"
#include "server/option_table.h"

/* --- What belongs together, when all of it is there ------------------------- */

/* where: "site "x": ", or nothing. */
static void compile(struct location_options *location,
                    const struct option_origins *origins, const char *where,
                    struct options *options, struct faults *faults)
{
    struct location_fault fault = location_compile(location, &options->arena);
    int line;

    if (!fault.option)
        return;
    line = origins->rows[option_number(option_find(bytes_of(fault.option)))];
    faults_add(faults, line > 0 ? line : origins->line, "%s%s %s", where,
               fault.option, fault.words);
}

static void compile_site(struct site_options *site,
                         const struct option_origins *origins,
                         struct options *options, struct faults *faults)
{
    char where[FAULT_BYTES_MAX / 2];

    snprintf(where, sizeof(where), "site \"%.64s\": ", site->name);
    compile(&site->options, origins, where, options, faults);
    for (size_t i = 0; i < site->location_count; i++) {
        const struct site_location *location = &site->locations[i];

        snprintf(where, sizeof(where),
                 "site \"%.64s\": location \"%s%.64s\": ", site->name,
                 location->is_exact ? "= " : "", location->path.data);
        compile(&site->locations[i].options, &origins->locations[i], where,
                options, faults);
    }
}

static void compile_all(struct options *options, struct faults *faults)
{
    compile(&options->location, &options->origins, "", options, faults);
    for (size_t i = 0; i < options->site_count; i++)
        compile_site(&options->sites[i], &options->site_origins[i], options,
                     faults);
}

int configuration_read(struct options *options, int argc, char **argv,
                       FILE *errors)
{
    struct faults faults = {0};
    bool is_sound;

    if (command_line_read(options, argc, argv, errors) != 0)
        return EX_USAGE;
    if (options->wants_help || options->wants_version)
        return EX_OK;
    if (options->config)
        config_load(options, &faults);
    compile_all(options, &faults);
    if (options->wants_test)
        config_check(options, &faults);
    faults_print(&faults, errors);
    is_sound = faults.count == 0;
    faults_fini(&faults);
    if (is_sound)
        return EX_OK;
    return options->config || options->wants_test ? EX_CONFIG : EX_USAGE;
}
