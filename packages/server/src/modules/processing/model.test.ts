import fc from 'fast-check';
import { expect, test } from 'vitest';
import { fixedClock } from '../../../testing/factories/clock.ts';
import { openTestDatabase } from '../../../testing/factories/database.ts';
import {
  type Event,
  type ExpectedPerson,
  type Priority,
  modelOf,
  type User,
} from '../../../testing/oracles/accept-order.ts';
import { testHasher } from '../../../testing/factories/send-services.ts';
import { putRecords } from '../../../testing/factories/ingest-queue.ts';
import { idMaker } from '../../platform/ids.ts';
import { ensurePartitions } from '../users/events/partitions.ts';
import { createPropertyCache } from './process.ts';
import { findPeople } from '../users/people/people.ts';
import { isSuppressed } from '../users/people/watermark.ts';
import { createProject } from '../administration/create-project.ts';
import { processBatch } from './process-batch.ts';
import { createModels } from '../rules/project-model.ts';

const clock = fixedClock();
const db = await openTestDatabase(clock);
await ensurePartitions(db, clock.now());
const deps = {
  db,
  newId: idMaker(db.clock),
  models: createModels(clock),
  propertyCache: createPropertyCache(),
  hasher: testHasher,
};

type Step =
  | { do: 'accept'; priority: Priority; kind: 'users'; records: User[] }
  | { do: 'accept'; priority: Priority; kind: 'events'; records: Event[] }
  | { do: 'process'; priority: Priority; records: number };

const priority = fc.constantFrom<Priority>('live', 'bulk');
const userId = fc.constantFrom('ada', 'bob', 'cyd');
const value = fc.oneof(
  fc.constantFrom<unknown>('free', 'pro', 1, 2, true, null, '', { a: 1, b: [null] }, { b: [null], a: 1 }, [
    'x',
  ]),
  fc.constant('2026-01-02'),
);
const traits = fc.dictionary(
  fc.constantFrom('plan', 'signupDate', 'seats', '__proto__', 'company', 'constructor'),
  value,
  { maxKeys: 3 },
);
const user: fc.Arbitrary<User> = fc.record(
  { external_user_id: userId, email: fc.constantFrom('a@x.org', 'b@x.org'), traits },
  { requiredKeys: ['external_user_id'] },
);
/**
 * The same content in both priorities would have two first copies; decision 0006 says which one wins. So each priority has its own content.
 */
const event = (of: Priority): fc.Arbitrary<Event> =>
  fc.record(
    {
      external_user_id: userId,
      name: fc.constantFrom('login', 'export'),
      properties: fc.constant({ priority: of }),
      message_id: fc.constantFrom('1', '2', '3', '4').map((n) => `${of}${n}`),
      occurred_at: fc.constantFrom('2026-01-10T00:00:00.000Z', '2026-01-11T00:00:00.000Z'),
      suppress: fc.constant<true>(true),
    },
    { requiredKeys: ['external_user_id', 'name', 'properties'] },
  );
const accept: fc.Arbitrary<Step> = fc.oneof(
  priority.chain((of) =>
    fc
      .array(user, { minLength: 1, maxLength: 4 })
      .map((records): Step => ({ do: 'accept', priority: of, kind: 'users', records })),
  ),
  priority.chain((of) =>
    fc
      .array(event(of), { minLength: 1, maxLength: 4 })
      .map((records): Step => ({ do: 'accept', priority: of, kind: 'events', records })),
  ),
);
const processing: fc.Arbitrary<Step> = fc.record({
  do: fc.constant('process' as const),
  priority,
  records: fc.integer({ min: 1, max: 5 }),
});
const steps = fc.array(fc.oneof({ arbitrary: accept, weight: 2 }, processing), {
  minLength: 1,
  maxLength: 14,
});

/** A late suppression needs a query for the lift after it, and a second suppression in the same batch makes that query unnecessary. */
const loginStep = (of: Priority, suppress?: true): Step => ({
  do: 'accept',
  priority: of,
  kind: 'events',
  records: [
    { external_user_id: 'bob', name: 'login', properties: { priority: of }, ...(suppress && { suppress }) },
  ],
});
const LATE_AND_AGAIN: Step[] = [
  loginStep('live', true),
  loginStep('bulk'),
  loginStep('live', true),
  { do: 'process', priority: 'bulk', records: 1 },
];

async function play(plan: Step[]): Promise<{ projectId: number; expected: Map<string, ExpectedPerson> }> {
  const { id: projectId } = await createProject(db, { name: 'Acme' });
  const accepted: { seq: number; priority: Priority; record: User | Event }[] = [];
  for (const step of plan) {
    if (step.do === 'process') {
      await processBatch(deps, {
        priority: step.priority,
        projectIds: [projectId],
        recordsPerProject: step.records,
        recordsMax: step.records,
      });
      continue;
    }
    clock.advance(1_000);
    const first = await putRecords(db, {
      projectId,
      priority: step.priority,
      kind: step.kind,
      records: step.records,
    });
    step.records.forEach((record, i) => accepted.push({ seq: first + i, priority: step.priority, record }));
  }
  for (const priority of ['live', 'bulk'] as const)
    while (
      (
        await processBatch(deps, {
          priority,
          projectIds: [projectId],
          recordsPerProject: 3,
          recordsMax: 3,
        })
      ).records > 0
    );
  return { projectId, expected: modelOf(accepted) };
}

test('traits, address and watermark follow the order of acceptance, whatever the order of processing', async () => {
  let crossed = 0;
  await fc.assert(
    fc.asyncProperty(steps, async (plan) => {
      const { projectId, expected } = await play(plan);
      const ids = [...expected.keys()].map((userId) => ({ projectId, userId }));
      const people = await findPeople(db, ids);
      expect(people.length).toBe(expected.size);
      for (const person of people) {
        const expectedPerson = expected.get(person.userId);
        if (!expectedPerson) throw new Error(`no record was sent for ${person.userId}`);
        const lifted = expectedPerson.normal.filter((seq) => seq > expectedPerson.suppressedSeq);
        expect({
          traits: sorted(person.traits),
          email: person.email,
          suppressed: isSuppressed(person),
          liveSeq: person.liveSeq,
        }).toEqual({
          traits: sorted(expectedPerson.traits),
          email: expectedPerson.email,
          suppressed: expectedPerson.suppressedSeq > 0 && lifted.length === 0,
          liveSeq: expectedPerson.suppressedSeq > 0 ? (lifted[0] ?? null) : null,
        });
        const [counted] = await db.query<{ events: number }>(
          `SELECT count(*) AS events FROM beckon.event WHERE project_id = $1 AND external_user_id = $2`,
          [projectId, person.userId],
        );
        expect(counted?.events).toBe(expectedPerson.events);
        if (person.written.traits.size > 0) crossed += 1;
      }
      expect(
        await db.query(`SELECT waiting FROM beckon.ingest_queue_state WHERE project_id = $1`, [projectId]),
      ).toEqual([{ waiting: 0 }]);
    }),
    { numRuns: 300, examples: [[LATE_AND_AGAIN]] },
  );
  // Otherwise the two priorities never crossed, and the test proves nothing.
  expect(crossed).toBeGreaterThan(10);
}, 120_000);

function sorted(traits: Map<string, unknown>): object {
  return Object.fromEntries([...traits].toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
