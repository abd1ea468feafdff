// The stateless dialect while things fail: families B1 to B7, B17, B20 and B24 once more.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { after, before, test } from 'node:test';
import { World, below, busy, lines, ofTask, ran, sleep, until } from '../lib/errand.mjs';
import { Modern } from '../lib/modern.mjs';

const w = new World();
const LEASE = 4000; // so long that a machine that stalls for a second or two loses none
const args = ['--rate', '0', '--auth', 'key'];
let a;
let b;
let worker;

// A job ends after some seconds, or when its attempt is let go.
const job = 'echo "start $ERRAND_ATTEMPT" >>"$1"; if [ "$2" = told ]; then while [ ! -e "$1.go$ERRAND_ATTEMPT" ]; do sleep 0.05; done; else sleep "$2"; fi; echo "end $ERRAND_ATTEMPT" >>"$1"; echo "ran $ERRAND_ATTEMPT $3"';
const base = { description: 'Runs for a while.', inputSchema: { type: 'object' }, grace: '300ms', attempts: 3 };
const run = { command: ['sh', '-c', job, 'sh', '{file}', '{seconds}', '{nonce}'] };
const tools = {
  tools: [
    { ...base, name: 'job', taskSupport: 'required', run },
    { ...base, name: 'brief', taskSupport: 'required', ttl: '5s', run },
    { ...base, name: 'large', taskSupport: 'required', run: { command: ['sh', '-c', 'while [ ! -e "$1.go1" ]; do sleep 0.05; done; head -c 100000 /dev/zero | tr "\\0" x', 'sh', '{file}'] } },
    { ...base, name: 'soon', promoteAfter: '10ms', run },
    { ...base, name: 'plain', promoteAfter: '30s', run },
  ],
};
const startWorker = () => w.startWorker({ tools, args: ['--lease', `${LEASE}ms`, '--slots', '30'] });

before(async () => {
  await w.startRedis();
  [a, b] = await Promise.all([w.startBroker({ args }), w.startBroker({ args })]);
  worker = await startWorker();
  for (const x of [a, b]) await w.connect(x, { key: await w.newKey(`first${x.port}`), tool: 'job' });
});
after(() => w.stop());

let made = 0;
async function user(options = {}) {
  const name = `user${made++}`;
  const c = new Modern((options.broker ?? a).url, { tasks: true, key: await w.newKey(name), ...options });
  w.clients.push(c);
  return Object.assign(c, { name });
}
let files = 0;
const file = () => `${w.dir}/effects-${files++}`;
const letGo = (f, attempt = 1) => fs.writeFileSync(`${f}.go${attempt}`, '');
const text = (r) => r.content[0].text.trim();
const starts = (f) => lines(f).filter((l) => l.startsWith('start')).length;
const ended = (c, taskId, ms = 10000) => until(`end of ${taskId}`, async () => {
  const t = await c.get(taskId);
  return ['completed', 'failed', 'cancelled'].includes(t.status) && t;
}, ms);
const told = (s, taskId, status) => s.messages.filter((m) => m.params?.taskId === taskId && m.params.status === status).length;
async function start(c, seconds, name = 'job') {
  const f = file();
  const { taskId } = await c.call(name, { file: f, seconds, nonce: 'x' });
  await until('it runs', () => starts(f) === 1);
  return { f, taskId };
}

test('B1: both brokers killed in the middle of a job: it ends once, and is found at the new ones', async () => {
  const c = await user();
  const { f, taskId } = await start(c, 'told');
  await Promise.all([a.kill(), b.kill()]);
  [a, b] = await Promise.all([a, b].map((x) => w.startBroker({ args, port: x.port })));
  assert.equal((await c.at(b).get(taskId)).status, 'working');
  letGo(f);
  assert.equal(text((await ended(c, taskId)).result), 'ran 1 x');
  assert.deepEqual(lines(f), ['start 1', 'end 1']);
});

