-- load.lua - what wrk asks for, and what it tells at the end.
--
--     wrk -s load.lua URL                   URL, again and again
--     wrk -s load.lua URL -- pipeline 16    the same, 16 requests in one write
--     wrk -s load.lua URL -- paths FILE     the paths in FILE, in their order
--
-- The last line printed is JSON, so that nobody has to read wrk's prose.

local function pipeline(depth)
    local batch = string.rep(wrk.format(), depth)

    request = function()
        return batch
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

function init(args)
    if args[1] == "pipeline" then
        pipeline(tonumber(args[2]))
    elseif args[1] == "paths" then
        paths(args[2])
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
