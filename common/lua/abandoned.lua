-- abandoned: work elsewhere whose task has ended while no worker was there to stop it.
--   KEYS  ab:tool...
--   ARGV  T n tool*n (tool handle_line)...
--   returns flat: tool, line of the oldest few of each tool
-- What is named after the tools is done, and forgotten first. A line is the task's id, a blank, and
-- the handle; two workers may be given the same.
local OLDEST = 10

define('abandoned', WORKS, function(keys, a)
    local n, found = tonumber(a[2]), {}
    local place = {}
    for i = 1, n do
        call('LLEN', keys[i])
        place[a[2 + i]] = keys[i]
    end
    for i = 3 + n, #a - 1, 2 do
        if place[a[i]] then
            call('LREM', place[a[i]], 1, a[i + 1])
        end
    end
    for i = 1, n do
        for _, line in ipairs(call('LRANGE', keys[i], 0, OLDEST - 1)) do
            found[#found + 1] = a[2 + i]
            found[#found + 1] = line
        end
    end
    return found
end)
