// Brokers and workers that are asked to stop: family B22.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import net from 'node:net';
import { after, before, test } from 'node:test';
import { World, busy, freePort, lines, ofTask, processes, ran, sleep, until } from '../lib/errand.mjs';
import { exchange, SseReader } from '../lib/client.mjs';
import { Modern } from '../lib/modern.mjs';

const w = new World();
let b; // a broker that stays

const job = 'echo "start $ERRAND_ATTEMPT" >>"$1"; if [ "$2" = told ]; then while [ ! -e "$1.go" ]; do sleep 0.05; done; else sleep "$2"; fi; echo "end $ERRAND_ATTEMPT" >>"$1"; echo "ran $ERRAND_ATTEMPT"';
const tools = { tools: [{ name: 'job', description: 'Runs for a while.', inputSchema: { type: 'object' }, grace: '500ms', attempts: 2, run: { command: ['sh', '-c', job, 'sh', '{file}', '{seconds}'] } }] };
const args = ['--rate', '0', '--grace', '10s'];
const workerArgs = ['--lease', '30s', '--slots', '8'];
let worker;
let c;

before(async () => {
  await w.startRedis();
  b = await w.startBroker({ args });
  worker = await w.startWorker({ tools, args: [...workerArgs, '--grace', '10s'] });
  c = await w.connect(b, { tool: 'job' });
});
after(() => w.stop());

let files = 0;
const file = () => `${w.dir}/effects-${files++}`;
const letGo = (f) => fs.writeFileSync(`${f}.go`, '');
const text = (r) => r.content[0].text.trim();
const probe = (broker) => fetch(`${broker.origin}/readyz`).then((r) => r.status, () => 'closed');

// What a client does whose stream ended before the answer: it resumes elsewhere.
async function resume(mine, broker, r) {
  assert.equal(r.result ?? r.error, undefined);
  assert.ok(r.http.events.some((e) => e.retry > 0), 'it is told when to come back');
  const last = r.http.events.filter((e) => e.id).at(-1).id;
  const stream = await mine.at(broker).openStream({ headers: { 'last-event-id': last } });
  assert.equal(stream.status, 200);
  return stream;
}

test('B22: SIGTERM of a broker with 10 streams and 5 waiters: all of them end well, at once, with status 0', async () => {
  const a = await w.startBroker({ args });
  const mine = await w.connect(a, { tool: 'job' });
  const { taskId } = await mine.createTask('job', { file: file(), seconds: '30' });
  const streams = [];
  for (let i = 0; i < 10; i++) streams.push(await (await w.connect(a, { tool: 'job' })).openStream());
  const json = { headers: { accept: 'application/json' } };
  const waits = Array.from({ length: 5 }, (_, i) => mine.request('tasks/result', { taskId }, i < 2 ? json : {}));
  await w.waiters(a, 5, mine);
  await w.streams(a, 10 + 3);

  const began = Date.now();
  a.signal('SIGTERM');
  await until('readiness turns 503', async () => (await probe(a)) === 503, 1000, 5);
  assert.ok(ran(began) < busy(500), `503 after ${ran(began)} ms`);
  const answers = await Promise.all(waits);
  for (const r of answers.slice(0, 2)) {
    assert.equal(r.error.code, -32603);
    assert.match(r.error.message, /restarting; ask again/);
    assert.equal(r.http.status, 503);
  }
  await until('the streams end', () => streams.every((s) => s.closed), 1000);
  for (const s of streams) assert.equal(s.cut, undefined, 'they end, they are not cut');
  assert.equal(await a.ended, 0);
  assert.ok(ran(began) < busy(3000), `${ran(began)} ms`);
  assert.match(a.log, /event=STOPPED.*reason=drained/);

  // The same questions at the other broker.
  const resumed = await Promise.all(answers.slice(2).map((r) => resume(mine, b, r)));
  assert.equal((await mine.at(b).getTask(taskId)).status, 'working');
  const again = mine.at(b).request('tasks/result', { taskId });
  await mine.at(b).result('tasks/cancel', { taskId });
  assert.match((await again).error.message, /cancelled/);
  for (const s of resumed) {
    await until('its answer', () => s.messages.some((m) => m.error));
    assert.match(s.messages.at(-1).error.message, /cancelled/);
  }
});

