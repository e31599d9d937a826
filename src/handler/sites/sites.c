#include "handler/sites/sites_priv.h"

#include "handler/bad_request.h"
#include "handler/challenge.h"
#include "handler/cors.h"
#include "handler/redirect.h"
#include "http/rules/priority_rules.h"
#include "io/tls/tls.h"

/* --- Answering ------------------------------------------------------------ */

static void release(void *object)
{
    struct sites *sites = object;

    sites_release(&sites);
}

/* Answers a request for "*": OPTIONS * asks about the server, not about any of
 * its places (RFC 9110 9.3.7). */
static void answer_all(const struct sites *sites, struct exchange *exchange)
{
    struct response *response = &exchange->response;

    if (exchange->request.method != METHOD_OPTIONS) {
        bad_request_answer(exchange, REASON_TARGET_FORM, sites_defaults(sites));
        return;
    }
    response_begin(response, 204, sites_defaults(sites));
    head_field(&response->head, BYTES("Allow"), BYTES("GET, HEAD, OPTIONS"));
    response_add_head(response);
}

static struct site *find_site(const struct sites *sites, struct bytes host)
{
    struct site *site = hosts_find(&sites->hosts, host);

    return site ? site : sites->first;
}

/* --- Requests over the wrong connection ---------------------------------- */

/* Whether the host's site asks clients for certificates, but this connection's
 * client was not asked. A client without TLS counts as not asked only if the
 * site requires a certificate. */
static bool is_unasked(const struct sites *sites,
                       const struct exchange *exchange)
{
    const struct location_options *options =
        find_site(sites, exchange->request.host)->place.options;

    if (!options->client_ca)
        return false;
    return exchange->tls ? !tls_set_asks(tls_chosen(exchange->tls))
                         : options->client_certificate == TLS_CLIENT_REQUIRE;
}

/* Whether the target names another scheme than the scheme of the connection
 * (RFC 9110 7.4). In HTTP/2 only https counts, and a trusted proxy may name the
 * scheme of its client's connection. */
static bool is_of_another_scheme(const struct sites *sites,
                                 const struct exchange *exchange)
{
    const struct forwarded_trust *trust = &sites->options.trust;
    const struct request *request = &exchange->request;
    bool is_secure = exchange_is_secure(exchange);
    struct bytes scheme;

    if (request->minor == REQUEST_HTTP2)
        return !is_secure && !forwarded_is_trusted(trust, exchange->neighbour);
    scheme = scheme_of(request, is_secure, exchange->neighbour, trust);
    return bytes_eq(scheme, BYTES("https")) !=
           (request->scheme == TARGET_SCHEME_HTTPS);
}

/* Returns true if the request's host must not be served over this connection.
 * The TLS table decides by the names in certificates. In addition, a site that
 * asks for certificates stays closed to clients that were not asked, whatever
 * the table says. */
static bool is_of_another_name(const struct sites *sites,
                               const struct exchange *exchange)
{
    return (exchange->tls &&
            !tls_table_serves(sites->options.tls, tls_chosen(exchange->tls),
                              exchange->request.host)) ||
           (sites->asks_clients && is_unasked(sites, exchange));
}

/* Whether the connection is for another site or scheme. The answer is 421 then
 * (RFC 9110 15.5.20). */
static bool is_misdirected(const struct sites *sites,
                           const struct exchange *exchange)
{
    if (exchange->request.scheme != TARGET_SCHEME_NONE &&
        is_of_another_scheme(sites, exchange))
        return true;
    return sites->options.tls && is_of_another_name(sites, exchange);
}

/* Whether the client's certificate has expired since the handshake. */
static bool is_of_expired_client(const struct sites *sites,
                                 const struct exchange *exchange)
{
    return sites->asks_clients && exchange->tls &&
           tls_client_has_expired(exchange->tls);
}

/* Redirects to https, if the place demands https. This happens before a
 * password is asked for, so that no password is sent in clear text. */
static bool answer_by_https(const struct place *place,
                            struct exchange *exchange)
{
    const struct sites_options *options = &place->sites->options;
    struct bytes clean = exchange->path.clean;

