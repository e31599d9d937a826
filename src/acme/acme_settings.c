#include "acme/acme_settings.h"

#include "config/listen_address.h"
#include "config/options.h"

static const char *const default_directories[] = {
    "https://acme-v02.api.letsencrypt.org/directory"};

/* Whether an authority may be able to reach a listener of that kind. The
 * authority connects to port 80 or 443, but a listener at any port or unix
 * socket counts: the machine may redirect these ports to it, or the server that
 * has the ports may forward to it. */
static bool has_listener(const struct options *options, bool is_tls)
{
    struct listen_address place;

    for (size_t i = 0; i < options->listen.count; i++)
        if (listen_address_read(&place, options->listen.items[i]) &&
            place.is_tls == is_tls)
            return true;
    return options->listen.count == 0;
}

struct acme_settings acme_settings_of(
    const struct options *options, const char *items[ACME_CHALLENGE_TYPES_MAX])
{
    struct acme_settings settings = {
        .directories = options->acme_directory,
        .challenges = options->acme_challenge,
        .email = options->acme_email,
        .ca = options->acme_ca,
        .profile = options->acme_profile,
        .eab_id = options->acme_eab_id,
        .eab_key = options->acme_eab_key,
        .key = (enum acme_key_kind)options->acme_key,
        .retry_ms = (int64_t)options->acme_retry_ms};

    if (settings.directories.count == 0)
        settings.directories = (struct texts){
            .items = (const char **)(uintptr_t)default_directories, .count = 1};
    if (settings.challenges.count == 0) {
        settings.challenges.items = items;
        if (has_listener(options, false))
            items[settings.challenges.count++] = "http-01";
        if (has_listener(options, true))
            items[settings.challenges.count++] = "tls-alpn-01";
    }
    return settings;
}
