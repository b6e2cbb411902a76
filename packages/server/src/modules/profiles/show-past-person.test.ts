import type { UserThen } from '@beckon/contract/dashboard';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { fixedClock } from '../../../testing/factories/clock.ts';
import { openTestDatabase } from '../../../testing/factories/database.ts';
import { openEngine } from '../../../testing/factories/engine.ts';
import { putRecords } from '../../../testing/factories/ingest-queue.ts';
import { createAudience } from '../audiences/change-audience.ts';
import { createProject } from '../administration/create-project.ts';
import { showPerson } from '../explain/show-person.ts';
import { showPastUser } from './show-past-person.ts';
import { listRuleNeeds } from '../rules/runs/rules-in-force.ts';

const clock = fixedClock();
const db = await openTestDatabase(clock);
const engine = openEngine(db, clock);

const HOUR = 3_600_000;

const DEFINITIONS = [
  { trait: 'plan', equals: 'pro' },
  { not: { trait: 'seats', at_least: 2 } },
  { event: 'login', at_least: 2, within: '1d' },
  { event: 'login', exactly: 0 },
  { event: 'paid', sum: 'amount', at_least: 10, within: '2d' },
  { event: 'login', last: { more_than_ago: '12h' } },
  { trait: 'due', in_next: '1d' },
  { user: 'email', ends_with: '@x.org' },
];

type Act =
  | { kind: 'traits' | 'import'; traits: object; email?: string }
  | { kind: 'event'; name: string }
  | { kind: 'wait' };

const traits = fc.record(
  {
    plan: fc.constantFrom('pro', 'trial', null),
    seats: fc.constantFrom(1, 2, 3, null),
    due: fc.integer({ min: 0, max: 72 }).map((hours) => new Date(clock.now() + hours * HOUR).toISOString()),
  },
  { requiredKeys: [] },
);
const email = fc.option(fc.constantFrom('ada@x.org', 'ada@y.org'), { nil: undefined });
const act = (imports: boolean): fc.Arbitrary<Act> =>
  fc.oneof(
    fc.record({ kind: fc.constant('traits' as const), traits, email }),
    ...(imports ? [fc.record({ kind: fc.constant('import' as const), traits, email })] : []),
    fc.record({ kind: fc.constant('event' as const), name: fc.constantFrom('login', 'paid') }),
    fc.constant({ kind: 'wait' as const }),
  ) as fc.Arbitrary<Act>;
const history = (imports: boolean) =>
  fc.array(fc.record({ act: act(imports), hours: fc.integer({ min: 1, max: 20 }) }), {
    minLength: 1,
    maxLength: 12,
  });

async function newProject(): Promise<number> {
  const { id: projectId } = await createProject(db, { name: 'Acme' });
  for (const [i, definition] of DEFINITIONS.entries()) {
    const made = await createAudience({ db, listRuleNeeds }, { projectId, name: `a${i}`, definition });
    if (i === 0)
      await createAudience(
        { db, listRuleNeeds },
        { projectId, name: 'nested', definition: { not: { audience: made.id } } },
      );
  }
  await engine.settle();
  return projectId;
}

async function perform(projectId: number, act: Act): Promise<void> {
  if (act.kind === 'wait') return;
  const isEvent = act.kind === 'event';
  const record = isEvent
    ? { external_user_id: 'ada', name: act.name, properties: { amount: 4 } }
    : { external_user_id: 'ada', traits: act.traits, ...(act.email ? { email: act.email } : {}) };
  const priority = act.kind === 'import' ? 'bulk' : 'live';
  await putRecords(db, { projectId, kind: isEvent ? 'events' : 'users', priority, records: [record] });
}

type Recorded = {
  at: number;
  email: string | null;
  traits: Record<string, unknown>;
  audiences: string[];
} | null;

async function record(projectId: number): Promise<Recorded> {
  const at = clock.now();
  const person = await showPerson(db, { projectId, userId: 'ada' }).catch(() => null);
  if (!person) return null;
  const { email: address, traits: values, audiences } = person;
  return { at, email: address, traits: values, audiences: audiences.map(({ name }) => name) };
}

