import { expect, test } from 'vitest';
import { acceptance, bodyOf, type Facts } from '../../factories/endpoints.ts';
import { type EndpointServer, newCaller } from '../../servers/endpoint-server.ts';

const USER = { external_user_id: 'u-1' };

const SHAPES: [what: string, user: Record<string, unknown>][] = [
  ['an id alone', USER],
  ['an address of mixed case, kept as it was written', { ...USER, email: "Ada.O'Neil+x@EXAMPLE.co.uk" }],
  ['an address of an international domain', { ...USER, email: 'ada@bücher.example' }],
  ['a local part of 64 characters', { ...USER, email: `${'a'.repeat(64)}@example.com` }],
  ['no traits at all in an empty object', { ...USER, traits: {} }],
  [
    'null in traits, which removes a key',
    { ...USER, traits: { plan: null, list: [null], deep: { a: null } } },
  ],
  [
    'the known traits',
    {
      ...USER,
      traits: { name: 'Ada', plan: 'pro', signupDate: '2026-01-02', company: 'Acme', role: 'owner' },
    },
  ],
  [
    'a known trait of another shape',
    { ...USER, traits: { company: { name: 'Acme' }, signupDate: 17, plan: [] } },
  ],
  ['a name in traits only', { ...USER, traits: { email: 'not an address', external_user_id: 7 } }],
];

/** Tests the accepted forms of a user, alone or in a list. */
export function acceptsUserShapes(server: EndpointServer, facts: Facts): void {
  test.each(SHAPES)('a user may have %s', async (_, user) => {
    const caller = await newCaller(server, facts);
    expect((await caller.send({ body: bodyOf(facts, [user]) })).json).toEqual(acceptance(facts));
    expect((await caller.stored()).records).toEqual([user]);
  });

  test('two users may have one address, and one id in two projects is two users', async () => {
    const [first, other] = [await newCaller(server, facts), await newCaller(server, facts)];
    const user = (external_user_id: string) => ({ external_user_id, email: 'team@example.com' });
    for (const caller of [first, other]) {
      for (const id of ['u-1', 'u-2']) await caller.send({ body: bodyOf(facts, [user(id)]) });
      expect((await caller.stored()).records).toEqual([user('u-1'), user('u-2')]);
    }
  });
}
