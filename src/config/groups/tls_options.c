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
     "PEM file of the certificate's key, if that is not\n"
     "in the certificate's file; as many as\n"
     "certificates, in their order"},
    {NULL, "acme", 0, OPTION_CHOICE, IN_SITE(acme), "WHETHER", "on", 0, 0,
     acme_modes,
     "get certificates from an authority (RFC 8555) for\n"
     "sites that use TLS and name no certificate"},
    {NULL, "acme-directory", 0, OPTION_TEXTS, AT(acme_directory), "URL", NULL,
     0, 8, NULL,
     "address of the authority's directory; by default\n"
     "Let's Encrypt's; may be repeated: the next one is\n"
     "asked when one fails"},
    {NULL, "acme-email", 0, OPTION_TEXT, AT(acme_email), "ADDRESS", NULL, 0, 0,
     option_off, "address that the authority may write to"},
    {NULL, "acme-ca", 0, OPTION_PATH, AT(acme_ca), "FILE", NULL, 0, 0,
     option_off,
     "PEM file to verify the directory's server by,\n"
     "instead of the system's authorities"},
    {NULL, "acme-challenge", 0, OPTION_TEXTS, AT(acme_challenge), "HOW", NULL,
     0, 4, NULL,
     "how control of a name is proved: http-01,\n"
     "tls-alpn-01, dns-01, dns-persist-01; by default\n"
     "the first two, where listeners allow it; may be\n"
     "repeated: the next is tried when one fails"},
    {NULL, "acme-dns-command", 0, OPTION_PROSE, AT(acme_dns_command), "COMMAND",
     NULL, 0, 0, NULL,
     "shell command for dns-01: adds (ACTION=add) or\n"
     "removes (ACTION=remove) the TXT record $NAME with\n"
     "$VALUE, and waits until others see the change"},
    {NULL, "acme-key", 0, OPTION_CHOICE, AT(acme_key), "KIND", "p256", 0, 0,
     acme_keys, "kind of key for certificates from authorities"},
    {NULL, "acme-profile", 0, OPTION_TEXT, AT(acme_profile), "NAME", NULL, 0, 0,
     option_off,
     "profile of the certificates, if the authority\n"
     "offers several"},
    {NULL, "acme-eab-id", 0, OPTION_TEXT, AT(acme_eab_id), "ID", NULL, 0, 0,
     option_off,
     "key identifier from the authority, to bind a new\n"
     "account to an existing one (RFC 8555 7.3.4)"},
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
     "folder for certificates from authorities; by\n"
     "default acme below --state-directory"},
    {NULL, "acme-start", 0, OPTION_CHOICE, AT_START(acme_start), "WHETHER",
     "on", 0, 0, option_on_off,
     "whether the server starts sprintd-acme, which gets\n"
     "certificates; off: a timer of systemd may do so"},
    {NULL, "state-directory", 0, OPTION_PATH, AT(state_directory), "FOLDER",
     NULL, 0, 0, option_off,
     "folder for dictionaries, and for accounts, keys\n"
     "and certificates of authorities; by default that\n"
     "of the service, or /var/lib/sprintd, or\n"
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
     "file of session ticket keys, shared by several\n"
     "machines: 80 bytes in base64 per line, the first\n"
     "makes new tickets; off: keys of its own"},
    {NULL, "http2", 0, OPTION_CHOICE, AT(http2), "WHERE", "tls", 0, 0, http2,
     "where HTTP/2 is spoken; tls: over TLS, with\n"
     "clients that ask for it; all: in clear text, too,\n"
     "with clients that begin with it (prior knowledge)"},
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
