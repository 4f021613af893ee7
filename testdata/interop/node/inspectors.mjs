// Drives a server with the command lines of two inspectors: rows of the table of foreign clients. They list and call; what takes a
// conversation is for people in front of a browser.
//
//	node inspectors.mjs COMMAND [ARG...]
import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { assert } from './lib/harness.mjs';
import { row } from './lib/row.mjs';
import { serve } from './lib/serve.mjs';

const command = process.argv.slice(2);
const server = await serve(command);
const home = await mkdtemp(join(tmpdir(), 'inspector-')); // the newer one keeps there what it knows of servers
const packageIn = folder => dirname(createRequire(new URL(`../${folder}/package.json`, import.meta.url)).resolve('@modelcontextprotocol/inspector/package.json'));

// The inspectors: how each is told of a server, and what it prints.
const old = {
  script: join(packageIn('inspector'), 'cli/build/cli.js'),
  args: (target, args) => ['--cli', ...target, ...args],
  call: (name, args) => ['--method', 'tools/call', '--tool-name', name, '--tool-arg', ...Object.entries(args).map(([k, v]) => `${k}=${v}`)],
  result: out => JSON.parse(out),
};
const current = era => ({
  script: join(packageIn('node'), 'clients/launcher/build/index.js'),
  args: (target, args) => ['--cli', ...target, '--protocol-era', era, '--format', 'json', ...args],
  call: (name, args) => ['--method', 'tools/call', '--tool-name', name, '--tool-args-json', JSON.stringify(args)],
  result: out => JSON.parse(out).result,
});

function run(inspector, target, args) {
  const child = spawn(process.execPath, [inspector.script, ...inspector.args(target, args)],
    { env: { ...process.env, HOME: home }, stdio: ['ignore', 'pipe', 'pipe'], timeout: 20_000 });
  const out = { stdout: '', stderr: '' };
  for (const name of Object.keys(out)) child[name].setEncoding('utf8').on('data', chunk => { out[name] += chunk; });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', status => {
      try {
        resolve(inspector.result(out.stdout));
      } catch (error) {
        reject(new Error(`status ${status}, ${error}: ${out.stdout}${out.stderr}`));
      }
    });
  });
}

const text = result => result.content.map(c => c.text).join('\n');
const none = async () => '-';

const can = {
  list: async s => assert.ok(s.tools.some(t => t.name === 'greet')),
  call: async s => assert.equal(text(await s.run(s.inspector.call('greet', { name: 'Ada' }))), 'Hello, Ada!'),
  error: async s => {
    const result = await s.run(s.inspector.call('slow_compute', { seconds: -1 }));
    assert.equal(result.isError, true);
    assert.match(text(result), /\/seconds/);
  },
  progress: none, cancel: none, question: none,
};

let failed = false;
for (const [name, inspector, revision] of [
  ['Inspector 0.15.0', old, '2025-06-18'], ['Inspector 2.12.0', current('legacy'), '2025-11-25'], ['Inspector 2.12.0', current('modern'), '2026-07-28'],
]) {
  for (const [transport, target] of [['stdio', command], ['HTTP', [server.url]]]) {
    failed = await row(name, transport, async () => {
      const session = { inspector, revision, run: args => run(inspector, target, args), close: async () => {} };
      session.tools = (await session.run(['--method', 'tools/list'])).tools;
      return session;
    }, can) || failed;
  }
}
await server.stop();
await rm(home, { recursive: true });
process.exit(failed ? 1 : 0);