test('B22: who comes to a broker that leaves is served or not let in, never cut; a reader that takes streams is sent elsewhere', async () => {
  const a = await w.startBroker({ args });
  const mine = await w.connect(a, { tool: 'job' });
  const { taskId } = await mine.createTask('job', { file: file(), seconds: '30' });
  const ask = (method, accept) => exchange(a.url, {
    headers: { ...mine.headers(), accept, connection: 'close' },
    body: JSON.stringify({ jsonrpc: '2.0', id: `${method}/${accept}`, method, params: { taskId } }),
  }).catch((e) => e);
  const outcomes = [];
  const knock = async () => {
    for (;;) {
      const r = await ask('tasks/get', mine.accept);
      if (r.code === 'ECONNREFUSED') return;
      outcomes.push(r instanceof Error ? r.code : r.status);
    }
  };
  const knocking = Array.from({ length: 6 }, knock);
  await until('they knock', () => outcomes.length > 20);
  a.signal('SIGTERM');
  await until('readiness turns 503', async () => (await probe(a)) === 503, 1000, 5);
  const [late, plain] = await Promise.all([mine.request('tasks/result', { taskId }), ask('tasks/result', 'application/json')]);
  await Promise.all(knocking);
  assert.equal(await a.ended, 0);
  assert.deepEqual(outcomes.filter((o) => o !== 200), []);
  assert.equal(plain.status, 503);
  await resume(mine, b, late);
  await mine.at(b).result('tasks/cancel', { taskId });
});

test('B22: who was inside when a broker left is served: behind a slow Redis, with a slow line, or before a word was said', async () => {
  const a = await w.startBroker({ args });
  const mine = await w.connect(a, { tool: 'job' });
  const post = (id, method, params) => {
    const body = JSON.stringify({ jsonrpc: '2.0', id, method, params });
    const headers = { ...mine.headers(), host: new URL(a.origin).host, accept: 'application/json', 'content-length': Buffer.byteLength(body) };
    return `POST /mcp HTTP/1.1\r\n${Object.entries(headers).map(([k, v]) => `${k}: ${v}\r\n`).join('')}\r\n${body}`;
  };
  const come = async (first) => {
    const s = net.connect(new URL(a.origin).port, '127.0.0.1');
    s.said = '';
    s.on('data', (d) => (s.said += d)).on('error', (e) => (s.said += e.code));
    await new Promise((resolve) => s.once('connect', resolve));
    s.write(first);
    return s;
  };
  const create = post(1, 'tools/call', { name: 'job', arguments: { file: file(), seconds: '0' }, task: {} });
  const get = post(2, 'tasks/get', { taskId: (await mine.createTask('job', { file: file(), seconds: '0' })).taskId });
  w.redis.signal('SIGSTOP');
  const slow = await Promise.all([come(create), come(get)]);
  const dribbles = await come(get.slice(0, 40));
  const silent = await come('');
  a.signal('SIGTERM');
  await until('it leaves', () => /event=STOPPING/.test(a.log));
  await sleep(1500); // the door has long been closed
  w.redis.signal('SIGCONT');
  dribbles.write(get.slice(40));
  silent.write(get);
  assert.equal(await a.ended, 0);
  for (const s of [...slow, dribbles, silent]) assert.match(s.said, /^HTTP.1.1 200 [^]*"result":/);
  assert.match(slow[0].said, /"taskId"/);
});

test('B22: a stream that is opened at a broker that leaves ends as well as those that were there', async () => {
  const a = await w.startBroker({ args });
  const mine = await w.connect(a, { tool: 'job' });
  const { taskId } = await mine.createTask('job', { file: file(), seconds: '30' });
  const cut = new AbortController();
  const events = [];
  const reader = new SseReader((e) => events.push(e));
  const waiting = exchange(b.url, {
    headers: mine.headers(),
    body: JSON.stringify({ jsonrpc: '2.0', id: 'r', method: 'tasks/result', params: { taskId } }),
    onChunk: (d) => reader.feed(d),
    signal: cut.signal,
  }).catch(() => {});
  const { id } = await until('its stream is open', () => events.find((e) => e.id));
  cut.abort();
  await waiting;

  a.signal('SIGTERM');
  await until('readiness turns 503', async () => (await probe(a)) === 503, 1000, 5);
  const modern = new Modern(a.url);
  const [resumed, fresh, listening] = await Promise.all([
    mine.openStream({ headers: { 'last-event-id': id } }),
    mine.openStream(),
    modern.listen({ toolsListChanged: true }, { id: 'sub' }),
  ]);
  assert.equal(await a.ended, 0);
  for (const s of [resumed, fresh]) {
    await until('it ends', () => s.closed, 1000);
    assert.equal(s.cut, undefined, 'it ends, it is not cut');
    assert.ok(s.events.some((e) => e.retry > 0), 'its client is told when to come back');
  }
  assert.equal(listening.messages.at(-1).result?.resultType, 'complete');
  modern.close();
  const elsewhere = await mine.at(b).openStream({ headers: { 'last-event-id': id } });
  await mine.at(b).result('tasks/cancel', { taskId });
  await until('its answer', () => elsewhere.messages.some((m) => m.id === 'r'));
});

