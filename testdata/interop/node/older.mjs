// Drives a server with TypeScript SDKs of the years before: each asks for the revision that was the newest then, and hangs up when
// it is answered with one that it does not know.
//
//	node older.mjs COMMAND [ARG...]
import { assert, checks, newSession, recordReceived, recordSent, rejects, until } from './lib/harness.mjs';
import { serve } from './lib/serve.mjs';

const command = process.argv.slice(2);
const server = await serve(command);
const text = result => result.content.map(c => c.text).join('\n');

// The clients, with the revision that each asks for. 1.5.0 has no Streamable HTTP.
const clients = [
  { sdk: 'sdk-1.20.0', revision: '2025-06-18', transports: ['stdio', 'HTTP'] },
  { sdk: 'sdk-1.12.0', revision: '2025-03-26', transports: ['stdio', 'HTTP'] },
  { sdk: 'sdk-1.5.0', revision: '2024-11-05', transports: ['stdio'] },
];

async function connect({ sdk, transport, capabilities, answers }) {
  const { Client } = await import(`${sdk}/client/index.js`);
  const types = await import(`${sdk}/types.js`);
  const client = new Client({ name: 'interop', version: '1.0.0' }, { capabilities });
  const session = Object.assign(newSession(client), { types });
  session.transport = await transportOf(sdk, transport);
  for (const [schema, answer] of answers(types)) {
    client.setRequestHandler(schema, request => { session.questions.push(request); return answer; });
  }
  recordSent(session);
  await client.connect(session.transport);
  recordReceived(session);
  return session;
}

async function transportOf(sdk, transport) {
  if (transport === 'stdio') {
    const { StdioClientTransport } = await import(`${sdk}/client/stdio.js`);
    return new StdioClientTransport({ command: command[0], args: command.slice(1), stderr: 'inherit' });
  }
  const { StreamableHTTPClientTransport } = await import(`${sdk}/client/streamableHttp.js`);
  return new StreamableHTTPClientTransport(new URL(server.url));
}

