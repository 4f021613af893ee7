// Drives a scaffolded server over stdio with the TypeScript SDK, revision 2025-11-25.
//
//	node stdio-2025-11-25.mjs COMMAND [ARG...]
import { CallToolResultSchema, TaskStatusNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { assert, checks, rejects, until } from './lib/harness.mjs';
import { connect } from './lib/sdk.mjs';

const command = process.argv.slice(2);
const question = 'Overwrite existing orders?';
const relatedTask = 'io.modelcontextprotocol/related-task';

// Every check has a session of its own, so that one that fails leaves nothing to the next.
const withSession = (options, body) => async () => {
  const session = await connect(command, options);
  try {
    await body(session);
    assert.deepEqual(session.errors, [], 'the client met messages that it could not place');
  } finally {
    await session.client.close();
  }
};

const report = (pages, task = {}) => [{ name: 'build_report', arguments: { title: 'Q3', pages } }, CallToolResultSchema, { task }];

async function createTask(session, pages, options = {}) {
  const stream = session.client.experimental.tasks.callToolStream(...report(pages, options.task).slice(0, 2), { task: {}, ...options });
  const first = (await stream.next()).value;
  assert.equal(first.type, 'taskCreated', JSON.stringify(first));
  await stream.return();
  return first.task;
}

await checks('interop, TypeScript SDK on stdio', {
  'tools/list shows the four tools with their task support': withSession({}, async ({ client }) => {
    const { tools } = await client.listTools();
    assert.deepEqual(tools.map(t => [t.name, t.execution?.taskSupport]), [
      ['get_quote', undefined], ['build_report', 'required'], ['import_orders', 'optional'], ['post_ledger', undefined],
    ]);
    assert.deepEqual(tools[0].inputSchema, {
      type: 'object', required: ['symbol'], properties: { symbol: { type: 'string', minLength: 1, maxLength: 8 } },
    });
  }),

  'tools/call answers with structured content that the client validates': withSession({}, async ({ client }) => {
    await client.listTools();
    const result = await client.callTool({ name: 'get_quote', arguments: { symbol: 'ACME' } });
    assert.ok(result.structuredContent.price > 0);
    assert.deepEqual(JSON.parse(result.content[0].text), result.structuredContent);
  }),

  'violations come back as a tool error that names each of them': withSession({}, async ({ client }) => {
    const result = await client.callTool({ name: 'get_quote', arguments: { symbol: 'MUCHTOOLONG' } });
    assert.equal(result.isError, true);
    assert.match(result.content[0].text, /\/symbol/);
    await rejects(client.callTool({ name: 'no_such_tool', arguments: {} }), -32602, /no_such_tool/);
  }),

  'a call that is cancelled in flight is never answered': withSession({}, async session => {
    const abort = new AbortController();
    const call = session.client.callTool({ name: 'get_quote', arguments: { symbol: 'SLOW' } }, undefined, { signal: abort.signal });
    const id = session.sent.at(-1).id;
    abort.abort('not needed any more');
    await assert.rejects(call, /not needed any more/);
    // The server takes its messages in order, so the ping's answer comes after anything that the cancelled call could cause.
    for (let i = 0; i < 20; i++) await session.client.ping();
    await session.client.callTool({ name: 'get_quote', arguments: { symbol: 'ACME' } });
    assert.deepEqual(session.received.filter(m => m.id === id), []);
  }),

  'a cancelled call takes its open question with it': withSession({
    answers: { [question]: (_, { signal }) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))) },
  }, async session => {
    const abort = new AbortController();
    const call = session.client.callTool({ name: 'import_orders', arguments: { source: 'existing.csv' } }, undefined, { signal: abort.signal });
    await until(session, 'the question', s => s.questions.length > 0);
    abort.abort('changed my mind');
    await assert.rejects(call, /changed my mind/);
    await until(session, 'the cancelled question', s => s.received.find(m => m.method === 'notifications/cancelled'));
  }),

  'an inline call asks and gets its answer': withSession({ answers: { [question]: { overwrite: true } } }, async ({ client, questions }) => {
    const result = await client.callTool({ name: 'import_orders', arguments: { source: 'existing.csv' } });
    assert.ok(!result.isError, JSON.stringify(result));
    assert.equal(questions.length, 1);
    assert.equal(questions[0].params._meta?.[relatedTask], undefined);
  }),

  'declining is an answer': withSession({}, async ({ client, questions }) => {
    const result = await client.callTool({ name: 'import_orders', arguments: { source: 'existing.csv' } });
    assert.ok(!result.isError, JSON.stringify(result));
    assert.equal(questions.length, 1);
  }),

  'a task is created, found, awaited and read': withSession({}, async session => {
    const task = await createTask(session, 3, { task: { ttl: 60_000 } });
    assert.equal(task.status, 'working');
    assert.equal(task.ttl, 60_000);
    const found = await session.client.experimental.tasks.getTask(task.taskId);
    assert.equal(found.taskId, task.taskId);
    const result = await session.client.experimental.tasks.getTaskResult(task.taskId, CallToolResultSchema);
    assert.deepEqual(result._meta[relatedTask], { taskId: task.taskId });
    assert.equal(result.structuredContent.pages, 3);
    assert.equal((await session.client.experimental.tasks.getTask(task.taskId)).status, 'completed');
  }),

  'progress of a task goes on after its creation': withSession({}, async session => {
    const seen = [];
    await createTask(session, 3, { onprogress: p => seen.push(p.progress) });
    await until(session, 'the last page', () => seen.at(-1) === 3);
    assert.deepEqual(seen, seen.toSorted((a, b) => a - b));
  }),

  'tasks/list shows what was made': withSession({}, async session => {
    const made = [await createTask(session, 1), await createTask(session, 1)].map(t => t.taskId);
    const { tasks } = await session.client.experimental.tasks.listTasks();
    assert.deepEqual(tasks.map(t => t.taskId).filter(id => made.includes(id)).toSorted(), made.toSorted());
  }),

  'status notifications carry the whole task': withSession({}, async session => {
    const seen = [];
    session.client.setNotificationHandler(TaskStatusNotificationSchema, n => { seen.push(n.params); session.wake?.(); });
    const task = await createTask(session, 1);
    await until(session, 'completed', () => seen.find(t => t.taskId === task.taskId && t.status === 'completed'));
    const last = seen.at(-1);
    assert.ok(last.createdAt && last.lastUpdatedAt && last.ttl !== undefined);
    assert.equal(last._meta?.[relatedTask], undefined);
  }),

  'callToolStream runs a task from creation to its result': withSession({}, async ({ client }) => {
    const types = [];
    for await (const message of client.experimental.tasks.callToolStream(...report(2))) types.push(message.type);
    assert.equal(types[0], 'taskCreated');
    assert.equal(types.at(-1), 'result');
    assert.ok(types.includes('taskStatus'));
  }),

  'tasks/cancel ends a task for good': withSession({}, async session => {
    const { client } = session;
    const task = await createTask(session, 1000);
    const waiting = client.experimental.tasks.getTaskResult(task.taskId, CallToolResultSchema);
    const cancelled = client.experimental.tasks.cancelTask(task.taskId);
    await assert.rejects(waiting, /cancelled/);
    assert.equal((await cancelled).status, 'cancelled');
    assert.equal((await client.experimental.tasks.getTask(task.taskId)).status, 'cancelled');
    await rejects(client.experimental.tasks.cancelTask(task.taskId), -32602, /cancelled/);
  }),

  'a notification can not cancel a task': withSession({}, async session => {
    const task = await createTask(session, 2);
    const { id } = session.sent.findLast(m => m.method === 'tools/call');
    await session.raw({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: id, reason: 'wrong way' } });
    const result = await session.client.experimental.tasks.getTaskResult(task.taskId, CallToolResultSchema);
    assert.ok(!result.isError);
  }),

  'a task that asks is answered through tasks/result': withSession({ answers: { [question]: { overwrite: true } } }, async session => {
    const types = [];
    const stream = session.client.experimental.tasks.callToolStream(
      { name: 'import_orders', arguments: { source: 'existing.csv' } }, CallToolResultSchema, { task: {} });
    let taskId;
    for await (const message of stream) {
      types.push(message.type);
      taskId ??= message.task?.taskId;
    }
    assert.equal(types.at(-1), 'result');
    assert.equal(session.questions.length, 1, 'asked once');
    assert.deepEqual(session.questions[0].params._meta[relatedTask], { taskId });
  }),

  'a task that waits for an answer says input_required': withSession({
    answers: { [question]: (_, { signal }) => new Promise(resolve => signal.addEventListener('abort', () => resolve({ action: 'cancel' }))) },
  }, async session => {
    const stream = session.client.experimental.tasks.callToolStream(
      { name: 'import_orders', arguments: { source: 'existing.csv' } }, CallToolResultSchema, { task: {} });
    const { taskId } = (await stream.next()).value.task;
    await stream.return();
    await until(session, 'the question', s => s.questions.length > 0);
    assert.equal((await session.client.experimental.tasks.getTask(taskId)).status, 'input_required');
    assert.equal((await session.client.experimental.tasks.cancelTask(taskId)).status, 'cancelled');
  }),

  'a client without elicitation gets the declared fallback': withSession({ capabilities: {} }, async ({ client, questions }) => {
    const result = await client.callTool({ name: 'import_orders', arguments: { source: 'existing.csv' } });
    assert.ok(!result.isError, JSON.stringify(result));
    assert.equal(questions.length, 0);
  }),

  'unknown tasks and bad cursors are invalid params': withSession({}, async ({ client }) => {
    const tasks = client.experimental.tasks;
    await rejects(tasks.getTask('no-such-task'), -32602, /task/i);
    await rejects(tasks.cancelTask('no-such-task'), -32602, /task/i);
    await rejects(tasks.getTaskResult('no-such-task', CallToolResultSchema), -32602, /task/i);
    await rejects(tasks.listTasks('no-such-cursor'), -32602, /cursor/i);
  }),

  'task support is enforced per tool': withSession({}, async ({ client }) => {
    const call = (name, args, task) => client.request(
      { method: 'tools/call', params: { name, arguments: args, ...(task && { task }) } }, CallToolResultSchema);
    await rejects(call('get_quote', { symbol: 'ACME' }, {}), -32601, /task/i);
    await rejects(call('build_report', { title: 'Q3', pages: 1 }), -32601, /task/i);
  }),
});
