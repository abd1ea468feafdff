// packages.mjs - where the peers find what tests/interop/install.sh has brought.
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const top = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../../..');
const require = createRequire(path.join(top, 'build/node/noop.js'));

export const bullmq = () => import(pathToFileURL(require.resolve('bullmq')));

export const sdk = (name) => {
  const some = require.resolve('@modelcontextprotocol/sdk/package.json');
  return import(pathToFileURL(path.join(some.replace(/dist.*$|package\.json$/, ''), 'dist/esm', name)));
};
sdk.zod = () => import(pathToFileURL(require.resolve('zod')));

// The program of a real server, to be run with the word stdio.
export const everything = () => path.join(top, 'build/node/node_modules/@modelcontextprotocol/server-everything/dist/index.js');
