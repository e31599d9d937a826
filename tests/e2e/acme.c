#include "acme.h"

#include <dirent.h>
#include <glob.h>
#include <sys/stat.h>
#include <sys/wait.h>

enum { WORDS_MAX = 48 };

static char kept[128];

int acme_begin(void **state)
{
    if (harness_begin(state) != 0)
        return -1;
    snprintf(kept, sizeof(kept), "%s/state", folder());
    unsetenv("STATE_DIRECTORY");
    site_text("index.html", "certified");
    return 0;
}

int acme_after(void **state)
{
    if (system(printed("chmod -R u+rwx '%s' 2>/dev/null; rm -rf '%s'", kept,
                       kept)) != 0)
        return -1;
    return harness_after_test(state);
}

const char *acme_folder(void)
{
    return kept;
}

const char *acme_live(void)
{
    return printed("%s/acme/live/www.sprintd.example.net.pem", kept);
}

const char *acme_record(void)
{
    return printed("%s/acme/orders/www.sprintd.example.net", kept);
}

struct acme_place acme_place_of(const struct pebble *pebble)
{
    return (struct acme_place){.directories = {pebble->directory},
                               .ca = pebble->ca,
                               .http = pebble->http,
                               .https = pebble->https};
}

static size_t put_words(const struct acme_place *place,
                        const char *words[WORDS_MAX])
{
    size_t count = 0;

    words[count++] = "--listen";
    words[count++] = printed("http://127.0.0.1:%u", place->http);
    words[count++] = "--listen";
    words[count++] = printed("https://127.0.0.1:%u", place->https);
    words[count++] = "--acme-ca";
    words[count++] = place->ca;
    words[count++] = "--acme-retry";
    words[count++] = place->retry ? place->retry : "1";
    words[count++] = "--state-directory";
    words[count++] = kept;
    for (size_t i = 0; place->directories[i]; i++) {
        words[count++] = "--acme-directory";
        words[count++] = place->directories[i];
    }
    if (mkdir(kept, 0700) == -1 && errno != EEXIST)
        flunk("no folder");
    return count;
}

struct server *acme_serve(const struct acme_place *place,
                          const char *const more[])
{
    const char *words[WORDS_MAX] = {NULL};
    size_t count = put_words(place, words);

    while (*more)
        words[count++] = *more++;
    words[count] = site();
    return server_start(&(struct launch){.is_bare = true, .root = ""}, words);
}

int acme_run(const struct acme_place *place, const char *command,
             const char *argument, struct outcome *outcome)
{
    const char *words[WORDS_MAX] = {"acme", command, argument};
    const char *options[WORDS_MAX] = {NULL};
    size_t from = argument ? 3 : 2;
    size_t count = put_words(place, options);

    memcpy(words + from, options, count * sizeof(*options));
    words[from + count] = "--https";
    words[from + count + 1] = ACME_NAMES;
    server_run(&(struct launch){.is_bare = true, .root = ""}, words, outcome);
    return outcome->status;
}

bool acme_is_trusted(const struct acme_place *place, const char *host,
                     const char *root)
{
    return system(printed("curl -fsS --noproxy '*' -m 5 --cacert '%s' "
                          "--connect-to ::127.0.0.1:%u https://%s:%u/ "
                          "2>/dev/null | grep -q '^certified$'",
                          root, place->https, host, place->https)) == 0;
}

const char *acme_status(const struct acme_place *place, const char *path)
{
    const char *file = printed("%s/status", folder());

    if (system(printed("curl -fsSk --noproxy '*' -m 5 -o '%s' "
                       "'https://127.0.0.1:%u/_s/%s'",
                       file, place->https, path)) != 0)
        flunk("no status");
    return read_text(file, NULL);
}

bool acme_has_said(const struct server *server, const char *part)
{
    return strstr(read_text(server->errors, NULL), part);
}

unsigned acme_count_said(const struct server *server, const char *part)
{
    const char *at = read_text(server->errors, NULL);
    unsigned count = 0;

    while ((at = strstr(at, part))) {
        at += strlen(part);
        count++;
    }
    return count;
}

/* Empty: there is none, or it cannot be loaded beside a sanitizer. */
static const char *find_clock(void)
{
    static char path[512];
    glob_t found;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    return path;
#endif
    if (glob("/usr/lib/*/faketime/libfaketime.so.1", 0, NULL, &found) == 0) {
        snprintf(path, sizeof(path), "%s", found.gl_pathv[0]);
        globfree(&found);
    }
    return path;
}

int acme_once(const struct acme_place *place, int64_t ahead_s,
              const char **said)
{
    const char *words[WORDS_MAX] = {NULL};
    const char *told = printed("%s/once", folder());
    size_t count = put_words(place, words);
    char command[4096];
    size_t len = 0;
    int status;

    if (ahead_s != 0 && *find_clock() == '\0') {
        print_message("skipped, not installed: libfaketime\n");
        skip();
    }
    if (ahead_s != 0)
        len = (size_t)snprintf(command, sizeof(command),
                               "LD_PRELOAD='%s' FAKETIME='%+lld' ",
                               find_clock(), (long long)ahead_s);
    len += (size_t)snprintf(command + len, sizeof(command) - len,
                            "'%s-acme' once --https '%s'", getenv("SPRINTD"),
                            ACME_NAMES);
    for (size_t i = 0; i < count && len < sizeof(command); i++)
        len += (size_t)snprintf(command + len, sizeof(command) - len, " '%s'",
                                words[i]);
    if (len < sizeof(command))
        len += (size_t)snprintf(command + len, sizeof(command) - len,
                                " '%s' >'%s' 2>&1", site(), told);
    assert_true(len < sizeof(command));
    status = system(command);
    *said = read_text(told, NULL);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

pid_t child_of(pid_t parent, const char *name)
{
    DIR *all = opendir("/proc");
    struct dirent *one;
    pid_t found = 0;

    assert_non_null(all);
    while (found == 0 && (one = readdir(all))) {
        char path[300], text[512], comm[64];
        long pid = strtol(one->d_name, NULL, 10);
        long above = 0;
        FILE *stat_file;

        snprintf(path, sizeof(path), "/proc/%ld/stat", pid);
        stat_file = pid > 0 ? fopen(path, "r") : NULL;
        if (!stat_file)
            continue;
        if (fgets(text, sizeof(text), stat_file) &&
            sscanf(text, "%*d (%63[^)]) %*c %ld", comm, &above) == 2 &&
            above == parent && strncmp(comm, name, 15) == 0)
            found = (pid_t)pid;
        fclose(stat_file);
    }
    closedir(all);
    return found;
}

pid_t acme_program(const struct server *server)
{
    pid_t steward = child_of(server->pid, "sprintd-steward");

    return steward > 0 ? child_of(steward, "sprintd-acme") : 0;
}

size_t acme_count_files(const char *where)
{
    FILE *from = popen(printed("find '%s' -type f | wc -l", where), "r");
    size_t count = 0;

    if (!from || fscanf(from, "%zu", &count) != 1)
        flunk("cannot look into '%s'", where);
    pclose(from);
    return count;
}
