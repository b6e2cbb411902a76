import { describe, expect, test } from 'vitest';
import { mergeUser, newPerson, noChange, type PersonChange } from '../users/people/person.ts';
import { bulkChanges, liveChanges } from './changes.ts';
import type { Folded } from './apply-records.ts';

const OPTIONS = { at: new Date(1_000), newId: () => 'id' };
type Sent = { email?: string; traits?: Record<string, unknown> };

/** Returns one user with the records applied in one batch. */
function foldedOf(sent: Sent[], changed: Partial<PersonChange> = {}): Folded {
  const person = newPerson(1, 'ada', 1_000);
  person.traits.set('plan', 'free');
  const change = { ...noChange(false), ...changed };
  const mark = { seq: 1, acceptedAt: 1_000, olderWaits: false };
  for (const user of sent) mergeUser(person, change, { user: { external_user_id: 'ada', ...user }, mark });
  return { people: new Map([['1 ada', { person, change }]]), events: [] };
}

describe('bulkChanges', () => {
  test.for<[string, Folded, boolean]>([
    ['a trait', foldedOf([{ traits: { plan: 'pro' } }]), true],
    ['a removed trait', foldedOf([{ traits: { plan: null } }]), true],
    ['an address', foldedOf([{ email: 'ada@example.com' }]), true],
    ['the watermark', foldedOf([], { watermarkMoved: true }), true],
    ['nothing', foldedOf([{ traits: { plan: 'free' } }]), false],
    ['a trait and back', foldedOf([{ traits: { plan: 'pro' } }, { traits: { plan: 'free' } }]), false],
  ])('counts a known user as the live priority does: %s changed', ([, folded, isCounted]) => {
    const rows = bulkChanges(folded, [], OPTIONS);
    expect(rows.map(({ detail }) => JSON.parse(detail) as object)).toEqual(
      isCounted ? [{ users_created: 0, users_changed: 1, events: 0, joined: 0, left: 0 }] : [],
    );
    expect([...liveChanges(folded, [], OPTIONS)]).toHaveLength(isCounted ? 1 : 0);
  });
});
