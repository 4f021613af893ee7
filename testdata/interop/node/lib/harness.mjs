// What every script shares: a check has a name, runs alone, ends in time, and fails with what it saw.
import assert from 'node:assert/strict';

export { assert };

// checks runs them, so many at a time, tells of them in order, and ends the process: status 0 when all passed. limit is for each,
// in ms.
export async function checks(name, list, { limit = 30_000, parallel = 1, after } = {}) {
  const titles = Object.keys(list);
  const results = titles.map(() => Promise.withResolvers());
  const queue = titles.map((title, i) => () => within(limit, list[title]()).then(() => results[i].resolve(), results[i].resolve));
  const worker = async () => {
    for (let next = queue.shift(); next; next = queue.shift()) await next();
  };
  for (let i = 0; i < parallel; i++) worker();

  let passed = 0, failed = 0;
  for (const [i, title] of titles.entries()) {
    const error = await results[i].promise;
    if (error === undefined) {
      passed++;
      console.log(`ok    ${title}`);
    } else {
      failed++;
      console.log(`FAIL  ${title}\n      ${String(error.stack ?? error).replaceAll('\n', '\n      ')}`);
    }
  }
  await after?.();
  console.log(`${name}: ${passed} passed, ${failed} failed`);
  // A check that ran out of time may have left something open that would keep the process.
  process.exit(failed ? 1 : 0);
}

export function within(limit, promise) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`not done after ${limit} ms`)), limit);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

// newSession is the record of what one client sent, received and was asked.
export function newSession(client) {
  const session = { client, transport: undefined, received: [], sent: [], errors: [], questions: [], http: [] };
  client.onerror = error => session.errors.push(String(error));
  return session;
}

// recordSent has to come before the client connects.
export function recordSent(session) {
  const { transport } = session;
  const send = transport.send.bind(transport);
  transport.send = (message, options) => {
    session.sent.push(message);
    setImmediate(() => session.wake?.());
    return send(message, options);
  };
  session.raw = (message, options) => transport.send(message, options);
}

// recordReceived has to come after the client connected, because that is when the client starts to listen.
export function recordReceived(session) {
  const { transport } = session;
  const deliver = transport.onmessage;
  transport.onmessage = (message, extra) => {
    session.received.push(message);
    deliver(message, extra);
    // The client runs its handlers after this turn of the event loop.
    setImmediate(() => session.wake?.());
  };
}

// recordingFetch keeps method, headers and status of every exchange over HTTP. through may change a response on its way.
export const recordingFetch = (session, through = response => response) => async (url, init = {}) => {
  const exchange = { method: init.method ?? 'GET', headers: Object.fromEntries(new Headers(init.headers)) };
  session.http.push(exchange);
  const response = await fetch(url, init);
  exchange.status = response.status;
  session.wake?.();
  return through(response);
};

// until waits for what the predicate finds in the session.
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

// rejects wants an error of the server with this code.
export async function rejects(promise, code, words) {
  const error = await promise.then(value => assert.fail(`answered ${JSON.stringify(value)}`), error => error);
  assert.equal(error.code, code, String(error));
  assert.match(error.message, words);
}
