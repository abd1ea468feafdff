// Jobs on other people's HTTP APIs: submitted once, whatever dies; callbacks; family B26.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { JobApi } from '../lib/jobapi.mjs';
import { World, freePort, root, sleep, until } from '../lib/errand.mjs';

const SECRET = 'tok-47110815-secret';
const env = { JOBS_TOKEN: SECRET };

const w = new World();
let r1;
let r2; // another broker: callbacks go there
let c;
let api;
let program; // of the API
let tools;

const headers = { Authorization: 'Bearer ${env:JOBS_TOKEN}' };

function toolOf(name, { poll, more, body, http, result } = {}) {
  return {
    name,
    description: 'Starts a job elsewhere and waits for it.',
    inputSchema: { type: 'object' },
    attempts: 5,
    backoff: '100ms',
    grace: '20s',
    ...more,
    run: {
      http: {
        submit: { url: `${api.url}/jobs`, headers, body: { params: '{arguments}', ...body } },
        job: '/id',
        poll: { url: `${api.url}/jobs/{job}`, every: '100ms', state: '/state', working: ['RUNNING'], completed: ['DONE'], failed: ['FAILED'], cancelled: ['KILLED'], progress: '/percent', total: 100, message: '/detail', ...poll },
        result: result ?? { url: `${api.url}/jobs/{job}/output`, as: 'text' },
        cancel: { url: `${api.url}/jobs/{job}` },
        timeout: '20s',
        headers,
        ...http,
      },
    },
  };
}

async function startApi() {
  program = w.program('job API', [process.execPath, path.join(root, 'tests/lib/jobapi.mjs'), String(api.port), `${w.dir}/jobs.json`]);
  await until('the job API is there', async () => {
    try {
      return await api.do();
    } catch {
      return false;
    }
  });
}

const workerArgs = () => ['--lease', '4s', '--slots', '20', '--grace', '3s', '--public-url', r2.origin];
const startWorker = (options = {}) => w.startWorker({ tools, env, args: workerArgs(), ...options });

before(async () => {
  await w.startRedis();
  r1 = await w.startBroker({ args: ['--rate', '0'] });
  r2 = await w.startBroker({ args: ['--rate', '0'] });
  api = new JobApi(`http://127.0.0.1:${await freePort()}`);
  api.port = Number(new URL(api.url).port);
  await startApi();
  const slow = { every: '1h' }; // whoever waits for that has lost
  tools = {
    tools: [
      toolOf('job'),
      toolOf('called', { body: { callback: '{callbackUrl}' }, poll: slow }),
      toolOf('signed', { body: { callback: '{callbackUrl}', secret: '{callbackSecret}' }, poll: slow }),
      toolOf('both', { body: { callback: '{callbackUrl}' }, poll: { every: '300ms' } }),
      toolOf('hurried', { body: { callback: '{callbackUrl}' }, more: { timeout: '2s' } }),
      toolOf('impatient', { http: { timeout: '5s' } }),
      toolOf('once', { more: { attempts: 1 } }),
      toolOf('whole', { result: { as: 'json' } }),
      toolOf('patient', { poll: { everyMax: '5s' } }),
      toolOf('stuck', { more: { grace: '300ms' } }),
      toolOf('endless', { more: { grace: '300ms' }, http: { cancel: undefined } }),
    ],
  };
});
after(() => w.stop());

let worker;

async function withWorker() {
  worker ??= await startWorker();
  c ??= await w.connect(r1, { tool: 'job' });
  return worker;
}

async function anotherWorker() {
  worker = await startWorker();
}

const result = (taskId) => c.result('tasks/result', { taskId });
const text = (r) => r.content[0].text;
const begin = async (tool, args) => (await c.createTask(tool, args)).taskId;
const job = async (taskId) => until('the job exists', async () => (await api.of(taskId)).jobs[0]);
const handle = (taskId) => until('the handle is kept', () => w.db.call('HGET', `errand:{0}:t:${taskId}`, 'hd'));

