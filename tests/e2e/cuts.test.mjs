// A client behind a round robin over three brokers whose stream is cut after every event in turn,
// while the job reports progress, logs and asks: no message is lost, none comes twice, none on two
// streams (H-21, H-24, H-25, J-06).
import assert from 'node:assert/strict';
import http from 'node:http';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { balance } from '../lib/balancer.mjs';
import { SseReader } from '../lib/client.mjs';
import { World, bin, until } from '../lib/errand.mjs';

const w = new World();
const brokers = [];
let lb;

const errand = path.join(bin, 'errand');
const script = [`${errand} progress 1 4`, `${errand} log info one`, `a=$(${errand} ask --message Name? --field name:string)`,
  `${errand} progress 2 4`, `${errand} log info two`, 'sleep 0.2', `${errand} progress 3 4`, 'echo "$a"'].join('; ');
const tools = { tools: [{ name: 'chatty', description: 'Says a lot.', inputSchema: { type: 'object' }, run: { command: ['sh', '-c', script] } }] };

before(async () => {
  await w.startRedis();
  for (let i = 0; i < 3; i++) brokers.push(await w.startBroker({ args: ['--auth', 'key', '--rate', '0'] }));
  await w.startWorker({ tools, args: ['--slots', '8'] });
  lb = await balance(brokers);
});
after(async () => {
  lb?.close();
  await w.stop();
});

// Opens a stream and reads it until it ends, or until `cutAfter` events with ids have come.
function read(c, { body, last, cutAfter = Infinity, onMessage }) {
  return new Promise((resolve, reject) => {
    const got = { ids: [], messages: [], ended: false };
    const text = body && JSON.stringify(body);
    const headers = c.headers(text ? { 'content-length': Buffer.byteLength(text) } : { 'last-event-id': last, 'content-type': undefined });
    const r = http.request(lb.url, { method: text ? 'POST' : 'GET', headers }, (res) => {
      const reader = new SseReader((e) => {
        if (got.cut) return;
        if (e.id) got.ids.push(e.id);
        if (e.data) {
          const m = JSON.parse(e.data);
          got.messages.push(m);
          onMessage(m);
        }
        if (got.ids.length >= cutAfter) {
          got.cut = true;
          r.destroy();
          resolve(got);
        }
      });
      res.on('data', (d) => { got.raw = (got.raw ?? '') + d; reader.feed(d); });
      res.on('end', () => {
        if (got.cut) return; // what came with the last event read was not seen
        got.ended = true;
        got.status = res.statusCode;
        resolve(got);
      });
      res.on('error', () => resolve(got));
    });
    r.on('error', (e) => (got.cut ? resolve(got) : reject(e)));
    if (text) r.write(text);
    r.end();
  });
}

// Plays one call to its end, cutting the first connection after `cut` events and then every third.
async function play(c, first, cut) {
  const all = [];
  const onMessage = (m) => {
    all.push(m);
    if (m.method === 'elicitation/create') c.post(JSON.stringify({ jsonrpc: '2.0', id: m.id, result: { action: 'accept', content: { name: 'Ada' } } }));
  };
  let got = await read(c, { body: first, cutAfter: cut, onMessage });
  const ids = [...got.ids];
  for (let i = 0; i < 40 && !got.ended; i++) {
    got = await read(c, { last: ids.at(-1), cutAfter: 2 + (i % 2), onMessage });
    ids.push(...got.ids);
  }
  return { all, ids, end: JSON.stringify([got.status, got.raw, ids]) };
}

function check({ all, ids, end }, id, what) {
  assert.equal(new Set(ids).size, ids.length, `${what}: an event came twice`);
  assert.deepEqual(all.filter((m) => m.method === 'notifications/progress').map((m) => m.params.progress), [1, 2, 3], what);
  assert.deepEqual(all.filter((m) => m.method === 'notifications/message').map((m) => m.params.data), ['one', 'two'], what);
  assert.equal(all.filter((m) => m.method === 'elicitation/create').length, 1, `${what}: asked once`);
  const answers = all.filter((m) => m.id === id && !m.method);
  assert.equal(answers.length, 1, `${what}: answered once; it ended with ${end}`);
  assert.match(answers[0].result.content[0].text, /Ada/, what);
}

const client = async () => {
  const c = await w.connect({ url: lb.url }, { key: await w.newKey(`cut${w.clients.length}`), capabilities: { elicitation: {} }, tool: 'chatty' });
  await until('seen by all', async () => {
    for (const b of brokers) if (!(await c.at(b).result('tools/list')).tools.length) return false;
    return true;
  });
  return c;
};

test('H-21 H-24 H-25 J-06: a plain call, cut after each of its events', { timeout: 240000 }, async () => {
  const c = await client();
  for (let cut = 1; cut <= 7; cut++) {
    const body = { jsonrpc: '2.0', id: `c${cut}`, method: 'tools/call', params: { name: 'chatty', arguments: {}, _meta: { progressToken: cut } } };
    check(await play(c, body, cut), `c${cut}`, `cut after ${cut}`);
  }
});

test('H-21 H-24 T-33 T-83: the stream of a waiting tasks/result, cut after each of its events', { timeout: 240000 }, async () => {
  const c = await client();
  for (let cut = 1; cut <= 6; cut++) {
    const { taskId } = await c.createTask('chatty', {}, { meta: { progressToken: `t${cut}` } });
    const { all, ids, end } = await play(c, { jsonrpc: '2.0', id: `r${cut}`, method: 'tasks/result', params: { taskId } }, cut);
    assert.equal(new Set(ids).size, ids.length);
    // What came before anybody listened went nowhere; from then on each comes once, in order.
    const told = all.filter((m) => m.method === 'notifications/progress').map((m) => m.params.progress);
    assert.deepEqual(told, [1, 2, 3].slice(3 - told.length), `cut after ${cut}`);
    assert.ok(told.length >= 2);
    assert.equal(all.filter((m) => m.id === `r${cut}` && !m.method).length, 1, end);
    assert.equal(all.filter((m) => m.method === 'elicitation/create').length, 1);
  }
});
