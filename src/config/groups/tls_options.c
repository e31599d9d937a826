#include "config/option_table_priv.h"

#include "io/tls/tls_context.h"

static const struct option_choice tls_profiles[] = {
    {"intermediate", TLS_PROFILE_INTERMEDIATE},
    {"modern", TLS_PROFILE_MODERN},
    {0}};
static const struct option_choice tls_kernel[] = {
    {"auto", OPTIONS_TLS_KERNEL_AUTO}, {"off", OPTIONS_TLS_KERNEL_OFF}, {0}};
static const struct option_choice http2[] = {{"tls", OPTIONS_HTTP2_TLS},
                                             {"all", OPTIONS_HTTP2_ALL},
                                             {"off", OPTIONS_HTTP2_OFF},
                                             {0}};
static const struct option_choice tls_clients[] = {
    {"request", TLS_CLIENT_REQUEST}, {"require", TLS_CLIENT_REQUIRE}, {0}};
static const struct option_choice automatic_port[] = {{"auto", 0}, {0}};
static const struct option_choice acme_modes[] = {
    {"on", OPTIONS_ACME_ON}, {"off", OPTIONS_ACME_OFF}, {0}};
static const struct option_choice acme_keys[] = {
    {"p256", 0}, {"p384", 1}, {"rsa2048", 2}, {0}};

