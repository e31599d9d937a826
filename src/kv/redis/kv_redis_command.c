#include "kv/redis/kv_redis_node_priv.h"

enum { NUMBER_BYTES = 20 };

/* Writes the line with a count or a length, like "*2\r\n" or "$3\r\n" in
 * "*2\r\n$3\r\nGET\r\n$1\r\na\r\n". */
static void put_size(struct buf *out, char mark, size_t size)
{
    buf_put(out, (struct bytes){&mark, 1});
    buf_put_number(out, size);
    buf_put_literal(out, "\r\n");
}

void kv_command_begin(struct buf *out, size_t arguments)
{
    put_size(out, '*', arguments);
}

void kv_command_put(struct buf *out, struct bytes argument)
{
    put_size(out, '$', argument.len);
    buf_put(out, argument);
    buf_put_literal(out, "\r\n");
}

void kv_command_put_number(struct buf *out, uint64_t number)
{
    char storage[NUMBER_BYTES];
    struct buf text;

    buf_init(&text, storage, sizeof(storage), sizeof(storage));
    buf_put_number(&text, number);
    kv_command_put(out, buf_bytes(&text));
}

void kv_command_put_joined(struct buf *out, struct bytes a, struct bytes b,
                           struct bytes c)
{
    put_size(out, '$', a.len + b.len + c.len);
    buf_put(out, a);
    buf_put(out, b);
    buf_put(out, c);
    buf_put_literal(out, "\r\n");
}
