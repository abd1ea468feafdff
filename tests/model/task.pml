/* task.pml - the life of a task as Redis, brokers and workers make it, for spin.
 *
 * Each fn_* below is one function of common/lua, which Redis runs in one step; docs/tasks.md has the
 * table. Between two of them anything may happen, as long as `faults` lasts: an answer is lost after
 * the function ran, a process is killed, a worker stands still past its lease, a broker's
 * subscription breaks, a worker drains. That a request is lost before it ran is the same as that it
 * came later, and costs nothing. Time passes only in that a lease may lapse and a record expire.
 *
 * One worker has one place; a broker has one client, who asks for the result of one task. Sizes come
 * from the environment, see init: one compiled model serves every scenario, and every fault that
 * `broken` puts into it. run.sh lists what is checked and wants each of these found:
 *
 *     #define NAME number / * scenario property: what is left out * /
 */
#define NO_FENCE 1        /* one safety: finish does not look at the fence */
#define NO_ENDED 2        /* one safety: finish does not look whether the task has ended */
#define CANCEL_BLIND 3    /* one safety: cancel does not look whether the task has ended */
#define CANCEL_LEASED 4   /* one safety: cancel leaves the lease behind */
#define LAPSE_FENCE 5     /* one safety: a lapsed lease leaves the fence as it was */
#define LAPSE_FREE 6      /* one safety: a lapsed lease is not charged */
#define RETRY_BLIND 7     /* one safety: retry does not look at the fence */
#define RELEASE_BLIND 8   /* one safety: release does not look at the fence */
#define CLAIM_TWICE 9     /* one safety: claim takes the id in one step and leases it in another */
#define NOT_IDEMPOTENT 10 /* one safety: a create that is sent again makes another task */
#define READ_FIRST 11     /* alone answered: get registers the interest in a step after the read */
#define NO_EARLY 12       /* alone answered: what comes before the answer to get is forgotten */
#define NO_GAP 13         /* alone answered: nothing is read again after a broken subscription */
#define NO_EXPIRY 14      /* alone answered: nobody looks again when the task should have expired */
#define SETTLE_QUIET 15   /* alone answered: those who wait are not told of a dead letter */
#define NO_PROMOTE 16     /* two ends: an ended task promotes no parked one */
#define EXPIRE_KEEPS 17   /* two ends: an expired task keeps its place in the window */
#define LAPSE_LOST 18     /* one safety: a lapsed lease is removed, and the task goes nowhere */
#define ASK_BLIND 19      /* one safety: ask does not look at the fence */
#define NO_BACKSTOP 20    /* crowd answered: who was crowded out never looks again */

#define TASKS 2
#define BROKERS 2
#define WORKERS 2

/* States: common/task.def. GONE is a record that expired; NONE one that was never made. */
#define NONE 0
#define W 1 /* working */
#define I 2 /* input_required */
#define R 3 /* ended with a result */
#define E 4 /* failed */
#define X 5 /* cancelled */
#define GONE 6

#define OUT 0
#define WINDOW 1
#define PARKED 2

byte tasks, workers, waiters, limit, attempts, faults, cancels, asks, expiries, releases_left;
byte broken, crowd; /* crowd: how many processes may be interested in a task */

/* What Redis has. */
byte st[TASKS];
byte fence[TASKS];
byte tried[TASKS];
byte oa[TASKS];  /* the owner's window */
byte rq[TASKS];  /* how often the id stands in its ready list */
bool ls[TASKS];  /* leased */
bool dl[TASKS];  /* delayed */
byte wb[TASKS];  /* interested brokers, one bit each */
bool answer[TASKS]; /* the question has its answer */
bool asked_q[TASKS];
bool dirty[TASKS];  /* expired, and not yet cleaned */

/* What is on the way. */
bool up[BROKERS];   /* the subscription */
bool note[BROKERS]; /* a message that the task has ended */
bool gap[BROKERS];

/* What only the proof knows. */
byte made[TASKS];  /* how often it was made */
byte final[TASKS]; /* how it ended first */
byte turn[TASKS];  /* number of the claim that holds it, 0: none */
byte turns[TASKS];
byte handed_back[TASKS];
bool held[TASKS];  /* a worker has the current turn in hand */
bool told[BROKERS];

#define ended(t) (st[t] == R || st[t] == E || st[t] == X)
#define live(t) (st[t] == W || st[t] == I)
#define over(t) (ended(t) || st[t] == GONE)
#define is(f) (broken == f)
#define in_window (((oa[0] == WINDOW) -> 1 : 0) + ((oa[1] == WINDOW) -> 1 : 0))
#define places(t) (((oa[t] == PARKED) -> 1 : 0) + rq[t] + (ls[t] -> 1 : 0) + (dl[t] -> 1 : 0))

