#include "base/shell_word.h"

#include "base/utf8.h"

void shell_word_put(char *word, const char *text, size_t len)
{
    static const char quote[] = "'\\''";
    size_t at = 0;

    word[at++] = '\'';
    for (size_t i = 0; i < len && text[i]; i++) {
        if (text[i] == '\'') {
            memcpy(word + at, quote, sizeof(quote) - 1);
            at += sizeof(quote) - 1;
        } else {
            word[at++] = text[i];
        }
    }
    word[at++] = '\'';
    word[at] = '\0';
    utf8_disarm(word, at, false);
}
