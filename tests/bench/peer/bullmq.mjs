// bullmq.mjs ROLE SOCKET SECONDS WARMUP_SECONDS - the peer of the benchmarks: BullMQ's bare jobs.
//
//     worker    runs jobs that do nothing
//     load      keeps 256 jobs in flight until the time is over, and prints one line of JSON; a job
//               counts when its completion has reached the process that added it
//     alone     worker and load in one process: a job counts when its worker is done with it
import { bullmq } from './packages.mjs';

const [role, socket, seconds, warmup] = process.argv.slice(2);
const { Queue, QueueEvents, Worker } = await bullmq();
const connection = { path: socket, maxRetriesPerRequest: null };
const IN_FLIGHT = 256;
const WARMUP_MS = Number(warmup) * 1000;

async function worker() {
  const w = new Worker('bench', async () => 'hello', { connection, concurrency: IN_FLIGHT });
  await w.waitUntilReady();
  return w;
}

async function load(done) {
  const queue = new Queue('bench', { connection });
  const events = role === 'load' ? new QueueEvents('bench', { connection }) : done;
  let n = 0;
  let began;
  let used;
  const add = () => queue.add('echo', { text: 'hello' });
  await queue.waitUntilReady();
  if (role === 'load') await events.waitUntilReady();
  events.on('completed', () => {
    n++;
    add();
  });
  for (let i = 0; i < IN_FLIGHT; i++) add();
  setTimeout(() => {
    n = 0;
    began = performance.now();
    used = process.cpuUsage();
    console.log('started');
  }, WARMUP_MS);
  setTimeout(() => {
    const { user, system } = process.cpuUsage(used);
    console.log(JSON.stringify({ n, seconds: (performance.now() - began) / 1000, cpu: (user + system) / 1e6 }));
    process.exit(0);
  }, WARMUP_MS + Number(seconds) * 1000);
}

if (role === 'worker') {
  await worker();
  console.log('ready');
} else {
  await load(role === 'alone' ? await worker() : null);
}
