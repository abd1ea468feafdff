// Two brokers and two workers under load, whose exchanges with Redis are cut at random, again and
// again, and who are killed and come back: B1, B3, B6, B7. Then the books are balanced. CHAOS_MS says
// how long, CHAOS_SEED what is cut; a run is not repeated exactly, for time plays too.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { Cutter } from '../lib/cutter.mjs';
import { World, bin, lines, processes, sleep, until } from '../lib/errand.mjs';
import { lasting } from '../lib/lasting.mjs';

const MS = Number(process.env.CHAOS_MS ?? 12000);
const PATIENCE_MS = 90000;
const ATTEMPTS = 5;
let seed = Number(process.env.CHAOS_SEED ?? Date.now() % 1000000);
const first = seed;
const random = (n) => {
  seed = (Math.imul(seed, 1103515245) + 12345) & 0x7fffffff;
  return (seed >> 8) % n;
};

const w = new World({ ms: MS + 4 * PATIENCE_MS });
const cutters = {};
const programs = {};
let stopping = false;
const errand = path.join(bin, 'errand');
const job = (name, script) => ({ name, description: name, inputSchema: { type: 'object' }, attempts: ATTEMPTS, backoff: '100ms', grace: '100ms',
  run: { command: ['sh', '-c', `echo "$ERRAND_ATTEMPT" >>"$1"; ${script}`, 'sh', '{file}'] } });
const tools = { tools: [
  job('quick', 'echo ran'),
  job('slow', 'sleep 0.3; echo ran'),
  job('chatty', `${errand} progress 1 2; ${errand} log info one; ${errand} progress 2 2; echo ran`),
  job('asks', `${errand} ask --message Name? --field name:string`),
] };

async function begin(name, start) {
  const via = Object.create(w);
  via.redisUrl = cutters[name].url;
  const program = await start(via, false);
  programs[name] = program;
  program.ended.then((status) => {
    if (typeof status === 'number') program.fell = status; // not by us
    if (!stopping) begin(name, start);
  });
}

const fallen = [];
before(async () => {
  await w.startRedis({ args: ['--appendonly', 'no'] });
  for (const name of ['broker0', 'broker1', 'worker0', 'worker1']) {
    cutters[name] = await new Cutter(path.join(w.dir, `${name}.sock`), w.socket, () => programs[name].signal('SIGKILL')).listen();
  }
  const port = 15000 + (process.pid % 500) * 2; // not one that the system gives away
  for (const i of [0, 1]) {
    const keep = (via) => via.startBroker({ port: port + i, ready: false, args: ['--auth', 'key', '--rate', '0', '--max-running', '6', '--log-level', 'warn'] });
    await begin(`broker${i}`, keep);
  }
  for (const i of [0, 1]) await begin(`worker${i}`, (via) => via.startWorker({ tools, ready: false, args: ['--lease', '2s', '--slots', '4', '--log-level', 'warn'] }));
});
after(async () => {
  stopping = true;
  for (const c of Object.values(cutters)) c.close();
  await w.stop();
});

// Answers only when somebody did, at whichever broker.
async function ask(c, method, params, options = {}) {
  const end = Date.now() + PATIENCE_MS;
  let last;
  while (Date.now() < end) {
    try {
      const r = await c.at(programs[`broker${random(2)}`]).request(method, params, options);
      last = JSON.stringify(r.error ?? r.http.status);
      if (r.result) return r;
      if (r.error && !/try again|ask again|try it again/.test(r.error.message)) return r;
    } catch (e) {
      last = String(e);
    }
    await sleep(20 + random(30));
  }
  throw new Error(`no answer to ${method} ${JSON.stringify(params)} within ${PATIENCE_MS} ms: ${last}`);
}

const tasks = [];

async function oneTask(c, n) {
  const name = ['quick', 'slow', 'chatty', 'asks'][random(4)];
  const file = path.join(w.dir, `effects-${n}`);
  const params = { name, arguments: { file }, task: {}, _meta: { 'dev.errand/idempotency-key': file, progressToken: n } };
  const plain = name !== 'asks' && random(3) === 0;
  if (plain) delete params.task;
  const t = { n, name, file, plain };
  tasks.push(t);
  if (plain) {
    const { result, error } = await ask(c, 'tools/call', params);
    t.end = { result, error };
    return;
  }
  const made = await ask(c, 'tools/call', params);
  assert.ok(made.result?.task, JSON.stringify(made.error));
  t.id = made.result.task.taskId;
  if (random(6) === 0) {
    await sleep(random(300));
    await ask(c, 'tasks/cancel', { taskId: t.id });
    t.cancelled = true;
  }
  const onMessage = async (m) => {
    if (m.method !== 'elicitation/create') return;
    const body = JSON.stringify({ jsonrpc: '2.0', id: m.id, result: { action: 'accept', content: { name: 'Ada' } } });
    for (let k = 0; k < 400; k++) {
      const status = await c.at(programs[`broker${random(2)}`]).post(body).then((r) => r.status, () => 503);
      if (status < 500) return;
      await sleep(30);
    }
  };
  const { result, error } = await ask(c, 'tasks/result', { taskId: t.id }, { onMessage });
  t.end = { result, error };
  t.status = (await ask(c, 'tasks/get', { taskId: t.id })).result.status;
}

