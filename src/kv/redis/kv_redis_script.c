#include "kv/redis/kv_redis_node_priv.h"

/*
 * KEYS: r, i, e of each partition, then the key of each operation. All keys
 *       are named, so that a cluster refuses the script while it moves some of
 *       the keys to another node.
 * ARGV: how many partitions; then seven for each operation: kind and condition,
 *       revision of the condition, number of the partition, KEY, type, ttl,
 *       value.
 *
 * Returns 1 and, for each operation, its outcome, r, m, e, and the sum of an
 * add; or 0 and, for the refused operation, its number, r, m, e, and the
 * reason. Numbers are returned as text, since Redis would truncate them, and a
 * number in Lua has 53 bits. For this reason, an add splits a number into its
 * last ten digits and the digits before.
 *
 * The script first checks everything, even the types of i and e, which another
 * program may have made, and changes nothing. Then it writes. Redis checks for
 * free memory only before the first command that changes something, and not if
 * this command only removes. So expired entries are removed last: if a removal
 * came first, the writes behind it would not be checked.
 *
 * A revision is the time in microseconds, or the last revision plus 1 if that
 * is larger. So revisions rise even if r is lost by a fail-over or an eviction;
 * otherwise another value could get the same ETag.
 */
/* Lua functions for 64-bit numbers, put before the scripts that need them. */
static const char integers_text[] =
    "local function text(x) return string.format('%.0f', x) end\n"
    "local function beyond(hi, lo)\n"
    "  return math.abs(hi) > 922337203\n"
    "      or (hi == 922337203 and lo > 6854775807)\n"
    "      or (hi == -922337203 and lo < -6854775808)\n"
    "end\n"
    "local function read(v)\n"
    "  local sign, d = string.match(v, '^(-?)(%d+)\\n?$')\n"
    "  if not d or #d > 19 or (string.sub(d, 1, 1) == '0'\n"
    "      and (#d > 1 or sign == '-')) then return nil end\n"
    "  local hi = tonumber('0' .. string.sub(d, 1, -11))\n"
    "  local lo = tonumber(string.sub(d, -10))\n"
    "  if sign == '-' then hi, lo = -hi, -lo end\n"
    "  if beyond(hi, lo) then return nil end\n"
    "  return hi, lo\n"
    "end\n"
    "local function add(v, by)\n"
    "  local hi, lo = read(v)\n"
    "  if not hi then return nil, 'N' end\n"
    "  local h, l = read(by)\n"
    "  hi, lo = hi + h, lo + l\n"
    "  local over = math.floor(lo / 1e10)\n"
    "  hi, lo = hi + over, lo - over * 1e10\n"
    "  if hi < 0 and lo > 0 then hi, lo = hi + 1, lo - 1e10 end\n"
    "  if beyond(hi, lo) then return nil, 'O' end\n"
    "  local sign = (hi < 0 or lo < 0) and '-' or ''\n"
    "  hi, lo = math.abs(hi), math.abs(lo)\n"
    "  if hi == 0 then return sign .. text(lo) end\n"
    "  return sign .. text(hi) .. string.format('%010.0f', lo)\n"
    "end\n";

