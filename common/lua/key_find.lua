-- key_find: whose API key has this hash.
--   KEYS  kh:hash
--   ARGV  G hash
--   returns {name scopes admin created expires older} or false
-- expires is that of the key asked for, which may be an older one of its name.

-- Is it one of the keys that the name has now? An older one may be there longer than the newest, with
-- which the name ended; who is given that name next is somebody else.
local function is_of(G, name, hash)
    local h = call('HMGET', G .. 'key:' .. name, 'h', 'o')
    local hashes = ' ' .. (h[1] or '') .. ' ' .. (h[2] or '') .. ' '
    return string.find(hashes, ' ' .. hash .. ' ', 1, true) ~= nil
end

define('key_find', READS, function(keys, a, G)
    local name = call('GET', keys[1])
    local k = name and key_named(G, name)
    if not k or not is_of(G, name, a[2]) then
        return false
    end
    k[5] = text(math.max(0, call('PEXPIRETIME', keys[1])))
    return k
end)