test('a job is submitted once, watched, and its result fetched', async () => {
  await withWorker();
  const taskId = await begin('job', { output: 'done & "dusted"' });
  await until('it reports', async () => /^RUNNING/.test((await c.getTask(taskId)).statusMessage ?? ''));
  await until('it is asked about again', async () => (await api.of(taskId)).polls >= 2);
  await api.do({ finish: { id: (await job(taskId)).id } });
  const r = await result(taskId);
  assert.equal(text(r), 'done & "dusted"');
  assert.equal(r.isError, false);
  const { submits, jobs, polls, results, cancels } = await api.of(taskId);
  assert.deepEqual([submits, jobs.length, results, cancels], [1, 1, 1, 0]);
  assert.ok(polls >= 2, `${polls} polls`);
  assert.equal(jobs[0].key, taskId, 'the task is the idempotency key');
  const whole = await c.callTool('whole', { ms: 0 });
  assert.equal(whole.structuredContent.state, 'DONE');
});

test('with everyMax it is asked less and less often', async () => {
  await withWorker();
  const began = Date.now();
  const taskId = await begin('patient', {});
  const { id } = await job(taskId);
  await until('it was asked about', async () => (await api.of(taskId)).polls >= 5, 30000);
  const took = Date.now() - began;
  assert.ok(took >= 650, `5 polls in ${took} ms`); // 500 without
  await api.do({ finish: { id } });
  assert.match(text(await result(taskId)), /^output of job-/);
});

test('a job that fails is an error with what the API says', async () => {
  await withWorker();
  const r = await c.callTool('job', { ms: 0, fail: true });
  assert.equal(r.isError, true);
  assert.equal(text(r), 'it broke\nthe job failed: its state is "FAILED"');
});

test('bad days of an API: 503, 429, wrong JSON, cut and hanging connections, one job', async () => {
  await withWorker();
  await api.do({ faults: {
    submit: [{ status: 503 }, { status: 429, retryAfter: 1 }, { late: true, cut: true }, { raw: '<html>' }],
    poll: [{ status: 502 }, { raw: '{"state":' }, { cut: true }, { hang: true }, { status: 404 }, { status: 429, retryAfter: 1 }],
    result: [{ status: 500 }, { cut: true }],
  } });
  const began = Date.now();
  const taskId = await begin('impatient', { ms: 0 });
  assert.match(text(await result(taskId)), /^output of job-/);
  const { submits, jobs, results } = await api.of(taskId);
  assert.deepEqual([submits, jobs.length, results], [5, 1, 3]);
  assert.ok(Date.now() - began >= 1800, 'Retry-After was heeded');
});

// --- what dies ---

async function killed(taskId) {
  await worker.kill();
  await api.do({ letGo: true });
  await anotherWorker();
  const r = await result(taskId);
  assert.match(text(r), /^output of job-/);
  return api.of(taskId);
}

test('kill -9 before the submit arrives: one job', async () => {
  await withWorker();
  await api.do({ faults: { submit: [{ hold: true, cut: true }] } });
  const taskId = await begin('job', { ms: 0 });
  await until('it is on its way', async () => (await api.of(taskId)).held === 1);
  const { submits, jobs } = await killed(taskId);
  assert.deepEqual([submits, jobs.length], [2, 1]);
});

test('kill -9 after the submit made a job and before its answer: still one job', async () => {
  await withWorker();
  await api.do({ faults: { submit: [{ late: true, hold: true }] } });
  const taskId = await begin('job', { ms: 0 });
  await job(taskId);
  const { submits, jobs } = await killed(taskId);
  assert.deepEqual([submits, jobs.length], [2, 1]);
});

test('kill -9 after the answer and before Redis has the handle: still one job', async () => {
  await withWorker();
  await api.do({ faults: { submit: [{ late: true, hold: true }] } });
  const taskId = await begin('job', { ms: 0 });
  await job(taskId);
  await w.db.call('CLIENT', 'PAUSE', '60000', 'WRITE');
  await api.do({ letGo: true });
  await until('the answer has arrived', () => worker.log.includes(`event=WORK_BEGUN text="work begun elsewhere" tool=job task=${taskId}`));
  await worker.kill();
  await w.db.call('CLIENT', 'UNPAUSE');
  const { submits, jobs } = await killed(taskId);
  assert.ok(submits <= 2);
  assert.equal(jobs.length, 1);
});

