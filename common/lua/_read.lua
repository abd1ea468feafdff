-- How what is stored as one line or one entry is read.

-- The values of a stream entry by their names.
local function letter(entry)
    local l = {}
    for i = 1, #entry[2], 2 do
        l[entry[2][i]] = entry[2][i + 1]
    end
    return l
end

-- A tool as announced: who announced it, and the rest.
local function entry(value)
    if not value then
        return nil
    end
    local e = {}
    e.started, e.wid, e.digest, e.length, e.rest =
        string.match(value, '^(%d+) (%S+) (%S*) (%d+) (.*)$')
    return e
end

-- When the last of the keys of a name ends that the newest one has replaced: '0' when none is left.
local function older_end(G, hashes)
    local last = 0
    for hash in string.gmatch(hashes or '', '[^ ]+') do
        last = math.max(last, call('PEXPIRETIME', G .. 'kh:' .. hash))
    end
    return text(last)
end

-- name scopes admin created expires older of a key, or nil when there is none.
local function key_named(G, name)
    local h = call('HMGET', G .. 'key:' .. name, 'sc', 'ad', 'ct', 'xp', 'o')
    return h[3] and {name, h[1] or '', h[2] or '0', h[3], h[4] or '0', older_end(G, h[5])}
end