const HOW = ['lost', 'unanswered', 'lost', 'unanswered', 'killed', 'killed_late'];
async function cutAtRandom(name, till) {
  let cuts = 0;
  let known = ['tick'];
  while (Date.now() < till) {
    known = [...new Set([...known, ...cutters[name].seen])]; // a rare one as often as any
    const kind = known[random(known.length)];
    const how = kind.startsWith('message') ? ['lost', 'lost', 'killed'][random(3)] : HOW[random(HOW.length)];
    const cut = cutters[name].cutAt(kind, 1 + random(2), how);
    for (let i = 0; i < 20 && !cut.fired; i++) await sleep(20);
    if (cut.fired) cuts += 1;
    await sleep(random(300));
    if (random(20) === 0) programs[name].signal(random(2) ? 'SIGTERM' : 'SIGKILL');
  }
  cutters[name].watch();
  return cuts;
}

test('B1 B3 B6 B7: under cuts at random every task ends once, by no more executions than attempts, and nobody waits for ever', async (t) => {
  const key = await w.newKey('chaos');
  const ready = async (i) => fetch(`${programs[`broker${i}`].origin}/readyz`).then((r) => r.status === 200, () => false);
  await until('the brokers are ready', async () => (await ready(0)) && (await ready(1)), 20000);
  const c = await w.connect(programs.broker0, { key, capabilities: { elicitation: {} }, tool: 'quick' });
  await until('and know the tools', async () => (await c.at(programs.broker1).result('tools/list')).tools.length === 4, 20000);
  const till = Date.now() + MS;
  let n = 0;
  const client = async () => {
    while (Date.now() < till) await oneTask(c, n++);
  };
  const clients = Array.from({ length: 12 }, client);
  const cuts = (await Promise.all(Object.keys(cutters).map((name) => cutAtRandom(name, till)))).reduce((a, b) => a + b);
  await Promise.all(clients);
  t.diagnostic(`note: seed ${first}: ${n} tasks, ${cuts} cuts`);
  const T = 'errand:{0}:';
  await until('nothing runs', async () => (await w.keys(`${T}*`)).every((k) => !/:(ls|dl|oa:.*)$/.test(k)), 30000);
  const wrong = [];
  const st = (await w.db.call('HMGET', `${T}st`, 'r', 'e', 'x')).reduce((sum, v) => sum + Number(v ?? 0), 0);
  if (st !== n) wrong.push(`${n} tasks, ${st} ends`);
  for (const one of tasks) {
    const runs = lines(one.file).length;
    const text = one.end.result?.content?.[0]?.text ?? one.end.error?.message;
    if (runs > ATTEMPTS + 2 || (runs === 0 && !one.cancelled && !/lost in every attempt/.test(text))) wrong.push(`${JSON.stringify(one)}: ${runs} executions`);
    if (one.status && !['completed', 'failed', 'cancelled'].includes(one.status)) wrong.push(`${one.id}: ${one.status}`);
    if (!/ran|Ada|cancelled|lost in every attempt/.test(text)) wrong.push(`${JSON.stringify(one)}: ${text}`);
    const [s, ie] = one.id ? await w.db.call('HMGET', `${T}t:${one.id}`, 's', 'ie') : [];
    const status = { r: ie ? 'failed' : 'completed', e: 'failed', x: 'cancelled' }[s];
    if (one.status !== status) wrong.push(`${JSON.stringify(one)} is ${status} now`);
    if (status === 'failed' && !/lost in every attempt/.test(text)) wrong.push(`${JSON.stringify(one)} failed`);
  }
  for (const k of await w.keys()) if (!lasting(k) && (await w.db.call('PTTL', k)) === -1) wrong.push(`for ever: ${k}`);
  await until('no process of a job is left', () => !processes().some((p) => p.argv.some((a) => a.startsWith(path.join(w.dir, 'effects-')))), 20000);
  for (const p of w.programs) if (/^(broker|worker)/.test(p.name) && typeof p.status === 'number' && p.status !== 0) fallen.push(`${p.name} ended with ${p.status}: ${p.log.slice(-500)}`);
  for (const p of w.programs) if (['SIGABRT', 'SIGSEGV', 'SIGBUS'].includes(p.status)) fallen.push(`${p.name}: ${p.status}: ${p.log.slice(-2000)}`);
  wrong.push(...fallen);
  assert.equal(wrong.length, 0, `seed ${first}:\n${wrong.slice(0, 20).join('\n')}`);
  for (const one of tasks) fs.rmSync(one.file, { force: true });
});
