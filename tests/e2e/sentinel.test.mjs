// Redis behind Sentinel: redis+sentinel:// (families B7; R10, R11). Three sentinels, a primary and a
// replica, all with a password.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { World, freePort, lines, sleep, until } from '../lib/errand.mjs';
import { Redis } from '../lib/resp.mjs';

const w = new World();
const password = 'not-to-be-logged';
const tools = { tools: [{ name: 'job', description: 'Runs for a while.', inputSchema: { type: 'object' }, attempts: 5, run: { command: ['sh', '-c', 'echo start >>"$1"; while [ "$2" != free ] && [ ! -e "$2" ]; do sleep 0.05; done; echo end >>"$1"; echo ran', 'sh', '{file}', '{until}'] } }] };
const slots = 4;
const nodes = []; // { port, program }
const sentinels = [];
let a;
let b;
let worker;
let c;

const dial = async (port) => {
  const db = new Redis({ host: '127.0.0.1', port });
  await db.call('AUTH', password);
  return db;
};

// One command, on a connection of its own.
async function ask(port, ...words) {
  const db = await dial(port);
  try {
    return await db.call(...words);
  } finally {
    db.close();
  }
}

const answers = (port) => until(`port ${port} answers`, () => ask(port, 'PING').catch(() => false));

async function startNode(port, primary) {
  const dir = path.join(w.dir, `node-${port}`);
  fs.mkdirSync(dir, { recursive: true });
  const words = ['--port', String(port), '--bind', '127.0.0.1', '--dir', dir, '--appendonly', 'yes', '--appendfsync', 'always', '--save', '',
    '--requirepass', password, '--masterauth', password, '--repl-diskless-sync-delay', '0'];
  if (primary) words.push('--replicaof', `127.0.0.1 ${primary}`);
  const program = w.run(`redis:${port}`, [w.server, ...words]);
  await answers(port);
  return { port, program };
}

async function startSentinel(primary) {
  const port = await freePort();
  const file = path.join(w.dir, `sentinel-${port}.conf`);
  fs.writeFileSync(file, [`port ${port}`, 'bind 127.0.0.1', `dir ${w.dir}`, `requirepass ${password}`, 'sentinel resolve-hostnames no',
    `sentinel sentinel-pass ${password}`, `sentinel monitor prime 127.0.0.1 ${primary} 2`, `sentinel auth-pass prime ${password}`,
    'sentinel down-after-milliseconds prime 3000', 'sentinel failover-timeout prime 4000', ''].join('\n'));
  const program = w.run(`sentinel:${port}`, [w.server, file, '--sentinel']);
  await answers(port);
  // Ten seconds, by default, between two looks at a server. It makes a replica of the former primary
  // only where it has looked at the new one within two periods. A machine that stood still would
  // have it do nothing for half a minute.
  await ask(port, 'SENTINEL', 'DEBUG', 'info-period', '1000', 'publish-period', '200', 'tilt-trigger', '30000', 'tilt-period', '1000');
  return { port, program };
}

const primaryPort = async () => Number((await ask(sentinels[0].port, 'SENTINEL', 'GET-MASTER-ADDR-BY-NAME', 'prime'))[1]);
const role = async (port) => (await ask(port, 'ROLE').catch(() => []))[0];

// What the primary holds now, its replica holds too: a failover before that loses it, as documented.
async function synced(port) {
  const info = async () => Object.fromEntries((await ask(port, 'INFO', 'replication')).split('\r\n').map((l) => l.split(/:(.*)/)));
  const offset = Number((await info()).master_repl_offset);
  await until('the replica has it all', async () => {
    const m = /state=online,offset=(\d+)/.exec((await info()).slave0 ?? '');
    return m && Number(m[1]) >= offset;
  }, 20000, 50);
}

const flat = (list) => Object.fromEntries(list.flatMap((v, i) => (i % 2 ? [] : [[v, list[i + 1]]])));
const ready = async (broker) => (await fetch(`${broker.origin}/readyz`)).status === 200;

before(async () => {
  const ports = [await freePort(), await freePort()];
  nodes.push(await startNode(ports[0]));
  nodes.push(await startNode(ports[1], ports[0]));
  for (let i = 0; i < 3; i++) sentinels.push(await startSentinel(ports[0]));
  await until('the sentinels know each other and the replica', async () => {
    for (const s of sentinels) {
      const m = flat(await ask(s.port, 'SENTINEL', 'MASTER', 'prime'));
      if (m['num-slaves'] !== '1' || m['num-other-sentinels'] !== '2' || m.flags !== 'master') return false;
    }
    return true;
  }, 20000, 100);
  w.redisUrl = `redis+sentinel://:${password}@127.0.0.1:1,${sentinels.map((s) => `127.0.0.1:${s.port}`).join(',')}/prime/0`;
  w.db = await dial(ports[0]);
  const args = ['--rate', '0', '--max-running', '0'];
  [a, b] = await Promise.all([w.startBroker({ args }), w.startBroker({ args })]);
  worker = await w.startWorker({ tools, args: ['--lease', '60s', '--slots', String(slots)] });
  c = await w.connect(a, { tool: 'job' });
});
after(() => w.stop());

