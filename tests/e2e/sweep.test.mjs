// Each exchange with Redis is cut: family B6, B7 and the promise that a task is neither lost nor ended
// twice. For each scenario the exchanges of broker and worker are first listed, and then the scenario
// is played again and again, each time with one of them cut in one of the ways of cutter.mjs. By default
// every kind of exchange is cut in every way somewhere, and every exchange of every scenario in one way,
// which SWEEP_TURN=n turns on by n; SWEEP=full ERRAND_TEST_MS=3600000 cuts each in every way.
// SWEEP_ONLY=REGEXP picks among them by what a failure is reported as.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Lane } from '../lib/sweep.mjs';
import { Modern } from '../lib/modern.mjs';
import { bin, sleep, until } from '../lib/errand.mjs';

const LANES = 6;
// What does not fit is left out, and told; full takes as long as it takes.
const BUDGET_MS = /asan/.test(bin) ? 60000 : 100000;
const HOW = ['lost', 'unanswered', 'killed', 'killed_late'];
const HOW_MESSAGE = ['lost', 'killed'];
const full = process.env.SWEEP === 'full';
const turn = Number(process.env.SWEEP_TURN ?? 0);
const only = new RegExp(process.env.SWEEP_ONLY ?? '');

// Found wrong once: these are cut in every run.
const always = /^(question|stream): broker stream_open |^modern_question: broker answer /;

const text = (r) => r.result?.content?.[0]?.text?.trim();
const said = (r) => JSON.stringify(r.result ?? r.error);
const result = (l, taskId, options) => l.ask('tasks/result', { taskId }, options);

