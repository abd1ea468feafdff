-- key_list: every API key, by name; names of expired ones are dropped.
--   KEYS  keys
--   ARGV  G
--   returns name scopes admin created expires older of each, flat
define('key_list', WORKS, function(keys, _, G)
    local names, out, gone = call('SMEMBERS', keys[1]), {}, {}
    table.sort(names)
    for i = 1, #names do
        local k = key_named(G, names[i])
        if not k then
            gone[#gone + 1] = names[i]
        end
        for j = 1, k and 6 or 0 do
            out[#out + 1] = k[j]
        end
    end
    for i = 1, #gone do
        call('SREM', keys[1], gone[i])
    end
    return out
end)
