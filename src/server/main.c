#include <ev.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#include <xxhash.h>

#include "http/http1.h"
#include "http/range.h"
#include "server/server.h"
#include "server/top.h"
#include "server/version.h"

static void print_version(FILE *to)
{
    unsigned long parser = http1_parser_version();

    fprintf(to,
            "sprintd %s\n"
            "libev %d.%d, http-parser %lu.%lu.%lu, xxHash %d.%d.%d\n"
            "limits: request line %d bytes, head %d bytes, %d fields, %d "
            "ranges, %d listeners, %d workers\n",
            SPRINTD_VERSION, ev_version_major(), ev_version_minor(),
            parser >> 16 & 255, parser >> 8 & 255, parser & 255,
            XXH_VERSION_MAJOR, XXH_VERSION_MINOR, XXH_VERSION_RELEASE,
            HTTP1_LINE_BYTES_MAX, HTTP1_HEAD_BYTES_MAX, REQUEST_FIELDS_MAX,
            RANGE_COUNT_MAX, OPTIONS_LISTEN_MAX, OPTIONS_WORKERS_MAX);
}

static int run(struct options *options, int argc, char **argv)
{
    if (!options->wants_help && !options->wants_version)
        return server_run(options, argc, argv);
    if (options->wants_help)
        options_print_help(stdout);
    else
        print_version(stdout);
    return fflush(stdout) == 0 ? EXIT_SUCCESS : EX_IOERR;
}

int main(int argc, char **argv)
{
    struct options options;
    int status;

    if (argc > 1 && strcmp(argv[1], "top") == 0)
        return top_run(argc - 2, argv + 2, stderr);
    status = options_read(&options, argc, argv, stderr) == 0
                 ? run(&options, argc, argv)
                 : EX_USAGE;
    options_fini(&options);
    return status;
}