test('B22: who comes to a broker that starts is served, or not let in yet', async () => {
  const port = await freePort();
  const mine = c.at({ url: `http://127.0.0.1:${port}/mcp` });
  const starting = w.startBroker({ args, port });
  const outcomes = [];
  await until('it serves', async () => {
    const r = await mine.request('tools/list').catch((e) => e);
    if (r.code !== 'ECONNREFUSED') outcomes.push(r.result?.tools.length ?? r);
    return outcomes.length >= 20;
  }, 10000, 1);
  assert.deepEqual(outcomes, Array(20).fill(1));
  await (await starting).kill('SIGTERM');
});

test('B22: a plain call under way is finished within the grace', async () => {
  const a = await w.startBroker({ args });
  const mine = await w.connect(a, { tool: 'job' });
  const f = file();
  const call = mine.callTool('job', { file: f, seconds: 'told' });
  await until('it runs', () => lines(f).length === 1);
  a.signal('SIGTERM');
  await until('readiness turns 503', async () => (await probe(a)) === 503, 1000, 5);
  letGo(f);
  assert.equal(text(await call), 'ran 1');
  assert.equal(await a.ended, 0);
});

test('B22: a broker leaves with its grace though a plain call takes longer; the job goes on, and its answer is fetched elsewhere', async () => {
  const a = await w.startBroker({ args: ['--rate', '0', '--grace', '1500ms'] });
  const mine = await w.connect(a, { tool: 'job' });
  const f = file();
  const params = { name: 'job', arguments: { file: f, seconds: 'told' } };
  const call = mine.request('tools/call', params);
  const plain = mine.request('tools/call', params, { headers: { accept: 'application/json' } });
  const given = file();
  const modern = new Modern(a.url);
  const ended = modern.request('tools/call', { name: 'job', arguments: { file: given, seconds: 'told' } });
  await until('all run', () => lines(f).length === 2 && lines(given).length === 1);
  const began = Date.now();
  a.signal('SIGTERM');
  assert.match((await plain).error.message, /ask again/);
  const gone = await ended; // there is no coming back to it: it is cancelled, as if its client had left
  assert.match(gone.http.headers['content-type'], /^text.event-stream/);
  assert.match(gone.error?.message ?? '', /ask again/);
  const r = await call;
  assert.equal(await a.ended, 0);
  assert.ok(ran(began) < busy(1500 + 500), `${ran(began)} ms`);
  const stream = await resume(mine, b, r);
  letGo(f);
  await until('its answer', () => stream.messages.some((m) => m.result));
  assert.equal(text(stream.messages.at(-1).result), 'ran 1');
  await until('the other one has ended too', () => lines(f).length >= 4);
  assert.deepEqual(lines(f).sort(), ['end 1', 'end 1', 'start 1', 'start 1']);
  await until('nothing is left of what was cancelled', () => !processes().some((p) => p.argv.includes(given)));
  assert.deepEqual(lines(given), ['start 1']);
  modern.close();
});