static const char write_text[] =
    "local time = redis.call('TIME')\n"
    "local now = time[1] * 1000 + math.floor(time[2] / 1000)\n"
    "local first = time[1] * 1000000 + time[2]\n"
    "local heads = 3 * tonumber(ARGV[1])\n"
    "local seen, last, plan = {}, {}, {}\n"
    "for i = 1, #KEYS - heads do\n"
    "  local key, at = KEYS[heads + i], 7 * i - 5\n"
    "  local kind = string.sub(ARGV[at], 1, 1)\n"
    "  local cond = string.sub(ARGV[at], 2, 2)\n"
    "  local p = 3 * tonumber(ARGV[at + 2]) + 1\n"
    "  local was = seen[key]\n"
    "  if not was then\n"
    "    was = redis.call('HMGET', key, 'r', 'm', 'e')\n"
    "  end\n"
    "  if (cond == '0' and was[1]) or (cond == '1' and not was[1])\n"
    "      or (cond == '=' and was[1] ~= ARGV[at + 1]) then\n"
    "    return {0, i, was[1] or '0', was[2] or '0', was[3] or '0', 'C'}\n"
    "  end\n"
    "  local is, what, sum = was, 'H', ''\n"
    "  if kind == 'A' then\n"
    "    local v, why = was[4] or '0'\n"
    "    if was[1] and not was[4] then\n"
    "      v = redis.call('HSTRLEN', key, 'v') < 22\n"
    "          and redis.call('HGET', key, 'v') or ''\n"
    "    end\n"
    "    sum, why = add(v, ARGV[at + 6])\n"
    "    if not sum then\n"
    "      return {0, i, was[1] or '0', was[2] or '0', was[3] or '0', why}\n"
    "    end\n"
    "  end\n"
    "  if kind == 'P' or kind == 'A' or (kind == 'D' and was[1]) then\n"
    "    if not last[p] then\n"
    "      redis.call('ZCARD', KEYS[p + 1])\n"
    "      redis.call('ZCARD', KEYS[p + 2])\n"
    "      last[p] = tonumber(redis.call('GET', KEYS[p]) or '0')\n"
    "    end\n"
    "    last[p] = math.max(last[p] + 1, first)\n"
    "  end\n"
    "  if kind == 'P' or kind == 'A' then\n"
    "    local ttl = tonumber(ARGV[at + 5])\n"
    "    local ends = ttl > 0 and text(math.min(now + ttl, 4e15)) or '0'\n"
    "    if kind == 'A' and was[1] then ends = was[3] or '0' end\n"
    "    is = {text(last[p]), text(now), ends,\n"
    "        kind == 'A' and sum or ARGV[at + 6]}\n"
    "    what = was[1] and 'R' or 'C'\n"
    "  elseif kind == 'D' then\n"
    "    is = {false, false, false}\n"
    "    what = was[1] and 'D' or 'M'\n"
    "  end\n"
    "  seen[key] = is\n"
    "  plan[i] = {what, is, was, p, last[p], sum, kind}\n"
    "end\n"
    "local out = {1}\n"
    "for i, step in ipairs(plan) do\n"
    "  local what, is, was, p = step[1], step[2], step[3], step[4]\n"
    "  local key, at = KEYS[heads + i], 7 * i - 5\n"
    "  local name = ARGV[at + 3]\n"
    "  if what == 'C' or what == 'R' then\n"
    "    local type = {}\n"
    "    if step[7] == 'P' or what == 'C' then\n"
    "      type = {'t', ARGV[at + 4]}\n"
    "    end\n"
    "    redis.call('HSET', key, 'r', is[1], 'm', is[2], 'e', is[3],\n"
    "        'n', #is[4], 'v', is[4], unpack(type))\n"
    "    if what == 'C' then redis.call('ZADD', KEYS[p + 1], 0, name) end\n"
    "    if is[3] ~= '0' then\n"
    "      redis.call('ZADD', KEYS[p + 2], is[3], name)\n"
    /* sprintd regards the key as missing from this millisecond on, but
     * PEXPIREAT would keep it for the whole millisecond. */
    "      redis.call('PEXPIREAT', key, text(tonumber(is[3]) - 1))\n"
    "    elseif was[1] and was[3] ~= '0' then\n"
    "      redis.call('ZREM', KEYS[p + 2], name)\n"
    "      redis.call('PERSIST', key)\n"
    "    end\n"
    "  elseif what == 'D' then\n"
    "    redis.call('UNLINK', key)\n"
    "    redis.call('ZREM', KEYS[p + 1], name)\n"
    "    redis.call('ZREM', KEYS[p + 2], name)\n"
    "    is = {text(step[5]), '0', '0'}\n"
    "  end\n"
    "  out[#out + 1] = what\n"
    "  for j = 1, 3 do out[#out + 1] = is[j] or '0' end\n"
    "  out[#out + 1] = step[6]\n"
    "end\n"
    "for p, r in pairs(last) do\n"
    "  redis.call('SET', KEYS[p], text(r))\n"
    "  local due = redis.call('ZRANGEBYSCORE', KEYS[p + 2], '-inf', now,\n"
    "      'LIMIT', 0, 8)\n"
    "  for _, name in ipairs(due) do\n"
    "    local key = string.sub(KEYS[p], 1, -2) .. 'k:' .. name\n"
    "    if redis.call('EXISTS', key) == 0 then\n"
    "      redis.call('ZREM', KEYS[p + 1], name)\n"
    "    end\n"
    "    redis.call('ZREM', KEYS[p + 2], name)\n"
    "  end\n"
    "end\n"
    "return out\n";

/* KEYS: the last name. ARGV: how many names are wanted. Returns the first of
 * the new names: the time in microseconds, or the last name plus 1 if that is
 * larger. So names rise even if the key is lost. */
static const char name_text[] =
    "local time = redis.call('TIME')\n"
    "local first = math.max(time[1] * 1000000 + time[2],\n"
    "    tonumber(redis.call('GET', KEYS[1]) or '0') + 1)\n"
    "redis.call('SET', KEYS[1],\n"
    "    string.format('%.0f', first + tonumber(ARGV[1]) - 1))\n"
    "return string.format('%.0f', first)\n";

/* Removes a key without a value from the index. KEYS: i, e, the key whose value
 * is missing. ARGV: KEY. */
static const char drop_text[] = "if redis.call('EXISTS', KEYS[3]) == 0 then\n"
                                "  redis.call('ZREM', KEYS[1], ARGV[1])\n"
                                "  redis.call('ZREM', KEYS[2], ARGV[1])\n"
                                "end\n"
                                "return 1\n";

/* Looks up a value. KEYS: its key. ARGV: the maximum length. Returns r, m, e,
 * t, n, and v unless v is longer than the maximum. A script is needed because a
 * client does not know the length before. */
static const char look_text[] =
    "local is = redis.call('HMGET', KEYS[1], 'r', 'm', 'e', 't', 'n')\n"
    "if is[1] and redis.call('HSTRLEN', KEYS[1], 'v') <= tonumber(ARGV[1])\n"
    "    then is[6] = redis.call('HGET', KEYS[1], 'v') end\n"
    "return is\n";

void kv_command_put_script(struct buf *out, enum kv_script script)
{
    switch (script) {
    case KV_SCRIPT_WRITE:
        kv_command_put_joined(out, BYTES(integers_text), BYTES(write_text),
                              BYTES(""));
        return;
    case KV_SCRIPT_NAME:
        kv_command_put(out, BYTES(name_text));
        return;
    case KV_SCRIPT_DROP:
        kv_command_put(out, BYTES(drop_text));
        return;
    case KV_SCRIPT_LOOK:
        kv_command_put(out, BYTES(look_text));
        return;
    }
}