    /* Certificate authorities fetch by http, and may not follow redirects. */
    return place->options->https_redirect && !exchange->tls &&
           !challenge_is_at(clean) &&
           redirect_to_https(exchange, clean, options->https_port,
                             &options->trust, sites_defaults(place->sites));
}

/* --- By rules ------------------------------------------------------------ */

/* Whether a rule of the place has answered the exchange. */
static bool answer_by_rule(const struct place *place, struct exchange *exchange)
{
    const struct redirect_rules *redirects = place->options->redirects;

    return !place_takes_body(place, exchange) ||
           (redirects &&
            redirect_answer(redirects, exchange, exchange->path.clean,
                            &place->sites->options.trust,
                            sites_defaults(place->sites)));
}

/* Prepares a response with the rules for all answers of a place. */
static void prepare(const struct place *place, struct response *response)
{
    response->edits = place->options->edits;
    response->errors = place->errors.has ? &place->errors : NULL;
    response->encode = place->encode.encoder ? &place->encode : NULL;
}

/* Puts Strict-Transport-Security, after which browsers use only https. */
static void describe_https(const struct place *place, struct exchange *exchange)
{
    const struct bytes *line = place->options->hsts_line;
    struct response *response = &exchange->response;

    response->extra_count = 0;
    response->own_fields = 0;
    if (!line || !exchange->tls)
        return;
    response->own_fields = RESPONSE_OWN_HSTS;
    response_put_extra(response, *line);
}

/* Sets the priority by the place's rules. HTTP/1.1 needs no priority, since its
 * answers have an order already. */
static void describe_order(const struct place *place, struct exchange *exchange)
{
    const struct priority_rules *rules = place->options->priority_rules;

    if (rules && exchange->request.minor == REQUEST_HTTP2)
        exchange->priority = priority_rules_find(rules, exchange->path.clean);
}

/* Returns whether the handler may be asked. If not, the exchange was answered,
 * or waits. A preflight has no credentials, so it is answered before they are
 * checked (Fetch standard 3.2.2). */
static bool lets_in(const struct place *place, struct exchange *exchange)
{
    const struct location_options *options = place->options;

    if (answer_by_https(place, exchange))
        return false;
    if (options->cors) {
        if (cors_answer_preflight(options->cors, exchange,
                                  sites_defaults(place->sites)))
            return false;
        cors_describe(options->cors, &exchange->request, &exchange->response);
    }
    return place_admits(place, exchange) && !answer_by_rule(place, exchange);
}

/* Lets the place's handler answer, if the exchange is admitted. Every answer
 * gets the fields of all the place's answers. */
static void answer_place(struct place *place, struct exchange *exchange,
                         struct bytes rest)
{
    struct response *response = &exchange->response;

    prepare(place, response);
    describe_https(place, exchange);
    describe_order(place, exchange);
    if (lets_in(place, exchange)) {
        exchange->body_max = place->options->body_max;
        place->handler.answer(place->handler.self, exchange, rest);
    } else if (!exchange->pending) {
        exchange_drop_sink(exchange); /* the handler is not asked */
    }
    response_put_error_body(response);
}

/* Returns the place for the request's host and exchange->path. */
static struct place *follow_path(struct sites *sites, struct exchange *exchange,
                                 struct bytes *rest_out)
{
    *rest_out = exchange->path.clean;
    return sites->only ? &sites->only->place
                       : site_find(find_site(sites, exchange->request.host),
                                   exchange->path.clean, rest_out);
}

/* Whether the server behind `place` might take the path for a path of another
 * place. It cannot if there is only one place. */
static bool is_misread(const struct sites *sites, const struct place *place,
                       struct bytes raw, struct bytes clean)
{
    return !sites->only && place_is_misread(place, raw, clean);
}

/* Whether the place has a redirect for the path. */
static bool has_redirect(const struct place *place, struct bytes clean)
{
    const struct redirect_rules *redirects = place->options->redirects;

    return redirects && redirect_leads(redirects, clean);
}

/* A byte that no path has. It stands for an encoded slash that is not taken for
 * a slash. */