test('B6 b: the job of a killed worker runs again; who listens hears of one end', async () => {
  const c = await user();
  const { f, taskId } = await start(c, 'told');
  const s = await c.at(b).listen({ taskIds: [taskId] });
  await worker.kill();
  const killed = Date.now();
  worker = await startWorker();
  while (starts(f) < 2) {
    assert.equal((await c.get(taskId)).status, 'working');
    assert.ok(ran(killed) < busy(LEASE + 1500));
    await sleep(20);
  }
  letGo(f, 2);
  assert.equal(text((await ended(c, taskId)).result), 'ran 2 x');
  await until('the end is told', () => told(s, taskId, 'completed') === 1);
  await sleep(300);
  assert.equal(told(s, taskId, 'completed'), 1);
  assert.deepEqual(lines(f), ['start 1', 'start 2', 'end 2']);
  s.close();
});

test('B4: a TTL shorter than the job: ttlMs says what was granted, the job is stopped, the task is gone', async () => {
  const c = await user();
  const f = file();
  const t = await c.call('brief', { file: f, seconds: '20', nonce: 'x' });
  assert.equal(t.ttlMs, 5000);
  const expires = Date.parse(t.createdAt) + t.ttlMs;
  await until('it expires', async () => {
    const r = await c.at(b).request('tasks/get', { taskId: t.taskId });
    if (r.result) assert.equal(r.result.ttlMs, 5000);
    return r.error?.code === -32602;
  });
  const late = Date.now() - expires;
  assert.ok(late > -1000 && late < busy(1000), `${late} ms after`);
  await until('its process is gone', () => ofTask(t.taskId).length === 0, 2000);
  assert.deepEqual(lines(f), ['start 1']);
});

test('B5 B17: cancel stops the job; so does leaving a plain call, and that one only', async () => {
  const c = await user();
  const { taskId } = await start(c, '60');
  await c.at(b).result('tasks/cancel', { taskId });
  await until('its process is gone', () => ofTask(taskId).length === 0, 1300);
  assert.equal((await c.get(taskId)).status, 'cancelled');

  const calls = Array.from({ length: 3 }, (_, i) => {
    const cut = new AbortController();
    const f = file();
    const answer = c.at(i % 2 ? a : b).call('plain', { file: f, seconds: 'told', nonce: `n${i}` }, { id: 1, signal: cut.signal });
    return { cut, f, answer: answer.catch((e) => e.name) };
  });
  await until('all three run', () => calls.every((x) => starts(x.f) === 1));
  calls[1].cut.abort();
  assert.equal(await calls[1].answer, 'AbortError');
  await until('its process is gone', () => below(worker.pid).every((p) => !p.argv.includes(calls[1].f)));
  for (const x of calls) letGo(x.f);
  assert.equal(text(await calls[0].answer), 'ran 1 n0');
  assert.equal(text(await calls[2].answer), 'ran 1 n2');
  await sleep(500);
  assert.deepEqual(lines(calls[1].f), ['start 1']);
  await until('nothing is left', () => below(worker.pid).length === 0);
});

test('B2: 40 requests at once with one id, of two callers at two brokers, get their own answers', async () => {
  const users = [await user(), await user()];
  await Promise.all(Array.from({ length: 40 }, async (_, i) => {
    const c = users[i % 2].at(i % 4 < 2 ? a : b);
    const nonce = `n${i}`;
    const arguments_ = { file: '/dev/null', seconds: '0.2', nonce };
    if (i % 3 === 0) {
      const t = await c.call('job', arguments_, { id: 1 });
      await until('its end', async () => {
        const r = await c.request('tasks/get', { taskId: t.taskId }, { id: 1 });
        assert.equal(r.id, 1);
        assert.equal(r.result.taskId, t.taskId);
        return r.result.status === 'completed' && assert.equal(text(r.result.result), `ran 1 ${nonce}`) === undefined;
      });
    } else {
      const r = await c.request('tools/call', { name: 'plain', arguments: arguments_ }, { id: i % 3 === 1 ? 1 : '1' });
      assert.equal(r.id, i % 3 === 1 ? 1 : '1');
      assert.equal(text(r.result), `ran 1 ${nonce}`);
    }
  }));
});