/* True of Redis after every function. */
inline check_one(t) {
    assert(made[t] <= 1);
    assert(!live(t) || places(t) == 1); /* waits or runs, in exactly one place: not lost, not twice */
    assert(!live(t) || oa[t] != OUT);
    assert(!ended(t) || (!ls[t] && !dl[t] && oa[t] == OUT)); /* leaves nothing behind */
    assert(!ended(t) || st[t] == final[t]); /* and never changes */
    assert(tried[t] <= attempts);
    assert(turns[t] - handed_back[t] <= attempts); /* executions */
    assert(st[t] != I || ls[t]); /* only a running task waits for input */
}

inline check() {
    check_one(0);
    check_one(1);
    assert(limit == 0 || in_window <= limit);
}

/* --- what the functions share: _record.lua, _ready.lua, _settle.lua --- */

inline tell(t) {
    if
    :: (wb[t] & 1) && up[0] -> note[0] = true
    :: else
    fi;
    if
    :: (wb[t] & 2) && up[1] -> note[1] = true
    :: else
    fi
}

inline unpark(t) {
    if
    :: oa[t] == PARKED && !live(t) -> oa[t] = OUT
    :: oa[t] == PARKED && live(t) && in_window < limit -> oa[t] = WINDOW; rq[t]++
    :: else
    fi
}

inline leave(t) {
    oa[t] = OUT;
    if
    :: is(NO_PROMOTE)
    :: else -> unpark(0); unpark(1)
    fi
}

inline settle(t, how) {
    assert(!ended(t) && final[t] == NONE); /* nothing ends twice */
    st[t] = how;
    final[t] = how;
    turn[t] = 0;
    leave(t);
    if
    :: is(SETTLE_QUIET) && how == E
    :: else -> tell(t)
    fi;
    wb[t] = 0
}

/* The execution is lost: charged, and queued again or the last one. */
inline again(t) {
    if
    :: is(LAPSE_FREE)
    :: else -> tried[t]++
    fi;
    if
    :: is(LAPSE_FENCE)
    :: else -> fence[t]++
    fi;
    turn[t] = 0;
    if
    :: tried[t] >= attempts -> settle(t, E)
    :: else ->
        st[t] = W;
        dl[t] = !is(LAPSE_LOST)
    fi
}

/* May who claimed with fence f act? */
#define holds(t, f) (live(t) && fence[t] == f)

/* --- the functions --- */

inline fn_create(t) {
    if
    :: made[t] != 0 && !is(NOT_IDEMPOTENT) /* found by its key */
    :: else ->
        made[t]++;
        st[t] = W;
        if
        :: limit > 0 && in_window >= limit -> oa[t] = PARKED
        :: else -> oa[t] = WINDOW; rq[t]++
        fi
    fi;
    check()
}

inline lease(t, f, c) {
    if
    :: st[t] == W ->
        fence[t]++;
        turns[t]++;
        turn[t] = turns[t];
        ls[t] = true;
        held[t] = false;
        f = fence[t];
        c = turn[t]
    :: else -> f = 0 /* ended or expired while it waited */
    fi
}

inline fn_finish(t, f, c) {
    if
    :: st[t] == GONE -> ls[t] = false
    :: holds(t, f) || (is(NO_FENCE) && live(t)) || (is(NO_ENDED) && ended(t) && final[t] != R) ->
        assert(turn[t] == c); /* only the execution that holds the task ends it */
        ls[t] = false;
        settle(t, R)
    :: else
    fi;
    check()
}

inline fn_retry(t, f) {
    if
    :: holds(t, f) || (is(RETRY_BLIND) && live(t)) ->
        ls[t] = false;
        again(t)
    :: else
    fi;
    check()
}

inline fn_release(t, f) {
    if
    :: holds(t, f) || (is(RELEASE_BLIND) && live(t)) ->
        rq[t]++;
        fence[t]++;
        turn[t] = 0;
        handed_back[t]++;
        st[t] = W;
        ls[t] = false
    :: else
    fi;
    check()
}

inline fn_cancel(t) {
    if
    :: live(t) || (is(CANCEL_BLIND) && ended(t)) ->
        fence[t]++;
        ls[t] = ls[t] && is(CANCEL_LEASED);
        dl[t] = false;
        settle(t, X)
    :: else
    fi;
    check()
}

inline fn_ask(t, f) {
    if
    :: (holds(t, f) || (is(ASK_BLIND) && live(t))) && !answer[t] ->
        asked_q[t] = true;
        st[t] = I
    :: else
    fi;
    check()
}

