-- key_revoke: ends all API keys of a name at once.
--   KEYS  key:name keys
--   ARGV  G name
--   returns 1 or 0
define('key_revoke', WORKS, function(keys, a, G)
    local hashes = call('HMGET', keys[1], 'h', 'o')
    call('SREM', keys[2], a[2])
    if not hashes[1] then
        return 0
    end
    call('DEL', keys[1])
    for hash in string.gmatch(hashes[1] .. ' ' .. (hashes[2] or ''), '[^ ]+') do
        call('DEL', G .. 'kh:' .. hash)
    end
    send_all(G, 'P')
    return 1
end)
