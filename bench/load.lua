-- load.lua - what wrk asks for, and what it tells at the end.
--
--     wrk -s load.lua URL                   URL, again and again
--     wrk -s load.lua URL -- pipeline 16    the same, 16 requests in one write
--     wrk -s load.lua URL -- post BYTES     the same, with a body of BYTES
--     wrk -s load.lua URL -- paths FILE     the paths in FILE, in their order
--     wrk -s load.lua URL -- keys ORDER METHOD HEAD TAIL COUNT BYTES
--         keys of 8 digits below COUNT, between HEAD and TAIL; a body of BYTES,
--         if there are any. ORDER: random, or each, one after the other
--
-- The last line printed is JSON, so that nobody has to read wrk's prose.

local function pipeline(depth)
    local batch = string.rep(wrk.format(), depth)

    request = function()
        return batch
    end
end

local function post(bytes)
    local text = wrk.format("POST", nil, nil, string.rep("v", bytes))

    request = function()
        return text
    end
end

-- All requests are made beforehand, and each text but once: what is left to
-- do for one is to look it up.
local function paths(list_path)
    local texts = {}
    local queue = {}
    local at = 0

    for path in io.lines(list_path) do
        texts[path] = texts[path] or wrk.format(nil, path)
        queue[#queue + 1] = texts[path]
    end
    request = function()
        at = at % #queue + 1
        return queue[at]
    end
end

-- One request is made, and cut where its key stands.
local function keys(order, method, head, tail, count, bytes)
    local mark = "00000000"
    local body = bytes > 0 and string.rep("v", bytes) or nil
    local text = wrk.format(method, head .. mark .. tail, nil, body)
    local first, last = text:find(head .. mark .. tail, 1, true)
    local before = text:sub(1, first - 1) .. head
    local behind = tail .. text:sub(last + 1)
    local asked = 0

    math.randomseed(os.time())
    request = function()
        local key = asked % count

        asked = asked + 1
        if order == "random" then
            key = math.random(0, count - 1)
        end
        return before .. string.format("%08d", key) .. behind
    end
end

function init(args)
    if args[1] == "pipeline" then
        pipeline(tonumber(args[2]))
    elseif args[1] == "post" then
        post(tonumber(args[2]))
    elseif args[1] == "paths" then
        paths(args[2])
    elseif args[1] == "keys" then
        keys(args[2], args[3], args[4], args[5], tonumber(args[6]),
             tonumber(args[7]))
    end
end

function done(summary, latency, requests)
    local errors = summary.errors

    io.write(string.format(
        '{"requests": %d, "bytes": %d, "duration_us": %d, ' ..
        '"p50_us": %d, "p99_us": %d, "connect_errors": %d, ' ..
        '"read_errors": %d, "write_errors": %d, "timeouts": %d, ' ..
        '"status_errors": %d}\n',
        summary.requests, summary.bytes, summary.duration,
        latency:percentile(50), latency:percentile(99), errors.connect,
        errors.read, errors.write, errors.timeout, errors.status))
end
