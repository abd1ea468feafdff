// clients.mjs - the official clients of both dialects, and what a careful user of them does when
// the world around breaks: the same call again, under the same idempotency key.
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { root, sleep } from '../lib/errand.mjs';

const modules = path.join(root, 'build/node/node_modules');
const load = (file) => import(pathToFileURL(path.join(modules, file)));

const one = await load('@modelcontextprotocol/sdk/dist/esm/client/index.js');
const oneHttp = await load('@modelcontextprotocol/sdk/dist/esm/client/streamableHttp.js');
const types = await load('@modelcontextprotocol/sdk/dist/esm/types.js');
const two = await load('@modelcontextprotocol/client/dist/index.mjs');

export const { CallToolResultSchema, CreateTaskResultSchema, ElicitRequestSchema } = types;

const init = (key) => ({ requestInit: { headers: { Authorization: `Bearer ${key}` } } });
const answer = () => ({ action: 'accept', content: { n: 7 } });

// 2025-11-25, SDK 1.
export async function handshake(site) {
  const c = new one.Client({ name: 'deploy', version: '1' }, { capabilities: { elicitation: { form: {} } } });
  c.setRequestHandler(ElicitRequestSchema, answer);
  c.onerror = () => {};
  await c.connect(new oneHttp.StreamableHTTPClientTransport(new URL(site.url), init(site.key)));
  return c;
}

// 2026-07-28, SDK 2.
export async function stateless(site) {
  const c = new two.Client({ name: 'deploy', version: '1' }, { capabilities: { elicitation: { form: {} } }, versionNegotiation: { mode: 'auto' } });
  c.setRequestHandler('elicitation/create', async () => answer());
  c.onerror = () => {};
  await c.connect(new two.StreamableHTTPClientTransport(new URL(site.url), init(site.key)));
  c.isTwo = true;
  return c;
}

// Both clients give up a broken stream after a few tries, and the request waits for its timeout.
const soon = { timeout: 20000 };

const meta = (key) => (key ? { _meta: { 'dev.errand/idempotency-key': key } } : {});

export async function create(c, name, args, { ttl = 45000, key } = {}) {
  const params = { name, arguments: args, task: { ttl }, ...meta(key) };
  return (await c.request({ method: 'tools/call', params }, CreateTaskResultSchema, soon)).task.taskId;
}

export const result = (c, taskId) => c.experimental.tasks.getTaskResult(taskId, CallToolResultSchema, soon);
export const call = (c, name, args, key) => {
  const params = { name, arguments: args, ...meta(key) };
  return c.isTwo ? c.callTool(params, soon) : c.callTool(params, CallToolResultSchema, soon);
};
export const text = (r) => r.content[0].text.trim();

// Until it is answered, or refused for good: what a JSON-RPC error says of the task itself.
export async function insist(fact, { ms = 120000, final = () => false } = {}) {
  const end = Date.now() + ms;
  for (;;) {
    try {
      return await fact();
    } catch (e) {
      if (final(e) || Date.now() > end) throw e;
      await sleep(200);
    }
  }
}