// A held job ends when it is let go, not by itself: what ends between the last look at the replica
// and the death of the primary is lost, as documented.
let files = 0;
async function start({ held = false } = {}) {
  const f = `${w.dir}/effects-${files++}`;
  const { taskId } = await c.createTask('job', { file: f, until: held ? `${f}.go` : 'free' });
  return { taskId, f };
}
const letGo = ({ f }) => fs.writeFileSync(`${f}.go`, '');
const result = (broker, taskId) => c.at(broker).result('tasks/result', { taskId });
const recovered = () => Promise.all([a, b].map((x) => until('ready again', () => ready(x), 30000)));

// Sentinel gives a failover up when a server does not answer it for a moment: then it is asked again.
let asked = 0;
async function failedOver(old) {
  if ((await primaryPort()) !== old) return true;
  if (Date.now() - asked > 5000) {
    await ask(sentinels[0].port, 'SENTINEL', 'FAILOVER', 'prime').catch(() => {});
    asked = Date.now();
  }
  return false;
}

function withLogs(e) {
  e.message += sentinels.map((s) => `\n-- sentinel ${s.port}:\n${s.program.log.slice(-3000)}`).join('');
  throw e;
}

function nothingRestarted() {
  for (const p of [a, b, worker]) {
    assert.equal(p.status, undefined, p.log.slice(-2000));
    assert.equal(p.log.includes(password), false);
  }
}

test('R10: SENTINEL FAILOVER under a job, waiters and a stream: all goes on at the new primary', async () => {
  const old = await primaryPort();
  const j = await start({ held: true });
  await until('it runs', () => lines(j.f).length === 1);
  const waits = [a, b].map((x) => result(x, j.taskId));
  await w.waiters(a, 1, c);
  await synced(old);
  await until('the other one is the primary', () => failedOver(old), 20000, 50);
  await until('the one that is not the primary is a replica', async () => {
    const now = await primaryPort();
    const other = nodes.find((n) => n.port !== now).port;
    return (await role(now)) === 'master' && (await role(other)) === 'slave';
  }, 30000, 50).catch(withLogs);
  await recovered();
  letGo(j); // what the worker tells the old one before that is lost, as documented
  for (const r of await Promise.all(waits)) assert.equal(r.content[0].text.trim(), 'ran');
  assert.deepEqual(lines(j.f), ['start', 'end']);
  const next = await start();
  assert.equal((await result(b, next.taskId)).content[0].text.trim(), 'ran');
  nothingRestarted();
});

test('B7: the primary dies for good: errors that can be tried again meanwhile, then all that was replicated goes on', async () => {
  const old = await primaryPort();
  const running = [];
  for (let i = 0; i < slots; i++) running.push(await start({ held: true }));
  await until('they run', () => running.every((j) => lines(j.f).length === 1));
  const queued = [];
  for (let i = 0; i < 5; i++) queued.push(await start());
  const all = [...running, ...queued];
  const waits = all.map((q) => result(b, q.taskId));
  await w.waiters(b, all.length, c);
  await synced(old);
  await nodes.find((n) => n.port === old).program.kill();
  await until('the broker knows', async () => !(await ready(a)), 5000);
  const refused = await c.request('tools/call', { name: 'job', arguments: { file: '/dev/null', until: 'free' }, task: {} });
  if (refused.error) {
    assert.equal(refused.error.code, -32603);
    assert.equal(refused.http.status, 503);
  }
  await until('the other one is the primary', async () => (await primaryPort()) !== old, 20000, 50);
  await recovered();
  for (const j of running) letGo(j);
  for (const r of await Promise.all(waits)) assert.equal(r.content[0].text.trim(), 'ran');
  for (const q of all) assert.deepEqual(lines(q.f), ['start', 'end']);
  const again = await start();
  assert.equal((await result(a, again.taskId)).content[0].text.trim(), 'ran');
  nothingRestarted();

  // It comes back, takes itself for a primary for a moment, and is made a replica.
  await startNode(old);
  await until('it is a replica', async () => (await role(old)) === 'slave', 30000, 50).catch(withLogs);
  const last = await start();
  assert.equal((await result(b, last.taskId)).content[0].text.trim(), 'ran');
  nothingRestarted();
});

test('two sentinels of three are enough, and the operator sees where Redis is', async () => {
  await sentinels[0].program.kill();
  sentinels.shift();
  const { status, out } = await w.cli('queue', '--json');
  assert.equal(status, 0);
  assert.equal(JSON.parse(out).workers, 1);
  const p = await primaryPort();
  await ask(p, 'CLIENT', 'KILL', 'TYPE', 'normal');
  await sleep(50);
  await recovered();
  const j = await start();
  assert.equal((await result(a, j.taskId)).content[0].text.trim(), 'ran');
  nothingRestarted();
});
