#include "handler/sites/sites_priv.h"

#include <stdio.h>

#include "handler/bad_request.h"
#include "handler/rate_limit.h"

static void fail(const struct place *place, struct exchange *exchange,
                 unsigned status, struct bytes fields)
{
    response_make_error(&exchange->response, status, fields,
                        sites_defaults(place->sites));
}

/* --- Addresses and rates ------------------------------------------------- */

/* Whether an address is admitted. An unknown address is not admitted if the
 * list denies any address, since a denied client may have it. */
static bool is_welcome(const struct location_options *options,
                       const struct address *peer)
{
    for (size_t i = 0; i < options->deny.count; i++)
        if (peer->family == ADDRESS_UNKNOWN &&
            options->deny.items[i].family != CIDR_ALL)
            return false;
    return cidrs_admit(&options->allow, &options->deny, peer);
}

static bool takes_address(const struct place *place, struct exchange *exchange)
{
    if (is_welcome(place->options, exchange->peer))
        return true;
    fail(place, exchange, 403, BYTES(""));
    return false;
}

static bool takes_rate(const struct place *place, struct exchange *exchange)
{
    struct rate_limit *limiter = place->options->limiter;
    uint32_t wait_s = 0;
    char line[64];
    int len;

    if (limiter)
        wait_s = rate_limit_take(limiter, exchange->peer,
                                 sites_defaults(place->sites)->now->mono_ms);
    if (wait_s == 0)
        return true;
    len = snprintf(line, sizeof(line), "Retry-After: %u\r\n", wait_s);
    fail(place, exchange, 429, (struct bytes){line, (size_t)len});
    return false;
}

bool place_takes(const struct place *place, struct exchange *exchange)
{
    return takes_address(place, exchange) && takes_rate(place, exchange);
}

/* --- Passwords ----------------------------------------------------------- */

static bool takes_password(const struct place *place, struct exchange *exchange)
{
    const struct location_options *options = place->options;

    return !options->htpasswd ||
           guard_admits(&place->sites->guard, exchange, options->htpasswd,
                        bytes_of(options->auth_realm));
}

/* Returns whether an exchange is admitted after its password check. If not, the
 * exchange was answered. */
static bool takes_verdict(const struct place *place, struct exchange *exchange)
{
    enum password_verdict verdict = place->sites->admission.verdict;

    if (verdict != PASSWORD_RIGHT)
        guard_refuse(&place->sites->guard, exchange, verdict,
                     bytes_of(place->options->auth_realm));
    return verdict == PASSWORD_RIGHT;
}

bool place_admits(const struct place *place, struct exchange *exchange)
{
    const struct htpasswd *asked = place->sites->admission.asked;

    if (asked && asked == place->options->htpasswd)
        return takes_verdict(place, exchange);
    if (asked) /* this place has admitted the exchange before; then another
                  place's password was checked */
        return true;
    return (exchange->has_begun || place_takes(place, exchange)) &&
           takes_password(place, exchange);
}

bool place_is_overfull(const struct place *place,
                       const struct exchange *exchange)
{
    uint64_t most = place->options->body_max;

    return most > 0 && (exchange->request.content_length > most ||
                        exchange->body_bytes > most);
}

bool place_takes_body(const struct place *place, struct exchange *exchange)
{
    if (!place_is_overfull(place, exchange))
        return true;
    bad_request_answer(exchange, REASON_BODY_TOO_LARGE,
                       sites_defaults(place->sites));
    return false;
}

/* --- Paths of other places ----------------------------------------------- */

static bool is_another_list(const struct cidrs *list, const struct cidrs *than)
{
    return list->count > 0 && list->items != than->items;
}

/* Whether the place answers everybody with an error. */
static bool is_closed(const struct place *place)
{
    return place->respond && place->options->respond_status >= 400;
}

/* Whether `other` demands something that `place` does not demand. Addresses do
 * not count. */
static bool asks_more(const struct place *other, const struct place *place)
{
    const struct location_options *a = other->options;
    const struct location_options *b = place->options;

    return (a->htpasswd && a->htpasswd != b->htpasswd) ||
           (a->limiter && a->limiter != b->limiter) || is_closed(other);
}