static const struct option_row rows[] = {
    {"TLS", "certificate", 0, OPTION_PATHS, IN_SITE(certificate), "FILE", NULL,
     0, OPTIONS_CERTIFICATES_MAX, NULL,
     "PEM file of a certificate and the chain above it;\n"
     "may be repeated, for keys of other kinds and for\n"
     "other names"},
    {NULL, "certificate-key", 0, OPTION_PATHS, IN_SITE(certificate_key), "FILE",
     NULL, 0, OPTIONS_CERTIFICATES_MAX, NULL,
     "PEM file of the certificate's key, where it lies\n"
     "in another file; as many as certificates, in\n"
     "their order"},
    {NULL, "acme", 0, OPTION_CHOICE, IN_SITE(acme), "WHETHER", "on", 0, 0,
     acme_modes,
     "get certificates of sites that are reached by TLS\n"
     "and have none from an authority (RFC 8555)"},
    {NULL, "acme-directory", 0, OPTION_TEXTS, AT(acme_directory), "URL", NULL,
     0, 8, NULL,
     "address of the authority's directory; by default\n"
     "Let's Encrypt's; may be repeated: the next one is\n"
     "asked when one fails"},
    {NULL, "acme-email", 0, OPTION_TEXT, AT(acme_email), "ADDRESS", NULL, 0, 0,
     option_off, "address that the authority may write to"},
    {NULL, "acme-ca", 0, OPTION_PATH, AT(acme_ca), "FILE", NULL, 0, 0,
     option_off,
     "certificates of the authorities that the directory\n"
     "is verified by (PEM), instead of the system's"},
    {NULL, "acme-challenge", 0, OPTION_TEXTS, AT(acme_challenge), "HOW", NULL,
     0, 4, NULL,
     "how a name is shown to be ours: http-01,\n"
     "tls-alpn-01, dns-01, dns-persist-01; by default\n"
     "the first two, as there are listeners; may be\n"
     "repeated: the next is tried when one fails"},
    {NULL, "acme-dns-command", 0, OPTION_PROSE, AT(acme_dns_command), "COMMAND",
     NULL, 0, 0, NULL,
     "shell command of dns-01: puts (ACTION=add) or\n"
     "takes away (remove) a TXT record of $NAME with\n"
     "$VALUE, and waits until it is seen"},
    {NULL, "acme-key", 0, OPTION_CHOICE, AT(acme_key), "KIND", "p256", 0, 0,
     acme_keys, "kind of key of certificates of authorities"},
    {NULL, "acme-profile", 0, OPTION_TEXT, AT(acme_profile), "NAME", NULL, 0, 0,
     option_off,
     "profile that certificates are asked for by, where\n"
     "the authority has several"},
    {NULL, "acme-eab-id", 0, OPTION_TEXT, AT(acme_eab_id), "ID", NULL, 0, 0,
     option_off,
     "key identifier that the authority has given out,\n"
     "to bind a new account to (RFC 8555 7.3.4)"},
    {NULL, "acme-eab-key", 0, OPTION_PATH, AT(acme_eab_key), "FILE", NULL, 0, 0,
     option_off,
     "file with the key that --acme-eab-id names, in\n"
     "base64url"},
    {NULL, "acme-retry", 0, OPTION_TIME, AT(acme_retry_ms), "TIME", "1m", 100,
     HOURS_24_MS, NULL,
     "shortest pause after no authority gave a\n"
     "certificate; it doubles each time, up to a day"},
    {NULL, "acme-folder", 0, OPTION_PATH, AT(acme_folder_told), "FOLDER", NULL,
     0, 0, option_off,
     "where certificates of authorities are kept; by\n"
     "default acme below state-directory"},
    {NULL, "acme-start", 0, OPTION_CHOICE, AT_START(acme_start), "WHETHER",
     "on", 0, 0, option_on_off,
     "whether the server starts sprintd-acme, which gets\n"
     "certificates; off: a timer of systemd does, say"},
    {NULL, "state-directory", 0, OPTION_PATH, AT(state_directory), "FOLDER",
     NULL, 0, 0, option_off,
     "where dictionaries, and accounts, keys and\n"
     "certificates of authorities are kept; by default\n"
     "that of the service, or /var/lib/sprintd, or\n"
     "~/.local/share/sprintd"},
    {NULL, "tls-profile", 0, OPTION_CHOICE, AT(tls_profile), "PROFILE",
     "intermediate", 0, 0, tls_profiles,
     "versions of TLS; intermediate: 1.2 and 1.3;\n"
     "modern: 1.3 alone"},
    {NULL, "tls-kernel", 0, OPTION_CHOICE, AT(tls_kernel), "WHETHER", "auto", 0,
     0, tls_kernel,
     "whether the kernel encrypts large files on their\n"
     "way out of its cache; auto: where it can (1.3,\n"
     "CONFIG_TLS); off: it does not"},
    {NULL, "tls-ticket-file", 0, OPTION_PATH, AT(ticket_file), "FILE", NULL, 0,
     0, option_off,
     "file of the keys by which clients come back, that\n"
     "several machines share: 80 bytes in base64 a line,\n"
     "the first makes tickets; off: keys of its own"},
    {NULL, "http2", 0, OPTION_CHOICE, AT(http2), "WHERE", "tls", 0, 0, http2,
     "where HTTP/2 is spoken; tls: over TLS, with\n"
     "clients that ask for it; all: in clear text, too,\n"
     "with those that begin so (prior knowledge)"},
    {NULL, "client-ca", 0, OPTION_PATH, IN_SITE(client_ca), "FILE", NULL, 0, 0,
     option_off,
     "PEM file of the authorities that sign\n"
     "certificates of clients; off: clients are not\n"
     "asked for one"},
    {NULL, "client-certificate", 0, OPTION_CHOICE, IN_SITE(client_certificate),
     "WHETHER", "require", 0, 0, tls_clients,
     "with --client-ca, whether a client without a\n"
     "certificate is let in; request: yes; require: no"},
    {NULL, "https-redirect", 0, OPTION_SWITCH, IN_LOCATION(https_redirect),
     NULL, NULL, 0, 0, NULL,
     "send clients that come without TLS to the same\n"
     "address over https (308), but not from\n"
     "/.well-known/acme-challenge/"},
    {NULL, "https-redirect-port", 0, OPTION_NUMBER, AT(redirect_port), "PORT",
     "auto", 1, 65535, automatic_port,
     "port that --https-redirect leads to; auto: the one\n"
     "of --listen or --https, 443 if there are several"},
    {NULL, "hsts", 0, OPTION_TEXT, IN_LOCATION(hsts), "VALUE", NULL, 0, 0,
     option_off,
     "Strict-Transport-Security field of answers over\n"
     "TLS: \"max-age=31536000\"; off: none"},
};

const struct option_group tls_options = OPTION_GROUP(rows);
