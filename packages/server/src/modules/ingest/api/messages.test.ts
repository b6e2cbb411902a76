import { expect, test } from 'vitest';
import { flawsFor } from '../../../../testing/cases/endpoints/flawed-records.ts';
import type { CheckedResponse } from '../../../../testing/servers/http-client.ts';
import {
  type EndpointServer,
  endpointServer,
  newCaller,
  type SendOptions,
} from '../../../../testing/servers/endpoint-server.ts';
import {
  bodyOf,
  EVENTS,
  EVENTS_BATCH,
  EVENTS_BULK,
  type Facts,
  record,
  USERS,
} from '../../../../testing/factories/endpoints.ts';
import { suspendProject } from '../../administration/suspend-project.ts';

// The words of every refusal are here only. All other tests assert the status, the code and the field.

const server: EndpointServer = await endpointServer();

function firstError({ status, errors: [error] }: CheckedResponse): string {
  return `${status} ${error?.code}${error?.field === undefined ? '' : ` ${error.field}`}: ${error?.message}`;
}

/** Sends the requests in this order to one project, and returns the different first errors of the responses. */
async function refusals(facts: Facts, requests: SendOptions[]): Promise<string[]> {
  const caller = await newCaller(server, facts);
  const lines = new Set<string>();
  for (const request of requests) lines.add(firstError(await caller.send(request)));
  return [...lines];
}

test('says which part of a request is wrong', async () => {
  const list = (value: unknown): SendOptions => ({ body: { events: value } });
  expect(
    await refusals(EVENTS_BATCH, [
      { secret: null },
      { method: 'GET', path: '/api/v1/drafts' },
      { path: `${EVENTS_BATCH.path}/` },
      { method: 'GET' },
      { headers: { 'Content-Type': 'text/plain' } },
      { body: ' '.repeat(EVENTS_BATCH.bodyMaxBytes + 1) },
      { body: '' },
      { body: '{' },
      { body: '[]' },
      { headers: { 'Content-Encoding': 'gzip' } },
      { once: 'a b' },
      list(undefined),
      list({}),
      list([]),
      list(Array(1_001).fill(record(EVENTS_BATCH))),
      list([record(EVENTS_BATCH), null]),
      list([record(EVENTS_BATCH), {}]),
      { body: { ...bodyOf(EVENTS_BATCH), suppressTriggers: 'yes' } },
      { body: { ...bodyOf(EVENTS_BATCH), note: 'a\u0000b' } },
    ]),
  ).toMatchInlineSnapshot(`
    [
      "401 auth_required: A valid API key is required",
      "403 forbidden: This API key has no access to this resource",
      "404 not_found: No endpoint at this path",
      "405 method_not_allowed: This path does not accept this method",
      "415 unsupported_media_type: Send application/json, encoded as identity, gzip, br or zstd",
      "413 payload_too_large: The body is larger than the 10485760 bytes that this endpoint accepts",
      "422 validation_failed body: The body is empty",
      "422 validation_failed body: The body is not valid JSON",
      "422 validation_failed body: The body must be a JSON object",
      "422 validation_failed body: The body is not valid gzip",
      "422 validation_failed Idempotency-Key: Idempotency-Key must be a single header of 1 to 255 visible ASCII characters, preferably a UUID v4",
      "422 validation_failed events: events is required",
      "422 validation_failed events: events must be an array",
      "422 validation_failed events: events must have at least one record",
      "422 validation_failed events: events must not have more than 1000 records",
      "422 validation_failed events.1: events.1 must be an object",
      "422 validation_failed events.1.external_user_id: events.1.external_user_id is required",
      "422 validation_failed suppressTriggers: suppressTriggers must be a boolean",
      "422 validation_failed note: note must not contain NUL or a lone surrogate",
    ]
  `);
});

test('says why the state of the project refuses a request', async () => {
  const reused = await newCaller(server, USERS);
  await reused.send({ once: 'k' });
  const limited = await newCaller(server, USERS);
  await limited.limit({ rate: 0.001, burst: 1 });
  await limited.send();
  const full = await newCaller(server, EVENTS_BULK);
  await full.fillQueue(50_000);
  const suspended = await newCaller(server, USERS);
  await suspendProject(server.db, suspended.id);
  expect(
    [
      await reused.send({ once: 'k', body: { external_user_id: 'u-2' } }),
      await limited.send(),
      await full.send(),
      await suspended.send(),
    ].map(firstError),
  ).toMatchInlineSnapshot(`
    [
      "422 idempotency_key_reuse: This Idempotency-Key was used with a different request in the last 24 hours",
      "429 rate_limited: Too many requests",
      "429 backfill_queue_full: The project has 50,000 or more records waiting; retry later with smaller chunks",
      "403 forbidden: The project of this API key is suspended. Contact the operator of this server",
    ]
  `);
});

