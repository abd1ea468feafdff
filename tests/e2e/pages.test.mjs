// Pages of the lists when what they list is large: a page ends before it grows beyond what is sent
// as one answer, and the next begins there. The worker is scripted, as in offers.test.mjs.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { World, until } from '../lib/errand.mjs';
import { Modern } from '../lib/modern.mjs';
import { Offering } from '../lib/offering.mjs';

const MIB = 1 << 20;
const TOOLS = 12; // of nearly 512 KiB, the largest that is listed: more than 4 MiB together
const SERVERS = 2; // of 7 MiB, more than 12 MiB together
const w = new World();
let broker;
const names = Array.from({ length: TOOLS }, (_, i) => `tool${String(i).padStart(2, '0')}`);
const uris = Array.from({ length: SERVERS }, (_, i) => `big://${i}`);

before(async () => {
  await w.startRedis();
  // What is given out as a result is no matter of lists.
  broker = await w.startBroker({ args: ['--rate', '0', '--page-size', '100', '--max-result', '64k'] });
  const worker = new Offering(w.db, 'none', { wid: 'tools001' });
  const text = 'x'.repeat(500 << 10);
  const tools = names.flatMap((name) => [name, `d-${name}`, '{}', JSON.stringify({ name, description: text, inputSchema: { type: 'object' } })]);
  await worker.fn('g', 'announce', ['tools', 'seen', 'tv', 'ws', 'w:tools001'], 'tools001', 'p', '{}', Date.now(), ...tools);
  for (const [i, uri] of uris.entries()) {
    const resources = [{ uri, name: uri, description: 'y'.repeat(7 * MIB) }];
    await new Offering(w.db, `s${i}`, { wid: `server0${i}`, capabilities: { resources: {} }, offers: { resources } }).announce();
  }
  const c = await w.connect(broker, { tool: null });
  await until('all of it is listed', async () => (await all(c, 'tools/list', 'tools')).found.length === TOOLS
    && (await all(c, 'resources/list', 'resources')).found.length === SERVERS, 30000);
});
after(() => w.stop());

// Whatever the pages hold, and how large each of them was.
async function all(c, method, member) {
  const found = [];
  const sizes = [];
  for (let cursor; ;) {
    const r = await c.request(method, cursor ? { cursor } : {});
    assert.ok(r.result, JSON.stringify(r.error));
    found.push(...r.result[member].map((x) => x.uri ?? x.name));
    sizes.push(r.http.text.length);
    cursor = r.result.nextCursor;
    if (!cursor) return { found, sizes };
  }
}

async function each(method, member, expected, most) {
  const modern = new Modern(broker.url);
  w.clients.push(modern);
  for (const c of [await w.connect(broker, { tool: null }), modern]) {
    const { found, sizes } = await all(c, method, member);
    assert.deepEqual(found, expected);
    assert.equal(sizes.length, 2);
    assert.ok(sizes.every((n) => n <= most), `${sizes}`);
  }
}

test('C-02: a page of large tools ends early, in both dialects, and the next goes on there', () => each('tools/list', 'tools', names, 4 * MIB));
test('C-02: a page of large resources does, too', () => each('resources/list', 'resources', uris, 12 * MIB));
