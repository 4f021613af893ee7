// A few lines to say what was checked: every check has a name, runs alone, and fails with what it saw.
import assert from 'node:assert/strict';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';

export { assert };

// connect starts the server and returns a connected client with everything that crossed the wire.
// answers maps the message of a question to the content that accepts it; `null` declines.
export async function connect(command, { answers = {}, capabilities = { elicitation: { form: {} } } } = {}) {
  const client = new Client({ name: 'interop', version: '1.0.0' }, { capabilities });
  const transport = new StdioClientTransport({ command: command[0], args: command.slice(1), stderr: 'inherit' });
  const session = { client, received: [], sent: [], errors: [], questions: [] };
  client.onerror = error => session.errors.push(String(error));
  if (capabilities.elicitation) await answerQuestions(session, answers);

  const send = transport.send.bind(transport);
  transport.send = message => {
    session.sent.push(message);
    return send(message);
  };
  await client.connect(transport);
  const deliver = transport.onmessage;
  transport.onmessage = (message, extra) => {
    session.received.push(message);
    deliver(message, extra);
    // The client runs its handlers after this turn of the event loop.
    setImmediate(() => session.wake?.());
  };
  session.raw = message => transport.send(message);
  return session;
}

async function answerQuestions(session, answers) {
  const { ElicitRequestSchema } = await import('@modelcontextprotocol/sdk/types.js');
  session.client.setRequestHandler(ElicitRequestSchema, async (request, extra) => {
    session.questions.push(request);
    session.wake?.();
    const answer = answers[request.params.message];
    if (typeof answer === 'function') return answer(request, extra);
    return answer ? { action: 'accept', content: answer } : { action: 'decline' };
  });
}

// until waits for a message or a question that satisfies the predicate.
export function until(session, what, predicate, limit = 15_000) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`waited ${limit} ms for ${what}`)), limit);
    session.wake = () => {
      const found = predicate(session);
      if (!found) return;
      clearTimeout(timer);
      session.wake = undefined;
      resolve(found);
    };
    session.wake();
  });
}

// checks runs them one after the other and ends the process: 0 when all passed.
export async function checks(name, list) {
  let passed = 0, failed = 0;
  for (const [title, check] of Object.entries(list)) {
    try {
      await check();
      passed++;
      console.log(`ok    ${title}`);
    } catch (error) {
      failed++;
      console.log(`FAIL  ${title}\n      ${String(error.stack ?? error).replaceAll('\n', '\n      ')}`);
    }
  }
  console.log(`${name}: ${passed} passed, ${failed} failed`);
  process.exitCode = failed ? 1 : 0;
}