test('says what is wrong with a user', async () => {
  const requests = flawsFor(USERS).map(([, more]) => ({ body: record(USERS, more) }));
  expect(await refusals(USERS, requests)).toMatchInlineSnapshot(`
    [
      "422 validation_failed external_user_id: external_user_id is required",
      "422 validation_failed external_user_id: external_user_id must not be empty",
      "422 validation_failed external_user_id: external_user_id must be a string",
      "422 validation_failed external_user_id: external_user_id must not be longer than 256 characters",
      "422 validation_failed external_user_id: external_user_id must not contain NUL or a lone surrogate",
      "422 validation_failed traits: traits must be an object",
      "422 validation_failed traits.text: traits.text must not contain NUL or a lone surrogate",
      "422 validation_failed traits.list.0.text: traits.list.0.text must not contain NUL or a lone surrogate",
      "422 validation_failed traits: traits must not have a key that contains NUL or a lone surrogate",
      "422 validation_failed traits: traits must not have a key longer than 255 characters",
      "422 validation_failed traits: traits must not have more than 255 keys",
      "422 validation_failed traits.list: traits.list must not have more than 1000 items",
      "422 validation_failed traits.a.a.a.a.a.a.a.a.a.a: traits.a.a.a.a.a.a.a.a.a.a must not be nested deeper than 10 levels",
      "422 validation_failed later.0: later.0 must not contain NUL or a lone surrogate",
      "422 validation_failed traits: traits makes the record larger than 64 KiB",
      "422 validation_failed email: email must be a string",
      "422 validation_failed email: email must be a valid email address",
      "422 validation_failed email: email must not be longer than 254 characters",
    ]
  `);
});

test('says what is wrong with an event', async () => {
  const requests = flawsFor(EVENTS).map(([, more]) => ({ body: record(EVENTS, more) }));
  expect(await refusals(EVENTS, requests)).toMatchInlineSnapshot(`
    [
      "422 validation_failed external_user_id: external_user_id is required",
      "422 validation_failed external_user_id: external_user_id must not be empty",
      "422 validation_failed external_user_id: external_user_id must be a string",
      "422 validation_failed external_user_id: external_user_id must not be longer than 256 characters",
      "422 validation_failed external_user_id: external_user_id must not contain NUL or a lone surrogate",
      "422 validation_failed properties: properties must be an object",
      "422 validation_failed properties.text: properties.text must not contain NUL or a lone surrogate",
      "422 validation_failed properties.list.0.text: properties.list.0.text must not contain NUL or a lone surrogate",
      "422 validation_failed properties: properties must not have a key that contains NUL or a lone surrogate",
      "422 validation_failed properties: properties must not have a key longer than 255 characters",
      "422 validation_failed properties: properties must not have more than 255 keys",
      "422 validation_failed properties.list: properties.list must not have more than 1000 items",
      "422 validation_failed properties.a.a.a.a.a.a.a.a.a.a: properties.a.a.a.a.a.a.a.a.a.a must not be nested deeper than 10 levels",
      "422 validation_failed later.0: later.0 must not contain NUL or a lone surrogate",
      "422 validation_failed properties: properties makes the record larger than 64 KiB",
      "422 validation_failed name: name is required",
      "422 validation_failed name: name must not be empty",
      "422 validation_failed name: name must be a string",
      "422 validation_failed name: name must not be longer than 255 characters",
      "422 validation_failed occurred_at: occurred_at must be a string",
      "422 validation_failed occurred_at: occurred_at must be an RFC 3339 time with Z or an offset",
      "422 validation_failed occurred_at: occurred_at must be between 2000-01-01 and one hour from now",
      "422 validation_failed message_id: message_id must not be empty",
      "422 validation_failed message_id: message_id must be a string",
      "422 validation_failed message_id: message_id must not be longer than 255 characters",
      "422 validation_failed properties.usagePercent: properties.usagePercent is required",
      "422 validation_failed properties.usagePercent: properties.usagePercent must be a number",
      "422 validation_failed properties.meter: properties.meter must be a string",
      "422 validation_failed properties.limit: properties.limit must be a number",
      "422 validation_failed properties.trialDays: properties.trialDays must be a number",
    ]
  `);
});
