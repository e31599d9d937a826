#include "process/generation_priv.h"

#include <errno.h>
#include <limits.h>
#include <sysexits.h>
#include <unistd.h>

#include "auth/htpasswd.h"
#include "base/host_name.h"
#include "base/log.h"
#include "config/certificates/managed.h"
#include "config/certificates/upstream_trust.h"
#include "handler/rate_limit.h"

/* The addresses that a rate limit remembers; they take 1 MiB. */
enum { RATE_ENTRIES = 65536 };

/* --- What locations need -------------------------------------------------- */

static int explain_root(FILE *errors, const char *path, int err)
{
    fprintf(errors, "sprintd: DOCROOT '%s': %s%s\n", path, strerror(-err),
            err == -ENOENT ? "; name the directory to serve" : "");
    return err == -EACCES || err == -EPERM     ? EX_NOPERM
           : err == -ENOENT || err == -ENOTDIR ? EX_NOINPUT
                                               : EX_OSERR;
}

static int open_root(struct generation *generation,
                     const struct location_options *location, FILE *errors)
{
    int err;

    if (!location->root)
        return EX_OK;
    err = docroots_open(&generation->roots, &generation->options.arena,
                        location->root, location->follow_symlinks);
    return err == 0 ? EX_OK : explain_root(errors, location->root, err);
}

/* Finds the entry with the name `name` and the burst `burst`. Makes an empty
 * entry if there is no such entry. Returns NULL if there is no memory. */
static struct opened *find_opened(struct generation *generation,
                                  const char *name, uint64_t burst)
{
    struct opened *opened = generation->opened;

    while (opened && (opened->name != name || opened->burst != burst))
        opened = opened->next;
    if (opened)
        return opened;
    opened = arena_take(&generation->options.arena, sizeof(*opened));
    if (!opened)
        return NULL;
    opened->name = name;
    opened->burst = burst;
    opened->next = generation->opened;
    generation->opened = opened;
    return opened;
}

static int open_passwords(struct generation *generation,
                          struct location_options *location, FILE *errors)
{
    struct htpasswd_fault fault = {0};
    struct opened *opened;
    int err = -ENOMEM;

    if (!location->auth_file)
        return EX_OK;
    opened = find_opened(generation, location->auth_file, 0);
    if (opened)
        err = opened->htpasswd ? 0
                               : htpasswd_open(&opened->htpasswd,
                                               location->auth_file, &fault);
    if (err == 0) {
        location->htpasswd = opened->htpasswd;
        return EX_OK;
    }
    fprintf(errors, "sprintd: auth-file '%s'", location->auth_file);
    if (fault.line > 0)
        fprintf(errors, ":%u", fault.line);
    fprintf(errors, ": %s\n", err == -EINVAL ? fault.text : strerror(-err));
    return err == -EINVAL ? EX_CONFIG : EX_NOINPUT;
}

static int open_limiter(struct generation *generation,
                        struct location_options *location, FILE *errors)
{
    struct opened *opened;
    struct rate rate;
    int err = -ENOMEM;

    if (!location->rate_limit ||
        !rate_parse(&rate, bytes_of(location->rate_limit)))
        return EX_OK;
    opened = find_opened(generation, location->rate_limit,
                         location->rate_burst);
    if (opened)
        err = opened->limiter
                  ? 0
                  : rate_limit_create(&opened->limiter, rate,
                                      (uint32_t)location->rate_burst,
                                      RATE_ENTRIES);
    if (err == 0) {
        location->limiter = opened->limiter;
        return EX_OK;
    }
    fprintf(errors, "sprintd: rate-limit: %s\n", strerror(-err));
    return EX_OSERR;
}

/* A file of tokens, the option that names the file, and the tokens. */
struct token_file {
    const char *option;
    const char *path; /* NULL if the option is not given */
    struct kv_tokens **tokens;
    const char *path_before; /* path before the reload */
    struct kv_tokens *tokens_before;
};

/* Keeps the former tokens of a file that only root can read, since root's
 * rights were given up. Returns false if the tokens cannot be kept. */
