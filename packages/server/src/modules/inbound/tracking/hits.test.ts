import { beforeEach, expect, test } from 'vitest';
import { fixedClock } from '../../../../testing/factories/clock.ts';
import { openTestDatabase } from '../../../../testing/factories/database.ts';
import { idMaker } from '../../../platform/ids.ts';
import { addHits } from './tracker.ts';
import type { Hit } from './hits.ts';
import { claimDueHits, listDueHits, listHits, listTargets } from './hit-reads.ts';
import { insertLinks } from '../../outcomes/store.ts';
import { eraseHits, forgetAgents, forgetLinks } from './store.ts';

const clock = fixedClock();
const db = await openTestDatabase(clock);
const newId = idMaker(db.clock);

const DAY = 86_400_000;
let projectId = 0;
beforeEach(() => {
  projectId += 1;
});

async function tracked({ userId = 'ada', urls = ['https://acme.test/'] } = {}) {
  const email = { projectId, emailId: newId(), userId, opens: true, urls };
  await insertLinks(db, [email]);
  return email;
}

const hit = (emailId: string, more: Partial<Hit> = {}): Hit => ({
  projectId,
  emailId,
  kind: 'open',
  link: null,
  at: clock.now(),
  signs: [],
  agent: 'A browser',
  remote: '192.0.2.1',
  ...more,
});
const add = (...hits: Hit[]) => db.transaction((tx) => addHits(tx, hits));
const kept = async (emailId: string) => listHits(db, [{ projectId, emailId }]);
const due = async (): Promise<string[]> =>
  ((await listDueHits(db, { now: clock.now(), limit: 100 })).get(projectId) ?? []).map(
    ({ emailId }) => emailId,
  );

test('finds link targets by project, email and number', async () => {
  const urls = ['https://acme.test/?a=%22{x}%22', 'https://b.test/,', 'https://c.test/'];
  const [many, none] = [await tracked({ urls }), await tracked({ urls: [] })];
  const at = (of: typeof many, link: number) => ({ projectId, emailId: of.emailId, link });
  const targets = [at(many, 2), at(many, 0), at(many, 3), at(none, 0), at(many, 1)];
  expect(await listTargets(db, targets)).toEqual([urls[2], urls[0], null, null, urls[1]]);
  expect(await listTargets(db, [{ ...at(many, 0), projectId: projectId + 1_000 }])).toEqual([null]);
});

test('ignores hits of unknown emails and stores the others', async () => {
  const { emailId } = await tracked();
  await add(hit(newId()), hit(emailId, { kind: 'click', link: 0, signs: ['bot', 'prefetch'] }), hit(newId()));
  expect(await kept(emailId)).toMatchObject([
    { number: 1, kind: 'click', link: 0, bot: null, signs: ['bot', 'prefetch'], agent: 'A browser' },
  ]);
  expect(await db.query(`SELECT 1 FROM beckon.hit_count WHERE project_id = $1`, [projectId])).toHaveLength(1);
});

test('makes an email due ten seconds after its first unclassified hit, and lets one worker claim it', async () => {
  const { emailId } = await tracked();
  await add(hit(emailId));
  clock.advance(9_999);
  await add(hit(emailId));
  expect(await due()).toEqual([]);
  clock.advance(1);
  expect(await due()).toEqual([emailId]);
  const claim = { projectId, emailIds: [emailId], now: clock.now() };
  await db.transaction(async (tx) => {
    expect(await claimDueHits(tx, claim)).toMatchObject([
      { emailId, opens: true, urls: ['https://acme.test/'] },
    ]);
    expect(await claimDueHits(db, claim)).toEqual([]);
  });
});

test('deletes the client of hits after their retention, some at a time, and keeps the hits', async () => {
  const { emailId } = await tracked();
  await add(hit(emailId), hit(emailId));
  clock.advance(1_000);
  await add(hit(emailId, { agent: 'Another' }));
  const before = new Date(clock.now());
  expect(await forgetAgents(db, { projectId: projectId + 1_000, before, limit: 10 })).toBe(0);
  expect(await forgetAgents(db, { projectId, before, limit: 1 })).toBe(1);
  expect(await forgetAgents(db, { projectId, before, limit: 10 })).toBe(1);
  expect(await forgetAgents(db, { projectId, before, limit: 10 })).toBe(0);
  expect((await kept(emailId)).map(({ agent, remote }) => [agent, remote])).toEqual([
    [null, null],
    [null, null],
    ['Another', '192.0.2.1'],
  ]);
});

test('deletes the link targets of old emails together with their hits', async () => {
  const old = await tracked();
  await add(hit(old.emailId));
  clock.advance(DAY);
  const young = await tracked();
  await add(hit(young.emailId));
  const before = new Date(clock.now() - DAY + 1);
  expect(await forgetLinks(db, { projectId, before, limit: 10 })).toBe(1);
  expect(await forgetLinks(db, { projectId, before, limit: 10 })).toBe(0);
  expect([await kept(old.emailId), (await kept(young.emailId)).length]).toEqual([[], 1]);
});

test('deletes all hits of an erased user, even if their email is opened at the same moment', async () => {
  const [hers, his] = [await tracked(), await tracked({ userId: 'bob' })];
  await add(hit(hers.emailId), hit(hers.emailId), hit(his.emailId));
  const opening = Array.from({ length: 10 }, () => add(hit(hers.emailId), hit(his.emailId)));
  const erased = await db.transaction((tx) => eraseHits(tx, { projectId, userId: 'ada' }));
  await Promise.all(opening);
  expect(erased).toBeGreaterThanOrEqual(2);
  for (const table of ['tracking_link', 'hit_count'])
    expect(
      await db.query(`SELECT external_user_id FROM beckon.${table} WHERE project_id = $1`, [projectId]),
    ).toEqual([{ external_user_id: 'bob' }]);
  expect(await kept(hers.emailId)).toEqual([]);
  expect(await kept(his.emailId)).toHaveLength(11);
});
