#include "config/config_site.h"
#include "config/config_source.h"
#include "config/config_text.h"
#include "io/small_file.h"
#include "tools/manual.h"
#include "tools/manual_priv.h"

static void print_form(FILE *to)
{
    fputs(
        ".SH DESCRIPTION\n"
        "The file that \\fBsprintd \\-\\-config\\fR reads: keys with values,\n"
        "and sites with locations.\n"
        ".PP\n.nf\n.RS 4\n"
        "port = 80\n\n"
        "site \"example\" {\n"
        "    hosts = {\"example.org\", \"*.example.org\"}\n"
        "    root = /srv/example\n\n"
        "    location \"/downloads\" {    # this prefix of the path\n"
        "        autoindex = yes\n"
        "    }\n"
        "    location \"= /\" {           # this path alone\n"
        "        cache\\-control = no\\-cache\n"
        "    }\n"
        "}\n"
        ".RE\n.fi\n"
        ".PP\n"
        "A key stands once in its section. Values are words, or texts in\n"
        "quotes on one line: in double ones a backslash takes the meaning\n"
        "from what follows and \\fB${\\fINAME\\fB}\\fR is replaced from the\n"
        "environment (\\fB${\\fINAME\\fB:\\-\\fIother\\fB}\\fR where it is "
        "not\n"
        "set), in single ones not. Of a list the values stand between braces\n"
        "with commas. Comments begin with # or //, or lie between /* and */.\n"
        "\\fBinclude\\fR \\fI\"sites/*.conf\"\\fR, at the top, in a site or in "
        "a\n"
        "location, stands for the text of the files of that name, in the "
        "order\n"
        "of their names; in each what is opened is closed. These may include\n"
        "others. All relative paths begin at the directory of the first file.\n"
        ".PP\n"
        "What is not said in a location is as in its site, and there as at\n"
        "the top; a list that is said again replaces the other.\n",
        to);
    fprintf(
        to,
        "A file has at most %d bytes, and all %d files together %d; there "
        "are\n"
        "at most %d sites, of each %d hosts and %d locations, and %d values "
        "in a\n"
        "list. Escapes and variables make at most %d bytes of text.\n",
        SMALL_FILE_BYTES_MAX, CONFIG_FILES_MAX, CONFIG_BYTES_MAX,
        CONFIG_SITES_MAX, CONFIG_HOSTS_MAX, CONFIG_LOCATIONS_MAX,
        CONFIG_LIST_MAX, CONFIG_MADE_BYTES_MAX);
}

static void print_sections(FILE *to)
{
    fputs(".SH SITES\n"
          ".TP\n\\fBsite\\fR \"\\fIname\\fR\" { ... }\n"
          "At the top. The name is for messages.\n"
          ".TP\n\\fBhosts\\fR = {\\fIHOST\\fR, ...}\n"
          "In a site: the hosts it answers for, without ports: names,\n"
          "*.\\fIname\\fR for whatever is below a name, IPv4 addresses, and\n"
          "IPv6 addresses in brackets. A site without them serves what no\n"
          "other does; where there is none, the first site.\n"
          ".TP\n\\fBlocation\\fR \"\\fI/prefix\\fR\" { ... }\n"
          "In a site, or at the top of a file without sites: what is below\n"
          "that path; the longest prefix counts.\n"
          ".TP\n\\fBlocation\\fR \"= \\fI/path\\fR\" { ... }\n"
          "The same for that path alone; it goes before prefixes.\n",
          to);
}

void manual_print_file(FILE *to)
{
    manual_put_head(to, "sprintd.conf", 5, "configuration of sprintd");
    print_form(to);
    print_sections(to);
    fputs(".SH KEYS OF SITES AND LOCATIONS\nThese may stand at the top too.\n",
          to);
    for (size_t i = 0; i < option_count(); i++)
        if (option_is_below_top(option_row(i)->scope))
            manual_put_key(to, option_row(i));
    fputs(".SH KEYS AT THE TOP\n", to);
    manual_put_values(to);
    for (size_t i = 0; i < option_count(); i++)
        if (option_row(i)->scope == OPTION_GLOBAL ||
            option_row(i)->scope == OPTION_START)
            manual_put_key(to, option_row(i));
    fputs(".SH FILES\n"
          ".TP\n.I /etc/sprintd/sprintd.conf\n"
          "What the packaged service reads.\n"
          ".TP\n.I /usr/share/doc/sprintd/examples\nMore examples.\n"
          ".SH EXAMPLES\n"
          "A single\\-page app, its files kept by browsers for a year, with a\n"
          "log of its visitors in the top of the file:\n"
          ".PP\n.nf\n.RS 4\n"
          "access\\-log = /srv/access.log\n\n"
          "site \"app\" {\n"
          "    hosts = {\"app.example.org\"}\n"
          "    root = /srv/app\n"
          "    try\\-files = {\"$path\", \"/index.html\"}\n\n"
          "    location \"/assets\" {\n"
          "        cache\\-control = \"max\\-age=31536000, immutable\"\n"
          "    }\n"
          "}\n"
          ".RE\n.fi\n"
          ".SH SEE ALSO\n.BR sprintd (8)\n",
          to);
}