// Each makes exactly one task. runs: at most so often it may be executed when nobody is killed.
const scenarios = {
  task: {
    runs: 1,
    async play(l) {
      const taskId = await l.create('chatty');
      assert.ok((await l.ask('tasks/get', { taskId })).result);
      assert.equal(text(await result(l, taskId)), 'ran');
      assert.equal((await l.ask('tasks/get', { taskId })).result.status, 'completed');
    },
  },
  plain: {
    runs: 1,
    async play(l) {
      assert.equal(text(await l.ask('tools/call', l.params('slow'))), 'ran');
    },
  },
  cancel: {
    runs: 1,
    async play(l) {
      const taskId = await l.create('endless');
      await l.running();
      const waiting = result(l, taskId);
      const r = await l.ask('tasks/cancel', { taskId });
      assert.ok(r.result?.status === 'cancelled' || r.error?.code === -32602, said(r));
      assert.match(said(await waiting), /cancelled/);
      assert.equal((await l.ask('tasks/get', { taskId })).result.status, 'cancelled');
    },
  },
  question: {
    runs: 1,
    async play(l) {
      const taskId = await l.create('asks');
      const answer = async (m) => {
        if (m.method !== 'elicitation/create') return;
        const body = JSON.stringify({ jsonrpc: '2.0', id: m.id, result: { action: 'accept', content: { name: 'Ada' } } });
        for (let i = 0; i < 200; i++) {
          const status = await l.c.post(body).then((r) => r.status, () => 503);
          if (status < 500) return;
          await sleep(30);
        }
      };
      assert.match(text(await result(l, taskId, { onMessage: answer })), /Ada/);
    },
  },
  retry: {
    runs: 2,
    async play(l) {
      assert.equal(text(await result(l, await l.create('flaky'))), 'ran');
    },
  },
  dead: {
    runs: 2,
    async play(l) {
      const letters = await l.w.db.call('XLEN', 'errand:{0}:dq');
      const taskId = await l.create('doomed');
      const r = await result(l, taskId);
      assert.match(said(r), /exit|status|lost/, said(r));
      assert.equal((await l.ask('tasks/get', { taskId })).result.status, 'failed');
      assert.equal(await l.w.db.call('XLEN', 'errand:{0}:dq'), letters + 1, 'one dead letter');
    },
  },
  takeover: {
    runs: 3,
    async play(l) {
      const taskId = await l.create('slow');
      await l.running();
      l.programs.worker.signal('SIGKILL');
      assert.equal(text(await result(l, taskId)), 'ran');
    },
  },
  worker_drain: {
    runs: 3,
    async play(l) {
      const taskId = await l.create('slow');
      await l.running();
      l.programs.worker.signal('SIGTERM');
      assert.equal(text(await result(l, taskId)), 'ran');
    },
  },
  broker_drain: {
    runs: 1,
    async play(l) {
      const taskId = await l.create('slow');
      const waiting = result(l, taskId);
      await l.running();
      l.programs.broker.signal('SIGTERM');
      assert.equal(text(await waiting), 'ran');
    },
  },
  stream: {
    runs: 1,
    async play(l) {
      const c = await session(l);
      const stream = await c.openStream().catch(() => null);
      const taskId = await l.create('chatty', c);
      assert.equal(text(await result(l, taskId, { c })), 'ran');
      stream?.close();
      await c.delete().catch(() => {});
      c.close();
    },
  },
  modern: {
    runs: 1,
    async play(l) {
      const c = new Modern(l.c.url, { key: l.c.key, tasks: true });
      const params = l.params('chatty');
      const r = await l.ask('tools/call', params, { c, meta: params._meta });
      const id = r.result?.taskId ?? r.result?.task?.taskId;
      const end = id ? await until('its end', async () => {
        const t = (await l.ask('tasks/get', { taskId: id }, { c })).result;
        return t?.status === 'completed' && t;
      }, 40000) : r.result;
      assert.match(JSON.stringify(end), /ran/);
      c.close();
    },
  },
  modern_question: {
    runs: 1,
    async play(l) {
      const c = new Modern(l.c.url, { key: l.c.key, tasks: true, capabilities: { elicitation: {} } });
      const params = l.params('asks_as_task');
      const r = await l.ask('tools/call', params, { c, meta: params._meta });
      const { taskId } = r.result;
      assert.ok(taskId, said(r));
      const look = async () => (await l.ask('tasks/get', { taskId }, { c })).result;
      const asked = await until('it asks', async () => {
        const t = await look();
        return t.status !== 'working' && t;
      }, 40000);
      assert.equal(asked.status, 'input_required', JSON.stringify(asked));
      const inputResponses = { [Object.keys(asked.inputRequests)[0]]: { action: 'accept', content: { name: 'Ada' } } };
      // What is acknowledged counts: it is not said again.
      assert.ok((await l.ask('tasks/update', { taskId, inputResponses }, { c })).result);
      const end = await until('its end', async () => {
        const t = await look();
        return t.status === 'completed' && t;
      }, 15000);
      assert.match(JSON.stringify(end), /Ada/);
      c.close();
    },
  },
  modern_rounds: {
    runs: 1,
    async play(l) {
      const c = new Modern(l.c.url, { key: l.c.key, capabilities: { elicitation: {} } });
      const params = l.params('asks');
      let r = await l.ask('tools/call', params, { c, meta: params._meta });
      for (let i = 0; i < 10 && r.result?.resultType === 'input_required'; i++) {
        const inputResponses = { [Object.keys(r.result.inputRequests)[0]]: { action: 'accept', content: { name: 'Ada' } } };
        r = await l.ask('tools/call', { ...params, requestState: r.result.requestState, inputResponses }, { c, meta: params._meta });
      }
      assert.match(said(r), /Ada/);
      c.close();
    },
  },
};

// A session of its own; made again when its making failed.
async function session(l) {
  for (let i = 0; ; i++) {
    try {
      return await l.w.connect(l.programs.broker, { key: l.c.key, tool: null });
    } catch (e) {
      if (i === 200) throw e;
      await sleep(30);
    }
  }
}

// --- one case ---

async function attempt(l, name, cut) {
  const scenario = scenarios[name];
  const ends = await l.ends();
  const gone = new Set(Object.values(l.programs));
  for (const c of Object.values(l.cutters)) c.watch();
  const spec = cut && l.cutters[cut.program].cutAt(cut.kind, cut.nth, cut.how);
  const wrong = [];
  await scenario.play(l).catch((e) => wrong.push(e.stack ?? String(e)));
  for (const end = Date.now() + 1500; spec && !spec.fired && Date.now() < end;) await sleep(20);
  const seen = Object.fromEntries(Object.entries(l.cutters).map(([p, c]) => [p, c.seen]));
  for (const c of Object.values(l.cutters)) c.watch();
  wrong.push(...(await l.mistakes(ends).catch((e) => [String(e)])));
  const killed = Object.values(l.programs).some((p) => !gone.has(p) || p.status !== undefined);
  const most = killed ? 3 : scenario.runs;
  if (l.runs() < 1 || l.runs() > most) wrong.push(`executed ${l.runs()} times, not 1 to ${most}`);
  l.forget();
  return { name, cut, seen, wrong, fired: !cut || Boolean(spec.fired) };
}

