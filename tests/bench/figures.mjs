// figures.mjs - what is measured: each with processes of its own, on a stage.
//
// peer: needs packages of the npm registry. once: not in every round.
import { everything } from './peer/packages.mjs';
import { cpuOf, rssOf } from './stage.mjs';

const CLIENTS = 256;
const ANSWER_BYTES = 290; // of a tasks/get, as errand answers the one that load sends

const load = (name, open, mode, more) => ({
  name,
  measure: async (stage) => stage.load(mode, await open(stage), '-c', CLIENTS),
  ...more,
});

const errand = (aof) => async (stage) => (await stage.errand({ aof })).port;
const sdk = (stage) => stage.sdk();

async function bullmq(stage, aof, together) {
  await stage.redis(aof);
  if (together) return stage.measure(stage.bullmq('alone'));
  const worker = stage.start(stage.bullmq('worker'));
  stage.roles.worker = worker.pid;
  await new Promise((resolve) => { worker.stdout.once('data', resolve); });
  return stage.measure(stage.bullmq('load'));
}

async function paced(stage) {
  await stage.redis(false);
  const a = await stage.broker();
  const b = await stage.broker();
  await stage.worker({ slots: 64, stamp: true });
  await stage.world.connect(a, { tool: 'stamp' });
  await stage.world.connect(b, { tool: 'stamp' });
  return stage.load('paced', a.port, '-b', b.port, '-r', 1000, '-c', 128);
}

async function wrapped(stage) {
  await stage.redis(false);
  const broker = await stage.broker();
  await stage.wrap('every_', [process.execPath, everything(), 'stdio']);
  await stage.world.connect(broker, { tool: 'every_echo' });
  return stage.measure(stage.wrapped('errand', broker.port));
}

async function idle(stage, o) {
  const broker = await stage.errand({ slots: 2 });
  const worker = stage.roles.worker;
  const [b, w] = await Promise.all([broker.pid, worker].map((pid) => stage.share(pid, o.idleSeconds)));
  return { broker: { rss: rssOf(broker.pid), share: b }, worker: { rss: rssOf(worker), share: w } };
}

async function waiters(stage, o) {
  const broker = await stage.errand({ slots: 2 });
  await stage.hold(broker.port, o.waiters);
  const from = cpuOf(stage.roles.redis);
  const share = await stage.share(broker.pid, o.idleSeconds);
  return { rss: rssOf(broker.pid), share, redis: (cpuOf(stage.roles.redis) - from) / o.idleSeconds };
}

async function usedMemory(stage) {
  const text = await stage.world.db.call('INFO', 'memory');
  return Number(/used_memory:(\d+)/.exec(text)[1]);
}

// Of tasks that ended and whose results were fetched.
async function taskMemory(stage) {
  const { port } = await stage.errand();
  const tasks = () => stage.world.db.call('ZCARD', 'errand:{0}:ix');
  await stage.load('lifecycle', port, '-c', CLIENTS);
  const [n, used] = [await tasks(), await usedMemory(stage)];
  await stage.load('lifecycle', port, '-c', CLIENTS);
  return { bytes: (await usedMemory(stage) - used) / (await tasks() - n) };
}

export const figures = [
  load('errand lifecycle', errand(false), 'lifecycle'),
  load('sdk lifecycle', sdk, 'lifecycle', { peer: true }),
  { name: 'bullmq jobs', peer: true, measure: (stage) => bullmq(stage, false, true) },
  { name: 'bullmq results', peer: true, measure: (stage) => bullmq(stage, false, false) },
  load('errand lifecycle everysec', errand(true), 'lifecycle'),
  { name: 'bullmq jobs everysec', peer: true, measure: (stage) => bullmq(stage, true, true) },
  load('errand create', errand(false), 'create'),
  load('sdk create', sdk, 'create', { peer: true }),
  load('errand get', errand(false), 'get'),
  load('bare get', (stage) => stage.bare(ANSWER_BYTES), 'plain'),
  load('sdk get', sdk, 'get', { peer: true }),
  load('errand call', errand(false), 'call'),
  { name: 'errand paced', measure: paced },
  { name: 'errand wrapped', peer: true, measure: wrapped },
  { name: 'direct wrapped', peer: true, measure: (stage) => stage.measure(stage.wrapped('direct')) },
  { name: 'errand idle', once: true, measure: idle },
  { name: 'errand waiters', once: true, measure: waiters },
  { name: 'errand memory', once: true, measure: taskMemory },
];