inline fn_answer(t) {
    if
    :: live(t) && asked_q[t] && !answer[t] ->
        answer[t] = true;
        st[t] = W
    :: else
    fi;
    check()
}

inline fn_unask(t, f) {
    if
    :: holds(t, f) -> st[t] = W
    :: else
    fi;
    check()
}

/* Registers the interest of a broker, in the step that finds the task unfinished. With room for one,
 * the newest crowds out the other. */
inline register(t, b) {
    if
    :: live(t) && crowd == 1 -> wb[t] = 1 << b
    :: live(t) && crowd > 1 -> wb[t] = wb[t] | (1 << b)
    :: else
    fi
}

/* --- processes --- */

proctype client(byte t) {
    do
    :: atomic { fn_create(t); break }
    :: atomic { faults > 0 -> faults--; fn_create(t) } /* unanswered: asks again, by the same key */
    od
}

proctype canceller() {
    if
    :: atomic { cancels > 0 && made[0] -> cancels--; fn_cancel(0) }
    :: atomic { cancels > 0 && tasks > 1 && made[1] -> cancels--; fn_cancel(1) }
    :: skip
    fi
}

proctype person() {
end:
    do
    :: atomic { st[0] == I && !answer[0] -> fn_answer(0) }
    :: atomic { st[1] == I && !answer[1] -> fn_answer(1) }
    od
}

/* What Redis does by itself: the record goes when its time has come. */
inline expire(t) {
    expiries--;
    if
    :: live(t) || ended(t) ->
        st[t] = GONE;
        dirty[t] = true;
        turn[t] = 0;
        wb[t] = 0
    :: else
    fi
}

proctype clock() {
    if
    :: atomic { expiries > 0 && made[0] -> expire(0) }
    :: atomic { expiries > 0 && tasks > 1 && made[1] -> expire(1) }
    :: skip
    fi
}

inline tick_lapse(t) {
    ls[t] = false;
    if
    :: live(t) -> again(t)
    :: else
    fi;
    check()
}

inline tick_delayed(t) {
    dl[t] = false;
    if
    :: st[t] == W -> rq[t]++
    :: else
    fi;
    check()
}

inline tick_expired(t) {
    dirty[t] = false;
    ls[t] = false;
    dl[t] = false;
    if
    :: is(EXPIRE_KEEPS)
    :: else -> leave(t)
    fi;
    check()
}

/* tick: the due work, done by whoever comes by. A lease that its worker has in hand lapses only when
 * that worker stood still. */
proctype ticker(byte t) {
end:
    do
    :: atomic { dl[t] -> tick_delayed(t) }
    :: atomic { ls[t] && !held[t] -> tick_lapse(t) }
    :: atomic { ls[t] && held[t] && faults > 0 -> faults--; held[t] = false; tick_lapse(t) }
    :: atomic { dirty[t] -> tick_expired(t) }
    od
}

inline let_go() {
    if
    :: turn[t] == c -> held[t] = false
    :: else
    fi;
    t = 0;
    f = 0;
    c = 0
}

/* A lane and a slot: claims, runs, and says what became of it until Redis has answered. */
proctype worker() {
    byte t, f, c;
end:
idle:
    atomic {
        if
        :: rq[0] > 0 -> t = 0
        :: rq[1] > 0 -> t = 1
        fi;
        rq[t]--;
        if
        :: !is(CLAIM_TWICE)
        :: is(CLAIM_TWICE) -> check() /* somebody may look in here */
        fi;
        lease(t, f, c);
        check();
        if
        :: f == 0 -> goto idle
        :: f != 0 -> held[t] = true
        :: f != 0 && faults > 0 -> faults--; t = 0; f = 0; c = 0; goto idle /* the answer is lost */
        fi
    };
running:
    if
    :: goto finishing
    :: atomic { !holds(t, f) -> let_go(); goto idle } /* the heartbeat says so, or a message */
    :: atomic { faults > 0 -> faults--; let_go(); goto idle } /* killed */
    :: atomic { faults > 0 -> faults-- }; goto retrying /* failed in passing */
    :: atomic { releases_left > 0 -> releases_left-- }; goto releasing /* drains */
    :: atomic { asks > 0 -> asks--; fn_ask(t, f) }; goto asking
    fi;
asking:
    if
    :: atomic { answer[t] || !holds(t, f) }; goto running
    :: atomic { fn_unask(t, f) }; goto running /* its time is up */
    :: atomic { faults > 0 -> faults--; let_go(); goto idle }
    fi;
finishing:
    do
    :: atomic { fn_finish(t, f, c); let_go(); goto idle }
    :: atomic { faults > 0 -> faults--; fn_finish(t, f, c) }
    :: atomic { faults > 0 -> faults--; let_go(); goto idle }
    od;
retrying:
    do
    :: atomic { fn_retry(t, f); let_go(); goto idle }
    :: atomic { faults > 0 -> faults--; fn_retry(t, f) }
    od;
releasing:
    do
    :: atomic { fn_release(t, f); let_go(); goto idle }
    :: atomic { faults > 0 -> faults--; fn_release(t, f) }
    od
}

