// Drives a server with every TypeScript client there is a version of here, each on stdio and HTTP: a row of the table of foreign clients
// each. older.mjs, client.mjs and the other scripts look closer at some of them.
//
//	node table.mjs COMMAND [ARG...]
import { close, connect as connectBoth } from './lib/client.mjs';
import { assert, newSession, recordReceived, recordSent, until } from './lib/harness.mjs';
import { row, steps } from './lib/row.mjs';
import { serve } from './lib/serve.mjs';

const command = process.argv.slice(2);
const server = await serve(command);

// The SDKs by the name they are installed under. 1.5.0 has no Streamable HTTP.
const sdks = [
  ['1.5.0', 'sdk-1.5.0', ['stdio']],
  ['1.12.0', 'sdk-1.12.0'],
  ['1.20.0', 'sdk-1.20.0'],
  ['1.24.0', 'sdk-1.24.0'],
  ['1.25.0', 'sdk-1.25.0'],
  ['1.32.2', '@modelcontextprotocol/sdk'],
];
const answer = { username: 'ada', email: 'ada@example.com' };

async function connect(sdk, transport) {
  const { Client } = await import(`${sdk}/client/index.js`);
  const types = await import(`${sdk}/types.js`);
  const asks = Boolean(types.ElicitRequestSchema); // before 2025-06-18 there are no questions
  const client = new Client({ name: 'interop', version: '1.0.0' }, { capabilities: asks ? { elicitation: {} } : {} });
  const session = Object.assign(newSession(client), { asks });
  if (transport === 'stdio') {
    const { StdioClientTransport } = await import(`${sdk}/client/stdio.js`);
    session.transport = new StdioClientTransport({ command: command[0], args: command.slice(1), stderr: 'inherit' });
  } else {
    const { StreamableHTTPClientTransport } = await import(`${sdk}/client/streamableHttp.js`);
    session.transport = new StreamableHTTPClientTransport(new URL(server.url));
  }
  if (asks) client.setRequestHandler(types.ElicitRequestSchema, () => ({ action: 'accept', content: answer }));
  recordSent(session);
  await client.connect(session.transport);
  recordReceived(session);
  session.revision = session.sent[0].params.protocolVersion;
  session.call = (name, args, options) => client.callTool({ name, arguments: args }, undefined, options);
  session.close = () => client.close();
  return session;
}

async function connectNewest(transport, revision) {
  const target = transport === 'stdio' ? command : server.url;
  const session = await connectBoth(target, revision, { answers: { 'Who is there?': answer } });
  session.call = (name, args, options) => session.client.callTool({ name, arguments: args }, options);
  return Object.assign(session, { asks: true, revision, close: () => close(session) });
}

const text = result => result.content.map(c => c.text).join('\n');

// What a connected client has to get right, by column.
const can = {
  async list(session) {
    const { tools } = await session.client.listTools();
    assert.ok(tools.some(t => t.name === 'greet'));
  },
  async call(session) {
    assert.equal(text(await session.call('greet', { name: 'Ada' })), 'Hello, Ada!');
  },
  async error(session) {
    const result = await session.call('slow_compute', { seconds: -1 });
    assert.equal(result.isError, true);
    assert.match(text(result), /\/seconds/);
    await assert.rejects(session.call('no_such_tool', {}), /no_such_tool/);
  },
  async progress(session) {
    const seen = [];
    await session.call('test_tool_with_progress', {}, { onprogress: p => seen.push(p.progress) });
    assert.deepEqual(seen, [0, 50, 100]);
  },
  async cancel(session) {
    const abort = new AbortController();
    const before = session.sent.length;
    const call = session.call('slow_compute', { seconds: 60 }, { signal: abort.signal });
    const { id } = await until(session, 'the call', s => s.sent.slice(before).find(m => m.method === 'tools/call'));
    await can.call(session);
    abort.abort('not needed any more');
    await assert.rejects(call);
    for (let i = 0; i < 5; i++) await can.call(session);
    assert.deepEqual(session.received.filter(m => m.id === id), []);
  },
  async question(session) {
    if (!session.asks) return '-';
    assert.match(text(await session.call('test_elicitation', { message: 'Who is there?' })), /ada/);
  },
};
assert.deepEqual(Object.keys(can), steps.slice(1));

let failed = false;
const add = async (name, transport, open) => { failed = await row(name, transport, open, can) || failed; };
for (const [version, sdk, transports = ['stdio', 'HTTP']] of sdks) {
  for (const transport of transports) await add(`TypeScript SDK ${version}`, transport, () => connect(sdk, transport));
}
for (const revision of ['2025-11-25', '2026-07-28']) {
  for (const transport of ['stdio', 'HTTP']) await add('TypeScript client 2.4.0', transport, () => connectNewest(transport, revision));
}
await server.stop();
process.exit(failed ? 1 : 0);