test('kill -9 while it is polled: another worker polls on and never submits', async () => {
  await withWorker();
  const taskId = await begin('job', {});
  const { id } = await job(taskId);
  await until('it is polled', async () => (await api.of(taskId)).polls > 1);
  await worker.kill();
  await api.do({ finish: { id } });
  const { submits, jobs } = await killed(taskId);
  assert.deepEqual([submits, jobs.length], [1, 1]);
  assert.match(worker.log, /event=WORK_RESUMED.*attempt=2/);
});

test('kill -9 while the result is fetched: it is fetched again, nothing else', async () => {
  await withWorker();
  await api.do({ faults: { result: [{ hold: true }] } });
  const taskId = await begin('job', { ms: 0 });
  await until('it is being fetched', async () => (await api.of(taskId)).held === 1);
  const { submits, jobs, results } = await killed(taskId);
  assert.deepEqual([submits, jobs.length, results], [1, 1, 2]);
});

test('kill -9 of the brokers, a restart of Redis and of the API: one submit', async () => {
  await withWorker();
  const taskId = await begin('job', {});
  const { id } = await job(taskId);
  await handle(taskId);
  const port = r1.port;
  await r1.kill();
  await program.kill();
  await w.restartRedis();
  await startApi();
  await api.do({ finish: { id } });
  r1 = await w.startBroker({ args: ['--rate', '0'], port });
  assert.match(text(await result(taskId)), /^output of job-/);
  const { submits, jobs, cancels } = await api.of(taskId);
  assert.deepEqual([submits, jobs.length, cancels], [1, 1, 0]);
});

test('a worker that drains passes its jobs on and cancels none', async () => {
  await withWorker();
  const taskId = await begin('job', {});
  const { id } = await job(taskId);
  await handle(taskId);
  worker.signal('SIGTERM');
  assert.equal(await worker.ended, 0);
  await anotherWorker();
  await until('the other has it', () => /event=WORK_RESUMED.*attempt=1/.test(worker.log));
  await api.do({ finish: { id } });
  assert.match(text(await result(taskId)), /^output of job-/);
  const { submits, cancels } = await api.of(taskId);
  assert.deepEqual([submits, cancels], [1, 0]);
});

// --- what is stopped ---

test('B5: a cancelled task cancels its job', async () => {
  await withWorker();
  await api.do({ faults: { cancel: [{ status: 503 }] } });
  const taskId = await begin('job', {});
  await job(taskId);
  await handle(taskId);
  await c.result('tasks/cancel', { taskId });
  await until('the job is killed', async () => (await job(taskId)).state === 'KILLED');
  assert.equal((await api.of(taskId)).cancels, 2);
});

test('B5: a job that cannot be cancelled is let go of after the grace, and the log says so', async () => {
  await withWorker();
  for (const [tool, why] of [['stuck', 'it was not answered in time'], ['endless', 'it has no request for that']]) {
    await api.do({ faults: { cancel: tool === 'stuck' ? [{ hold: true }] : [] } });
    const taskId = await begin(tool, {});
    await job(taskId);
    await handle(taskId);
    assert.equal((await c.result('tasks/cancel', { taskId })).status, 'cancelled');
    await until('it is logged', () => new RegExp(`event=WORK_NOT_STOPPED .*task=${taskId} .*why="${why}"`).test(worker.log));
    const { polls } = await api.of(taskId);
    await sleep(500);
    assert.equal((await api.of(taskId)).polls, polls, 'it is asked about no more');
  }
  await api.do({ letGo: true });
});

test('B5: a task that is cancelled while its submit is under way cancels the job that comes of it', async () => {
  await withWorker();
  await api.do({ faults: { submit: [{ late: true, hold: true }] } });
  const taskId = await begin('job', {});
  await job(taskId);
  await c.result('tasks/cancel', { taskId });
  await until('the worker knows', () => worker.log.includes(`event=JOB_CANCELLED text="job cancelled" tool=job task=${taskId}`));
  await api.do({ letGo: true });
  await until('the job is killed', async () => (await job(taskId)).state === 'KILLED');
});

