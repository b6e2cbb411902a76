import { describe, expect, test } from 'vitest';
import type { Person } from '../users/people/person.ts';
import { type QueuedRecord, applyRecords, VALUES_PER_PIECE } from './apply-records.ts';
import { newPerson } from './merge-person.ts';

const TRAITS = 255;

function userRecord(i: number, traits: number): QueuedRecord {
  const userId = `user_${i}`;
  const values = Object.fromEntries(Array.from({ length: traits }, (_, at) => [`trait_${at}`, at]));
  const user = { external_user_id: userId, traits: values };
  return { projectId: 1, userId, person: `1 ${userId}`, seq: i + 1, acceptedAt: 1_000, kind: 'users', user };
}

async function applyUsers(records: QueuedRecord[]): Promise<{ people: Person[]; merged: number[] }> {
  const people = records.map(({ userId }) => newPerson(1, userId, 1_000));
  /** The traits of all users at each pause and at the end. */
  const merged: number[] = [];
  const count = async (): Promise<void> =>
    void merged.push(people.reduce((sum, { traits }) => sum + traits.size, 0));
  const applied = await applyRecords(records, {
    people,
    fresh: new Set(),
    newId: () => 'id',
    oldestOtherPriority: new Map(),
    pause: count,
  });
  await count();
  expect(applied.people.size).toBe(records.length);
  return { people, merged };
}

describe('fold', () => {
  test('merges a bounded number of values between two pauses', async () => {
    const { merged } = await applyUsers(Array.from({ length: 1_000 }, (_, i) => userRecord(i, TRAITS)));
    const pieces = merged.map((traits, i) => traits - (merged[i - 1] ?? 0));
    expect(merged.at(-1)).toBe(1_000 * TRAITS);
    expect(pieces.length).toBe(11);
    for (const values of pieces) expect(values).toBeLessThanOrEqual(VALUES_PER_PIECE);
  });

  test('does not pause in a batch of small records', async () => {
    const { merged } = await applyUsers(Array.from({ length: 1_000 }, (_, i) => userRecord(i, 10)));
    expect(merged).toEqual([10_000]);
  });
});
