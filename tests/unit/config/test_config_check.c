#include "config/config_check.h"

#include "unit/config/config_fixture.h"

static void check(const char *text)
{
    struct faults warnings = {.kind = "warning: "};
    size_t len;
    FILE *to;

    read_text(text);
    config_check(&options, &faults, &warnings);
    faults_fini(&warnings);
    free(said);
    to = open_memstream(&said, &len);
    faults_print(&faults, to);
    fclose(to);
}

TEST(what_is_named_must_be_there)
{
    static const struct {
        const char *text;
        const char *fault; /* NULL: none */
    } cases[] = {
        {"root = /", NULL},
        {"root = /nowhere", "file:1: root '/nowhere': No such file"},
        {"root = /dev/null", "file:1: root '/dev/null': Not a directory"},
        {"root = /\nsite x {\nroot = /nowhere\n}", "file:3: root '/nowhere': "},
        {"root = /\nsite x { location /y {\nroot = /nowhere\n} }",
         "file:3: root '/nowhere': "},
        {"root = / access-log = /tmp/sprintd-test-none", NULL},
        {"root = / access-log = -", NULL},
        {"root = / access-log = 'syslog:'", NULL},
        {"root = /\naccess-log = /nowhere/log",
         "file:2: access-log '/nowhere/log': No such file"},
        {"root = /\naccess-log = /tmp", "access-log '/tmp': Is a directory"},
        {"root = / listen = {'127.0.0.1:1', ':2', 'unix:/tmp/x'}", NULL},
        {"root = /\nlisten = '192.0.2.1:80'",
         "file:2: listen '192.0.2.1:80': is no address of this machine"},
        {"root = / listen = '127.0.0.1'", "is none of ADDRESS:PORT"},
        {"root = / listen = 'a:99999'", "is none of ADDRESS:PORT"},
        {"root = / listen = '::1:80'", "is none of ADDRESS:PORT"},
        {"root = / listen = '[]:80'", "is none of ADDRESS:PORT"},
        {"root = / listen = 'localhost:80'", "is no numeric address"},
        {"root = / listen = 'unix:'", "a path that is empty or too long"},
        {"root = /\nlisten = {':2', 'unix:/tmp/x', ':2'}",
         "file:2: listen ':2': is in the list already"},
        {"root = / listen = {'127.0.0.1:0', '127.0.0.1:0'}", NULL},
        {"root = /\npid-file = /nowhere/x",
         "file:2: pid-file '/nowhere/x': No such file"},
        {"root = /\ncontrol = /nowhere/x",
         "file:2: control '/nowhere/x': No such file"},
        {"root = / pid-file = /x control = /tmp/y", NULL},
        {"root = / user = root group = root", NULL},
        {"root = / user = '12345:54321'", NULL},
        {"root = / user = '12345' group = '54321'", NULL},
        /* As the start has them: who has no entry has no group, either. */
        {"root = /\nuser = '12345'", "file:2: user '12345': there is none of "
                                     "that number, so a group has to"},
        {"root = /\nuser = '4294967295:1'",
         "file:2: user '4294967295': there is none of that name"},
        {"root = /\nuser = nobody-at-all",
         "file:2: user 'nobody-at-all': there is none of that name"},
        {"root = /\nuser = 'root:none-at-all'",
         "file:2: group 'none-at-all': there is none of that name"},
        {"root = /\nuser = root\ngroup = none-at-all",
         "file:3: group 'none-at-all': there is none of that name"},
        {"root = / listen = 'unix:/nowhere/x'", "No such file"},
        {"root = / bind = localhost", "bind 'localhost': is no numeric"},
        {"root = / bind = 127.0.0.1", NULL},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        check(cases[i].text);
        if (!cases[i].fault && faults.count > 0)
            fail_msg("%s: %s", cases[i].text, said);
        if (cases[i].fault &&
            (faults.count != 1 || !strstr(said, cases[i].fault)))
            fail_msg("%s: %s", cases[i].text, said);
    }
}

SUITE(.end = tear_down);
