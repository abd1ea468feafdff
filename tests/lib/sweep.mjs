// sweep.mjs - one installation whose broker and worker reach Redis through cutters, are started again
// when they are killed, and whose client tries again as a good client does.
import fs from 'node:fs';
import path from 'node:path';
import { Cutter } from './cutter.mjs';
import { World, bin, lines, processes, sleep, until } from './errand.mjs';
import { lasting } from './lasting.mjs';

const errand = path.join(bin, 'errand');
const schema = { type: 'object' };
const job = (name, script, more = {}) => ({ name, description: name, inputSchema: schema, attempts: 3, backoff: '100ms', grace: '100ms',
  run: { command: ['sh', '-c', `echo "$ERRAND_ATTEMPT" >>"$1"; ${script}`, 'sh', '{file}'] }, ...more });

export const tools = {
  tools: [
    job('quick', 'echo ran'),
    job('slow', 'sleep 0.5; echo ran'),
    job('endless', 'sleep 60'),
    job('chatty', `${errand} progress 1 2; ${errand} log info one; echo ran`),
    job('asks', `${errand} ask --message Name? --field name:string`),
    job('asks_as_task', `${errand} ask --message Name? --field name:string`, { taskSupport: 'required' }),
    job('flaky', '[ "$ERRAND_ATTEMPT" -gt 1 ] && echo ran', { retryOn: ['exit'] }),
    job('doomed', 'exit 1', { retryOn: ['exit'], attempts: 2 }),
  ],
};

const PATIENCE_MS = 40000;

// A broker that was killed comes back to its port, which must not be one that the system gives away.
let ports = 0;
const ownPort = () => 16000 + ((process.pid * 16 + ports++) % 16000);

export class Lane {
  constructor() {
    this.w = new World();
    this.programs = {};
    this.cutters = {};
    this.cases = 0;
  }

  async start() {
    const { w } = this;
    await w.startRedis({ args: ['--appendonly', 'no'] });
    for (const name of ['broker', 'worker']) {
      this.cutters[name] = await new Cutter(path.join(w.dir, `${name}.sock`), w.socket, () => this.programs[name].signal('SIGKILL')).listen();
    }
    this.port = ownPort();
    await this.startBroker();
    await this.startWorker();
    this.c = await w.connect(this.programs.broker, { key: await w.newKey('sweep'), capabilities: { elicitation: {} }, tool: 'quick' });
  }

  // Through its cutter, and again whenever it ends.
  #begin(name, start) {
    const via = Object.create(this.w);
    via.redisUrl = this.cutters[name].url;
    const again = async () => {
      const program = await start(via);
      this.programs[name] = program;
      program.ended.then(() => { if (!this.stopping) again(); });
      return program;
    };
    return again();
  }

  startBroker() {
    return this.#begin('broker', (via) => via.startBroker({ port: this.port, ready: this.cases === 0, args: ['--rate', '0', '--auth', 'key', '--grace', '1s', '--log-level', 'warn'] }));
  }

  startWorker() {
    return this.#begin('worker', (via) => via.startWorker({ tools, ready: this.cases === 0, args: ['--lease', '2s', '--slots', '2', '--grace', '600ms', '--log-level', 'warn'] }));
  }

  async stop() {
    this.stopping = true;
    for (const c of Object.values(this.cutters)) c.close();
    await this.w.stop();
  }

  file() {
    this.cases += 1;
    this.effects = path.join(this.w.dir, `effects-${this.cases}`);
    return this.effects;
  }

  runs() {
    return lines(this.effects).length;
  }

  // Asks until there is an answer that is not "try again".
  async ask(method, params, options = {}) {
    const end = Date.now() + PATIENCE_MS;
    let last;
    while (Date.now() < end) {
      try {
        const r = await (options.c ?? this.c).request(method, params, options);
        last = JSON.stringify(r.error ?? r.http.status);
        if (r.result) return r;
        if (r.error && !/try again|ask again|try it again/.test(r.error.message)) return r;
      } catch (e) {
        last = String(e);
      }
      await sleep(30);
    }
    throw new Error(`no answer to ${method} within ${PATIENCE_MS} ms: ${last}`);
  }

  // Creates the one task of a case; sent again it is the same one.
  params(name, more = {}) {
    const file = this.file();
    return { name, arguments: { file }, _meta: { 'dev.errand/idempotency-key': file, progressToken: this.cases }, ...more };
  }

  async create(name, c = this.c) {
    const r = await this.ask('tools/call', this.params(name, { task: {} }), { c });
    if (!r.result?.task) throw new Error(`no task: ${JSON.stringify(r.error ?? r.result)}`);
    return r.result.task.taskId;
  }

  running() {
    return until('the job runs', () => this.runs() > 0, PATIENCE_MS);
  }

  async ends() { // how many tasks have ended, each time one did
    const st = await this.w.db.call('HMGET', 'errand:{0}:st', 'r', 'e', 'x');
    return st.reduce((sum, v) => sum + Number(v ?? 0), 0);
  }

  // What must hold after every case. Answers what does not, in words.
  async mistakes(before) {
    const { db } = this.w;
    const wrong = [];
    const t = 'errand:{0}:';
    const left = async () => {
      const found = [];
      for (const key of await db.call('KEYS', `${t}*`)) {
        if (/:(ls|dl|oa:.*)$/.test(key)) found.push(key);
      }
      return found;
    };
    await until('nothing is left of it', async () => (await left()).length === 0, 15000).catch(async () => {
      wrong.push(`left behind: ${await left()}`);
    });
    const ends = await this.ends();
    if (ends !== before + 1) wrong.push(`${ends - before} ends`);
    for (const key of await db.call('KEYS', '*')) {
      if (!lasting(key) && (await db.call('PTTL', key)) === -1) wrong.push(`for ever: ${key}`);
    }
    const mine = this.effects;
    await until('no process', () => !processes().some((p) => p.argv.includes(mine)), 15000).catch(() => wrong.push('a process of its job is left'));
    return wrong;
  }

  forget() { // what jobs wrote
    fs.rmSync(this.effects, { force: true });
  }
}
