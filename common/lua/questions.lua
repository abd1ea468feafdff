-- questions: what a task waits for, for a client that polls.
--   KEYS  t:id
--   ARGV  T id oh
--   returns key method params of each unanswered question, flat; false when it is not that owner's
-- What becomes of a question that a client hosts as a task is asked of that client alone.
define('questions', READS, function(keys, a)
    local h, out = load(keys[1]), {}
    if h[OWNER] ~= a[3] then
        return false
    end
    for name in each_line(not ENDED[h[STATE]] and h[ASKED] or '') do
        local q = question(keys[1], name)
        local method, params = string.match(q.asked or '', '^. ([^\n]*)\n(.*)$')
        if method and not q.answer and string.sub(method, 1, 6) ~= 'tasks/' then
            out[#out + 1], out[#out + 2], out[#out + 3] = name, method, params
        end
    end
    return out
end)