static bool keep_tokens(const struct token_file *file, int err, FILE *errors)
{
    static const char reason[] =
        "cannot be read again without the rights given up at the start; "
        "its tokens stay as they were until a restart";

    if ((err != -EACCES && err != -EPERM) || !file->tokens_before ||
        strcmp(file->path_before, file->path) != 0)
        return false;
    *file->tokens = kv_tokens_acquire(file->tokens_before);
    log_warning("--%s '%s' %s", file->option, file->path, reason);
    fprintf(errors, "sprintd: --%s '%s' %s\n", file->option, file->path,
            reason);
    return true;
}

static int open_token_file(const struct token_file *file, FILE *errors)
{
    struct kv_token_fault fault = {0};
    int err = file->path ? kv_tokens_open(file->tokens, file->path, &fault) : 0;

    if (err == 0 || keep_tokens(file, err, errors))
        return EX_OK;
    fprintf(errors, "sprintd: --%s '%s'", file->option, file->path);
    if (fault.line > 0)
        fprintf(errors, ":%u", fault.line);
    fprintf(errors, ": %s\n", err == -EINVAL ? fault.text : strerror(-err));
    return err == -EINVAL ? EX_CONFIG : EX_NOINPUT;
}

static int open_tokens(struct generation *generation,
                       const struct generation *before, FILE *errors)
{
    const struct token_file writers = {
        .option = "kv-token",
        .path = generation->options.kv_token,
        .tokens = &generation->tokens,
        .path_before = before ? before->options.kv_token : NULL,
        .tokens_before = before ? before->tokens : NULL};
    const struct token_file purgers = {
        .option = "proxy-cache-purge-token",
        .path = generation->options.proxy_cache_token,
        .tokens = &generation->purgers,
        .path_before = before ? before->options.proxy_cache_token : NULL,
        .tokens_before = before ? before->purgers : NULL};
    int status = open_token_file(&writers, errors);

    return status == EX_OK ? open_token_file(&purgers, errors) : status;
}

static int open_location(struct generation *generation,
                         struct location_options *location, FILE *errors)
{
    int status = open_root(generation, location, errors);

    if (status == EX_OK)
        status = open_passwords(generation, location, errors);
    if (status == EX_OK)
        status = open_limiter(generation, location, errors);
    return status;
}

static int open_site(struct generation *generation, struct site_options *site,
                     FILE *errors)
{
    int status = open_location(generation, &site->options, errors);

    for (size_t i = 0; i < site->location_count && status == EX_OK; i++)
        status = open_location(generation, &site->locations[i].options, errors);
    return status;
}

static struct forwarded_trust trust_of(const struct options *options)
{
    static const enum forwarded_field fields[] = {
        [OPTIONS_CLIENT_PEER] = FORWARDED_NONE,
        [OPTIONS_CLIENT_X_FORWARDED_FOR] = FORWARDED_X_FOR,
        [OPTIONS_CLIENT_FORWARDED] = FORWARDED_RFC7239,
        [OPTIONS_CLIENT_PROXY_PROTOCOL] = FORWARDED_NONE};

    if (options->trusted_proxies.count == 0)
        return (struct forwarded_trust){.field = FORWARDED_NONE};
    return (struct forwarded_trust){
        .field = fields[options->client_address],
        .trusts_unix = true,
        .blocks = options->trusted_proxies.items,
        .block_count = options->trusted_proxies.count};
}

static int open_upstream_trust(struct generation *generation,
                               const struct generation *before, FILE *errors)
{
    const struct options *options = &generation->options;
    struct upstream_trust_fault fault;

    if (!upstream_trust_open(&generation->upstream_trust, options,
                             before ? before->upstream_trust : NULL,
                             before ? &before->options : NULL, &fault)) {
        fprintf(errors, "sprintd: %s\n", fault.text);
        return fault.status;
    }
    if (!options->proxy_tls_verify)
        log_warning("proxy-tls-verify = off: whoever answers in the place of a "
                    "server behind this one is believed, and gets to read what "
                    "is meant for it");
    return EX_OK;
}

