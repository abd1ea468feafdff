// soak.mjs DURATION [RATE] - a steady load for that long (90s, 10m, 1h), and what it does to memory,
// files, keys and children. Ends with 1 when one of them grows after the warm-up, or is not back where
// it was when the load has gone and what it made has expired.
//
// The load generator makes RATE tasks a second at one broker and fetches their results at another.
// Beside it one client after the other comes, opens a stream, runs commands, is asked, cancels, leaves.
import { spawn } from 'node:child_process';
import path from 'node:path';
import { World, below, bin, openFiles, sleep, until } from '../lib/errand.mjs';
import { lasting } from '../lib/lasting.mjs';
import { cpuOf, rssOf } from './stage.mjs';

const TTL_MS = 10000;
const SAMPLE_MS = 1000;
const benches = path.join(bin, '../bench');
const errand = path.join(bin, 'errand');

function seconds(words) {
  const m = /^(\d+)(s|m|h)$/.exec(words ?? '10m');
  if (!m) throw new Error(`a duration is a number and s, m or h, as 10m; not ${words}`);
  return Number(m[1]) * { s: 1, m: 60, h: 3600 }[m[2]];
}

const length = seconds(process.argv[2]);
const rate = Number(process.argv[3] ?? 300);
const warmup = Math.max(30, length / 4);
if (length < warmup + 30) throw new Error('the shortest soak is 60s: 30 s to warm up, 30 s to be measured');

const w = new World({ ms: (length + 300) * 1000 });
const tool = (name, script) => ({ name, description: name, inputSchema: { type: 'object' }, run: { command: ['sh', '-c', script] } });
const tools = { tools: [
  tool('say', `${errand} progress 1 2; ${errand} log info half; echo done`),
  tool('ask', `${errand} ask --message Name? --field name:string`),
  tool('long', 'sleep 30'),
] };

// What is watched, by name: how to read it, and how much more the end may have than the beginning: a
// part of it, and an amount.
const MB = 1048576;
const watched = {};
const watch = (name, read, part, amount) => { watched[name] = { read, part, amount, values: [] }; };

function watchProgram(name, program) {
  watch(`${name} RSS`, () => rssOf(program.pid), 0.05, 1.5 * MB);
  watch(`${name} fds`, () => openFiles(program.pid), 0.1, 8);
}

async function info(section, field) {
  return Number(new RegExp(`^${field}:(\\d+)`, 'm').exec(await w.db.call('INFO', section))[1]);
}

async function sample() {
  for (const one of Object.values(watched)) one.values.push(await one.read());
}

const median = (values) => [...values].sort((a, b) => a - b)[values.length >> 1];
const shown = (name, v) => (/RSS|memory/.test(name) ? `${(v / MB).toFixed(1)} MB` : String(v));

// One visit of a client; what it asks for must come.
async function visit(broker, other, key) {
  const c = await w.connect(broker, { key, capabilities: { elicitation: {} }, tool: null });
  const stream = await c.openStream();
  const said = await c.callTool('say', {}, { meta: { progressToken: 1 } });
  if (!/done/.test(said.content[0].text)) throw new Error(JSON.stringify(said));
  const { taskId } = await c.createTask('ask');
  const onMessage = (m) => m.method === 'elicitation/create'
    && c.at(other).post(JSON.stringify({ jsonrpc: '2.0', id: m.id, result: { action: 'accept', content: { name: 'Ada' } } })).catch(() => {});
  const answer = await c.at(other).result('tasks/result', { taskId }, { onMessage });
  if (!/Ada/.test(answer.content[0].text)) throw new Error(JSON.stringify(answer));
  const long = (await c.createTask('long')).taskId;
  await c.at(other).result('tasks/cancel', { taskId: long });
  stream.close();
  await c.delete();
  c.close();
  w.clients.pop();
}

async function visits(brokers, until_ms) {
  let n = 0;
  for (; Date.now() < until_ms; n++) {
    await visit(brokers[n % 2], brokers[(n + 1) % 2]);
    await sleep(200);
  }
  return n;
}

function generator(a, b) {
  const argv = ['paced', String(a.port), '-b', String(b.port), '-c', '64', '-r', String(rate), '-s', String(length), '-w', '0'];
  const child = spawn(path.join(benches, 'load'), argv, { stdio: ['ignore', 'pipe', 'inherit'] });
  process.on('exit', () => child.kill('SIGKILL'));
  let out = '';
  child.stdout.on('data', (d) => { out += d; });
  return new Promise((resolve, reject) => {
    child.once('close', (code) => (code === 0 ? resolve(JSON.parse(out.trim().split('\n').pop())) : reject(new Error(`the load ended with ${code}`))));
  });
}