#define NO_SLASH '\x01'

/* Returns the place to which the path leads if encoded slashes are not taken
 * for slashes. Returns NULL if there is none, if that place redirects the path,
 * or if the server behind it takes encoded slashes for slashes. */
static const struct place *route_without(struct sites *sites,
                                         struct exchange *exchange)
{
    char storage[sizeof(sites->path)];
    struct bytes raw = path_replace_slashes(exchange->request.path, NO_SLASH,
                                            storage);
    const struct place *place;
    struct bytes rest;

    if (!path_clean(raw, sites->path, &exchange->path))
        return NULL;
    place = follow_path(sites, exchange, &rest);
    return has_redirect(place, exchange->path.clean) ||
                   is_misread(sites, place, raw, exchange->path.clean)
               ? NULL
               : place;
}

/*
 * Returns the place for a path with an encoded slash. The server behind the
 * place may take the encoded slash for a slash, or for a part of a name
 * ("/@scope%2fname"). The path passes if both readings lead to the same place,
 * whose rules then apply, and if neither reading is redirected. The path also
 * passes if the operator always allows encoded slashes. This server itself
 * takes them for slashes, as most servers do. Returns NULL if the path does not
 * pass.
 */
static struct place *route_slashes(struct sites *sites,
                                   struct exchange *exchange,
                                   struct bytes *rest_out)
{
    const struct place *other = route_without(sites, exchange);
    char storage[sizeof(sites->path)];
    struct bytes raw = path_replace_slashes(exchange->request.path, '/',
                                            storage);
    struct place *place;
    bool passes;

    if (!path_clean(raw, sites->path, &exchange->path))
        return NULL;
    if (exchange->path.clean.data == storage) /* storage[] is gone after this
                                                 call */
        exchange->path.clean.data = memcpy(sites->path, storage, raw.len);
    place = follow_path(sites, exchange, rest_out);
    passes = place->handler.slash == HANDLER_SLASH_ALWAYS ||
             (place->handler.slash == HANDLER_SLASH_ALIKE && place == other &&
              !has_redirect(place, exchange->path.clean));
    exchange->path.fault = REASON_ENCODED_SLASH;
    return passes && !sites_find_raw(sites, exchange->path.clean) &&
                   !is_misread(sites, place, raw, exchange->path.clean)
               ? place
               : NULL;
}

/* Returns the place for the exchange's host and path. Returns NULL if the path
 * is invalid, or if the server behind the place might understand it
 * differently. */
static struct place *route(struct sites *sites, struct exchange *exchange,
                           struct bytes *rest_out)
{
    struct bytes raw = exchange->request.path;
    struct place *place = sites_find_raw(sites, raw);

    if (place) {
        exchange->path = (struct path){.clean = raw};
        *rest_out = raw;
        return place;
    }
    exchange->path.fault = REASON_TARGET_TOO_LONG;
    if (raw.len > sizeof(sites->path))
        return NULL;
    if (!path_clean(raw, sites->path, &exchange->path))
        return exchange->path.fault == REASON_ENCODED_SLASH
                   ? route_slashes(sites, exchange, rest_out)
                   : NULL;
    place = follow_path(sites, exchange, rest_out);
    exchange->path.fault = REASON_PATH_UNCLEAR;
    return is_misread(sites, place, raw, exchange->path.clean) ? NULL : place;
}

static void answer_path(struct sites *sites, struct exchange *exchange)
{
    struct bytes rest;
    struct place *place = route(sites, exchange, &rest);

    if (!place)
        bad_request_answer(exchange, exchange->path.fault,
                           sites_defaults(sites));
    else if (place->is_plain)
        place->handler.answer(place->handler.self, exchange, rest);
    else
        answer_place(place, exchange, rest);
}

/* Resumes an exchange that has waited for its password check. */
static void resume(void *context, struct exchange *exchange,
                   const struct htpasswd *htpasswd,
                   enum password_verdict verdict)
{
    struct sites *sites = context;

    sites->admission = (struct admission){htpasswd, verdict};
    answer_path(sites, exchange);
    sites->admission = (struct admission){0};
}

