-- key_add: a new API key; only its hash is known here.
--   KEYS  key:name kh:hash keys
--   ARGV  G name hash scopes admin expires
--   returns 'OK', or 'EXISTS' when the name or the hash is taken
define('key_add', GROWS, function(keys, a, G)
    if call('EXISTS', keys[1], keys[2]) > 0 then
        return 'EXISTS'
    end
    call('SADD', keys[3], a[2])
    call('HSET', keys[1], 'h', a[3], 'sc', a[4], 'ad', a[5], 'ct', text(now()), 'xp', a[6])
    call('SET', keys[2], a[2])
    if a[6] ~= '0' then
        call('PEXPIREAT', keys[1], a[6])
        call('PEXPIREAT', keys[2], a[6])
    end
    send_all(G, 'P')
    return 'OK'
end)
