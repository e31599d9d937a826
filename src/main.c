#include <errno.h>
#include <ev.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

#include <xxhash.h>

#include "base/version.h"
#include "config/command_line.h"
#include "config/config_dump.h"
#include "config/config_site.h"
#include "config/configuration.h"
#include "confine/safe_path.h"
#include "http/http1/http1.h"
#include "http/http2/hpack.h"
#include "http/range.h"
#include "io/tls/tls_kernel.h"
#include "process/readiness.h"
#include "process/server.h"
#include "tools/help.h"
#include "tools/program_command.h"

static void print_version(FILE *to)
{
    unsigned long parser = http1_parser_version();

    fprintf(to,
            "sprintd %s\n"
            "libev %d.%d, http-parser %lu.%lu.%lu, nghttp2 %s, xxHash "
            "%d.%d.%d\n"
            "TLS of the kernel: %s\n"
            "limits: request line %d bytes, head %d bytes, %d fields, %d "
            "ranges, %d listeners, %d workers\n",
            SPRINTD_VERSION, ev_version_major(), ev_version_minor(),
            parser >> 16 & 255, parser >> 8 & 255, parser & 255,
            hpack_library_version(), XXH_VERSION_MAJOR, XXH_VERSION_MINOR,
            XXH_VERSION_RELEASE, tls_kernel_is_there() ? "yes" : "no",
            HTTP1_LINE_BYTES_MAX, HTTP1_HEAD_BYTES_MAX, REQUEST_FIELDS_MAX,
            RANGE_COUNT_MAX, OPTIONS_LISTEN_MAX, OPTIONS_WORKERS_MAX);
}

static void print_well_formed(FILE *to, const struct options *options)
{
    size_t locations = 0;
    size_t sites = 0;

    for (size_t i = 0; i < options->site_count; i++) {
        locations += options->sites[i].location_count;
        sites += !config_is_top(&options->sites[i]);
    }
    fprintf(to, "%s: well-formed, %zu site%s, %zu location%s\n",
            options->config ? options->config : "sprintd", sites,
            sites == 1 ? "" : "s", locations, locations == 1 ? "" : "s");
}

static int run(struct options *options, int argc, char **argv)
{
    if (options->wants_help)
        help_print(stdout);
    else if (options->wants_version)
        print_version(stdout);
    else if (options->wants_dump)
        config_dump(stdout, options);
    else if (options->wants_test)
        print_well_formed(stdout, options);
    else
        return server_run(options, argc, argv);
    return fflush(stdout) == 0 ? EXIT_SUCCESS : EX_IOERR;
}

static int run_command(const struct program_command *command, int count,
                       char **words)
{
    if (!help_is_asked(count, words))
        return command->run(count, words);
    help_print_command(stdout, command);
    return fflush(stdout) == 0 ? EXIT_SUCCESS : EX_IOERR;
}

/* Whether only root can change the file at `path`, or make a file there. */
static bool is_roots(const char *path)
{
    struct safe_path at;
    int err = safe_path_open(&at, path, NULL);
    bool is_others;

    if (err != 0)
        return err == -ENOENT;
    is_others = at.exists && safe_path_is_writable(&at, NULL);
    safe_path_close(&at);
    return !is_others;
}

/* Finds a file of the configuration that users other than root can change, or a
 * path at which such users can add a file. Returns NULL if only root can change
 * the configuration. */
static const char *find_others(const struct options *options)
{
    const struct texts *const lists[] = {&options->files,
                                         &options->include_ways};

    for (size_t i = 0; i < sizeof(lists) / sizeof(*lists); i++)
        for (size_t k = 0; k < lists[i]->count; k++)
            if (!is_roots(lists[i]->items[k]))
                return lists[i]->items[k];
    return NULL;
}

static void tell_faults(struct bytes text, const char *others)
{
    if (!others)
        fwrite(text.data, 1, text.len, stderr);
    else if (text.len > 0)
        fprintf(stderr,
                "sprintd: upgrade: there is something about the configuration; "
                "since others than root can change '%s', only `sprintd -t` "
                "says what\n",
                others);
}

/* Reads the configuration as root, for an upgrade that the server's user may
 * have ordered. This user can see the messages, and messages about faults quote
 * the file. If users other than root can change the configuration, they could
 * include any file and read it in the messages. The messages are not shown
 * then. */
static int read_for_upgrade(struct options *options, int argc, char **argv)
{
    char *text = NULL;
    size_t len = 0;
    FILE *errors = open_memstream(&text, &len);
    int status = EX_OSERR;

    *options = (struct options){.config = NULL};
    if (errors) {
        status = configuration_read(options, argc, argv, errors);
        if (fclose(errors) == 0)
            tell_faults((struct bytes){text, len}, find_others(options));
    } else {
        fputs("sprintd: out of memory\n", stderr);
    }
    free(text);
    return status;
}

/* Opens /dev/null as each standard descriptor that is closed. Otherwise a
 * client's connection could get the number of standard error, and then messages
 * for the operator. Standard input is opened only for writing, standard output
 * and error only for reading, so that using them still fails. */
static void fill_standard(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) == -1 && errno == EBADF &&
            open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) != fd)
            return;
}

int main(int argc, char **argv)
{
    const struct program_command *command;
    struct options options;
    int status;

    fill_standard();
    if (argc > 1 && (command = program_command_find(argv[1])))
        return run_command(command, argc - 2, argv + 2);
    status = geteuid() == 0 && getenv(READINESS_VARIABLE)
                 ? read_for_upgrade(&options, argc, argv)
                 : configuration_read(&options, argc, argv, stderr);
    if (status == EX_OK)
        status = run(&options, argc, argv);
    options_fini(&options);
    return status;
}