function of(sdk, transport, revision) {
  const asks = revision >= '2025-06-18';
  const withSession = body => async () => {
    const session = await connect({
      sdk, transport, capabilities: { sampling: {}, ...(asks && { elicitation: {} }) },
      answers: t => [
        [t.CreateMessageRequestSchema, { role: 'assistant', model: 'm', content: { type: 'text', text: 'from the model' } }],
        ...(asks ? [[t.ElicitRequestSchema, { action: 'accept', content: { username: 'ada', email: 'ada@example.com' } }]] : []),
      ],
    });
    try {
      await body(session);
      assert.deepEqual(session.errors, [], 'the client met messages that it could not place');
    } finally {
      await session.client.close();
    }
  };
  const list = {
    'the revision asked for is agreed on': withSession(async ({ client, sent, transport }) => {
      assert.equal(sent[0].params.protocolVersion, revision);
      if (transport.protocolVersion) assert.equal(transport.protocolVersion, revision);
      const capabilities = client.getServerCapabilities();
      for (const name of ['tools', 'prompts', 'resources', 'logging']) assert.ok(capabilities[name], name);
      assert.equal(capabilities.tasks, undefined);
      assert.equal(Boolean(capabilities.completions), revision >= '2025-03-26');
    }),

    'tools/list has what the revision has, and no tool that only runs as a task': withSession(async session => {
      const { tools } = await session.client.listTools();
      const names = tools.map(t => t.name);
      assert.ok(names.includes('greet') && names.includes('slow_compute'), names.join());
      assert.ok(!names.includes('failing_job'), names.join());
      const listed = session.received.find(m => m.result?.tools).result.tools;
      assert.ok(!listed.some(t => t.execution || t.icons), 'later members');
    }),

    'tools/call answers': withSession(async ({ client }) => {
      assert.equal(text(await client.callTool({ name: 'greet', arguments: { name: 'Ada' } })), 'Hello, Ada!');
      const several = await client.callTool({ name: 'test_multiple_content_types' });
      assert.deepEqual(several.content.map(c => c.type), ['text', 'image', 'resource']);
    }),

    'content that came later is said in words': withSession(async ({ client }) => {
      const { content } = await client.callTool({ name: 'test_audio_content' });
      assert.equal(content[0].type, revision >= '2025-03-26' ? 'audio' : 'text');
    }),

    'errors say what is wrong': withSession(async ({ client }) => {
      const result = await client.callTool({ name: 'slow_compute', arguments: { seconds: -1, label: 7 } });
      assert.equal(result.isError, true);
      assert.match(text(result), /\/seconds/);
      await rejects(client.callTool({ name: 'no_such_tool', arguments: {} }), -32602, /no_such_tool/);
      await rejects(client.callTool({ name: 'failing_job', arguments: {} }), -32602, /no tasks/);
    }),

    'progress arrives before the answer': withSession(async ({ client }) => {
      const seen = [];
      const result = await client.callTool({ name: 'test_tool_with_progress' }, undefined, { onprogress: p => seen.push(p) });
      assert.deepEqual(seen.map(p => [p.progress, p.total]), [[0, 100], [50, 100], [100, 100]]);
      assert.equal(text(result), 'done');
    }),

    'a call that is cancelled in flight is never answered': withSession(async session => {
      const abort = new AbortController();
      const call = session.client.callTool({ name: 'slow_compute', arguments: { seconds: 60 } }, undefined, { signal: abort.signal });
      const { id } = await until(session, 'the call', s => s.sent.find(m => m.method === 'tools/call'));
      await session.client.callTool({ name: 'greet', arguments: { name: 'Ada' } });
      abort.abort('not needed any more');
      await assert.rejects(call, /not needed any more/);
      for (let i = 0; i < 10; i++) await session.client.ping();
      assert.deepEqual(session.received.filter(m => m.id === id), []);
    }),

    'the model is asked in a call': withSession(async session => {
      const result = await session.client.callTool({ name: 'test_sampling', arguments: { prompt: 'Say something.' } });
      assert.match(text(result), /from the model/);
      assert.equal(session.questions.length, 1);
    }),

    'a question to the user is asked where the revision has it': withSession(async session => {
      const result = await session.client.callTool({ name: 'test_elicitation', arguments: { message: 'Who is there?' } });
      assert.equal(session.questions.length, asks ? 1 : 0);
      assert.match(text(result), asks ? /accept.*ada/ : /can not/);
    }),

    'a batch is answered where the revision has it': withSession(async session => {
      if (revision !== '2025-03-26' || transport !== 'HTTP') return; // this client reads no array on stdio
      const ids = [9001, 9002];
      await session.raw(ids.map(id => ({ jsonrpc: '2.0', id, method: 'ping' })));
      await until(session, 'both answers', s => ids.every(id => s.received.some(m => m.id === id)));
      session.errors.length = 0; // the client did not know of these requests
    }),

    'prompts, resources, completion and the log are served': withSession(async session => {
      const { client, types } = session;
      const { prompts } = await client.listPrompts();
      assert.ok(prompts.some(p => p.name === 'test_prompt_with_arguments'));
      const { contents } = await client.readResource({ uri: 'test://template/42/data' });
      assert.match(contents[0].text, /42/);
      const { completion } = await client.complete({
        ref: { type: 'ref/prompt', name: 'test_prompt_with_arguments' }, argument: { name: 'arg1', value: 'par' },
      });
      assert.deepEqual(completion.values, ['paris', 'park', 'party']);
      const records = [];
      client.setNotificationHandler(types.LoggingMessageNotificationSchema, n => { records.push(n); });
      await client.setLoggingLevel('debug');
      await client.callTool({ name: 'test_tool_with_logging' });
      assert.equal(records.length, 3);
    }),
  };
  return Object.fromEntries(Object.entries(list).map(([title, check]) => [`${sdk}, ${transport}, ${revision}: ${title}`, check]));
}

const all = clients.flatMap(({ sdk, revision, transports }) => transports.map(transport => of(sdk, transport, revision)));
await checks('interop, older TypeScript SDKs', {
  ...Object.assign({}, ...all),
  'the server ends in order': async () => assert.equal(await server.stop(), 0),
});
