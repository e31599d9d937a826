#include "config/option_table_priv.h"

#include "base/log.h"
#include "confine/sandbox.h"
#include "observe/access_log.h"

static const struct option_choice overflows[] = {
    {"drop", LOG_OVERFLOW_DROP}, {"wait", LOG_OVERFLOW_WAIT}, {0}};
static const struct option_choice levels[] = {
    {"error", LOG_LEVEL_ERROR},   {"warning", LOG_LEVEL_WARNING},
    {"notice", LOG_LEVEL_NOTICE}, {"info", LOG_LEVEL_INFO},
    {"debug", LOG_LEVEL_DEBUG},   {0}};
static const struct option_choice reports[] = {{"off", OPTIONS_REPORT_OFF},
                                               {"auto", OPTIONS_REPORT_AUTO},
                                               {"always",
                                                OPTIONS_REPORT_ALWAYS},
                                               {0}};
static const struct option_choice sandboxes[] = {
    {"off", SANDBOX_OFF}, {"on", SANDBOX_ON}, {"strict", SANDBOX_STRICT}, {0}};

static const struct option_row rows[] = {
    {"Status", "status", 0, OPTION_PREFIX, AT(status), "PREFIX", NULL, 0, 0,
     NULL,
     "dashboard, status.json, metrics and health below\n"
     "PREFIX, such as /_sprintd, for clients on this\n"
     "machine"},
    {NULL, "status-page", 0, OPTION_SWITCH, IN_LOCATION(status_page), NULL,
     NULL, 0, 0, NULL, "in a location: the same pages as --status serves"},
    {NULL, "status-allow", 0, OPTION_CIDRS, AT(status_allow), "CIDR", NULL, 0,
     OPTIONS_STATUS_ALLOW_MAX, NULL,
     "addresses that may see the status pages besides\n"
     "this machine; may be repeated"},
    {NULL, "status-host", 0, OPTION_TEXTS, AT(status_host), "NAME", NULL, 0,
     OPTIONS_STATUS_HOST_MAX, NULL,
     "names by which status pages and stores may be\n"
     "asked for, besides addresses, sites and this\n"
     "machine's name: a.example, *.a.example; may be\n"
     "repeated"},

    {"Output", "access-log", 0, OPTION_TEXT, AT_START(access_log), "WHERE",
     NULL, 0, 0, NULL,
     "where requests are logged: a file, - for standard\n"
     "output, syslog: or syslog:/SOCKET; SIGUSR1 opens\n"
     "it anew"},
    {NULL, "log-format", 0, OPTION_FORMAT, AT_START(log_format), "FORMAT",
     "combined", 0, 0, NULL,
     "format of the access log: common, combined, json,\n"
     "events, or a template such as \"%{remote}\n"
     "%{status} %{total_us}\""},
    {NULL, "log-overflow", 0, OPTION_CHOICE, AT_START(log_overflow), "WHAT",
     "drop", 0, 0, overflows,
     "what happens when the access log cannot be\n"
     "written fast enough; drop: lines are dropped and\n"
     "counted; wait: workers wait"},
    {NULL, "request-id", 0, OPTION_CHOICE, AT(request_id), "WHETHER", "on", 0,
     0, option_on_off,
     "pass an X-Request-Id on to servers and log it as\n"
     "%{request_id}; the one of a trusted proxy is kept"},
    {NULL, "log-level", 0, OPTION_CHOICE, AT(log_level), "LEVEL", "notice", 0,
     0, levels,
     "least severe message that is written to standard\n"
     "error"},
    {NULL, "report", 0, OPTION_CHOICE, AT(report), "WHEN", "auto", 0, 0,
     reports,
     "print statistics to standard error at exit; auto:\n"
     "when that is a terminal; SIGUSR2 prints them at\n"
     "any time"},
    {NULL, "server-timing", 0, OPTION_SWITCH, AT(server_timing), NULL, NULL, 0,
     0, NULL,
     "tell clients in every answer where its time went\n"
     "(Server-Timing)"},
    {NULL, "profile", 0, OPTION_SWITCH, AT_START(profile), NULL, NULL, 0, 0,
     NULL,
     "sample where processor time goes, for --report\n"
     "and --status"},

    {"Service", "daemon", 0, OPTION_SWITCH, AT_START(daemon), NULL, NULL, 0, 0,
     NULL, "leave the terminal once the server is ready"},
    {NULL, "pid-file", 0, OPTION_PATH, AT_START(pid_file), "FILE", NULL, 0, 0,
     NULL,
     "file that holds the process's number and is\n"
     "locked by it"},
    {NULL, "user", 0, OPTION_TEXT, AT_START(user), "NAME[:GROUP]", NULL, 0, 0,
     NULL,
     "user to become after start; files are opened as\n"
     "that user"},
    {NULL, "group", 0, OPTION_TEXT, AT_START(group), "NAME", NULL, 0, 0, NULL,
     "group to become instead of the user's own"},
    {NULL, "control", 0, OPTION_PATH, AT_START(control), "SOCKET", NULL, 0, 0,
     NULL,
     "socket through which `sprintd ctl` reaches this\n"
     "server"},
    {NULL, "sandbox", 0, OPTION_CHOICE, AT_START(sandbox), "HOW", "on", 0, 0,
     sandboxes,
     "restrict the process to the files and system\n"
     "calls it needs; on: as far as the kernel can;\n"
     "strict: refuse to start without it, and be killed\n"
     "for a forbidden call; off: no restriction"},

    {NULL, "help", 'h', OPTION_SWITCH, IN_COMMAND(wants_help), NULL, NULL, 0, 0,
     NULL, "print this help and exit"},
    {NULL, "version", 'V', OPTION_SWITCH, IN_COMMAND(wants_version), NULL, NULL,
     0, 0, NULL, "print version, libraries and limits, and exit"},
};

const struct option_group service_options = OPTION_GROUP(rows);
