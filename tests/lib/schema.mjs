// schema.mjs - checks messages of the broker against the official schemas of both revisions.
//
// The schema comes with the pinned conformance package that tests/interop installs; without it
// nothing is checked here, and the suites that need it are skipped with that reason.
import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const modules = process.env.ERRAND_NODE_MODULES
  ?? path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../../build/node/node_modules');

// What a result must be, by the method that asked.
const legacyResults = {
  initialize: ['InitializeResult'],
  ping: ['EmptyResult'],
  'tools/list': ['ListToolsResult'],
  'tools/call': ['CallToolResult', 'CreateTaskResult'],
  'tasks/get': ['GetTaskResult'],
  'tasks/result': ['CallToolResult', 'GetTaskPayloadResult'],
  'tasks/list': ['ListTasksResult'],
  'tasks/cancel': ['CancelTaskResult'],
  'logging/setLevel': ['EmptyResult'],
};
const modernResults = {
  'server/discover': ['DiscoverResult'],
  'tools/list': ['ListToolsResult'],
  'tools/call': ['CallToolResult', 'InputRequiredResult', 'errand-task'],
};

// The tasks extension has no published schema of its own: its shapes, as it describes them.
const task = {
  type: 'object',
  required: ['taskId', 'status', 'createdAt', 'lastUpdatedAt', 'ttlMs'],
  properties: {
    taskId: { type: 'string' },
    status: { enum: ['working', 'input_required', 'completed', 'failed', 'cancelled'] },
    statusMessage: { type: 'string' },
    createdAt: { type: 'string', format: 'date-time' },
    lastUpdatedAt: { type: 'string', format: 'date-time' },
    ttlMs: { type: ['integer', 'null'], exclusiveMinimum: 0 },
    pollIntervalMs: { type: 'integer', exclusiveMinimum: 0 },
    ttl: false,
    pollInterval: false,
    task: false,
  },
};
const extension = {
  'errand-task': { ...task, required: [...task.required, 'resultType'], properties: { ...task.properties, resultType: { const: 'task' }, result: false, error: false, inputRequests: false, requestState: false } },
  'errand-detailed': {
    ...task,
    required: [...task.required, 'resultType'],
    properties: { ...task.properties, resultType: { const: 'complete' } },
    allOf: [
      { if: { properties: { status: { const: 'completed' } } }, then: { required: ['result'] }, else: { properties: { result: false } } },
      { if: { properties: { status: { const: 'failed' } } }, then: { required: ['error'] }, else: { properties: { error: false } } },
      { if: { properties: { status: { const: 'input_required' } } }, then: { required: ['inputRequests'] }, else: { properties: { inputRequests: false } } },
    ],
  },
  'errand-ack': { type: 'object', required: ['resultType'], properties: { resultType: { const: 'complete' }, taskId: false, status: false } },
};
modernResults['tasks/get'] = ['errand-detailed'];
modernResults['tasks/update'] = ['errand-ack'];
modernResults['tasks/cancel'] = ['errand-ack'];

// Every object literal with a $schema member in a bundle of JavaScript.
function* literals(text) {
  for (const m of text.matchAll(/\$schema:/g)) {
    const start = text.lastIndexOf('{', m.index);
    let depth = 0;
    let quote;
    let i = start;
    for (; i < text.length; i++) {
      const c = text[i];
      if (quote) {
        if (c === '\\') i++;
        else if (c === quote) quote = undefined;
      } else if (c === '"' || c === "'" || c === '`') quote = c;
      else if (c === '{') depth++;
      else if (c === '}' && --depth === 0) break;
    }
    if (i - start > 20000) yield text.slice(start, i + 1);
  }
}

function load() {
  const found = {};
  try {
    const bundle = path.join(modules, '@modelcontextprotocol/conformance/dist/index.js');
    for (const text of literals(fs.readFileSync(bundle, 'utf8'))) {
      const schema = (0, eval)(`(${text})`);
      if (schema.$defs?.DiscoverResult) found.modern = schema;
      else if (schema.$defs?.GetTaskResult) found.legacy = schema;
    }
  } catch {
    return {};
  }
  return found;
}

const schemas = load();
const validators = new Map();
let ajv;
if (schemas.legacy && schemas.modern) {
  const require = createRequire(path.join(modules, 'noop.js'));
  const Ajv = require('ajv/dist/2020').default;
  ajv = new Ajv({ strict: false, allErrors: false });
  require('ajv-formats').default(ajv);
  ajv.addFormat('byte', true);
  ajv.addFormat('uri-template', true);
  for (const [name, schema] of Object.entries(schemas)) ajv.addSchema({ ...schema, $id: name });
}

export const schemaIsHere = ajv !== undefined;
export let checked = 0;

function valid(revision, name, value) {
  const key = `${revision}#${name}`;
  if (!validators.has(key)) validators.set(key, ajv.compile(extension[name] ?? { $ref: `${revision}#/$defs/${name}` }));
  const check = validators.get(key);
  return check(value) ? undefined : `${name}: ${ajv.errorsText(check.errors)}`;
}

function check(revision, results, message, method) {
  if (!ajv) return;
  checked++;
  let kind;
  if (message.method) kind = message.id === undefined ? 'ServerNotification' : 'ServerRequest';
  // Notifications of the extension are not in the core schema.
  const own = revision === 'modern' && message.method === 'notifications/tasks';
  const fail = valid(revision, 'JSONRPCMessage', message) ?? (kind && !own ? valid(revision, kind, message) : undefined);
  if (fail) throw new Error(`not valid by the official schema (${revision}): ${fail}\n${JSON.stringify(message)}`);
  if (message.result === undefined || !results[method]) return;
  const errors = results[method].map((name) => valid(revision, name, message.result));
  if (errors.every((e) => e !== undefined)) {
    throw new Error(`not a result of ${method} by the official schema (${revision}): ${errors.join('; ')}\n${JSON.stringify(message)}`);
  }
}

// Throws when a message of the broker is not what the schema says; method: of the request.
export const checkMessage = (message, method) => check('legacy', legacyResults, message, method);
export const checkModern = (message, method) => check('modern', modernResults, message, method);
