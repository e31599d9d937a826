/*
 * manual - prints a page of the manual, a completion, or the documentation's
 * page of options, when sprintd is built.
 *
 * usage: manual 8|5|bash|zsh|options
 */
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#include "tools/completion.h"
#include "tools/manual.h"
#include "tools/option_page.h"

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*print)(FILE *to);
    } pages[] = {{"8", manual_print_program},
                 {"5", manual_print_file},
                 {"bash", completion_print_bash},
                 {"zsh", completion_print_zsh},
                 {"options", option_page_print}};

    for (size_t i = 0; argc == 2 && i < sizeof(pages) / sizeof(pages[0]); i++) {
        if (strcmp(argv[1], pages[i].name) == 0) {
            pages[i].print(stdout);
            return fflush(stdout) == 0 ? EXIT_SUCCESS : EX_IOERR;
        }
    }
    fputs("usage: manual 8|5|bash|zsh|options\n", stderr);
    return EX_USAGE;
}