/* Finds the client's address, as trusted proxies tell it. */
static __attribute__((noinline)) void find_client(const struct sites *sites,
                                                  struct exchange *exchange)
{
    exchange->client = forwarded_client(&exchange->request, exchange->peer,
                                        &sites->options.trust);
    exchange->peer = &exchange->client;
}

/* Does everything that is done once for each exchange. */
static void meet(struct sites *sites, struct exchange *exchange)
{
    sites->refs++;
    exchange->on_done = release;
    exchange->on_done_object = sites;
    if (sites->options.trust.field != FORWARDED_NONE)
        find_client(sites, exchange);
    if (exchange->wants_id && sites->options.names_requests)
        trace_identify(&sites->trace, &sites->options.trust, exchange);
}

/* Returns true if the handler may get the body. A place with a password reveals
 * nothing before the check: neither where a redirect leads nor how long a body
 * may be. So a body that is declared too long is not kept, and is refused at
 * the end (401 or 413). A body of undeclared length is judged when its client
 * has been admitted. */
static bool offers_body(const struct place *place, struct exchange *exchange)
{
    if (answer_by_https(place, exchange) || !place_takes(place, exchange))
        return false;
    exchange->has_begun = true;
    if (!place->options->htpasswd)
        return !answer_by_rule(place, exchange);
    exchange->refuses_body = place_is_overfull(place, exchange);
    return !exchange->refuses_body;
}

/* Begins an exchange with a body. The present configuration also answers it,
 * even if a newer one is in force when the body is complete. The password is
 * checked at the end, since the check may take a while. */
static void begin(void *self, struct exchange *exchange, struct bytes rest)
{
    struct sites *sites = self;
    struct place *place;

    meet(sites, exchange);
    if (bytes_eq(exchange->request.path, BYTES("*")) ||
        is_misdirected(sites, exchange))
        return;
    place = route(sites, exchange, &rest);
    if (!place || !place->handler.begin)
        return;
    prepare(place, &exchange->response);
    describe_https(place, exchange);
    if (offers_body(place, exchange))
        place->handler.begin(place->handler.self, exchange, rest);
    response_put_error_body(&exchange->response);
}

/* Answers a challenge (http-01) before any rule of a site applies: only the
 * authority knows the token. */
static bool answer_challenge(const struct sites *sites,
                             struct exchange *exchange)
{
    return sites->options.challenges && !exchange->tls &&
           challenge_answer(exchange, sites->options.challenges,
                            sites_defaults(sites));
}

/* Answers a request that no place has to answer. Returns false, without an
 * answer, if a place has to. */
static bool answer_without_place(const struct sites *sites,
                                 struct exchange *exchange)
{
    const struct server_defaults *defaults = sites_defaults(sites);

    if (answer_challenge(sites, exchange))
        return true;
    if (bytes_eq(exchange->request.path, BYTES("*")))
        answer_all(sites, exchange);
    else if (is_misdirected(sites, exchange))
        bad_request_answer(exchange, REASON_MISDIRECTED, defaults);
    else if (is_of_expired_client(sites, exchange))
        bad_request_answer(exchange, REASON_CLIENT_EXPIRED, defaults);
    else
        return false;
    return true;
}

static void answer(void *self, struct exchange *exchange, struct bytes rest)
{
    struct sites *sites = self;

    (void)rest;
    if (exchange->on_done)
        sites = exchange->on_done_object;
    else
        meet(sites, exchange);
    if (answer_without_place(sites, exchange))
        exchange_drop_sink(exchange); /* a place may have begun with a body */
    else
        answer_path(sites, exchange);
}

struct sites *sites_create(const struct sites_options *options)
{
    return sites_make(options, resume);
}

struct handler sites_handler(struct sites *sites)
{
    return (struct handler){.answer = answer, .begin = begin, .self = sites};
}

void sites_tell_what_if(struct sites *sites, struct miniature_told *told_out)
{
    file_cache_tell_what_if(sites->cache, told_out);
}

struct file_cache_counts sites_count_files(const struct sites *sites)
{
    return file_cache_count(sites->cache);
}
