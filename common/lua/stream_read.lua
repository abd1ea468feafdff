-- stream_read: what followed an entry, for a holder that may have missed messages.
--   KEYS  sx:st
--   ARGV  T st last
--   returns (entry field data)..., flat
define('stream_read', READS, function(keys, a)
    call('XLEN', keys[1])
    return events_after(keys[1], a[3]) or {}
end)
