// What it costs to do nothing, and that work leaves nothing in the programs: family B23.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { after, before, test } from 'node:test';
import { World, openFiles, sleep, until } from '../lib/errand.mjs';

const w = new World();
let broker;
let worker;
let c;

const tools = { tools: [
  { name: 'brief', description: 'Ends at once.', inputSchema: { type: 'object' }, run: { command: ['echo', 'done'] } },
  { name: 'long', description: 'Goes on.', inputSchema: { type: 'object' }, run: { command: ['sleep', '100'] } },
] };

before(async () => {
  await w.startRedis({ args: ['--appendonly', 'no'] });
  broker = await w.startBroker({ args: ['--rate', '0', '--max-running', '0', '--max-active', '0', '--default-ttl', '8s', '--log-level', 'warn'] });
  worker = await w.startWorker({ tools, args: ['--slots', '8', '--log-level', 'warn'] });
  c = await w.connect(broker, { tool: 'brief' });
});
after(() => w.stop());

const status = (pid, name) => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(fs.readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) * 1024;
// A sanitizer reserves terabytes, keeps what was freed, and takes its time.
const isChecked = (pid) => status(pid, 'VmSize') > 2 ** 40;

// What this process took of one core while it was not looked at: all threads, by the scheduler's count.
const cpuMs = (pid) => fs.readdirSync(`/proc/${pid}/task`)
  .reduce((sum, t) => sum + Number(fs.readFileSync(`/proc/${pid}/task/${t}/schedstat`, 'utf8').split(' ')[0]), 0) / 1e6;

// Calls as they come: by task and plain, refused, unknown, with sessions that come and go.
async function churn(rounds) {
  for (let i = 0; i < rounds; i++) {
    await Promise.all(Array.from({ length: 8 }, async () => {
      const { taskId } = await c.createTask('brief');
      await c.result('tasks/result', { taskId });
      await c.callTool('brief');
      await c.request('tasks/get', { taskId: `00${'A'.repeat(22)}` });
      await c.request('tools/call', { name: 'nobody', arguments: {} });
      await c.post('{"jsonrpc":');
    }));
    const mine = await w.connect(broker, { tool: null });
    const stream = await mine.openStream();
    const { taskId } = await mine.createTask('long');
    await mine.result('tasks/cancel', { taskId });
    await mine.delete();
    await until('its stream ends', () => stream.closed);
    mine.close();
    w.clients.pop();
  }
}

test('B23: after some hundred calls memory and files are where they were after the first ones', async () => {
  const programs = [broker, worker];
  await churn(10);
  const files = programs.map((p) => openFiles(p.pid));
  // What leaks grows each time; a heap that had to become larger once, on a slow machine, does not.
  let grown;
  for (let i = 0; i < 3; i++) {
    const from = programs.map((p) => status(p.pid, 'VmRSS'));
    await churn(20);
    grown = programs.map((p, n) => (isChecked(p.pid) ? 0 : status(p.pid, 'VmRSS') - from[n]));
    if (grown.every((g) => g < 1 << 20)) break;
  }
  programs.forEach((p, n) => assert.ok(grown[n] < 1 << 20, `${p.name} grew by ${grown[n]} bytes`));
  for (const [n, p] of programs.entries()) await until(`${p.name} has ${files[n]} files open`, () => openFiles(p.pid) <= files[n] + 2);
  await until('its tasks have expired', async () => (await w.keys('errand:{0}:t:*')).length === 0, 30000, 100);
  for (const k of await w.keys('errand:{0}:*')) {
    if (!/:(sq|st)$/.test(k)) assert.ok((await w.db.call('PTTL', k)) > 0, `${k} lives for ever`);
  }
});

test('B23: a broker that holds streams and waiters, and a worker that runs a job, take next to no CPU', async () => {
  const { taskId } = await c.createTask('long', {}, { ttl: 60000 });
  const waits = Array.from({ length: 20 }, () => c.request('tasks/result', { taskId }));
  const streams = [];
  for (let i = 0; i < 20; i++) streams.push(await (await w.connect(broker, { tool: null })).openStream());
  await w.waiters(broker, 20, c);
  await sleep(1000); // what was begun has settled
  const programs = [broker, worker];
  const from = programs.map((p) => cpuMs(p.pid));
  const began = performance.now();
  await sleep(8000);
  const ms = performance.now() - began;
  programs.forEach((p, i) => {
    const share = (100 * (cpuMs(p.pid) - from[i])) / ms;
    assert.ok(share < (isChecked(p.pid) ? 4 : 1), `${p.name} took ${share.toFixed(2)} % of a core`);
  });
  await c.result('tasks/cancel', { taskId });
  for (const r of await Promise.all(waits)) assert.match(r.error.message, /cancelled/);
  for (const s of streams) s.close();
});
