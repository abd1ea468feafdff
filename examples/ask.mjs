#!/usr/bin/env node
// ask.mjs THING - what ask.sh does, in JavaScript, on the socket itself.
import net from 'node:net';
import readline from 'node:readline';

const line = new net.Socket({ fd: Number(process.env.ERRAND_FD) });
const answers = readline.createInterface({ input: line });
const waiting = new Map();
let asked = 0;

answers.on('line', (text) => {
  const answer = JSON.parse(text);
  waiting.get(answer.id)?.(answer);
  waiting.delete(answer.id);
});

const send = (message) => line.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const tell = (method, params) => send({ method, params });
const ask = (method, params) => new Promise((resolve) => {
  asked += 1;
  waiting.set(asked, resolve);
  send({ id: asked, method, params });
});

const thing = process.argv[2];
tell('notifications/progress', { progress: 1, total: 3, message: 'asking' });
const { result, error } = await ask('elicitation/create', {
  message: `Clean up ${thing}?`,
  requestedSchema: {
    type: 'object',
    properties: { sure: { type: 'boolean', default: false }, note: { type: 'string' } },
    required: ['sure'],
  },
});
if (error) {
  console.error(`nobody could be asked: ${error.message}`);
  process.exitCode = 1;
} else {
  tell('notifications/message', { level: 'info', data: { action: result.action } });
  tell('notifications/progress', { progress: 2, total: 3, message: 'working' });
  const sure = result.action === 'accept' && result.content.sure;
  console.log(sure ? `${thing} is clean` : `${thing} is as it was`);
  tell('notifications/progress', { progress: 3, total: 3 });
}
line.destroySoon(); // once all that was written has left
