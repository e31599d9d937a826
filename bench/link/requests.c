#include "requests.h"
#include "program.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROOM_FIRST 1024

static const char *const outcome_names[] = {
    "pending", "ok",    "descriptors", "connect",
    "reset",   "short", "head",        "timeout",
};

static void load_line(struct request *request, char *line, const char *path)
{
    char source[INET_ADDRSTRLEN];
    unsigned long long start_us;
    unsigned long long size;

    /* Widths: one less than PATH_BYTES and INET_ADDRSTRLEN. */
    if (sscanf(line, "%llu %llu %63s %15s", &start_us, &size, request->path,
               source) != 4) {
        errno = EINVAL;
        die(path);
    }
    request->start_ns = (int64_t)start_us * NS_PER_US;
    request->size = size;
    if (strcmp(source, "-") == 0)
        request->source = INADDR_ANY;
    else if (inet_pton(AF_INET, source, &request->source) != 1)
        die(source);
}

void requests_load(struct requests *requests, const char *path)
{
    FILE *file = fopen(path, "r");
    size_t room = 0;
    char line[256];

    if (!file)
        die(path);
    while (fgets(line, sizeof(line), file)) {
        if (requests->count == room) {
            room = room ? 2 * room : ROOM_FIRST;
            requests->list = realloc(requests->list,
                                     room * sizeof(*requests->list));
            if (!requests->list)
                die("memory");
        }
        requests->list[requests->count] = (struct request){0};
        load_line(&requests->list[requests->count++], line, path);
    }
    if (ferror(file) || requests->count == 0)
        die(path);
    fclose(file);
}

static long long us_since_start(const struct request *request, int64_t zero_ns,
                                int64_t ns)
{
    return ns ? (ns - zero_ns - request->start_ns) / NS_PER_US : -1;
}

void requests_save(const struct requests *requests, int64_t zero_ns,
                   const char *path)
{
    FILE *file = fopen(path, "w");

    if (!file)
        die(path);
    fprintf(file, "start_us,size,late_us,first_us,done_us,bytes,outcome\n");
    for (size_t i = 0; i < requests->count; i++) {
        const struct request *request = &requests->list[i];
        enum outcome outcome = request->outcome == OUTCOME_PENDING
                                   ? OUTCOME_TIMEOUT
                                   : request->outcome;

        fprintf(file, "%lld,%llu,%lld,%lld,%lld,%llu,%s\n",
                (long long)(request->start_ns / NS_PER_US),
                (unsigned long long)request->size,
                us_since_start(request, zero_ns, request->begun_ns),
                us_since_start(request, zero_ns, request->first_ns),
                us_since_start(request, zero_ns, request->done_ns),
                (unsigned long long)request->bytes, outcome_names[outcome]);
    }
    if (fclose(file) != 0)
        die(path);
}
