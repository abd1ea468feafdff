// Many requests with one JSON-RPC id: their answers never cross. Family B2.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { World, busy, lasting, sleep, until } from '../lib/errand.mjs';

const w = new World();
let a;
let b;

const base = { inputSchema: { type: 'object' }, description: 'Answers with its nonce.' };
const tools = {
  tools: [
    { ...base, name: 'nonce', run: { command: ['sh', '-c', 'sleep "$2"; echo "nonce $1"', 'sh', '{nonce}', '{seconds}'] } },
    { ...base, name: 'instant', run: { command: ['echo', 'nonce {nonce}'] } },
  ],
};

before(async () => {
  await w.startRedis();
  const args = ['--rate', '0', '--auth', 'key'];
  [a, b] = await Promise.all([w.startBroker({ args }), w.startBroker({ args })]);
  await w.startWorker({ tools, args: ['--slots', '60'] });
});
after(() => w.stop());

let nonces = 0;
const nonce = () => `n${nonces++}x`;
const saying = (n) => `nonce ${n}\n`;

// Two users, each with two sessions at both brokers.
async function everybody() {
  const sessions = [];
  for (const name of ['anna', 'ben']) {
    const key = await w.newKey(`${name}${nonce()}`);
    for (const broker of [a, b]) sessions.push(await w.connect(broker, { key, tool: 'nonce' }));
  }
  return sessions;
}

async function task(c, seconds) {
  const n = nonce();
  const { taskId } = await c.createTask('nonce', { nonce: n, seconds });
  return { taskId, n };
}

// The kinds of requests; each resolves once its answer was seen to be its own.
const kinds = {
  async call(c, id) {
    const n = nonce();
    const r = await c.request('tools/call', { name: 'nonce', arguments: { nonce: n, seconds: '0.4' } }, { id });
    assert.equal(r.result.content[0].text, saying(n));
    return r;
  },
  async quick(c, id) {
    const n = nonce();
    const r = await c.request('tools/call', { name: 'instant', arguments: { nonce: n } }, { id });
    assert.equal(r.result.content[0].text, saying(n));
    return r;
  },
  async create(c, id) {
    const n = nonce();
    const r = await c.request('tools/call', { name: 'instant', arguments: { nonce: n }, task: {} }, { id });
    const payload = await c.request('tasks/result', { taskId: r.result.task.taskId }, { id });
    assert.equal(payload.result.content[0].text, saying(n));
    return r;
  },
  async get(c, id, t) {
    const r = await c.request('tasks/get', { taskId: t.taskId }, { id });
    assert.equal(r.result.taskId, t.taskId);
    return r;
  },
  async result(c, id, t) {
    const r = await c.request('tasks/result', { taskId: t.taskId }, { id });
    assert.equal(r.result.content[0].text, saying(t.n));
    assert.equal(r.result._meta['io.modelcontextprotocol/related-task'].taskId, t.taskId);
    return r;
  },
  async ping(c, id) {
    const r = await c.request('ping', undefined, { id });
    assert.deepEqual(r.result, {});
    return r;
  },
};

for (const id of [1, '1']) {
  test(`B2: 60 requests at once, all with the id ${JSON.stringify(id)}, of two users and four sessions: each gets its own answer`, async () => {
    const sessions = await everybody();
    const made = [];
    for (let i = 0; i < 20; i++) {
      const c = sessions[i % 4];
      made.push({ c, t: await task(c, '0.5') });
    }
    const names = Object.keys(kinds);
    const all = Array.from({ length: 60 }, (_, i) => {
      const { c, t } = made[i % 20];
      // The other broker serves the session just as well.
      const at = i % 2 ? c.at(a) : c.at(b);
      return kinds[names[i % names.length]](at, id, t);
    });
    for (const r of await Promise.all(all)) {
      assert.equal(r.id, id);
      assert.equal(r.http.messages.filter((m) => m.id !== undefined && !m.method).length, 1);
    }
  });
}

test('B2 J-09 J-10: the ids 1 and "1" are two ids, and one session may use both at once', async () => {
  const [c] = await everybody();
  const t = await task(c, '0.5');
  const u = await task(c, '0.5');
  const [r, s] = await Promise.all([kinds.result(c, 1, t), kinds.result(c.at(b), '1', u)]);
  assert.equal(r.id, 1);
  assert.equal(s.id, '1');
});

test('B2: cancelling a request ends that one, not those of the same id in other sessions or of other users', async () => {
  const sessions = await everybody();
  const calls = sessions.map((c) => {
    const n = nonce();
    return { c, n, answer: c.request('tools/call', { name: 'nonce', arguments: { nonce: n, seconds: lasting(5) } }, { id: 1 }) };
  });
  await w.waiters(a, 2, sessions[0]);
  await w.waiters(b, 2, sessions[0]);
  await sessions[0].at(b).notify('notifications/cancelled', { requestId: 1 });
  const cut = await calls[0].answer;
  assert.equal(cut.result ?? cut.error, undefined);
  assert.ok(cut.http.ms < busy(4500));
  for (const { n, answer } of calls.slice(1)) assert.equal((await answer).result.content[0].text, saying(n));
});

test('B2: cancelling a task by one request of many with the same id touches that task only', async () => {
  const sessions = await everybody();
  const made = await Promise.all(sessions.map(async (c) => ({ c, t: await task(c, '4') })));
  const waits = made.map(({ c, t }) => c.at(b).request('tasks/result', { taskId: t.taskId }, { id: 1 }));
  await w.waiters(b, 4, sessions[0]);
  await made[1].c.request('tasks/cancel', { taskId: made[1].t.taskId }, { id: 1 });
  const answers = await Promise.all(waits);
  assert.match(answers[1].error.message, /cancelled/);
  for (const i of [0, 2, 3]) assert.equal(answers[i].result.content[0].text, saying(made[i].t.n));
});

test('B2: one user cannot end another\'s requests, even with the session id in hand', async () => {
  const [c, , d] = await everybody();
  const n = nonce();
  const answer = c.request('tools/call', { name: 'nonce', arguments: { nonce: n, seconds: lasting(3) } }, { id: 1 });
  await until('it waits', async () => (await w.metric(a, 'errand_waiters')) === 1);
  const r = await d.post(JSON.stringify({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } }), { headers: { 'mcp-session-id': c.session } });
  assert.equal(r.status, 404);
  await d.notify('notifications/cancelled', { requestId: 1 });
  await sleep(100);
  assert.equal((await answer).result.content[0].text, saying(n));
});
