#include "unpacked.h"

const struct coding_way ways[WAYS] = {
    {"zstd", "zstd -dcq"}, {"br", "brotli -dc"}, {"gzip", "gzip -dc"}};

char *letters(size_t len)
{
    char *text = scratch(len + 1);

    for (size_t i = 0; i < len; i++)
        text[i] = (char)('a' + i * i / 7 % 26);
    text[len] = '\0';
    return text;
}

const char *coding_of(const struct reply *reply)
{
    const char *coding = reply_field(reply, "Content-Encoding");

    return coding ? coding : "identity";
}

const char *unpack(const struct reply *reply, size_t *len_out)
{
    const char *packed = printed("%s/packed", folder());
    const char *plain = printed("%s/plain", folder());
    FILE *file = fopen(packed, "w");

    assert_non_null(file);
    assert_int_equal(fwrite(reply->body, 1, reply->body_len, file),
                     reply->body_len);
    assert_int_equal(fclose(file), 0);
    for (size_t i = 0; i < WAYS; i++) {
        if (strcmp(coding_of(reply), ways[i].token) != 0)
            continue;
        assert_int_equal(system(printed("%s < %s > %s", ways[i].program, packed,
                                        plain)),
                         0);
        return read_text(plain, len_out);
    }
    flunk("'%s' is no coding", coding_of(reply));
}
