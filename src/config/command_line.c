#include "config/command_line.h"

#include <errno.h>
#include <stdlib.h>

#include "config/option_value.h"
#include "config/suggest.h"

/* Finds the row of the option that `argument` names. *value_out is the value
 * behind '=', or NULL. */
static const struct option_row *find_row(const char *argument,
                                         const char **value_out)
{
    size_t len = strcspn(argument, "=");

    *value_out = argument[len] == '=' ? argument + len + 1 : NULL;
    if (argument[1] == '-')
        return option_find((struct bytes){argument + 2, len - 2});
    for (size_t i = 0; i < option_count(); i++)
        if (option_row(i)->letter != 0 && len == 2 &&
            option_row(i)->letter == argument[1])
            return option_row(i);
    return NULL;
}

static void *base_of(struct options *options, const struct option_row *row)
{
    return option_is_below_top(row->scope) ? &options->location
                                           : (void *)options;
}

static bool set_presets(struct options *options)
{
    *options = (struct options){.https = OPTIONS_HTTPS_OFF};
    options->origins.rows = arena_take(&options->arena,
                                       option_count() * sizeof(int));
    if (!options->origins.rows)
        return false;
    for (size_t i = 0; i < option_count(); i++) {
        const struct option_row *row = option_row(i);

        if (row->preset && option_set(base_of(options, row), row, row->preset,
                                      &options->arena) != 0)
            abort(); /* a row of the table refuses its own preset */
    }
    return true;
}

static void tell_unknown(const char *argument, FILE *errors)
{
    struct suggest suggest = {.found = NULL};
    size_t len = strcspn(argument, "=");

    if (argument[1] == '-') {
        suggest_init(&suggest, (struct bytes){argument + 2, len - 2});
        for (size_t i = 0; i < option_count(); i++)
            suggest_consider(&suggest, option_row(i)->name);
    }
    fprintf(errors, "sprintd: unknown option '%s'; ", argument);
    if (suggest.found)
        fprintf(errors, "did you mean '--%s'? ", suggest.found);
    fputs("'sprintd --help' lists them\n", errors);
}

/* Reads the option at argv[*at_ref] with its value. Returns 0 or -EINVAL. */
static int read_option(struct options *options, int argc, char **argv,
                       int *at_ref, FILE *errors)
{
    const char *argument = argv[*at_ref];
    const char *value;
    const struct option_row *row = find_row(argument, &value);
    int err;

    if (!row) {
        tell_unknown(argument, errors);
        return -EINVAL;
    }
    if (row->kind != OPTION_SWITCH && !value) {
        if (*at_ref + 1 == argc) {
            fprintf(errors, "sprintd: --%s needs a value: --%s %s\n", row->name,
                    row->name, row->value_name);
            return -EINVAL;
        }
        value = argv[++*at_ref];
    }
    options->origins.rows[option_number(row)] = ORIGIN_COMMAND_LINE;
    err = option_set(base_of(options, row), row, value ? value : "yes",
                     &options->arena);
    if (err == -EINVAL) {
        fprintf(errors, "sprintd: --%s: '%s' ", row->name, value);
        option_explain(errors, row, value);
        fputc('\n', errors);
    } else if (err != 0) {
        fputs("sprintd: out of memory\n", errors);
    }
    return err;
}

int command_line_read(struct options *options, int argc, char **argv,
                      FILE *errors)
{
    const struct option_row *root = option_find(BYTES("root"));
    bool has_root = false;
    bool options_end = false;

    if (!set_presets(options)) {
        fputs("sprintd: out of memory\n", errors);
        return -EINVAL;
    }
    for (int at = 1; at < argc; at++) {
        if (!options_end && strcmp(argv[at], "--") == 0) {
            options_end = true;
        } else if (!options_end && argv[at][0] == '-' && argv[at][1] != '\0') {
            if (read_option(options, argc, argv, &at, errors) != 0)
                return -EINVAL;
        } else if (has_root) {
            fprintf(errors, "sprintd: one DOCROOT only, '%s' is another\n",
                    argv[at]);
            return -EINVAL;
        } else {
            options->location.root = argv[at];
            options->origins.rows[option_number(root)] = ORIGIN_COMMAND_LINE;
            has_root = true;
        }
    }
    return 0;
}
