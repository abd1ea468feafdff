// stage.mjs - the processes of one measurement, and what they took.
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { bin, freePort, sleep, until, World } from '../lib/errand.mjs';

const here = path.dirname(fileURLToPath(import.meta.url));
const tools = path.join(bin, '../bench');
const unlimited = ['--auth', 'none', '--rate', '0', '--max-active', '0', '--max-running', '0', '--log-level', 'warn'];

// Seconds of CPU that a process and its threads have had.
export function cpuOf(pid) {
  let ns = 0;
  for (const t of fs.readdirSync(`/proc/${pid}/task`)) {
    ns += Number(fs.readFileSync(`/proc/${pid}/task/${t}/schedstat`, 'utf8').split(' ')[0]);
  }
  return ns / 1e9;
}

export function rssOf(pid) { // bytes
  return Number(/VmRSS:\s+(\d+)/.exec(fs.readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) * 1024;
}

export class Stage {
  constructor(o) {
    this.o = o;
    this.world = new World();
    this.peers = [];
    this.roles = {};
  }

  async redis(aof) {
    await this.world.startRedis({ args: ['--appendonly', aof ? 'yes' : 'no', '--appendfsync', 'everysec'] });
    this.roles.redis = this.world.redis.pid;
  }

  // Redis, a broker and the example worker; aof: Redis writes its log, once a second to the disk.
  async errand({ aof = false, slots = 16 } = {}) {
    await this.redis(aof);
    const broker = await this.broker();
    await this.worker({ slots });
    await this.world.connect(broker, { tool: 'echo' });
    return broker;
  }

  async broker() {
    const broker = await this.world.startBroker({ args: unlimited });
    this.roles.broker ??= broker.pid;
    return broker;
  }

  async worker({ slots, stamp = false }) {
    const args = ['--slots', String(slots), '--log-level', 'warn'];
    const worker = stamp
      ? await this.world.startWorker({ args, program: path.join(tools, 'stamp'), names: ['stamp'] })
      : await this.world.startWorker({ args });
    this.roles.worker = worker.pid;
    return worker;
  }

  // A worker whose tools are those of another server.
  async wrap(prefix, [command, ...args]) {
    const tools = { mcpServers: { wrapped: { command, args, prefix } } };
    this.roles.worker = (await this.world.startWorker({ args: ['--slots', '16', '--log-level', 'warn'], tools })).pid;
  }

  start(argv) {
    const child = spawn(argv[0], argv.slice(1), { stdio: ['pipe', 'pipe', 'inherit'] });
    this.peers.push(child);
    return child;
  }

  // A server of another kind, once it listens; the answer is its port.
  async server(...argv) {
    const port = await freePort();
    this.roles.server = this.start(argv.map((a) => (a === 'PORT' ? String(port) : a))).pid;
    await until(`${argv[0]} listens`, () => fetch(`http://127.0.0.1:${port}/`).then(() => true, () => false));
    return port;
  }

  sdk() {
    return this.server(process.execPath, path.join(here, 'peer/sdk.mjs'), 'PORT');
  }

  bare(bytes) {
    return this.server(path.join(tools, 'http_bare'), 'PORT', String(bytes));
  }

  // Runs the load generator, or another program that prints like it. Adds what it and the others
  // took of the CPU for one operation, in microseconds.
  async measure(argv) {
    const child = this.start(argv);
    let out = '';
    let before;
    child.stdout.on('data', (d) => {
      out += d;
      if (before === undefined && out.includes('started\n')) before = this.cpu();
    });
    const code = await new Promise((resolve) => { child.once('exit', resolve); });
    const after = this.cpu();
    if (code !== 0) throw new Error(`${argv.join(' ')}: ended with ${code}`);
    const r = JSON.parse(out.slice(out.lastIndexOf('\n', out.length - 2) + 1));
    r.rate = r.n / r.seconds;
    r.us = {};
    for (const role of Object.keys(after)) r.us[role] = ((after[role] - before[role]) * 1e6) / r.n;
    if (r.cpu !== undefined) r.us.load = (r.cpu * 1e6) / r.n;
    return r;
  }

  cpu() {
    return Object.fromEntries(Object.entries(this.roles).map(([role, pid]) => [role, cpuOf(pid)]));
  }

  load(mode, port, ...more) {
    return this.measure([path.join(tools, 'load'), mode, String(port), '-s', String(this.o.seconds),
      '-w', String(this.o.warmup), ...more.map(String)]);
  }

  bullmq(role) {
    return [process.execPath, path.join(here, 'peer/bullmq.mjs'), role, this.world.socket,
      String(this.o.seconds), String(this.o.warmup)];
  }

  wrapped(how, ...port) {
    return [process.execPath, path.join(here, 'peer/wrapped.mjs'), how,
      String(this.o.seconds), String(this.o.warmup), ...port.map(String)];
  }

  // Clients that stay blocked in tasks/result until the stage ends.
  async hold(port, count) {
    const child = this.start([path.join(tools, 'load'), 'hold', String(port), '-c', String(count)]);
    await new Promise((resolve, reject) => {
      child.stdout.on('data', (d) => d.includes('holding') && resolve());
      child.once('exit', (code) => reject(new Error(`load hold: ended with ${code}`)));
    });
    await sleep(2000);
  }

  // The share of one core that a process takes.
  async share(pid, seconds) {
    const from = cpuOf(pid);
    await sleep(seconds * 1000);
    return (cpuOf(pid) - from) / seconds;
  }

  async stop() {
    await Promise.all(this.peers.map((p) => new Promise((resolve) => {
      if (p.exitCode !== null || p.signalCode !== null) resolve();
      p.once('exit', resolve);
      p.kill('SIGKILL');
    })));
    await this.world.stop();
  }
}