/* Whether `other` might refuse a client that `place` admits. */
static bool is_stricter(const struct place *other, const struct place *place)
{
    const struct location_options *a = other->options;
    const struct location_options *b = place->options;

    return other != place &&
           (is_another_list(&a->deny, &b->deny) ||
            is_another_list(&a->allow, &b->allow) || asks_more(other, place) ||
            (a->body_max > 0 &&
             (b->body_max == 0 || a->body_max < b->body_max)));
}

/* Returns true if an exchange, admitted by its own place, may also get the file
 * at `path`. If not, the exchange was answered; or it waits, as `path` needs
 * another password. */
static bool admits(void *context, struct exchange *exchange, struct bytes path)
{
    struct place *place = context;
    const struct htpasswd *asked = place->sites->admission.asked;
    struct bytes rest;
    struct place *other = site_find(place->site, path, &rest);

    if (!is_stricter(other, place))
        return true;
    if (!takes_address(other, exchange))
        return false;
    if (is_closed(other)) {
        fail(other, exchange, (unsigned)other->options->respond_status,
             respond_fields((unsigned)other->options->respond_status));
        return false;
    }
    if (other->options->htpasswd == place->options->htpasswd)
        return other->options->limiter == place->options->limiter ||
               takes_rate(other, exchange);
    if (asked && asked == other->options->htpasswd)
        return takes_verdict(other, exchange);
    return (other->options->limiter == place->options->limiter ||
            takes_rate(other, exchange)) &&
           takes_password(other, exchange);
}

/* Returns true if the location has its own list of addresses. The list of a
 * whole site does not apply to the site's error pages: clients that the list
 * denies get these pages. */
static bool says_who(const struct place *place)
{
    const struct location_options *site = place->site->place.options;

    return is_another_list(&place->options->deny, &site->deny) ||
           is_another_list(&place->options->allow, &site->allow);
}

bool place_shows(const struct place *place, const struct exchange *exchange,
                 struct bytes path)
{
    struct bytes rest;
    const struct place *other = site_find(place->site, path, &rest);

    if (!is_welcome(other->options, exchange->peer))
        return !is_stricter(other, place) && !says_who(other);
    return other == place || !asks_more(other, place);
}

static bool is_free(void *context, const struct exchange *exchange,
                    struct bytes path)
{
    return place_shows(context, exchange, path);
}

struct file_judge place_judge(struct place *place)
{
    return (struct file_judge){
        .admits = admits, .is_free = is_free, .context = place};
}

static bool is_same_proxy(const struct place *other, const struct place *place)
{
    return other->is_proxied && other->handler.self == place->handler.self;
}

/* A path whose readings are more bytes than this is too much work for what no
 * rule has admitted yet. Such a path is refused, unless it has few readings: a
 * path with parameters has three, and may be as long as any. */
enum { READ_BYTES_MAX = 8192, FEW_READINGS = 3 };

static bool is_read_otherwise(const struct place *place, struct bytes raw)
{
    char storage[HTTP1_LINE_BYTES_MAX];
    unsigned found = path_find_readings(raw);
    unsigned reading = 0, count = 0;

    while ((reading = path_next_reading(found, reading)) != 0) {
        const struct place *other;
        struct path path;
        struct bytes rest;

        if (++count > FEW_READINGS && count * raw.len > READ_BYTES_MAX)
            return true;
        if (!path_clean_as(raw, reading, storage, &path) ||
            sites_find_raw(place->sites, path.clean))
            return true;
        other = site_find(place->site, path.clean, &rest);
        if (!is_same_proxy(other, place) || is_stricter(other, place))
            return true;
    }
    return false;
}

bool place_is_misread(const struct place *place, struct bytes raw,
                      struct bytes clean)
{
    /* The clean path is shorter than the raw path if empty segments were
     * removed. */
    return place->is_proxied &&
           (path_is_ambiguous(raw) ||
            (clean.len < raw.len && path_may_have_authority(raw))) &&
           is_read_otherwise(place, raw);
}
