import { expect, test } from 'vitest';
import { resumeProject, suspendProject } from '../../../src/modules/administration/suspend-project.ts';
import type { CheckedResponse } from '../../servers/http-client.ts';
import type { Facts } from '../../factories/endpoints.ts';
import { type EndpointServer, newCaller, NOTHING_STORED } from '../../servers/endpoint-server.ts';
import { outcomesOf } from './responses.ts';
import { revokeKey } from '../../../src/modules/ingest/keys/change-key.ts';

function expectSuspended(response: CheckedResponse): void {
  expect([response.status, response.errors]).toMatchObject([403, [{ code: 'forbidden' }]]);
}

/** Tests a valid key of a suspended project. */
export function refusesSuspendedProjects(server: EndpointServer, twin: EndpointServer, facts: Facts): void {
  for (const outcome of outcomesOf(facts)) {
    test(`a project suspended on another server is refused at the next request: ${outcome.name}`, async () => {
      const caller = await newCaller(server, facts);
      const sending = { ...(await outcome.prepare(caller, twin)), at: twin };
      expect((await caller.send(sending)).status).toBe(outcome.status);
      const before = await caller.stored();
      await suspendProject(server.db, caller.id);
      expectSuspended(await caller.send(sending));
      expectSuspended(await caller.send(sending));
      expect(await caller.stored()).toEqual(before);
    });
  }

  test('a suspended project is refused on a server that never saw its key, and is taken again when resumed', async () => {
    const caller = await newCaller(server, facts);
    await suspendProject(server.db, caller.id);
    expectSuspended(await caller.send({ once: 'k' }));
    expect(await caller.stored()).toEqual(NOTHING_STORED);
    await resumeProject(server.db, caller.id);
    const { status, headers } = await caller.send({ once: 'k' });
    expect([status, headers['idempotent-replayed']]).toEqual([facts.accepted, undefined]);
  });

  test('a suspension says nothing to who has no key, and touches no other project', async () => {
    const [caller, neighbour] = [await newCaller(server, facts), await newCaller(server, facts)];
    await suspendProject(server.db, caller.id);
    expect((await caller.send({ secret: null })).errors[0]?.code).toBe('auth_required');
    expect((await neighbour.send()).status).toBe(facts.accepted);
    await revokeKey(server.db, { id: caller.keyId });
    expect((await caller.send()).errors[0]?.code).toBe('auth_required');
  });
}
