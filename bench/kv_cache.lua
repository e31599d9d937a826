-- kv_cache.lua - what wrk asks a key-value store for.
--
--     wrk -s kv_cache.lua URL -- FILE 0      GET the paths in FILE below URL
--     wrk -s kv_cache.lua URL -- FILE 10     the same, but every 10th is a PUT
--
-- The last line printed is load.lua's.

local here = debug.getinfo(1, "S").source:match("^@(.*/)") or "./"
local value = string.rep("v", 1024)

dofile(here .. "load.lua")

function init(args)
    local prefix = wrk.path:gsub("/+$", "")
    local puts = tonumber(args[2])
    local texts = {GET = {}, PUT = {}}
    local queue = {}
    local at = 0

    -- Each text is made but once: there are many requests of few keys.
    for path in io.lines(args[1]) do
        local count = #queue + 1
        local is_put = puts > 0 and count % puts == 0
        local method = is_put and "PUT" or "GET"

        texts[method][path] = texts[method][path] or wrk.format(
            method, prefix .. path, nil, is_put and value or nil)
        queue[count] = texts[method][path]
    end
    request = function()
        at = at % #queue + 1
        return queue[at]
    end
end
