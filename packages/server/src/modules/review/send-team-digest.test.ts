import { beforeEach, expect, test } from 'vitest';
import { jobRun } from '../../../testing/factories/job-run.ts';
import { fixedClock } from '../../../testing/factories/clock.ts';
import { openTestDatabase } from '../../../testing/factories/database.ts';
import { HOUR, MINUTE } from '../../../testing/factories/drafts.ts';
import { openEngine } from '../../../testing/factories/engine.ts';
import { putRecords } from '../../../testing/factories/ingest-queue.ts';
import { silentLog } from '../../platform/log.ts';
import type { TeamTransport, TeamEmail } from '../delivery/team-email.ts';
import type { Draft } from '../drafts/draft.ts';
import { listDrafts } from '../drafts/reads.ts';
import { createProject } from '../administration/create-project.ts';
import { createRule } from '../rules/write-rule.ts';
import { setSettings } from '../administration/set-settings.ts';
import { SETTLED_MS, sendTeamDigests } from './send-team-digest.ts';

const clock = fixedClock();
const db = await openTestDatabase(clock);
const engine = openEngine(db, clock);

const sentDigests: (TeamEmail & { projectId: number })[] = [];
let isDown = false;
const teamTransport: TeamTransport = {
  submit(projectId, email) {
    if (isDown) return Promise.reject(new Error('the relay is down'));
    sentDigests.push({ projectId, ...email });
    return Promise.resolve();
  },
};
const digests = { db, log: silentLog, publicUrl: 'https://beckon.example', teamTransport };

/** Runs the job now and returns the subjects of the digests that it sent. */
async function runJob(): Promise<string[]> {
  const before = sentDigests.length;
  await sendTeamDigests(digests, jobRun());
  return sentDigests
    .slice(before)
    .filter((email) => email.projectId === projectId)
    .map(({ subject }) => subject);
}

let projectId = 0;
beforeEach(async () => {
  clock.advance(HOUR);
  isDown = false;
  projectId = await openProject('Acme');
});

async function openProject(name: string): Promise<number> {
  const { id } = await createProject(db, { name });
  await setSettings(db, id, { quiet_hours: 'off', frequency_cap: 'off', time_zone: 'Europe/Paris' });
  for (const [rule, deadline] of Object.entries({ hello: '2h', slow: '9h' })) {
    const document = { name: rule, when: { event: rule }, deadline, steps: [{ draft: 'welcome' }] };
    await createRule(db, { projectId: id, document });
  }
  return id;
}

/** Creates a draft that is old enough to be reported. */
async function happens(id: string, name: string, email: string | null = `${id}@x.org`): Promise<Draft> {
  const users = [{ external_user_id: id, ...(email === null ? {} : { email }) }];
  await putRecords(db, { projectId, kind: 'users', records: users });
  const events = [{ external_user_id: id, name, properties: {} }];
  await putRecords(db, { projectId, kind: 'events', records: events });
  await engine.settle();
  clock.advance(SETTLED_MS);
  const query = { projectId, userId: id, state: null, ruleId: null, after: null, limit: 1 };
  const [draft] = await listDrafts(db, query);
  if (!draft) throw new Error(`there is no draft for ${id}`);
  return draft;
}

test('sends the first waiting draft as soon as possible, and later ones at most every 15 minutes', async () => {
  expect(await runJob()).toEqual([]);
  await happens('ada', 'hello');
  expect(await runJob()).toEqual(['Acme: 1 draft waits']);
  await happens('bea', 'hello');
  clock.advance(15 * MINUTE - SETTLED_MS - 1);
  expect(await runJob()).toEqual([]);
  clock.advance(1);
  expect(await runJob()).toEqual(['Acme: 2 drafts wait']);
});

test('sends nothing without a new draft', async () => {
  await happens('ada', 'hello');
  expect(await runJob()).toHaveLength(1);
  clock.advance(HOUR);
  expect(await runJob()).toEqual([]);
  // Drafts that were sent, or that came and went in between, are not reported either.
  await engine.advance(HOUR);
  expect(await runJob()).toEqual([]);
});

test('states the number of drafts per rule, the first deadline and where to review', async () => {
  const slow = await happens('ada', 'slow');
  const bea = await happens('bea', 'hello');
  clock.advance(1);
  await happens('cid', 'hello');
  await happens('dan', 'hello', null);
  await runJob();
  const at = Temporal.Instant.fromEpochMilliseconds(bea.deadlineAt ?? 0).toZonedDateTimeISO('Europe/Paris');
  const when = `${at.toPlainDate().toString()} ${at.toPlainTime().toString({ smallestUnit: 'minute' })}`;
  const email = sentDigests.at(-1);
  expect(email?.subject).toBe('Acme: 3 drafts wait, 1 held');
  expect(email?.text.split('\n')).toEqual([
    `The first is sent at ${when} (Europe/Paris), unless a member decides first.`,
    '',
    `hello: 2 drafts wait, 1 draft held, the first is sent at ${when} (Europe/Paris)`,
    `  https://beckon.example/p/${projectId}/drafts/${bea.id}`,
    expect.stringMatching(/^slow: 1 draft waits, the first is sent at /) as string,
    `  https://beckon.example/p/${projectId}/drafts/${slow.id}`,
    '',
  ]);
});

test('sends once from two processes, and only the drafts of each project', async () => {
  await happens('ada', 'hello');
  const first = projectId;
  projectId = await openProject('Other');
  await happens('eve', 'hello');
  const before = sentDigests.length;
  await Promise.all([sendTeamDigests(digests, jobRun()), sendTeamDigests(digests, jobRun())]);
  const subjects = sentDigests.slice(before).map((email) => [email.projectId, email.subject]);
  expect(subjects.toSorted(([a], [b]) => Number(a) - Number(b))).toEqual([
    [first, 'Acme: 1 draft waits'],
    [projectId, 'Other: 1 draft waits'],
  ]);
});

test('repeats the content of a failed digest in the next one after 15 minutes, from any process', async () => {
  await happens('ada', 'hello');
  isDown = true;
  expect(await runJob()).toEqual([]);
  isDown = false;
  clock.advance(15 * MINUTE - 1);
  expect(await runJob()).toEqual([]);
  clock.advance(1);
  expect(await runJob()).toEqual(['Acme: 1 draft waits']);
  clock.advance(15 * MINUTE);
  expect(await runJob()).toEqual([]);
});

test('does not repeat the digest before a failed one', async () => {
  await happens('ada', 'hello');
  expect(await runJob()).toEqual(['Acme: 1 draft waits']);
  clock.advance(15 * MINUTE);
  await happens('bea', 'hello');
  isDown = true;
  expect(await runJob()).toEqual([]);
  isDown = false;
  clock.advance(15 * MINUTE);
  expect(await runJob()).toEqual(['Acme: 2 drafts wait']);
  clock.advance(15 * MINUTE);
  expect(await runJob()).toEqual([]);
});

test('stops between two projects', async () => {
  await happens('ada', 'hello');
  await sendTeamDigests(
    digests,
    jobRun(() => true),
  );
  expect(sentDigests.some((email) => email.projectId === projectId)).toBe(false);
  expect(await runJob()).toHaveLength(1);
});