static int make_proxies(struct generation *generation,
                        const struct generation *before, FILE *errors)
{
    struct options *options = &generation->options;

    generation->trust = trust_of(options);
    generation->proxies = proxies_create(options, &generation->trust,
                                         generation->purgers, &options->arena);
    if (!generation->proxies) {
        fputs("sprintd: out of memory\n", errors);
        return EX_OSERR;
    }
    if (before)
        proxies_inherit(generation->proxies, before->proxies);
    return proxies_need_trust(options)
               ? open_upstream_trust(generation, before, errors)
               : EX_OK;
}

static int open_all(struct generation *generation, FILE *errors)
{
    struct options *options = &generation->options;
    int status = EX_OK;

    if (options->site_count == 0)
        return open_location(generation, &options->location, errors);
    for (size_t i = 0; i < options->site_count && status == EX_OK; i++)
        status = open_site(generation, &options->sites[i], errors);
    return status;
}

/* --- What this machine is called ----------------------------------------- */

static bool add_name(struct generation *generation, struct bytes name)
{
    return hosts_find(&generation->names, name) ||
           hosts_add(&generation->names, &generation->options.arena, name,
                     generation);
}

/* Adds a copy of a name in the form in which names are compared: in lower case,
 * without a final dot. */
static bool add_copy(struct generation *generation, const char *text)
{
    struct bytes given = bytes_of(text);
    char *name = arena_text(&generation->options.arena, given);

    for (size_t i = 0; name && i < given.len; i++)
        name[i] = byte_lower(name[i]);
    if (text[given.len - 1] == '.')
        given.len--;
    return name && add_name(generation, (struct bytes){name, given.len});
}

static bool add_own_name(struct generation *generation)
{
    char name[HOST_NAME_MAX_BYTES + 1];

    if (gethostname(name, sizeof(name)) == -1)
        return true; /* the name is too long for a Host field */
    name[sizeof(name) - 1] = '\0';
    return name[0] == '\0' || !host_name_is_valid(bytes_of(name)) ||
           add_copy(generation, name);
}

static int collect_names(struct generation *generation, FILE *errors)
{
    const struct options *options = &generation->options;
    bool is_done = add_own_name(generation);

    for (size_t i = 0; i < options->status_host.count && is_done; i++)
        is_done = add_copy(generation, options->status_host.items[i]);
    for (size_t i = 0; i < options->site_count; i++)
        for (size_t j = 0; j < options->sites[i].hosts.count && is_done; j++)
            is_done = add_name(generation,
                               bytes_of(options->sites[i].hosts.items[j]));
    if (is_done)
        return EX_OK;
    fputs("sprintd: out of memory\n", errors);
    return EX_OSERR;
}

static int name_challenges(struct generation *generation, FILE *errors)
{
    struct options *options = &generation->options;
    char path[PATH_MAX];

    if (!options->acme_folder)
        return EX_OK;
    managed_challenges(options, path);
    generation->challenges = arena_text(&options->arena, bytes_of(path));
    if (generation->challenges)
        return EX_OK;
    fputs("sprintd: out of memory\n", errors);
    return EX_OSERR;
}

/* --- All ------------------------------------------------------------------ */

int generation_open(struct generation *generation,
                    const struct generation *before, FILE *errors)
{
    int status = open_all(generation, errors);

    if (status == EX_OK)
        status = open_tokens(generation, before, errors);
    if (status == EX_OK)
        status = credentials_open(&generation->credentials,
                                  &generation->options,
                                  before ? &before->credentials : NULL, errors);
    if (status == EX_OK)
        status = make_proxies(generation, before, errors);
    if (status == EX_OK)
        status = collect_names(generation, errors);
    if (status == EX_OK)
        status = name_challenges(generation, errors);
    return status;
}

void generation_close(struct generation *generation)
{
    for (struct opened *opened = generation->opened; opened;
         opened = opened->next) {
        rate_limit_destroy(opened->limiter);
        if (opened->htpasswd)
            htpasswd_release(&opened->htpasswd);
    }
    proxies_destroy(generation->proxies);
    tls_trust_release(&generation->upstream_trust);
    docroots_close(&generation->roots);
    kv_tokens_release(&generation->tokens);
    kv_tokens_release(&generation->purgers);
    credentials_close(&generation->credentials);
}
