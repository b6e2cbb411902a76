import { describe, expect, test } from 'vitest';
import type { PersonChange } from '../users/people/person.ts';
import { bulkChanges, liveChanges } from './changes.ts';
import type { AppliedRecords } from './apply-records.ts';
import { mergeUser, newPerson, noChange } from './merge-person.ts';

const OPTIONS = { at: new Date(1_000), newId: () => 'id' };
type Sent = { email?: string; traits?: Record<string, unknown> };

/** Returns one user with the records applied in one batch. */
function appliedOf(sent: Sent[], changed: Partial<PersonChange> = {}): AppliedRecords {
  const person = newPerson(1, 'ada', 1_000);
  person.traits.set('plan', 'free');
  const change = { ...noChange(false), ...changed };
  const mark = { seq: 1, acceptedAt: 1_000, olderWaits: false };
  for (const user of sent) mergeUser(person, change, { user: { external_user_id: 'ada', ...user }, mark });
  return { people: new Map([['1 ada', { person, change }]]), events: [] };
}

describe('bulkChanges', () => {
  test.for<[string, AppliedRecords, boolean]>([
    ['a trait', appliedOf([{ traits: { plan: 'pro' } }]), true],
    ['a removed trait', appliedOf([{ traits: { plan: null } }]), true],
    ['an address', appliedOf([{ email: 'ada@example.com' }]), true],
    ['the watermark', appliedOf([], { watermarkMoved: true }), true],
    ['nothing', appliedOf([{ traits: { plan: 'free' } }]), false],
    ['a trait and back', appliedOf([{ traits: { plan: 'pro' } }, { traits: { plan: 'free' } }]), false],
  ])('counts a known user as the live priority does: %s changed', ([, applied, isCounted]) => {
    const rows = bulkChanges(applied, [], OPTIONS);
    expect(rows.map(({ detail }) => JSON.parse(detail) as object)).toEqual(
      isCounted ? [{ users_created: 0, users_changed: 1, events: 0, joined: 0, left: 0 }] : [],
    );
    expect([...liveChanges(applied, [], OPTIONS)]).toHaveLength(isCounted ? 1 : 0);
  });
});