test('B22: new work is refused or not accepted while draining; a second signal ends it at once', async () => {
  const a = await w.startBroker({ args: ['--rate', '0', '--grace', '20s'] });
  const mine = await w.connect(a, { tool: 'job' });
  const f = file();
  const call = mine.callTool('job', { file: f, seconds: 'told' }).catch((e) => e);
  await until('it runs', () => lines(f).length === 1);
  a.signal('SIGTERM');
  await until('readiness turns 503', async () => (await probe(a)) === 503, 1000, 5);
  const r = await exchange(a.url, { headers: mine.headers(), body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tasks/result', params: { taskId: 'x' } }) }).catch((e) => e);
  assert.ok(r instanceof Error || r.status >= 400 || JSON.parse(r.body).error, 'nothing begins here any more');
  const began = Date.now();
  a.signal('SIGTERM');
  await a.ended;
  assert.ok(ran(began) < busy(1000));
  await call;
  letGo(f); // nothing of it is left for a worker to wait for
  await until('its job has ended', () => lines(f).length === 2);
});

test('B22: SIGTERM of a worker: what can end within its grace ends here, and nothing new begins', async () => {
  const f = file();
  const g = file();
  const { taskId } = await c.createTask('job', { file: f, seconds: 'told' });
  await until('it runs', () => lines(f).length === 1);
  const began = Date.now();
  worker.signal('SIGTERM');
  await until('it drains', () => /event=STOPPING/.test(worker.log));
  const next = await c.createTask('job', { file: g, seconds: '0' });
  letGo(f);
  assert.equal(text(await c.result('tasks/result', { taskId })), 'ran 1');
  assert.equal(await worker.ended, 0);
  assert.ok(ran(began) < busy(4000));
  assert.deepEqual(lines(g), []);
  worker = await w.startWorker({ tools, args: [...workerArgs, '--grace', '1s'] });
  assert.equal(text(await c.result('tasks/result', { taskId: next.taskId })), 'ran 1');
});

test('B22: what cannot end is handed back: another worker runs it at once, and the attempt is not counted', async () => {
  const f = file();
  const { taskId } = await c.createTask('job', { file: f, seconds: 'told' });
  await until('it runs', () => lines(f).length === 1);
  const began = Date.now();
  const second = await w.startWorker({ tools, args: [...workerArgs, '--grace', '1s'] });
  worker.signal('SIGTERM');
  assert.equal(await worker.ended, 0);
  assert.ok(ran(began) < busy(2500), 'it left within its grace');
  await until('the other has it', () => lines(f).length === 2, 1500); // far less than a lease
  assert.deepEqual(lines(f), ['start 1', 'start 1']);
  assert.equal((await c.getTask(taskId)).status, 'working');
  letGo(f);
  assert.equal(text(await c.result('tasks/result', { taskId })), 'ran 1');
  worker = second;
});

test('B22: handed back four times with two attempts: it is still run in the end', async () => {
  const f = file();
  const { taskId } = await c.createTask('job', { file: f, seconds: 'told' });
  for (let i = 1; i <= 4; i++) {
    await until('it runs', () => lines(f).length === i);
    await worker.kill('SIGTERM');
    assert.equal(worker.status, 0);
    assert.deepEqual(ofTask(taskId), []);
    worker = await w.startWorker({ tools, args: [...workerArgs, '--grace', '600ms'] });
  }
  letGo(f);
  assert.equal(text(await c.result('tasks/result', { taskId })), 'ran 1');
});

test('B22: a worker\'s tools stay listed while it is replaced', async () => {
  await worker.kill('SIGTERM');
  assert.deepEqual((await c.result('tools/list')).tools.map((t) => t.name), ['job']);
  const { taskId } = await c.createTask('job', { file: file(), seconds: '0' });
  worker = await w.startWorker({ tools, args: [...workerArgs, '--grace', '1s'] });
  assert.equal(text(await c.result('tasks/result', { taskId })), 'ran 1');
});

test('B22: with Redis away, broker and worker stop all the same', async () => {
  const a = await w.startBroker({ args: ['--rate', '0', '--grace', '2s'] });
  const mine = await w.connect(a, { tool: 'job' });
  const f = file();
  const { taskId } = await mine.createTask('job', { file: f, seconds: '30' });
  const waiting = mine.request('tasks/result', { taskId });
  await w.waiters(a, 1, mine);
  await until('it runs', () => lines(f).length === 1);
  await w.redis.kill();
  a.signal('SIGTERM');
  worker.signal('SIGTERM');
  const began = Date.now();
  await waiting; // it ends, with or without an answer
  assert.equal(await a.ended, 0);
  assert.equal(await worker.ended, 0);
  assert.ok(ran(began) < busy(3000));
  assert.deepEqual(ofTask(taskId), []);
  await w.startRedis();
});
