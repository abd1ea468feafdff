// errand.mjs - a private Redis, brokers and workers for one test file. All end with it.
import { spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client } from './client.mjs';
import { Redis } from './resp.mjs';
import { busy, sleep, until } from './time.mjs';

export { busy, lasting, ran, sleep, until } from './time.mjs';

export const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../..');
export const bin = process.env.ERRAND_BIN ?? path.join(root, 'build/bin');

// None of those that the system gives to outgoing connections, which may take one at any time.
export function freePort() {
  const port = randomInt(10000, 32000);
  return new Promise((resolve) => {
    const s = net.createServer();
    s.once('error', () => resolve(freePort()));
    s.listen(port, '127.0.0.1', () => s.close(() => resolve(port)));
  });
}

export const alive = (pid) => {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  try {
    // A zombie that nobody has waited for yet is dead.
    return !/^State:\s+Z/m.test(fs.readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
};

// Whatever way this process ends, nothing it started stays behind.
const running = new Set();
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

// Every process: { pid, ppid, group, state, argv }. One that ends meanwhile is left out.
export function processes() {
  const all = [];
  for (const name of fs.readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const stat = fs.readFileSync(`/proc/${name}/stat`, 'utf8');
      const [state, ppid, group] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      const argv = fs.readFileSync(`/proc/${name}/cmdline`, 'utf8').split('\0').slice(0, -1);
      all.push({ pid: Number(name), ppid: Number(ppid), group: Number(group), state, argv });
    } catch { /* it has ended */ }
  }
  return all;
}

// Everything below a process, zombies too.
export function below(pid) {
  const all = processes();
  const found = all.filter((p) => p.ppid === pid);
  for (const f of found) found.push(...all.filter((p) => p.ppid === f.pid));
  return found;
}

// The living processes of a job, wherever they have gone: they inherit ERRAND_TASK_ID.
export function ofTask(taskId) {
  const mark = `ERRAND_TASK_ID=${taskId}`;
  return processes().filter(({ pid, state }) => {
    if (state === 'Z' || state === 'X') return false;
    try {
      return fs.readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0').includes(mark);
    } catch {
      return false;
    }
  });
}

export const openFiles = (pid) => fs.readdirSync(`/proc/${pid}/fd`).length;

// What jobs appended to a file, line by line.
export function lines(file) {
  try {
    return fs.readFileSync(file, 'utf8').split('\n').slice(0, -1);
  } catch {
    return [];
  }
}

class Program {
  constructor(name, argv, options = {}) {
    this.name = name;
    this.log = '';
    this.child = spawn(argv[0], argv.slice(1), { stdio: ['ignore', 'pipe', 'pipe'], ...options });
    const keep = (d) => {
      this.log = (this.log + d).slice(-400000);
      if (process.env.ERRAND_TEST_LOG) process.stderr.write(`[${name}] ${d}`);
    };
    this.child.stdout.on('data', keep);
    this.child.stderr.on('data', keep);
    running.add(this.child);
    // What it said last may come after its end: who waits for that has the whole log, unless a
    // child of its holds the pipes open.
    this.ended = new Promise((resolve) => {
      this.child.once('exit', (code, signal) => {
        running.delete(this.child);
        this.status = code ?? signal;
        const late = setTimeout(resolve, 2000, this.status);
        this.child.once('close', () => {
          clearTimeout(late);
          resolve(this.status);
        });
      });
      this.child.once('error', (e) => {
        this.status = String(e);
        resolve(this.status);
      });
    });
  }

  get pid() {
    return this.child.pid;
  }

  kill(signal = 'SIGKILL') {
    this.signal(signal);
    return this.ended;
  }

  signal(signal) { // and does not wait for the end
    if (this.status === undefined) this.child.kill(signal);
  }
}

// A suite that hangs ends itself, and what it started, before somebody kills only the suite.
const HANGS_MS = Number(process.env.ERRAND_TEST_MS ?? 280000);

// One installation. world.stop() ends everything; register it with after().
export class World {
  constructor({ ms = HANGS_MS } = {}) {
    setTimeout(() => {
      console.error(`still running after ${ms} ms`);
      process.exit(1);
    }, ms).unref();
    this.dir = fs.mkdtempSync(path.join(os.tmpdir(), 'errand-e2e-'));
    this.programs = [];
    this.clients = [];
  }

  // The Redis or Valkey to test with.
  get server() {
    return process.env.ERRAND_REDIS_SERVER
      ?? ['/usr/bin/redis-server', '/usr/bin/valkey-server'].find((p) => fs.existsSync(p));
  }

  // Any program; it ends with the world.
  run(name, argv, options) {
    const program = new Program(name, argv, options);
    this.programs.push(program);
    return program;
  }

  async startRedis({ args = [] } = {}) {
    this.redisArgs = args;
    this.socket = path.join(this.dir, 'redis.sock');
    this.redisUrl = `unix://${this.socket}`;
    this.redis = new Program('redis', [this.server, '--port', '0', '--unixsocket', this.socket,
      '--dir', this.dir, '--save', '', '--appendonly', 'yes', '--appendfsync', 'always',
      '--hash-max-listpack-value', '4096', ...args]);
    this.programs.push(this.redis);
    await this.redisAnswers();
    return this.redisUrl;
  }

  async redisAnswers() {
    await until('redis answers', async () => {
      try {
        this.db?.close();
        this.db = new Redis(this.socket);
        return (await this.db.call('PING')) === 'PONG';
      } catch {
        return false;
      }
    });
  }

  async restartRedis({ downMs = 0 } = {}) {
    await this.redis.kill();
    if (downMs) await sleep(downMs);
    await this.startRedis({ args: this.redisArgs });
  }

  // Any program; it ends with the world.
  program(name, argv, options) {
    const program = new Program(name, argv, options);
    this.programs.push(program);
    return program;
  }

  // options: { args: [...], env: {...}, ready: true }
  async startBroker({ args = [], env = {}, ready = true, port, program } = {}) {
    port ??= await freePort();
    const broker = new Program(`broker:${port}`, [program ?? path.join(bin, 'errand-broker'),
      '--redis', this.redisUrl, '--listen', `127.0.0.1:${port}`, ...args],
    { env: { ...process.env, ...env } });
    broker.port = port;
    broker.origin = `http://127.0.0.1:${port}`;
    broker.url = `${broker.origin}/mcp`;
    this.programs.push(broker);
    if (ready) {
      await until(`broker ready\n${broker.log}`, async () => {
        if (broker.status !== undefined) throw new Error(`broker ended: ${broker.status}\n${broker.log}`);
        try {
          return (await fetch(`${broker.origin}/readyz`)).status === 200;
        } catch {
          return false;
        }
      });
    }
    return broker;
  }

  // tools: the tools.json as an object, or a path; none: the example program (echo and sleep).
  async startWorker({ tools, args = [], env = {}, ready = true, program, names = ['echo', 'sleep'] } = {}) {
    const argv = [program ?? path.join(bin, tools ? 'errand-worker' : 'errand-example'),
      '--redis', this.redisUrl];
    if (tools) {
      let file = tools;
      if (typeof tools === 'object') {
        file = path.join(this.dir, `tools-${this.programs.length}.json`);
        fs.writeFileSync(file, JSON.stringify(tools));
      }
      names = JSON.parse(fs.readFileSync(file, 'utf8')).tools?.map((t) => t.name) ?? [];
      argv.push('--tools', file);
    }
    const worker = new Program('worker', [...argv, ...args], { env: { ...process.env, ...env } });
    this.programs.push(worker);
    if (ready) {
      const prefix = args.includes('--prefix') ? args[args.indexOf('--prefix') + 1] : 'errand';
      await until('worker announced', async () => {
        if (worker.status !== undefined) throw new Error(`worker ended: ${worker.status}\n${worker.log}`);
        for (const n of names) {
          if ((await this.db.call('HEXISTS', `${prefix}:{g}:tools`, n)) !== 1) return false;
        }
        return true;
      });
    }
    return worker;
  }

  // A client of a broker, handshake done (raw: not), its tools visible.
  async connect(broker, options = {}) {
    const c = new Client(broker.url, options);
    this.clients.push(c);
    if (!options.raw) {
      await c.initialize();
      if (options.tool !== null) {
        await until('tools are listed', async () => {
          const { tools } = await c.result('tools/list');
          return options.tool ? tools.some((t) => t.name === options.tool) : tools.length > 0;
        }, 30000);
      }
    }
    return c;
  }

  // Runs the CLI; resolves to { status, out, err }.
  cli(...words) {
    const env = { ...process.env, ERRAND_REDIS: this.redisUrl };
    return new Promise((resolve) => {
      const child = spawn(path.join(bin, 'errand'), words, { env, stdio: ['ignore', 'pipe', 'pipe'] });
      let out = '';
      let err = '';
      child.stdout.on('data', (d) => { out += d; });
      child.stderr.on('data', (d) => { err += d; });
      child.once('close', (code, signal) => resolve({ status: code ?? signal, out, err }));
    });
  }

  async newKey(name, ...more) {
    const { out, err, status } = await this.cli('key', 'new', '--name', name, ...more);
    if (status !== 0) throw new Error(`key new: ${err}`);
    return out.trim().split('\n').pop();
  }

  // The value of one line of a broker's metrics, as errand_waiters or errand_x{label="y"}.
  async metric(broker, name) {
    const text = await (await fetch(`${broker.origin}/metrics`)).text();
    const line = text.split('\n').find((l) => l.startsWith(`${name} `));
    return line === undefined ? undefined : Number(line.split(' ')[1]);
  }

  // Until exactly n requests wait for the end of a task at a broker. They are counted when they
  // come in; c, a client, asks something that Redis answers after what they asked.
  async waiters(broker, n, c) {
    await until(`${n} waiters`, async () => (await this.metric(broker, 'errand_waiters')) === n);
    await c.at(broker).request('tasks/get', { taskId: `00${'A'.repeat(22)}` });
  }

  // Until at least n event streams are open at a broker.
  async streams(broker, n) {
    await until(`${n} streams`, async () => (await this.metric(broker, 'errand_http_streams')) >= n);
  }

  async keys(pattern = '*') {
    return this.db.call('KEYS', pattern);
  }

  async stop() {
    for (const c of this.clients) c.close();
    this.db?.close();
    await Promise.all(this.programs.map((p) => p.kill()));
    fs.rmSync(this.dir, { recursive: true, force: true });
  }
}

export async function world(t) {
  const w = new World();
  await w.startRedis();
  t.after(() => w.stop());
  return w;
}
