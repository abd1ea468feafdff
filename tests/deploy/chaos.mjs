// chaos.mjs - containers die at random while clients of both dialects create, wait, cancel and
// answer. Whatever was accepted ends exactly once.
import assert from 'node:assert/strict';
import { sleep } from '../lib/errand.mjs';
import { Modern } from '../lib/modern.mjs';
import { call, create, handshake, insist, result, stateless, text } from './clients.mjs';
import { docker, effects } from './site.mjs';

const ATTEMPTS = 6; // of tools.json

const pick = (list) => list[Math.floor(Math.random() * list.length)];

// In random order, Redis among the first.
function deck() {
  const cards = [['kill', 'broker'], ['kill', 'broker'], ['kill', 'worker'], ['kill', 'worker'], ['kill', 'worker'],
    ['stop', 'broker'], ['stop', 'worker'], ['pause', 'worker'], ['stop', 'nginx']].sort(() => Math.random() - 0.5);
  cards.splice(Math.floor(Math.random() * 4), 0, ['kill', 'redis']);
  return cards;
}

// One blow at a time, and the victim is back before the next.
async function strike(site, [what, service]) {
  const victim = pick(await site.containers(service));
  if (what === 'pause') {
    // Some kernels cannot freeze a busy container: then it is spared.
    if (await docker('pause', victim).then(() => true, () => false)) {
      await sleep(4000);
      await docker('unpause', victim);
    }
  } else {
    await (what === 'stop' ? docker('stop', '-t', '10', victim) : docker('kill', victim));
    await docker('start', victim);
  }
  return `${what} ${victim.replace(/^.*-(\w+-\d+)$/, '$1')}`;
}

// For so long; the tasks live for ttl. Resolves to what was done.
export async function chaos(site, ms, ttl) {
  const accepted = new Map(); // task id -> { name, wanted, expires, cancelled, seen }
  let over = false;
  let serial = 0;
  const gone = (e) => e.code === -32602;
  // made: before it was first asked for, since the first answer may have been lost.
  const keep = (id, name, wanted, made) => {
    assert.ok(!accepted.has(id), `${id} was given twice`);
    accepted.set(id, { name, wanted, expires: made + ttl });
    return accepted.get(id);
  };

  // The handshake dialect: create, then wait; some are cancelled on the way.
  const waiting = async () => {
    const c = await insist(() => handshake(site));
    while (!over) {
      const name = `l${serial++}`;
      const made = Date.now();
      const id = await insist(() => create(c, 'effect', { name, seconds: '0.4' }, { ttl, key: name }));
      const task = keep(id, name, `did ${name}`, made);
      if (serial % 5 === 0) {
        task.cancelled = await insist(() => c.experimental.tasks.cancelTask(id).then(() => true), { final: gone }).catch(() => false);
      }
      const r = await insist(() => result(c, id), { final: (e) => /cancelled|not found|expired/i.test(e.message) }).catch((e) => e);
      task.seen = r instanceof Error ? 'cancelled' : text(r);
    }
    await c.close();
  };
  // The stateless one: create, then poll.
  const polling = async () => {
    const c = new Modern(site.url, { key: site.key, tasks: true });
    while (!over) {
      const name = `m${serial++}`;
      const made = Date.now();
      const answer = await insist(() => c.call('effect', { name, seconds: '3' }, { meta: { 'dev.errand/idempotency-key': name } }));
      if (answer.resultType !== 'task') {
        assert.equal(text(answer), `did ${name}`);
        continue;
      }
      const task = keep(answer.taskId, name, `did ${name}`, made);
      let now;
      do {
        await sleep(300);
        now = await insist(() => c.get(answer.taskId));
      } while (now.status === 'working');
      task.seen = now.status === 'completed' ? text(now.result) : now.status;
    }
    c.close();
  };
  // Plain calls that ask: repeated under their key until they are answered. One that timed out has
  // been cancelled by its client, and its job with it.
  const asking = async (make) => {
    let c = await insist(() => make(site));
    while (!over) {
      let name = `q${serial++}`;
      const r = await insist(async () => {
        try {
          return await call(c, 'question', { name }, name);
        } catch (e) {
          await c.close().catch(() => {});
          if (/timed? ?out|cancel/i.test(e.message)) name = `q${serial++}`;
          c = await make(site);
          throw e;
        }
      });
      assert.equal(text(r), `${name} {"n":7}`);
    }
    await c.close();
  };
  const load = [waiting(), waiting(), waiting(), polling(), polling(), asking(handshake), asking(stateless)];
  const settled = Promise.allSettled(load);

  const blows = [];
  let cards = [];
  const end = Date.now() + ms;
  try {
    while (Date.now() < end) {
      await sleep(500 + Math.random() * 1500);
      if (cards.length === 0) cards = deck();
      blows.push(await strike(site, cards.shift()));
    }
  } finally {
    over = true;
  }
  for (const s of ['redis', 'nginx', 'broker', 'worker']) for (const n of await site.containers(s)) await site.healthy(n);
  for (const r of await settled) assert.equal(r.status, 'fulfilled', String(r.reason?.stack));
  assert.ok(accepted.size > 20);

  // Each ended as it was seen to end, and still is what it was.
  const c = await handshake(site);
  for (const [id, task] of accepted) {
    if (Date.now() > task.expires - 2000) continue; // it may be gone, as it should
    const { status } = await insist(() => c.experimental.tasks.getTask(id), { ms: 10000, final: gone });
    assert.ok(['completed', 'cancelled'].includes(status), `${id} ${task.name} is ${status}`);
    assert.equal(task.seen, status === 'completed' ? task.wanted : 'cancelled', id);
    if (task.cancelled) assert.equal(status, 'cancelled', id);
  }
  await c.close();

  // Side effects: one task a name, never more attempts than allowed, one run at a time.
  const byName = new Map();
  for (const e of effects()) byName.set(e.name, [...byName.get(e.name) ?? [], e]);
  for (const [name, list] of byName) {
    if (!/^[lmq]\d+$/.test(name)) continue;
    assert.equal(new Set(list.map((e) => e.task)).size, 1, `${name} is one task`);
    const attempts = new Set(list.map((e) => e.attempt));
    assert.ok(attempts.size <= ATTEMPTS && Math.max(...attempts) <= ATTEMPTS, `${name}: ${JSON.stringify(list)}`);
  }
  return `${accepted.size} tasks accepted, ${blows.length} blows: ${blows.join(', ')}`;
}
