#include "config/option_table_priv.h"

static const struct option_row rows[] = {
    {"Configuration", "config", 'c', OPTION_TEXT, IN_COMMAND(config), "FILE",
     NULL, 0, 0, NULL,
     "configuration file, read before the command line,\n"
     "which wins over it"},
    {NULL, "test", 't', OPTION_SWITCH, IN_COMMAND(wants_test), NULL, NULL, 0, 0,
     NULL,
     "check the whole configuration, say what is wrong,\n"
     "and exit"},
    {NULL, "dump", 'T', OPTION_SWITCH, IN_COMMAND(wants_dump), NULL, NULL, 0, 0,
     NULL,
     "print the configuration in force, and where each\n"
     "value comes from"},

    {"Where to listen", "port", 'p', OPTION_NUMBER, AT(port), "N", "8080", 0,
     65535, NULL,
     "TCP port to listen on; 0: any free port, which is\n"
     "printed"},
    {NULL, "bind", 'b', OPTION_TEXT, AT(bind), "ADDRESS", NULL, 0, 0, NULL,
     "numeric address to listen on; by default all,\n"
     "IPv4 and IPv6"},
    {NULL, "listen", 'l', OPTION_TEXTS, AT(listen), "WHERE", NULL, 0,
     OPTIONS_LISTEN_MAX, NULL,
     "where to listen, instead of --port and --bind:\n"
     "ADDRESS:PORT, [ADDRESS]:PORT or unix:PATH; with\n"
     "https:// before it by TLS; may be repeated"},
    {NULL, "https", 0, OPTION_TEXT, AT(https_told), "WHAT", NULL, 0, 0,
     option_off,
     "PORT: TCP port to listen on by TLS, besides --port\n"
     "or --listen; if no certificate is named, this\n"
     "machine's own authority signs one (sprintd tls);\n"
     "NAME,NAME: serve these hosts on ports 443 and 80,\n"
     "with a certificate from an authority (--acme);\n"
     "off: neither"},
};

const struct option_group start_options = OPTION_GROUP(rows);
