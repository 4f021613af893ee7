// Drives a server with @modelcontextprotocol/client: both revisions over HTTP and over stdio.
//
//	node client.mjs COMMAND [ARG...]
import { close, connect, handshake, stateless } from './lib/client.mjs';
import { assert, checks, rejects, until } from './lib/harness.mjs';
import { serve } from './lib/serve.mjs';

const command = process.argv.slice(2);
const paged = ['-page', '10'];
const server = await serve(command, ...paged);
const targets = { HTTP: server.url, stdio: [...command, ...paged] };
const tasksExtension = 'io.modelcontextprotocol/tasks';

const text = result => result.content.map(c => c.text).join('\n');
const ask = { name: 'What is your name?', color: 'What is your favorite color?' };

// of makes the checks of one revision on one transport. Every check has a session of its own, so that one that fails leaves
// nothing to the next.
function of(transport, revision) {
  const withSession = (options, body) => async () => {
    const session = await connect(targets[transport], revision, options);
    try {
      await body(session);
      assert.deepEqual(session.errors, [], 'the client met messages that it could not place');
    } finally {
      await close(session);
    }
  };
  const slow = (session, options) => session.client.callTool({ name: 'slow_compute', arguments: { seconds: 60 } }, options);
  const list = {
    'the revision is negotiated and what the server can do is declared': withSession({}, async ({ client }) => {
      assert.equal(client.getNegotiatedProtocolVersion(), revision);
      const capabilities = client.getServerCapabilities();
      for (const name of ['tools', 'prompts', 'resources', 'completions']) assert.ok(capabilities[name], name);
      if (revision === stateless) {
        assert.deepEqual(capabilities.extensions[tasksExtension], {});
        assert.equal(capabilities.tasks, undefined);
      } else {
        assert.equal(capabilities.extensions?.[tasksExtension], undefined);
        assert.deepEqual(capabilities.tasks.requests, { tools: { call: {} } });
      }
      assert.equal(client.getServerVersion().name, 'conformance');
    }),

    'tools/list is read page by page': withSession({}, async session => {
      const { tools } = await session.client.listTools();
      const names = tools.map(t => t.name);
      assert.equal(new Set(names).size, names.length, 'no tool comes twice');
      assert.ok(names.includes('greet') && names.includes('multi_input'), names.join());
      const pages = session.sent.filter(m => m.method === 'tools/list').length;
      assert.equal(pages, Math.ceil(names.length / 10));
      assert.deepEqual(tools.find(t => t.name === 'greet').inputSchema,
        { type: 'object', required: ['name'], properties: { name: { type: 'string' } } });
      await rejects(session.client.listTools({ cursor: 'no-such-cursor' }), -32602, /cursor/i);
    }),

    'tools/call answers': withSession({}, async ({ client }) => {
      assert.equal(text(await client.callTool({ name: 'greet', arguments: { name: 'Ada' } })), 'Hello, Ada!');
      const several = await client.callTool({ name: 'test_multiple_content_types' });
      assert.deepEqual(several.content.map(c => c.type), ['text', 'image', 'resource']);
    }),

    'an argument in a header reaches the tool': withSession({}, async session => {
      const { client } = session;
      await client.listTools();
      const result = await client.callTool({ name: 'test_x_mcp_header', arguments: { region: 'Zürich ', level: 3 } });
      assert.equal(text(result), 'region Zürich ');
      const sent = session.http.some(e => e.headers['mcp-param-region']?.startsWith('=?base64?'));
      assert.equal(sent, transport === 'HTTP' && revision === stateless);
    }),

    'violations come back as a tool error that names each of them': withSession({}, async ({ client }) => {
      const result = await client.callTool({ name: 'slow_compute', arguments: { seconds: -1, label: 7 } });
      assert.equal(result.isError, true);
      assert.match(text(result), /\/seconds/);
      assert.match(text(result), /\/label/);
      await rejects(client.callTool({ name: 'no_such_tool', arguments: {} }), -32602, /no_such_tool/);
    }),

    'a tool that only runs as a task says so to a client without tasks': withSession({}, async ({ client }) => {
      const code = revision === stateless ? -32021 : -32601;
      await rejects(client.callTool({ name: 'failing_job' }), code, /task/i);
    }),

    'a call that is cancelled in flight is never answered': withSession({}, async session => {
      const abort = new AbortController();
      const call = slow(session, { signal: abort.signal });
      const { id } = await until(session, 'the call', s => s.sent.find(m => m.method === 'tools/call'));
      // Another call that is answered shows that the first one has long been read.
      await session.client.callTool({ name: 'greet', arguments: { name: 'Ada' } });
      abort.abort('not needed any more');
      await assert.rejects(call, /not needed any more/);
      for (let i = 0; i < 10; i++) await session.client.callTool({ name: 'greet', arguments: { name: 'Ada' } });
      assert.deepEqual(session.received.filter(m => m.id === id), []);
      // Over HTTP the stateless revision has no notification for it: the end of the request's stream says it all.
      const told = session.sent.filter(m => m.method === 'notifications/cancelled').map(m => m.params.requestId);
      assert.deepEqual(told, transport === 'HTTP' && revision === stateless ? [] : [id]);
    }),

    'progress arrives before the answer': withSession({}, async session => {
      const seen = [];
      const result = await session.client.callTool({ name: 'test_tool_with_progress' }, { onprogress: p => seen.push(p) });
      assert.deepEqual(seen.map(p => [p.progress, p.total]), [[0, 100], [50, 100], [100, 100]]);
      assert.equal(text(result), 'done');
    }),

    'a question in a call is answered': withSession({ answers: { 'Who is there?': { username: 'ada', email: 'ada@example.com' } } }, async session => {
      const result = await session.client.callTool({ name: 'test_elicitation', arguments: { message: 'Who is there?' } });
      assert.match(text(result), /accept.*ada/);
      assert.equal(session.questions.length, 1, 'asked once');
    }),

    'declining is an answer': withSession({}, async session => {
      const result = await session.client.callTool({ name: 'test_elicitation', arguments: { message: 'Who is there?' } });
      assert.match(text(result), /decline/);
      assert.equal(session.questions.length, 1);
    }),

    'a tool asks twice, one after the other': withSession({ answers: { [ask.name]: { name: 'Ada' }, [ask.color]: { color: 'green' } } }, async session => {
      const result = await session.client.callTool({ name: 'test_input_required_result_multi_round' });
      assert.match(text(result), /Ada.*green/);
      assert.deepEqual(session.questions.map(q => q.params.message), [ask.name, ask.color], 'each question once, in order');
    }),

    'a tool asks the user, the model and for the roots at once': withSession({ answers: { [ask.name]: { name: 'Ada' } } }, async session => {
      const result = await session.client.callTool({ name: 'test_input_required_result_multiple_inputs' });
      assert.equal(text(result), 'all three answered');
      assert.deepEqual(session.questions.map(q => q.method).toSorted(), ['elicitation/create', 'roots/list', 'sampling/createMessage']);
    }),

    'a prompt may ask as well': withSession({}, async session => {
      const { messages } = await session.client.getPrompt({ name: 'test_input_required_result_prompt' });
      assert.equal(messages[0].content.text, 'Here is the prompt.');
      assert.equal(session.questions.length, 1);
    }),

    'prompts, resources and completion are served': withSession({}, async ({ client }) => {
      const { prompts } = await client.listPrompts();
      assert.ok(prompts.some(p => p.name === 'test_prompt_with_arguments'));
      const { contents } = await client.readResource({ uri: 'test://template/42/data' });
      assert.match(contents[0].text, /42/);
      const { completion } = await client.complete({
        ref: { type: 'ref/prompt', name: 'test_prompt_with_arguments' }, argument: { name: 'arg1', value: 'par' },
      });
      assert.deepEqual(completion.values, ['paris', 'park', 'party']);
    }),

    'a changed list is told to who wants to know': withSession({}, async session => {
      const { client } = session;
      let changes = 0;
      client.setNotificationHandler('notifications/tools/list_changed', () => { changes++; session.wake?.(); });
      let subscription;
      if (revision === stateless) {
        subscription = await client.listen({ toolsListChanged: true });
        assert.deepEqual(subscription.honoredFilter, { toolsListChanged: true });
      } else if (transport === 'HTTP') {
        await until(session, 'the stream of the session', s => s.http.find(e => e.method === 'GET' && e.status === 200));
      }
      await client.callTool({ name: 'test_trigger_tool_change' });
      await until(session, 'the change', () => changes === 1);
      await client.callTool({ name: 'test_trigger_prompt_change' });
      await subscription?.close();
      await client.callTool({ name: 'greet', arguments: { name: 'Ada' } });
      assert.equal(changes, 1, 'prompts are another list');
    }),
  };
  return Object.fromEntries(Object.entries(list).map(([title, check]) => [`${transport}, ${revision}: ${title}`, check]));
}

// A subscription that the server ends: with its result, and then with the cancellation, as two pages of the protocol ask for.
const ended = transport => async () => {
  const own = transport === 'HTTP' ? await serve(command) : undefined;
  const session = await connect(own?.url ?? command, stateless, {});
  try {
    const subscription = await session.client.listen({ toolsListChanged: true });
    const stopped = own ? own.stop() : process.kill(session.transport.pid, 'SIGINT');
    assert.equal(await subscription.closed, 'graceful');
    await stopped;
    assert.deepEqual(session.errors, [], 'the client met messages that it could not place');
  } finally {
    await close(session);
  }
};

await checks('interop, TypeScript client 2 on both revisions', {
  ...of('HTTP', stateless),
  ...of('HTTP', handshake),
  ...of('stdio', stateless),
  ...of('stdio', handshake),
  'HTTP: a subscription that the server ends': ended('HTTP'),
  'stdio: a subscription that the server ends': ended('stdio'),
  'the server ends in order': async () => assert.equal(await server.stop(), 0),
});