function judge() {
  const bad = [];
  for (const [name, { values, part, amount }] of Object.entries(watched)) {
    const kept = values.slice(Math.floor((values.length * warmup) / length));
    const third = Math.max(1, Math.floor(kept.length / 3));
    const from = median(kept.slice(0, third));
    const to = median(kept.slice(-third));
    const grows = to > from * (1 + part) + amount;
    console.log(`${name.padEnd(16)} ${shown(name, values[0]).padStart(10)} ${shown(name, from).padStart(10)} ${shown(name, to).padStart(10)} ${shown(name, Math.max(...kept)).padStart(10)}${grows ? '   GROWS' : ''}`);
    if (grows) bad.push(`${name} grows`);
  }
  return bad;
}

async function afterwards(idle) {
  const bad = [];
  const gone = async () => (await w.db.call('KEYS', '*:t:*')).length === 0;
  await until('what was made expires', gone, TTL_MS + 30000, 500).catch((e) => bad.push(e.message));
  const forever = [];
  for (const key of await w.keys()) if (!lasting(key) && (await w.db.call('PTTL', key)) === -1) forever.push(key);
  if (forever.length) bad.push(`keys for ever: ${forever.slice(0, 5)}`);
  for (const [name, { read }] of Object.entries(watched)) {
    if (!/fds|children/.test(name)) continue;
    const back = async () => (await read()) <= idle[name];
    await until(name, back, 20000, 200).catch(async () => bad.push(`${name}: ${idle[name]} before, ${await read()} after`));
  }
  return bad;
}

async function main() {
  const unlimited = ['--auth', 'none', '--rate', '0', '--max-active', '0', '--max-running', '0', '--log-level', 'warn', '--default-ttl', `${TTL_MS}ms`];
  await w.startRedis({ args: ['--appendonly', 'no'] }); // its file would grow: that is no leak
  const a = await w.startBroker({ args: unlimited });
  const b = await w.startBroker({ args: unlimited });
  const stamp = await w.startWorker({ program: path.join(benches, 'stamp'), names: ['stamp'], args: ['--slots', '32', '--log-level', 'warn'] });
  const commands = await w.startWorker({ tools, args: ['--slots', '4', '--log-level', 'warn'] });
  await w.connect(b, { tool: 'stamp' });
  watchProgram('broker', a);
  watchProgram('second broker', b);
  watchProgram('worker', stamp);
  watchProgram('command worker', commands);
  watch('children', () => below(commands.pid).length, 0, 12);
  watch('keys', () => w.db.call('DBSIZE'), 0.2, 500);
  watch('Redis memory', () => info('memory', 'used_memory'), 0.2, 2 * MB);
  await visit(a, b);
  await sleep(1000);
  const idle = {};
  for (const [name, { read }] of Object.entries(watched)) idle[name] = await read();

  const began = Date.now();
  const cpu = [a, b, stamp, commands].map((p) => cpuOf(p.pid));
  const load = generator(a, b);
  const coming = visits([a, b], began + length * 1000);
  const failed = Promise.race([load, coming].map((p) => p.then(() => new Promise(() => {}))));
  failed.catch(() => {});
  while (Date.now() < began + length * 1000) {
    await Promise.race([failed, sleep(SAMPLE_MS)]);
    await sample();
  }
  const { n, late } = await load;
  const visited = await coming;
  console.log(`${length} s, ${n} tasks at ${rate}/s (${late} left out: no client was free), ${visited} visits; CPU of the programs ${Math.round([a, b, stamp, commands].reduce((s, p, i) => s + cpuOf(p.pid) - cpu[i], 0))} s`);
  console.log(`${''.padEnd(16)} ${['at once', `after ${Math.round(warmup)} s`, 'at the end', 'at most'].map((t) => t.padStart(10)).join(' ')}`);
  const bad = judge();
  bad.push(...(await afterwards(idle)));
  if (n < rate * length * 0.5) bad.push(`only ${n} tasks`);
  for (const line of bad) console.log(`FAIL: ${line}`);
  console.log(bad.length ? '0 passed, 1 failed' : '1 passed, 0 failed');
  return bad.length ? 1 : 0;
}

let status = 1;
try {
  status = await main();
} finally {
  await w.stop();
}

process.exit(status);
