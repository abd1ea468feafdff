// sdk.mjs PORT - the peer of the benchmarks: an MCP server of the official TypeScript SDK with its
// in-memory store of tasks, one tool, and nothing else around it.
//
// What it is spared: the tool ends before its handle is returned (the SDK's tasks/result looks
// again only after a poll interval), answers are plain JSON, there is no web framework.
import { randomUUID } from 'node:crypto';
import http from 'node:http';
import { sdk } from './packages.mjs';

const { McpServer } = await sdk('server/mcp.js');
const { StreamableHTTPServerTransport } = await sdk('server/streamableHttp.js');
const { InMemoryTaskStore, InMemoryTaskMessageQueue } = await sdk('experimental/tasks/stores/in-memory.js');
const { z } = await sdk.zod();

const taskStore = new InMemoryTaskStore();
const taskMessageQueue = new InMemoryTaskMessageQueue();
const transports = new Map();

function server() {
  const s = new McpServer({ name: 'peer', version: '1' },
    { capabilities: { tasks: { requests: { tools: { call: {} } } } }, taskStore, taskMessageQueue });
  s.experimental.tasks.registerToolTask('echo', {
    description: 'Answers with the text it is given.',
    inputSchema: { text: z.string() },
    execution: { taskSupport: 'optional' },
  }, {
    async createTask({ text }, extra) {
      const task = await extra.taskStore.createTask({ ttl: extra.taskRequestedTtl ?? 3600000 });
      await extra.taskStore.storeTaskResult(task.taskId, 'completed', { content: [{ type: 'text', text }] });
      return { task };
    },
    getTask: (_, extra) => extra.taskStore.getTask(extra.taskId),
    getTaskResult: (_, extra) => extra.taskStore.getTaskResult(extra.taskId),
  });
  return s;
}

async function open() {
  const transport = new StreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    enableJsonResponse: true,
    onsessioninitialized: (id) => { transports.set(id, transport); },
  });
  await server().connect(transport);
  return transport;
}

http.createServer(async (req, res) => {
  const transport = transports.get(req.headers['mcp-session-id']) ?? await open();
  await transport.handleRequest(req, res);
}).listen(Number(process.argv[2]), '127.0.0.1');
