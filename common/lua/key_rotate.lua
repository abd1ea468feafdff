-- key_rotate: another API key of a name that has one; those before it end after an overlap.
--   KEYS  key:name kh:hash
--   ARGV  G name hash scopes admin expires overlap
--   returns {name scopes admin created expires older} of the new one; 'NONE' when that name has no
--   key, 'EXISTS' when the hash is taken
-- scopes '': what the name may do stays as it is, and admin is ignored. expires '': as long as the
-- key before it was made for. overlap 0: the older ones end at once. Field `o` holds the hashes of
-- those that go on for a while, the newest first; beyond 15 the oldest end.
local OLDER_MAX = 15

-- When the new key ends: as given, or as long from now as the one before was to live.
local function ends(given, before, t)
    if given ~= '' then
        return given
    end
    return before[5] == '0' and '0' or text(t + before[5] - before[4])
end

-- One of the older ones gets its end, unless it has an earlier one. False: it is there no more.
local function let_end(key, till, t)
    local left = try('PTTL', key)
    if type(left) ~= 'number' or left == -2 then
        return false
    end
    if left == -1 or t + left > till then
        try('PEXPIREAT', key, text(till))
    end
    return true
end

local function let_all_end(G, hashes, overlap, t)
    local kept = {}
    for hash in string.gmatch(hashes, '[^ ]+') do
        local key = G .. 'kh:' .. hash
        if overlap == 0 or #kept == OLDER_MAX then
            try('DEL', key)
        elseif let_end(key, t + overlap, t) then
            kept[#kept + 1] = hash
        end
    end
    return table.concat(kept, ' ')
end

define('key_rotate', GROWS, function(keys, a, G)
    local before, t = key_named(G, a[2]), now()
    if not before then
        return 'NONE'
    end
    if call('EXISTS', keys[2]) == 1 then
        return 'EXISTS'
    end
    local hashes = call('HMGET', keys[1], 'h', 'o')
    local expires = ends(a[6], before, t)
    local scopes, admin = before[2], before[3]
    if a[4] ~= '' then
        scopes, admin = a[4], a[5]
    end
    local older = let_all_end(G, hashes[1] .. ' ' .. (hashes[2] or ''), tonumber(a[7]), t)
    call('HSET', keys[1], 'h', a[3], 'o', older, 'sc', scopes, 'ad', admin, 'ct', text(t),
        'xp', expires)
    call('PERSIST', keys[1])
    call('SET', keys[2], a[2])
    if expires ~= '0' then
        call('PEXPIREAT', keys[1], expires)
        call('PEXPIREAT', keys[2], expires)
    end
    send_all(G, 'P')
    return key_named(G, a[2])
end)
