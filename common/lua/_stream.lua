-- A stream changes hands: what opening one and going on with one have in common.

-- Tells the holder of a stream, if it has one, what became of it.
local function tell_holder(T, holder, word, st)
    if holder and holder ~= '' then
        send(T, holder, word .. ' ' .. st)
    end
end

local FORMER_MAX = 8 -- GET streams of a session that may carry its messages again

-- The former GET streams of a session, newest first, without st.
local function former_streams(T, session, st)
    local go, all = try('HGET', session, 'go'), {}
    for former in string.gmatch(type(go) == 'string' and go or '', '%S+') do
        if former ~= st then
            all[#all + 1] = former
        end
    end
    return all
end

-- Makes st the GET stream of a session; the holder of the one it replaces is told that it goes on
-- without messages.
local function lead_session(T, session, st, former)
    if former ~= st then
        local r = former and stream_of(T, former)
        local all = former_streams(T, session, st)
        call('HSET', session, 'gs', st)
        if r then
            table.insert(all, 1, former)
            call('HSET', session, 'go', table.concat(all, ' ', 1, math.min(#all, FORMER_MAX)))
            tell_holder(T, r[HOLDER], 'V', former)
        end
    end
end

-- The client of a GET stream left: the newest of its session's others that is held leads again, and
-- its holder is told. Without any the stream goes on collecting for a client that comes back.
local function let_lead(T, session, st)
    if try('HGET', session, 'gs') ~= st then
        return
    end
    for _, former in ipairs(former_streams(T, session, st)) do
        local r = stream_of(T, former)
        if r and r[HOLDER] ~= '' then
            call('HSET', session, 'gs', former, 'go',
                table.concat(former_streams(T, session, former), ' '))
            tell_holder(T, r[HOLDER], 'A', former)
            return
        end
    end
end

-- Makes st the stream of a task and asks there what is open.
local function lead_task(T, id, h, st, r, all)
    if not ENDED[h[STATE]] then
        call('HSET', T .. 't:' .. id, 'hs', st)
        ask_again(T, id, h, st, r, all)
    end
end
