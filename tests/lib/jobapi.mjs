// jobapi.mjs - somebody's batch system: a job API in a process of its own, which a test tells what
// to do wrong. Run as a program: node jobapi.mjs PORT STATE-FILE; it keeps its jobs over a restart.
//
//   POST   /jobs             {params, callback?, secret?}; one job for one Idempotency-Key
//   GET    /jobs/ID          {id, state, percent, detail}
//   GET    /jobs/ID/output   text
//   DELETE /jobs/ID
//   POST   /_do              what a test wants, see JobApi
//
// What params may say: ms (until it is done; without: until it is told to end), fail, callback
// ("lost", "twice", "unsigned"), output.
import crypto from 'node:crypto';
import fs from 'node:fs';
import http from 'node:http';
import { fileURLToPath } from 'node:url';

const TOLD = 'application/json';

class Server {
  constructor(file) {
    this.file = file;
    this.faults = {}; // by step: what goes wrong with the next requests
    this.held = []; // answers and works that wait to be let go
    this.state = { jobs: {}, keys: {}, requests: [], calls: [] };
    if (fs.existsSync(file)) this.state = JSON.parse(fs.readFileSync(file, 'utf8'));
    for (const job of Object.values(this.state.jobs)) this.arm(job);
  }

  save() {
    fs.writeFileSync(`${this.file}.new`, JSON.stringify(this.state));
    fs.renameSync(`${this.file}.new`, this.file);
  }

  // --- jobs ---

  create(body, key) {
    if (key && this.state.keys[key]) return this.state.jobs[this.state.keys[key]];
    const id = `job-${Object.keys(this.state.jobs).length + 1}/x`;
    const job = { id, key, state: 'RUNNING', began: Date.now(), params: body.params ?? {}, callback: body.callback, secret: body.secret };
    this.state.jobs[id] = job;
    if (key) this.state.keys[key] = id;
    this.save();
    this.arm(job);
    return job;
  }

  arm(job) {
    if (job.state !== 'RUNNING' || job.params.ms === undefined) return;
    setTimeout(() => this.finish(job), Math.max(0, job.began + job.params.ms - Date.now()));
  }

  finish(job, state = job.params.fail ? 'FAILED' : 'DONE') {
    if (job.state !== 'RUNNING') return;
    job.state = state;
    this.save();
    const how = job.params.callback;
    if (!job.callback || how === 'lost') return;
    this.call(job, { unsigned: how === 'unsigned' });
    if (how === 'twice') this.call(job, {});
  }

  show(job) {
    const percent = job.state === 'RUNNING' ? Math.min(99, Math.floor((Date.now() - job.began) / 10)) : 100;
    return { id: job.id, state: job.state, percent, detail: job.params.fail ? 'it broke' : `${job.state} at ${job.began}` };
  }

  async call(job, { unsigned, url = job.callback, body = JSON.stringify(this.show(job)), secret = job.secret, at = Date.now() }) {
    const headers = { 'content-type': TOLD };
    if (secret && !unsigned) {
      const stamp = String(Math.floor(at / 1000));
      const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
      const hash = crypto.createHmac('sha256', key).update(`msg-1.${stamp}.${body}`).digest('base64');
      Object.assign(headers, { 'webhook-id': 'msg-1', 'webhook-timestamp': stamp, 'webhook-signature': `v1,AAAA v1,${hash}` });
    }
    let status;
    let text;
    try {
      const r = await fetch(url, { method: 'POST', headers, body });
      status = r.status;
      text = await r.text();
    } catch (e) {
      status = String(e.cause?.code ?? e);
    }
    this.state.calls.push({ id: job.id, status, text });
    this.save();
    return { status, text };
  }

  // --- requests ---

  async hold() {
    await new Promise((resolve) => { this.held.push(resolve); });
  }

  // Something goes wrong with this request; true: it has its answer.
  async wrong(step, fault, res) {
    if (fault.hang) await new Promise(() => {});
    if (fault.hold) await this.hold();
    if (fault.cut) {
      res.socket.destroy();
      return true;
    }
    if (fault.status === undefined && fault.raw === undefined) return false;
    const headers = fault.retryAfter === undefined ? {} : { 'retry-after': String(fault.retryAfter) };
    res.writeHead(fault.status ?? 200, headers).end(fault.raw ?? 'no');
    return true;
  }

  answer(res, status, body) {
    res.writeHead(status, { 'content-type': TOLD }).end(typeof body === 'string' ? body : JSON.stringify(body));
  }

  step(req) {
    if (req.method === 'POST') return 'submit';
    if (req.method === 'DELETE') return 'cancel';
    return req.url.endsWith('/output') ? 'result' : 'poll';
  }

  async serve(req, res) {
    let text = '';
    for await (const d of req) text += d;
    if (req.url === '/_do') {
      this.answer(res, 200, await this.told(JSON.parse(text)));
      return;
    }
    const step = this.step(req);
    const fault = this.faults[step]?.shift() ?? {};
    const key = req.headers['idempotency-key'];
    this.state.requests.push({ step, key, url: req.url, headers: req.headers });
    this.save();
    // "late": the work is done, and then it goes wrong.
    if (!fault.late && await this.wrong(step, fault, res)) return;
    const done = this.work(step, req, text, key);
    if (fault.late && await this.wrong(step, fault, res)) return;
    this.answer(res, ...done);
  }

  work(step, req, text, key) {
    if (step === 'submit') {
      const job = this.create(JSON.parse(text), key);
      return [202, { id: job.id }];
    }
    const job = this.state.jobs[decodeURIComponent(req.url.split('/')[2])];
    if (!job) return [404, 'no such job'];
    if (step === 'cancel') {
      this.finish(job, 'KILLED');
      return [204, ''];
    }
    return [200, step === 'result' ? job.params.output ?? `output of ${job.id}` : this.show(job)];
  }

  // --- what a test wants ---

  async told({ faults, letGo, finish, call }) {
    for (const [step, list] of Object.entries(faults ?? {})) this.faults[step] = list;
    if (letGo) for (const go of this.held.splice(0)) go();
    if (finish) this.finish(this.state.jobs[finish.id], finish.state);
    if (call) return this.call(this.state.jobs[call.id], call);
    return { ...this.state, held: this.held.length };
  }
}

// For a test: the same from outside.
export class JobApi {
  constructor(url) {
    this.url = url;
  }

  async do(what = {}) {
    const r = await fetch(`${this.url}/_do`, { method: 'POST', body: JSON.stringify(what) });
    return r.json();
  }

  // The requests of one task, by step, and its jobs.
  async of(taskId) {
    const { jobs, requests, held } = await this.do();
    const mine = requests.filter((r) => r.key === taskId);
    const made = Object.values(jobs).filter((j) => j.key === taskId);
    const path = (r) => made.some((j) => r.url.includes(encodeURIComponent(j.id)));
    const count = (step) => requests.filter((r) => r.step === step && path(r)).length;
    return { submits: mine.length, jobs: made, held, polls: count('poll'), results: count('result'), cancels: count('cancel') };
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const server = new Server(process.argv[3]);
  http.createServer((req, res) => { server.serve(req, res).catch((e) => { console.error(e); res.socket?.destroy(); }); })
    .listen(Number(process.argv[2]), '127.0.0.1', () => console.log('ready'));
}
