import { describe, expect, test } from 'vitest';
import type { Person } from '../users/people/person.ts';
import {
  type AppliedRecords,
  applyRecords,
  type QueuedRecord,
  slicesOf,
  VALUES_PER_PIECE,
} from './apply-records.ts';
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
  const applied: AppliedRecords = { people: new Map(), events: [] };
  await applyRecords(records, {
    applied,
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

describe('applyRecords', () => {
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

describe('slicesOf', () => {
  const batchOf = (records: QueuedRecord[]) => ({
    records,
    people: new Map(records.map(({ person, projectId, userId }) => [person, { projectId, userId }])),
  });

  test('keeps all records of a user in one slice, in the order of acceptance', () => {
    const users = Array.from({ length: 600 }, (_, i) => userRecord(i, 1));
    const again = users.map((record, i) => ({ ...record, seq: users.length + i + 1 }));
    const slices = slicesOf(batchOf([...users, ...again]));
    expect(slices.map(({ people, records }) => [people.length, records.length])).toEqual([
      [250, 500],
      [250, 500],
      [100, 200],
    ]);
    for (const { people, records } of slices) {
      const ids = new Set(people.map(({ userId }) => userId));
      expect(records.every(({ userId }) => ids.has(userId))).toBe(true);
      expect(records.map(({ seq }) => seq)).toEqual(records.map(({ seq }) => seq).toSorted((a, b) => a - b));
    }
  });

  test('does not copy the records of a small batch', () => {
    const batch = batchOf([userRecord(0, 1)]);
    expect(slicesOf(batch)).toEqual([
      { people: [{ projectId: 1, userId: 'user_0' }], records: batch.records },
    ]);
  });
});