async function live(projectId: number, steps: { act: Act; hours: number }[]): Promise<Recorded[]> {
  const recorded: Recorded[] = [];
  for (const { act: step, hours } of steps) {
    await perform(projectId, step);
    await engine.settle();
    recorded.push(await record(projectId));
    await engine.advance(hours * HOUR);
    recorded.push(await record(projectId));
    clock.advance(1);
  }
  return recorded;
}

const then = (projectId: number, at: number): Promise<UserThen> =>
  showPastUser(db, { projectId, userId: 'ada', at });

test('shows a past time of live changes exactly as it was', async () => {
  await fc.assert(
    fc.asyncProperty(history(false), async (steps) => {
      const projectId = await newProject();
      for (const was of await live(projectId, steps)) {
        if (!was) continue;
        const past = await then(projectId, was.at);
        expect(past.state).toBe('known');
        expect(past.traits.map(({ certainty }) => certainty)).toEqual(past.traits.map(() => 'exact'));
        expect(Object.fromEntries(past.traits.map(({ trait, value }) => [trait, value]))).toEqual(was.traits);
        if (past.email.certainty === 'exact') {
          expect(past.email.value).toBe(was.email);
          expect(past.audiences.map(({ name }) => name)).toEqual(was.audiences);
        } else expect(past.email.certainty).toBe('not_kept');
      }
    }),
    { numRuns: 10 },
  );
}, 120_000);

test('marks only correct values as exact across imports', async () => {
  await fc.assert(
    fc.asyncProperty(history(true), async (steps) => {
      const projectId = await newProject();
      for (const was of await live(projectId, steps)) {
        if (!was) continue;
        const past = await then(projectId, was.at);
        // A user created by an import is first seen at their first event, which may have occurred before.
        if (past.state !== 'known') continue;
        const values = new Map(past.traits.map((trait) => [trait.trait, trait]));
        for (const name of new Set([...values.keys(), ...Object.keys(was.traits)])) {
          const trait = values.get(name);
          if ((trait?.certainty ?? past.others) === 'exact')
            expect(trait?.value, name).toEqual(was.traits[name]);
        }
        if (past.email.certainty === 'exact') expect(past.email.value).toBe(was.email);
        const sure = past.audiences.filter(({ certainty }) => certainty === 'exact').map(({ name }) => name);
        expect(was.audiences).toEqual(expect.arrayContaining(sure));
      }
    }),
    { numRuns: 10 },
  );
}, 120_000);

test('reports an import since then, and does not guess the values before it', async () => {
  const projectId = await newProject();
  await live(projectId, [{ act: { kind: 'import', traits: { plan: 'trial' } }, hours: 1 }]);
  const at = clock.now();
  clock.advance(HOUR);
  await live(projectId, [{ act: { kind: 'import', traits: { plan: 'pro' } }, hours: 1 }]);
  const past = await then(projectId, at);
  expect(past.traits).toEqual([{ trait: 'plan', value: null, certainty: 'import' }]);
  await live(projectId, [{ act: { kind: 'traits', traits: { plan: 'free' } }, hours: 1 }]);
  const later = await then(projectId, clock.now());
  expect(later.traits).toEqual([{ trait: 'plan', value: 'free', certainty: 'exact' }]);
});

test('lists upcoming changes by time alone with their times', async () => {
  const projectId = await newProject();
  await live(projectId, [{ act: { kind: 'event', name: 'login' }, hours: 1 }]);
  const at = clock.now();
  await live(projectId, [{ act: { kind: 'wait' }, hours: 30 }]);
  const past = await then(projectId, at);
  const login = at - HOUR - 1;
  expect(past.next.map(({ name, at: moment }) => [name, moment])).toContainEqual([
    'a5',
    new Date(login + 12 * HOUR).toISOString(),
  ]);
});