test('B5: a task that is cancelled while its worker is dead, or given up for good, has its job cancelled by the next worker', async () => {
  await withWorker();
  const dead = await begin('job', {});
  await job(dead);
  await handle(dead);
  const last = await begin('once', {});
  await job(last);
  await handle(last);
  await worker.kill();
  await c.result('tasks/cancel', { taskId: dead });
  await until('the last attempt is lost', async () => (await c.getTask(last)).status === 'failed', 20000);
  await anotherWorker();
  for (const taskId of [dead, last]) {
    await until('the job is killed', async () => (await job(taskId)).state === 'KILLED');
    assert.equal((await api.of(taskId)).submits, 1);
  }
  await until('nothing is left', async () => (await w.keys('errand:{0}:ab:*')).length === 0);
});

// --- callbacks ---

test('B26: a job is completed by a callback at another broker; the same again is ignored', async () => {
  await withWorker();
  const taskId = await begin('called', { ms: 300, callback: 'twice' });
  const { id, callback } = await job(taskId);
  assert.ok(callback.startsWith(`${r2.origin}/hooks/${taskId}/`), callback);
  assert.match(text(await result(taskId)), /^output of job-/);
  const { polls, submits } = await api.of(taskId);
  assert.deepEqual([polls, submits], [0, 1]);
  await until('both were answered', async () => (await api.do()).calls.filter((x) => x.id === id).length === 2);
  for (const call of (await api.do()).calls.filter((x) => x.id === id)) assert.equal(call.status, 200);
  const again = await api.do({ call: { id } });
  assert.deepEqual(again, { status: 200, text: '{"status":"ignored"}' });
});

test('B26: a wrong token is 401, for any task; what is too large, no JSON, or gone is said', async () => {
  await withWorker();
  const taskId = await begin('called', {});
  const { id, callback } = await job(taskId);
  await handle(taskId);
  const post = (url, body = '{"state":"DONE"}', method = 'POST') => fetch(url, { method, ...(method === 'POST' && { body }) }).then((r) => r.status);
  const token = callback.split('/').at(-1);
  const other = (token[0] === 'A' ? 'B' : 'A') + token.slice(1);
  assert.equal(await post(callback.replace(token, other)), 401);
  assert.equal(await post(callback.replace(taskId, `00${'A'.repeat(22)}`)), 401);
  assert.equal(await post(`${r1.origin}/hooks/${taskId}`), 404);
  assert.equal(await post(`${callback}/x`), 404);
  assert.equal(await post(callback, '', 'GET'), 405);
  assert.equal(await post(callback, '{"state":'), 400);
  assert.equal(await post(callback, `"${'x'.repeat(300 * 1024)}"`), 413);
  assert.equal(await post(callback, `"${'x'.repeat(1100 * 1024)}"`), 413);
  assert.equal((await c.getTask(taskId)).status, 'working');
  await w.db.call('DEL', `errand:{0}:t:${taskId}`);
  assert.equal(await post(callback), 404);
  await api.do({ finish: { id } });
  assert.match(r2.log + r1.log, /event=CALLBACK_REFUSED/);
  assert.ok(!(r1.log + r2.log).includes(token), 'the token is in no log');
});

test('B26: a tool that hands out a secret wants signatures; a wrong or old one is 401', async () => {
  await withWorker();
  const taskId = await begin('signed', { callback: 'unsigned', ms: 0 });
  const { id, secret } = await job(taskId);
  assert.match(secret, /^whsec_/);
  await until('the unsigned one was refused', async () => (await api.do()).calls.some((x) => x.id === id && x.status === 401));
  const wrong = `whsec_${Buffer.alloc(32).toString('base64')}`;
  assert.equal((await api.do({ call: { id, secret: wrong } })).status, 401);
  assert.equal((await api.do({ call: { id, at: Date.now() - 600000 } })).status, 401);
  assert.equal((await api.do({ call: { id, at: Date.now() + 600000 } })).status, 401);
  assert.equal((await c.getTask(taskId)).status, 'working');
  assert.equal((await api.do({ call: { id } })).status, 200);
  assert.match(text(await result(taskId)), /^output of job-/);
  assert.equal((await api.of(taskId)).polls, 0);
});

