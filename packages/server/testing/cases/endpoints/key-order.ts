import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { bagOf, bodyOf, type Facts, record } from '../../factories/endpoints.ts';
import { type EndpointServer, newCaller } from '../../servers/endpoint-server.ts';
import { expectReuse } from './key-reuse.ts';

const bag = { b: { y: 1, x: [2, 1] }, a: 'é' };
const sameBag = { a: 'é', b: { x: [2, 1], y: 1 } };

/** Tests single endpoints: the order of keys in the JSON does not matter. */
export function keepsOneKeyAcrossOrders(server: EndpointServer, facts: Facts): void {
  test('the order of keys does not make another body, at any depth; that of a list does', async () => {
    const caller = await newCaller(server, facts);
    const once = randomUUID();
    const first = record(facts, { [bagOf(facts)]: bag });
    const other = Object.fromEntries(Object.entries({ ...first, [bagOf(facts)]: sameBag }).toReversed());
    await caller.send({ once, body: first });
    const again = await caller.send({ once, body: other });
    expect([again.status, again.headers['idempotent-replayed']]).toEqual([202, 'true']);
    const moved = { ...first, [bagOf(facts)]: { ...bag, b: { y: 1, x: [1, 2] } } };
    expectReuse(await caller.send({ once, body: moved }));
    expect((await caller.stored()).waiting).toBe(1);
  });
}

/** Tests list endpoints: the order of keys is part of the body. */
export function keyOrderCounts(server: EndpointServer, facts: Facts): void {
  test('another order of keys is another body', async () => {
    const caller = await newCaller(server, facts);
    const once = randomUUID();
    await caller.send({ once, body: bodyOf(facts, [record(facts, { [bagOf(facts)]: bag })]) });
    expectReuse(
      await caller.send({ once, body: bodyOf(facts, [record(facts, { [bagOf(facts)]: sameBag })]) }),
    );
    expect((await caller.stored()).waiting).toBe(1);
  });
}
