// Drives the tasks of a server with @modelcontextprotocol/ext-tasks: both revisions over HTTP and over stdio.
//
//	node tasks.mjs COMMAND [ARG...]
import { handshake, stateless } from './lib/client.mjs';
import { assert, checks, rejects, until } from './lib/harness.mjs';
import { serve } from './lib/serve.mjs';
import { closeTasks, openTasks } from './lib/tasks.mjs';

const command = process.argv.slice(2);
const server = await serve(command);
const targets = { HTTP: server.url, stdio: command };

const text = result => result.content.map(c => c.text).join('\n');
const asTask = { task: { preference: 'prefer' } };

// of makes the checks of one revision on one transport. Every check has a client of its own.
function of(transport, revision) {
  const withTasks = (options, body) => async () => {
    const session = await openTasks(targets[transport], revision, options);
    try {
      await body(session);
      const errors = session.errors.filter(error => !ofAbandonedPoll(session, error));
      assert.deepEqual([...errors, ...session.failures], [], 'the client met messages that it could not place');
    } finally {
      await closeTasks(session);
    }
  };
  const start = async ({ tasks }, name, args = {}) => {
    const execution = await tasks.callTool(name, args, asTask);
    assert.equal(execution.kind, 'task');
    return execution;
  };
  const updates = session => session.sent.filter(m => m.method === 'tasks/update').map(m => Object.keys(m.params.inputResponses));

  const both = {
    'a task is created, polled and read': withTasks({}, async session => {
      assert.equal(session.tasks.capabilities.execution, true);
      assert.equal(session.tasks.capabilities.cancellation, true);
      const execution = await start(session, 'slow_compute', { seconds: 1, label: 'interop' });
      const seen = [];
      const { outcome } = await execution.settle({ onEvent: e => { if (e.task) seen.push(e.task); } });
      assert.equal(outcome.status, 'completed');
      assert.match(text(outcome.result), /interop: computed/);
      assert.equal(seen[0].status, 'working');
      assert.ok(seen[0].createdAt && seen[0].ttl > 0 && seen[0].pollInterval > 0);
      assert.ok(seen.every(t => t.taskId === execution.handle.taskId));
    }),

    'a tool that can not run as a task answers at once': withTasks({}, async ({ tasks }) => {
      const execution = await tasks.callTool('greet', { name: 'Ada' }, asTask);
      assert.equal(execution.kind, 'immediate');
      assert.equal(text((await execution.result()).result), 'Hello, Ada!');
    }),

    'a protocol error fails the task': withTasks({}, async session => {
      const outcome = await (await start(session, 'protocol_error_job')).result();
      assert.equal(outcome.status, 'failed');
      assert.match(outcome.error.message, /protocol error/);
      if (revision === stateless) assert.equal(outcome.error.code, -32603);
    }),

    'a task is cancelled for good': withTasks({}, async session => {
      const execution = await start(session, 'slow_compute', { seconds: 60 });
      await execution.cancel();
      assert.equal((await execution.result()).status, 'cancelled');
      // In 2026-07-28 the acknowledgement ends it for the client, and the end of the handler for the server, a moment later.
      const task = session.tasks.task(execution.handle.taskId);
      for (const limit = Date.now() + 15_000; (await task.snapshot()).status === 'working' && Date.now() < limit;) {
        await new Promise(resolve => setTimeout(resolve, 10));
      }
      assert.equal((await task.snapshot()).status, 'cancelled');
    }),

    'a task asks, and goes on with the answer': withTasks({ answers: { 'Delete interop.txt?': { confirm: true } } }, async session => {
      const execution = await start(session, 'confirm_delete', { filename: 'interop.txt' });
      const { result } = await execution.result();
      assert.match(text(result), /deleted interop.txt/);
      assert.deepEqual(session.questions.map(q => [q.scope, q.taskId]), [['task', execution.handle.taskId]]);
    }),

    'a task whose question is declined goes on without': withTasks({}, async session => {
      const { result } = await (await start(session, 'confirm_delete', { filename: 'interop.txt' })).result();
      assert.match(text(result), /kept interop.txt/);
    }),

    'a task asks two things at once': withTasks({ answers: { 'Who is it?': { name: 'Ada', confirm: true } } }, async session => {
      const { result } = await (await start(session, 'multi_input')).result();
      assert.equal(text(result), 'both answered');
      assert.equal(session.questions.length, 2);
      if (revision === stateless) assert.deepEqual(updates(session).map(keys => keys.length), [2], 'one update, whole');
    }),

    'a task is taken up again by its reference': async () => {
      let reference;
      const resume = async ({ tasks }) => {
        const { outcome } = await (await tasks.resumeTask(reference)).settle();
        assert.match(text(outcome.result), /interop: computed/);
      };
      const ada = { identity: 'ada' };
      await withTasks(ada, async session => {
        const execution = await start(session, 'slow_compute', { seconds: 1, label: 'interop' });
        await execution.handoff(r => { reference = JSON.parse(JSON.stringify(r)); });
        await execution.result();
        await session.tasks.close();
        session.begin();
        // Tasks in memory end with the process, so on stdio it is the same client that takes it up, with nothing but the reference.
        if (transport === 'stdio') await resume(session);
      })();
      if (transport === 'stdio') return;
      await withTasks({ identity: 'eve' }, session => rejects(session.tasks.resumeTask(reference), -32602, /unknown task/))();
      await withTasks(ada, resume)();
    },

    'an unknown task is an invalid parameter': withTasks({}, async ({ tasks }) => {
      await rejects(tasks.task('no-such-task').snapshot(), -32602, /task/i);
      await rejects(tasks.task('no-such-task').cancel(), -32602, /task/i);
    }),
  };

  const only = {
    [stateless]: {
      'a tool error completes the task': withTasks({}, async session => {
        const outcome = await (await start(session, 'failing_job')).result();
        assert.equal(outcome.status, 'completed');
        assert.equal(outcome.result.isError, true);
      }),

      'a partial update leaves the other question open': withTasks({}, async session => {
        const execution = await start(session, 'multi_input');
        const task = session.tasks.task(execution.handle.taskId);
        await execution.detach();
        const asked = await poll(task, view => Object.keys(view.raw.inputRequests ?? {}).length === 2);
        const [first, second] = Object.keys(asked.raw.inputRequests);
        const answer = { action: 'accept', content: { name: 'Ada', confirm: true } };
        await task.update({ [first]: answer, 'no-such-question': answer });
        const between = await task.snapshot();
        assert.equal(between.status, 'input_required');
        assert.deepEqual(Object.keys(between.raw.inputRequests), [second]);
        await task.update({ [second]: answer });
        const { result } = await task.result();
        assert.equal(text(result), 'both answered');
      }),

      'a question before the task is answered on the call': withTasks({ answers: { 'What is your name?': { name: 'Alice' } } }, async session => {
        const { result } = await (await start(session, 'test_tool_with_task')).result();
        assert.match(text(result), /Alice/);
        assert.deepEqual(session.questions.map(q => q.delivery), ['request-retry']);
      }),

      'a subscription tells of the task until it is over': withTasks({}, async session => {
        const execution = await start(session, 'slow_compute', { seconds: 1, label: 'interop' });
        const { taskId } = execution.handle;
        const subscription = await session.client.listen({ taskIds: [taskId, 'no-such-task'] });
        const acknowledged = session.received.find(m => m.method === 'notifications/subscriptions/acknowledged');
        assert.deepEqual(acknowledged.params.notifications.taskIds, [taskId]);
        const told = await until(session, 'the end of the task',
          s => s.received.find(m => m.method === 'notifications/tasks' && m.params.status === 'completed'));
        assert.equal(told.params.taskId, taskId);
        assert.match(text(told.params.result), /interop: computed/);
        assert.equal((await execution.result()).status, 'completed');
        await subscription.close();
      }),

      'cancelling what is over is acknowledged': withTasks({}, async session => {
        const execution = await start(session, 'slow_compute', { seconds: 1 });
        await execution.result();
        const task = session.tasks.task(execution.handle.taskId);
        await task.cancel();
        assert.equal((await task.snapshot()).status, 'completed');
      }),
    },
    [handshake]: {
      'a tool error fails the task': withTasks({}, async session => {
        const outcome = await (await start(session, 'failing_job')).result();
        assert.equal(outcome.status, 'failed');
        assert.match(outcome.error.message, /job failed/);
      }),

      'status notifications tell of the task until it is over': withTasks({}, async session => {
        const execution = await start(session, 'slow_compute', { seconds: 1 });
        const told = await until(session, 'the end of the task',
          s => s.received.find(m => m.method === 'notifications/tasks/status' && m.params.status === 'completed'));
        assert.equal(told.params.taskId, execution.handle.taskId);
        assert.equal((await execution.result()).status, 'completed');
      }),

      'tasks are listed for who made them': withTasks({ identity: 'ada' }, async session => {
        assert.equal(session.tasks.capabilities.inventory, 'server-list');
        const { handle } = await start(session, 'slow_compute', { seconds: 1 });
        const { tasks } = await session.tasks.listTasks();
        assert.ok(tasks.some(t => t.taskId === handle.taskId));
        await rejects(session.tasks.listTasks('no-such-cursor'), -32602, /cursor/i);
      }),

      'cancelling what is over is refused': withTasks({}, async session => {
        const execution = await start(session, 'slow_compute', { seconds: 1 });
        await execution.result();
        await rejects(session.tasks.task(execution.handle.taskId).cancel(), -32602, /completed/);
      }),
    },
  };
  const list = { ...both, ...only[revision] };
  return Object.fromEntries(Object.entries(list).map(([title, check]) => [`${transport}, ${revision}: ${title}`, check]));
}

// ofAbandonedPoll is whether the client tells of the answer to a poll that it had given up itself, because a notification came
// before it. The two cross on the way, whatever a server does.
function ofAbandonedPoll(session, error) {
  const abandoned = session.sent.filter(m => m.method === 'notifications/cancelled').map(m => m.params.requestId);
  const polls = session.sent.filter(m => m.method === 'tasks/get' && abandoned.includes(m.id));
  return polls.some(m => error.includes('unknown message ID') && error.includes(`"id":${JSON.stringify(m.id)},`));
}

// poll reads the task until it looks as wanted.
async function poll(task, wanted) {
  for (;;) {
    const view = await task.snapshot();
    if (wanted(view)) return view;
    await new Promise(resolve => setTimeout(resolve, view.pollInterval));
  }
}

await checks('interop, tasks of the TypeScript client 2 on both revisions', {
  ...of('HTTP', stateless),
  ...of('HTTP', handshake),
  ...of('stdio', stateless),
  ...of('stdio', handshake),
}, { parallel: 8, after: () => server.stop() });