/* The subscription of a broker breaks, and comes back. */
proctype wire(byte b) {
end:
    do
    :: atomic { faults > 0 -> faults--; up[b] = false; note[b] = false };
       atomic { up[b] = true; gap[b] = true }
    od
}

/* broker/wait: a client who asks for a result, until it is answered. */
proctype broker(byte b) {
    byte t;
    bool early, seen;
    atomic { t = (tasks > 1 -> b : 0); made[t] -> skip };
asking: /* the waiter is in the table, and the read leaves */
    atomic {
        early = false;
        seen = over(t);
        if
        :: !is(READ_FIRST) -> register(t, b)
        :: else
        fi
    };
    if
    :: atomic { is(READ_FIRST) -> register(t, b) }
    :: !is(READ_FIRST)
    fi;
    do /* messages come on another connection than the answer */
    :: atomic { note[b] -> note[b] = false; early = !is(NO_EARLY) }
    :: atomic { gap[b] -> gap[b] = false; early = !is(NO_GAP) }
    :: break
    od;
    if
    :: seen -> early = false; goto answered
    :: atomic { !seen && faults > 0 -> faults-- }; goto asking /* unanswered: the client asks again */
    :: atomic { !seen && early -> early = false }; goto reading
    :: !seen && !early
    fi;
waiting:
end:
    if
    :: atomic { note[b] -> note[b] = false }; goto answered
    :: atomic { note[b] -> note[b] = false }; goto reading /* an outcome too large for a message */
    :: atomic { gap[b] -> gap[b] = false }; if :: is(NO_GAP) -> goto waiting :: else -> goto reading fi
    :: atomic { st[t] == GONE && !is(NO_EXPIRY) }; goto reading
    :: atomic { crowd == 1 && !is(NO_BACKSTOP) }; goto reading /* once a minute */
    :: atomic { faults > 0 -> faults--; wb[t] = wb[t] & ~(1 << b); note[b] = false }; goto asking /* killed */
    fi;
reading:
    do
    :: atomic { over(t) -> break }
    :: atomic { !over(t) -> register(t, b); goto waiting }
    :: atomic { faults > 0 -> faults--; register(t, b) }
    od;
answered:
    atomic { assert(over(t)); told[b] = true }
}

c_decl {
    static int setting(const char *name, int otherwise)
    {
        const char *text = getenv(name);

        return text != NULL && *text != '\0' ? atoi(text) : otherwise;
    }
}

init {
    atomic {
        c_code {
            now.tasks = setting("TASKS", 1);
            now.workers = setting("WORKERS", 2);
            now.waiters = setting("WAITERS", 2);
            now.limit = setting("LIMIT", 0);
            now.attempts = setting("ATTEMPTS", 2);
            now.faults = setting("FAULTS", 2);
            now.cancels = setting("CANCELS", 1);
            now.asks = setting("ASKS", 1);
            now.expiries = setting("EXPIRIES", 1);
            now.releases_left = setting("RELEASES", 1);
            now.crowd = setting("CROWD", 2);
            now.broken = setting("BROKEN", 0);
        };
        up[0] = true;
        up[1] = true;
        run worker();
        if
        :: workers > 1 -> run worker()
        :: else
        fi;
        if
        :: waiters > 0 -> run broker(0); run wire(0)
        :: else -> told[0] = true
        fi;
        if
        :: waiters > 1 -> run broker(1); run wire(1)
        :: else -> told[1] = true
        fi;
        run ticker(0);
        run client(0);
        if
        :: tasks > 1 -> run client(1); run ticker(1)
        :: else
        fi;
        if
        :: cancels > 0 -> run canceller()
        :: else
        fi;
        if
        :: asks > 0 -> run person()
        :: else
        fi;
        if
        :: expiries > 0 -> run clock()
        :: else
        fi
    }
}

/* Under weak fairness: nobody who could always go on is left standing. */
ltl answered { <> (told[0] && told[1]) }
ltl ends { <> (over(0) && (tasks == 1 || over(1))) }