const lanes = [];

// Every lane takes the next case when it has done with the last.
async function all(cases, ms = Infinity) {
  const end = Date.now() + ms;
  const todo = [...cases];
  const done = [];
  await Promise.all(lanes.map(async (l) => {
    for (let one = todo.shift(); one && Date.now() < end; one = todo.shift()) {
      const began = Date.now();
      done.push({ ...(await attempt(l, one.name, one.cut)), ms: Date.now() - began });
    }
  }));
  return done;
}

// --- which ---

const kinds = new Map(); // scenario -> [{ program, kind, nth }]

function note(name, seen) {
  const places = [];
  for (const program of ['broker', 'worker']) {
    const count = {};
    for (const kind of seen[program]) {
      count[kind] = (count[kind] ?? 0) + 1;
      if (count[kind] <= 2) places.push({ program, kind, nth: count[kind] });
    }
  }
  kinds.set(name, places);
}

function choose() {
  const cases = [];
  const covered = new Set();
  let n = turn;
  for (const [name, places] of kinds) {
    for (const place of places) {
      const ways = place.kind.startsWith('message:') ? HOW_MESSAGE : HOW;
      n += 1;
      ways.forEach((how, i) => {
        const mark = `${place.program} ${place.kind} ${how}`;
        if (!full && !always.test(label({ name, cut: { ...place, how } })) && covered.has(mark) && (place.nth > 1 || i !== n % ways.length)) return;
        cases.push({ name, cut: { ...place, how }, first: !covered.has(mark) });
        covered.add(mark);
      });
    }
  }
  const chosen = cases.filter((c) => only.test(label(c)));
  return [...chosen.filter((c) => c.first), ...chosen.filter((c) => !c.first)];
}

const label = ({ name, cut }) => `${name}: ${cut.program} ${cut.kind} ${cut.nth} ${cut.how}`;

before(async () => {
  lanes.push(...Array.from({ length: LANES }, () => new Lane()));
  await Promise.all(lanes.map((l) => l.start()));
});
after(() => Promise.all(lanes.map((l) => l.stop())));

test('every scenario holds when nothing is cut', async () => {
  for (const { name, seen, wrong } of await all(Object.keys(scenarios).map((name) => ({ name })))) {
    assert.deepEqual(wrong, [], name);
    note(name, seen);
  }
});

test('B7 E-01: while a broker hears no messages, what a session can do is known, and its client is asked', async () => {
  const [l] = lanes;
  l.cutters.broker.deafen();
  const cc = [];
  try {
    for (let i = 0; i < 3; i++) cc.push(await l.w.db.call('HGET', `errand:{0}:t:${await l.create('asks')}`, 'cc'));
  } finally {
    l.cutters.broker.hear();
  }
  assert.deepEqual(cc, Array(3).fill('{"elicitation":{}}'));
  for (const key of await l.w.keys('errand:{0}:t:*')) {
    const { result: t } = await l.ask('tasks/get', { taskId: key.slice(-24) });
    if (t?.status === 'working' || t?.status === 'input_required') await l.ask('tasks/cancel', { taskId: t.taskId });
  }
});

test('B6 B7: whatever exchange with Redis is cut, each task ends once, nobody waits for ever, nothing is left', async (t) => {
  const cases = choose();
  const done = await all(cases, full ? Infinity : BUDGET_MS);
  const missed = done.filter((d) => !d.fired);
  const ms = done.map((d) => d.ms).sort((a, b) => a - b);
  t.diagnostic(`note: ${done.length} cuts${full ? ', all there are' : `, a part chosen by SWEEP_TURN=${turn}`}; median ${ms[ms.length >> 1]} ms, longest ${ms.at(-1)} ms; ${cases.length - done.length} left out for want of time`);
  t.diagnostic(`note: kinds: ${[...new Set(cases.map((c) => `${c.cut.program} ${c.cut.kind}`))].join(', ')}`);
  for (const m of missed) t.diagnostic(`note: it did not come this time: ${label(m)}`);
  const wrong = done.filter((d) => d.wrong.length).map((d) => `${label(d)}\n  ${d.wrong.join('\n  ')}`);
  assert.equal(wrong.length, 0, `${wrong.length} of ${done.length}:\n${wrong.join('\n')}`);
  assert.ok(missed.length < done.length / 5, `${missed.length} of ${done.length} cuts were never reached`);
});
