#include <hiredis/async.h>
#include <pthread.h>

#include "kv/redis/kv_redis_connection_priv.h"

/*
 * hiredis takes each reply for the answer to a command or, where a listener
 * waits for no answer, for an event. By an assertion it ends the process when a
 * reply is neither. So the functions that make the parts of a reply look at
 * them first. Where they return NULL, hiredis ends the connection.
 *
 * An event: ["psubscribe", pattern, 1], ["pmessage", pattern, channel, event].
 */
enum { KIND_AT, PATTERN_AT, MEMBERS_MIN = 3 };

#if HIREDIS_MAJOR >= 1
typedef size_t member_count;
#else
typedef int member_count;
#endif

static pthread_once_t made_once = PTHREAD_ONCE_INIT;
static redisReplyObjectFunctions original, guarded;

/* Whether hiredis is prepared for a part of a reply. `members` is how many
 * members the part has, if it is a list. After an error that nobody waits for,
 * hiredis itself ends the connection. */
static bool is_expected(const redisReadTask *task, struct bytes text,
                        size_t members)
{
    const redisAsyncContext *context = task->privdata;
    const struct kv_connection *connection = context->data;

    if (context->replies.head ||
        (!task->parent && task->type == REDIS_REPLY_ERROR))
        return true;
    if (!connection || !(context->c.flags & REDIS_SUBSCRIBED))
        return false;
    if (!task->parent)
        return task->type == REDIS_REPLY_ARRAY && members >= MEMBERS_MIN;
    if (task->parent->parent || task->idx > PATTERN_AT)
        return true;
    if (task->type != REDIS_REPLY_STRING)
        return false;
    if (task->idx == PATTERN_AT)
        return bytes_eq(text, bytes_of(connection->options.pattern));
    return bytes_eq(text, BYTES("psubscribe")) ||
           bytes_eq(text, BYTES("pmessage"));
}

/* Returns what is_expected() does. If it is false, notes the reason. */
static bool takes(const redisReadTask *task, struct bytes text, size_t members)
{
    const redisAsyncContext *context = task->privdata;
    struct kv_connection *connection = context->data;

    if (is_expected(task, text, members))
        return true;
    if (connection)
        connection->why = "it says what nobody has asked for";
    return false;
}

/* --- In place of hiredis's functions -------------------------------------- */

static void *make_text(const redisReadTask *task, char *text, size_t len)
{
    return takes(task, (struct bytes){text, len}, 0)
               ? original.createString(task, text, len)
               : NULL;
}

static void *make_list(const redisReadTask *task, member_count members)
{
    return takes(task, BYTES(""), (size_t)members)
               ? original.createArray(task, members)
               : NULL;
}

static void *make_number(const redisReadTask *task, long long number)
{
    return takes(task, BYTES(""), 0) ? original.createInteger(task, number)
                                     : NULL;
}

static void *make_nil(const redisReadTask *task)
{
    return takes(task, BYTES(""), 0) ? original.createNil(task) : NULL;
}

#if HIREDIS_MAJOR >= 1
static void *make_double(const redisReadTask *task, double number, char *text,
                         size_t len)
{
    return takes(task, BYTES(""), 0)
               ? original.createDouble(task, number, text, len)
               : NULL;
}

static void *make_bool(const redisReadTask *task, int value)
{
    return takes(task, BYTES(""), 0) ? original.createBool(task, value) : NULL;
}
#endif

/* hiredis shows its functions only in its readers. */
static void make_functions(void)
{
    redisReader *reader = redisReaderCreate();

    if (!reader)
        return;
    original = guarded = *reader->fn;
    guarded.createString = make_text;
    guarded.createArray = make_list;
    guarded.createInteger = make_number;
    guarded.createNil = make_nil;
#if HIREDIS_MAJOR >= 1
    guarded.createDouble = make_double;
    guarded.createBool = make_bool;
#endif
    redisReaderFree(reader);
}

bool kv_connection_guard(redisAsyncContext *context)
{
    pthread_once(&made_once, make_functions);
    if (!guarded.createString)
        return false;
    context->c.reader->fn = &guarded;
    context->c.reader->privdata = context;
    return true;
}
