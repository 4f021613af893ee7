// Drives a server with the inspector's command line: both eras over HTTP and over stdio.
//
//	node inspector.mjs COMMAND [ARG...]
import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { assert, checks } from './lib/harness.mjs';
import { serve } from './lib/serve.mjs';

const command = process.argv.slice(2);
const server = await serve(command);
const targets = { HTTP: [server.url], stdio: command };
const launcher = join(dirname(createRequire(import.meta.url).resolve('@modelcontextprotocol/inspector/package.json')), 'clients/launcher/build/index.js');
// It keeps what it knows of servers in the user's home.
const home = await mkdtemp(join(tmpdir(), 'inspector-'));

// The statuses that it ends with.
const fine = 0, toolError = 5;

const text = ({ result }) => result.content.map(c => c.text).join('\n');

function inspect(target, era, ...args) {
  const child = spawn(process.execPath, [launcher, '--cli', ...target, '--protocol-era', era, '--format', 'json', ...args],
    { env: { ...process.env, HOME: home }, stdio: ['ignore', 'pipe', 'pipe'], timeout: 20_000 });
  const out = { stdout: '', stderr: '' };
  for (const name of Object.keys(out)) child[name].setEncoding('utf8').on('data', chunk => { out[name] += chunk; });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', status => {
      try {
        resolve({ status, result: out.stdout ? JSON.parse(out.stdout).result : undefined, stderr: out.stderr });
      } catch (error) {
        reject(new Error(`status ${status}, ${error}: ${out.stdout}${out.stderr}`));
      }
    });
  });
}

function of(transport, era) {
  const run = async (want, method, ...args) => {
    const answer = await inspect(targets[transport], era, '--method', method, ...args);
    assert.equal(answer.status, want, answer.stderr);
    return answer;
  };
  const call = (want, name, args = {}) => run(want, 'tools/call', '--tool-name', name, '--tool-args-json', JSON.stringify(args));
  const list = {
    'tools are listed': async () => {
      const { result } = await run(fine, 'tools/list');
      assert.deepEqual(result.tools.find(t => t.name === 'greet').inputSchema,
        { type: 'object', required: ['name'], properties: { name: { type: 'string' } } });
    },

    'a tool is called': async () => {
      const answer = await call(fine, 'greet', { name: 'Ada' });
      assert.equal(text(answer), 'Hello, Ada!');
      assert.equal(answer.result.resultType, era === 'modern' ? 'complete' : undefined);
    },

    'violations are a tool error': async () => {
      const answer = await call(toolError, 'slow_compute', { seconds: -1 });
      assert.equal(answer.result.isError, true);
      assert.match(text(answer), /\/seconds/);
    },

    'a tool that runs as a task is called': async () => {
      const answer = await call(fine, 'slow_compute', { seconds: 1, label: 'interop' });
      assert.match(text(answer), /interop: computed/);
    },

    'prompts and resources are read': async () => {
      const { result } = await run(fine, 'prompts/get', '--prompt-name', 'test_prompt_with_arguments', '--prompt-args', 'arg1=one', 'arg2=two');
      assert.match(result.messages[0].content.text, /one.*two/);
      const read = await run(fine, 'resources/read', '--uri', 'test://template/42/data');
      assert.match(read.result.contents[0].text, /42/);
    },
  };
  return Object.fromEntries(Object.entries(list).map(([title, check]) => [`${transport}, ${era}: ${title}`, check]));
}

await checks('interop, inspector on both eras', {
  ...of('HTTP', 'modern'),
  ...of('HTTP', 'legacy'),
  ...of('stdio', 'modern'),
  ...of('stdio', 'legacy'),
}, {
  parallel: 3,
  after: async () => {
    await server.stop();
    await rm(home, { recursive: true });
  },
});