test('B26: a callback says how far it is, and the one that ends it may come later', async () => {
  await withWorker();
  const taskId = await begin('called', {});
  const { id } = await job(taskId);
  await handle(taskId);
  for (const detail of ['warm', 'hot']) {
    assert.equal((await api.do({ call: { id, body: JSON.stringify({ state: 'RUNNING', detail }) } })).status, 200);
    await until(`it says ${detail}`, async () => (await c.getTask(taskId)).statusMessage === detail);
  }
  await api.do({ finish: { id } });
  assert.match(text(await result(taskId)), /^output of job-/);
});

test('B26: a callback that comes while no worker is there is found by the next', async () => {
  await withWorker();
  const taskId = await begin('called', {});
  const { id } = await job(taskId);
  await handle(taskId);
  await worker.kill();
  assert.equal((await api.do({ call: { id, body: '{"state":"DONE"}' } })).status, 200);
  await api.do({ faults: { poll: Array.from({ length: 20 }, () => ({ status: 503 })) } });
  await anotherWorker();
  assert.match(text(await result(taskId)), /^output of job-/);
  assert.equal((await api.of(taskId)).submits, 1);
  await api.do({ faults: { poll: [] } });
});

test('B26: a callback before the submit is answered is not lost', async () => {
  await withWorker();
  await api.do({ faults: { submit: [{ late: true, hold: true }] } });
  const taskId = await begin('called', { ms: 0 });
  const { id } = await job(taskId);
  await until('it has called', async () => (await api.do()).calls.some((x) => x.id === id && x.status === 200));
  await api.do({ letGo: true });
  assert.match(text(await result(taskId)), /^output of job-/);
  assert.equal((await api.of(taskId)).polls, 0);
});

test('B26: a missing callback: polling finds the end, and without one the timeout does', async () => {
  await withWorker();
  const lost = await begin('both', { ms: 100, callback: 'lost' });
  assert.match(text(await result(lost)), /^output of job-/);
  assert.ok((await api.of(lost)).polls >= 1);
  const never = await begin('hurried', {});
  const r = await result(never);
  assert.equal(r.isError, true);
  assert.match(text(r), /longer than its timeout of 2s/);
  await until('it is cancelled', async () => (await job(never)).state === 'KILLED');
});

// --- secrets and mistakes ---

test('a secret is nowhere but in the requests', async () => {
  await withWorker();
  await api.do({ faults: { submit: [{ status: 400, raw: `bad token ${SECRET}` }] } });
  const refused = await c.callTool('job', {});
  assert.equal(text(refused), 'submit: HTTP 400: bad token ***');
  const { requests } = await api.do();
  assert.ok(requests.every((r) => r.headers.authorization === `Bearer ${SECRET}`));
  const keep = JSON.stringify(await c.result('tools/list'));
  assert.ok(!keep.includes(SECRET) && !keep.includes('JOBS_TOKEN'));
  for (const p of w.programs) if (p.name !== 'job API') assert.ok(!p.log.includes(SECRET), p.name);
  for (const f of fs.readdirSync(w.dir, { recursive: true })) {
    const file = path.join(w.dir, f);
    if (f !== 'jobs.json' && fs.statSync(file).isFile()) assert.ok(!fs.readFileSync(file).includes(SECRET), f);
  }
});

test('a missing variable or --public-url ends the worker at its start with status 2 and one line', async () => {
  const without = await startWorker({ ready: false, env: { JOBS_TOKEN: undefined } });
  assert.equal(await without.ended, 2);
  assert.match(without.log, /^errand-worker: \S+tools-\d+\.json: tool "job": "run\.http\.submit\.headers": the variable JOBS_TOKEN is not set; .*\n$/);
  const hidden = await startWorker({ ready: false, args: [] });
  assert.equal(await hidden.ended, 2);
  assert.match(hidden.log, /^errand-worker: --public-url: it is missing, and tool "called" hands out \{callbackUrl\}; .*\n$/);
});