test('B7: Redis is killed: calls are -32603 with 503; afterwards subscriptions, plain calls and tasks go on', async () => {
  const c = await user();
  const s = await c.at(b).listen({ taskIds: [(await start(c, '0')).taskId], toolsListChanged: true });
  const f = file();
  const pending = c.call('plain', { file: f, seconds: 'told', nonce: 'p' }).then(text, (e) => e.status);
  await until('it runs', () => starts(f) === 1);
  await w.waiters(a, 1, c);
  await w.redis.kill();
  for (const attempt of [1, 2]) letGo(f, attempt); // whatever has ended meanwhile, and what runs again
  for (const x of [a, b]) await until('readiness turns 503', async () => (await fetch(`${x.origin}/readyz`)).status === 503, 3000);
  for (const [method, params] of [['tools/call', { name: 'job', arguments: {} }], ['tools/call', { name: 'plain', arguments: {} }],
    ['tasks/get', { taskId: `00${'A'.repeat(22)}` }], ['tasks/cancel', { taskId: `00${'A'.repeat(22)}` }]]) {
    for (const x of [a, b]) {
      const began = Date.now();
      const r = await c.at(x).request(method, params);
      assert.equal(r.http.status, 503, method);
      assert.equal(r.error.code, -32603);
      assert.ok(ran(began) < busy(3000));
    }
  }
  await w.startRedis();
  for (const x of [a, b]) await until('ready', async () => (await fetch(`${x.origin}/readyz`)).status === 200, 5000);
  assert.match(String(await pending), /^ran [12] p$/);
  assert.equal(s.closed, false);
  const t = await start(c, 'told');
  const again = await c.at(b).listen({ taskIds: [t.taskId] });
  letGo(t.f);
  await until('the end is told', () => told(again, t.taskId, 'completed') === 1, 5000);
  for (const p of [a, b, worker]) assert.equal(p.status, undefined);
  again.close();
  s.close();
});

test('B7: a subscription whose task ends while messages from Redis are lost is told of the end all the same', async () => {
  const c = await user();
  const { f, taskId } = await start(c, 'told');
  const s = await c.at(b).listen({ taskIds: [taskId] });
  let over = false;
  const storm = (async () => {
    while (!over) {
      await w.db.call('CLIENT', 'KILL', 'TYPE', 'pubsub');
      await sleep(5);
    }
  })();
  letGo(f);
  await until('the job has ended', () => lines(f).length === 2);
  await until('the task has', async () => (await c.get(taskId)).status === 'completed');
  over = true;
  await storm;
  await until('the end is told', () => told(s, taskId, 'completed') === 1, 5000);
  await sleep(300);
  assert.equal(told(s, taskId, 'completed'), 1);
  s.close();
});

test('B10: a result that is too large to be announced still reaches who listens, whole', async () => {
  const c = await user();
  const f = file();
  const { taskId } = await c.call('large', { file: f });
  const s = await c.at(b).listen({ taskIds: [taskId] });
  letGo(f);
  await until('the end is told', () => told(s, taskId, 'completed') === 1, 5000);
  assert.equal(s.messages.at(-1).params.result.content[0].text, 'x'.repeat(100000));
  s.close();
});

test('B24: without a good key every method is 401 with a challenge; a revoked key is, within a second', async () => {
  const c = await user();
  const nobody = new Modern(a.url, { tasks: true, key: 'nope' });
  for (const method of ['server/discover', 'tools/list', 'tools/call', 'tasks/get', 'tasks/cancel', 'tasks/update', 'subscriptions/listen', 'nothing']) {
    const r = await nobody.request(method, { taskId: 'x', name: 'job', arguments: {}, notifications: {} }, { headers: { 'mcp-name': 'x' } });
    assert.equal(r.http.status, 401, method);
    assert.match(r.http.headers['www-authenticate'], /^Bearer /);
  }
  await c.at(b).result('tools/list');
  await c.result('tools/list');
  await w.cli('key', 'revoke', '--name', c.name);
  for (const x of [a, b]) await until('it is refused', async () => (await c.at(x).request('tools/list')).http.status === 401, 1000);
  nobody.close();
});

