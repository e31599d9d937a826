#include "config/config_dump.h"

#include <stdlib.h>
#include <unistd.h>

#include "config/config_line.h"
#include "config/config_site.h"
#include "config/option_print.h"

enum { COMMENT_COLUMN = 40, INDENT = 4 };

struct dump {
    FILE *to;
    const struct options *options;
    int depth;
};

/* Writes a key and its value, padded for a comment, without the end of the
 * line. If there is no value, writes nothing and returns false. */
static bool print_value(const struct dump *dump, const void *base,
                        const struct option_row *row)
{
    char *text = NULL;
    size_t len;
    FILE *line = open_memstream(&text, &len);
    bool has_value = false;

    if (!line)
        return false;
    fprintf(line, "%*s%s = ", dump->depth * INDENT, "", row->name);
    has_value = option_print(line, base, row);
    if (fclose(line) == 0 && has_value)
        fprintf(dump->to, "%-*s", COMMENT_COLUMN, text);
    free(text);
    return has_value;
}

static void print_origin(const struct dump *dump, int origin)
{
    if (origin == ORIGIN_COMMAND_LINE)
        fputs(" # command line\n", dump->to);
    else if (origin == ORIGIN_DEFAULT)
        fputs(" # default\n", dump->to);
    else
        fprintf(dump->to, " # %s:%d\n",
                dump->options->files.items[config_line_file(origin)],
                config_line_number(origin));
}

/* Prints a row. An option that was cancelled is printed with the word that
 * cancels it; one that was never set, only as a comment. */
static void print_row(const struct dump *dump, const void *base,
                      const struct option_row *row, int origin)
{
    if (!print_value(dump, base, row)) {
        if ((!config_is_list(row) && !row->choices) ||
            origin == ORIGIN_DEFAULT) {
            fprintf(dump->to, "# %s is not set\n", row->name);
            return;
        }
        fprintf(dump->to, "%*s%s = %s", dump->depth * INDENT, "", row->name,
                config_is_list(row) ? "{}" : row->choices->name);
    }
    print_origin(dump, origin);
}

static void print_own(const struct dump *dump,
                      const struct location_options *options, const int *rows)
{
    for (size_t i = 0; i < option_count(); i++)
        if (option_is_below_top(option_row(i)->scope) &&
            rows[i] != ORIGIN_DEFAULT)
            print_row(dump, options, option_row(i), rows[i]);
}

static void print_hosts(const struct dump *dump, const struct texts *hosts,
                        int origin)
{
    fprintf(dump->to, "%*s" CONFIG_HOSTS " = {", INDENT, "");
    for (size_t i = 0; i < hosts->count; i++) {
        fputs(i == 0 ? "" : ", ", dump->to);
        option_print_text(dump->to, hosts->items[i]);
    }
    fputc('}', dump->to);
    print_origin(dump, origin);
}

static void print_location(const struct dump *dump,
                           const struct site_location *location,
                           const struct option_origins *origins)
{
    char quote = memchr(location->path.data, '"', location->path.len) ? '\''
                                                                      : '"';
    struct dump inside = {dump->to, dump->options, dump->depth + 1};
    int indent = dump->depth * INDENT;

    fprintf(dump->to, "%*slocation %c%s%s%c {", indent, "", quote,
            location->is_exact ? "= " : "",
            location->path.len > 0 ? location->path.data : "/", quote);
    print_origin(dump, origins->line);
    print_own(&inside, &location->options, origins->rows);
    fprintf(dump->to, "%*s}\n", indent, "");
}

static void print_locations(const struct dump *dump,
                            const struct site_options *site,
                            const struct option_origins *origins)
{
    for (size_t i = 0; i < site->location_count; i++)
        print_location(dump, &site->locations[i], &origins->locations[i]);
}

static void print_site(const struct dump *dump, const struct site_options *site,
                       const struct option_origins *origins)
{
    char quote = strchr(site->name, '"') ? '\'' : '"';
    struct dump inside = {dump->to, dump->options, 1};

    if (config_is_top(site)) {
        fputc('\n', dump->to);
        print_locations(dump, site, origins);
        return;
    }
    fprintf(dump->to, "\nsite %c%s%c {", quote, site->name, quote);
    print_origin(dump, origins->line);
    if (origins->hosts != 0)
        print_hosts(dump, &site->hosts, origins->hosts);
    print_own(&inside, &site->options, origins->rows);
    print_locations(&inside, site, origins);
    fputs("}\n", dump->to);
}

/* Returns `root` as an absolute path, since the output may be used in another
 * directory. Returns NULL if `root` is absolute already. */
static char *find_whole_root(const char *root)
{
    char *current;
    char *whole;
    int len;

    if (!root || *root == '/')
        return NULL;
    current = getcwd(NULL, 0);
    len = current ? asprintf(&whole, "%s/%s", current, root) : -1;
    free(current);
    return len > 0 ? whole : NULL;
}

void config_dump(FILE *to, const struct options *options)
{
    struct dump dump = {.to = to, .options = options};
    char *root = find_whole_root(options->location.root);
    struct location_options location = options->location;

    if (root)
        location.root = root;
    for (size_t i = 0; i < option_count(); i++) {
        const struct option_row *row = option_row(i);

        if (row->group && row->scope != OPTION_COMMAND)
            fprintf(to, "\n# %s\n", row->group);
        if (row->scope != OPTION_COMMAND)
            print_row(&dump,
                      option_is_below_top(row->scope) ? (const void *)&location
                                                      : options,
                      row, options->origins.rows[i]);
    }
    for (size_t i = 0; i < options->site_count; i++)
        print_site(&dump, &options->sites[i], &options->site_origins[i]);
    free(root);
}