test('B20: the rate is 429 here too, counted together with the other dialect', async () => {
  const [x, y] = await Promise.all([0, 1].map(() => w.startBroker({ args: ['--auth', 'key', '--rate', '5/s'] })));
  const c = await user({ broker: x });
  const l = await w.connect(y, { key: c.key, tool: 'job' });
  await sleep(200); // its initialize has counted
  const quick = { name: 'job', arguments: { file: '/dev/null', seconds: '0', nonce: 'x' } };
  const began = performance.now();
  const answers = await Promise.all(Array.from({ length: 20 }, (_, i) => (i % 2 ? c.request('tools/call', quick) : l.request('tools/call', { ...quick, task: {} }))));
  const atMost = 5 + Math.floor((performance.now() - began) / 200);
  const taken = answers.filter((r) => r.result).length;
  assert.ok(taken >= 5 && taken <= atMost, `${taken} of 5..${atMost}`);
  for (const r of answers.filter((z) => !z.result)) {
    assert.equal(r.http.status, 429);
    assert.ok(Number(r.http.headers['retry-after']) >= 1);
    assert.ok(r.error.data.retryAfterMs > 0);
  }
});

test('a call that Redis will not make a task of is tried again at leisure, and becomes one', async () => {
  const c = await user();
  const refused = async () => Number(/errorstat_WRONGTYPE:count=(\d+)/.exec(await w.db.call('INFO', 'errorstats'))?.[1] ?? 0);
  const { taskId } = await start(c, '0'); // so that the owner is known
  const owner = await w.db.call('HGET', `errand:{0}:t:${taskId}`, 'o');
  await ended(c, taskId);
  await w.db.call('SET', `errand:{0}:o:${owner}`, 'of another type');
  const before = await refused();
  const f = file();
  const began = performance.now();
  const called = c.call('soon', { file: f, seconds: '30', nonce: 'x' });
  await until('it is refused', async () => (await refused()) > before);
  await sleep(800);
  const count = (await refused()) - before;
  const took = performance.now() - began; // a little more than the sleep, unless the machine stalls
  await w.db.call('DEL', `errand:{0}:o:${owner}`);
  assert.equal((await called).resultType, 'task');
  assert.ok(count <= 2 + Math.max(0, took - 1000) / 400, `tried ${count} times in ${took} ms`);
});

test('of ten brokers that wait for one task, eight of whom are told at once, each hears of its end within seconds', async () => {
  const c = await user();
  const { taskId } = await start(c, '60');
  const l = await w.connect(a, { key: c.key, tool: 'job' });
  const [key] = await w.keys(`errand:{*}:t:${taskId}`);
  const waiting = async () => ((await w.db.call('HGET', key, 'wb')) ?? '').split(',').filter(Boolean);
  const more = await Promise.all(Array.from({ length: 8 }, () => w.startBroker({ args })));
  const result = l.request('tasks/result', { taskId });
  await until('it waits', async () => (await waiting()).length === 1);
  const [first] = await waiting();
  const streams = [];
  for (const broker of [a, b, ...more]) streams.push(await c.at(broker).listen({ taskIds: [taskId] }));
  await until('the first had to make room', async () => !(await waiting()).includes(first));
  await c.result('tasks/cancel', { taskId });
  for (const s of streams) await until('its end', () => told(s, taskId, 'cancelled') > 0);
  assert.ok((await result).error);
  assert.ok(streams.every((s) => told(s, taskId, 'cancelled') === 1));
  await Promise.all(more.map((x) => x.kill()));
});

test('B20: a subscription counts once for each task it names, and is refused over the rate', async () => {
  const x = await w.startBroker({ args: ['--auth', 'key', '--rate', '5/s'] });
  const c = await user({ broker: x });
  const { taskId } = await start(c, '0');
  const ids = Array.from({ length: 100 }, () => taskId); // 20 s of the rate: what a stall takes of it is little
  for (let i = 0; i < 10; i++) assert.equal((await c.listen({ toolsListChanged: true, taskIds: ['nope'] })).status, 200, 'no look-up, no count');
  const s = await c.listen({ taskIds: ids });
  assert.equal(s.status, 200);
  assert.deepEqual(s.messages[0].params.notifications.taskIds, ids);
  const r = await c.request('tasks/get', { taskId });
  assert.equal(r.http.status, 429);
  assert.equal(r.error.code, 1001);
  assert.ok(r.error.data.retryAfterMs > 10000 && r.error.data.retryAfterMs <= 20200, `${r.error.data.retryAfterMs}`);
  const refused = await c.request('subscriptions/listen', { notifications: { taskIds: [taskId] } });
  assert.equal(refused.http.status, 429);
  assert.equal(refused.error.code, 1001);
  assert.ok(Number(refused.http.headers['retry-after']) >= 1);
});
