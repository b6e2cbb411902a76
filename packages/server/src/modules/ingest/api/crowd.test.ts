import { afterAll, expect, test } from 'vitest';
import { preferencesServer, linkOf } from '../../../../testing/servers/preferences-server.ts';
import { dsn, openInbound, sendTo } from '../../../../testing/factories/inbound-email.ts';
import { newVerifiedScenario, openMailStage } from '../../../../testing/factories/mail-stage.ts';
import { openTalk } from '../../../../testing/servers/smtp-client.ts';
import { takeProjectLock } from '../../../platform/locks/project-lock.ts';

const stage = await openMailStage();
const { db } = stage.server;
const { port } = await openInbound(stage);
const server = await preferencesServer(db);
afterAll(() => server.stop());
const scenario = await newVerifiedScenario(stage);
const ada = await sendTo(scenario, 'ada', 'ada@home.test');
const link = await linkOf(scenario, 'ada');

/** More than the connections to the database, for either of its uses. */
const CROWD = 30;
const REPEATED = 20;
/** More than may wait for their turns, over all projects. */
const MORE_THAN_WAIT = 1_100;

/**
 * Returns what `look` sees while the project lock is held, as by a batch of processing. The requests that `begin` started have ended when
 * it returns.
 */
async function whileLockIsHeld<T>(begin: () => Promise<unknown>[], look: () => Promise<T>): Promise<T> {
  const [held, over] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const holding = db.transaction(async (tx) => {
    await takeProjectLock(tx, scenario.projectId);
    held.resolve();
    await over.promise;
  });
  await held.promise;
  const begun = begin();
  try {
    return await look();
  } finally {
    over.resolve();
    await holding;
    await Promise.all(begun);
  }
}

/** Uses both pools of the database, as other requests do at the same time. */
async function mostThatWait(): Promise<number> {
  let [most, seen] = [0, 0];
  while (seen < REPEATED) {
    const session = await db.session({ freshPlans: false });
    const [row] = await db.query<{ n: number }>(
      `SELECT count(*)::int AS n FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
    );
    session.release(false);
    most = Math.max(most, row?.n ?? 0);
    if (most > 0) seen += 1;
  }
  return most;
}

test('lets one preference change of a project wait for its lock, and serves all other requests', async () => {
  const press = (): Promise<Response> =>
    fetch(`${server.url}${link}/snooze`, { method: 'POST', body: new URLSearchParams({ days: '30' }) });
  const waiting = await whileLockIsHeld(() => Array.from({ length: CROWD }, press), mostThatWait);
  expect(waiting).toBe(1);
  const responses = await Promise.all(Array.from({ length: CROWD }, press));
  expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([200]));
}, 20_000);

test('serves links of another project while many requests wait for the lock of one project', async () => {
  const other = await newVerifiedScenario(stage);
  await sendTo(other, 'bob', 'bob@home.test');
  const theirs = await linkOf(other, 'bob');
  const press = (of: string): Promise<number> => server.press(`${of}/snooze`, { days: '30' });
  const firstRefusal = Promise.withResolvers<void>();
  const pressOften = async (): Promise<void> => {
    if ((await press(link)) === 503) firstRefusal.resolve();
  };
  const status = await whileLockIsHeld(
    () => Array.from({ length: MORE_THAN_WAIT }, pressOften),
    async () => {
      await firstRefusal.promise;
      return press(theirs);
    },
  );
  expect(status).toBe(200);
}, 20_000);

test('lets one report about a project wait for its lock, and serves all other requests', async () => {
  const talks = await Promise.all(Array.from({ length: CROWD }, () => openTalk(port)));
  const codes: string[] = [];
  const report = async (talk: (typeof talks)[number]): Promise<void> => {
    const { data } = await talk.submit({ to: [ada.bounceTo], raw: dsn({ recipient: ada.email }) });
    codes.push(data.slice(0, 3));
  };
  const waiting = await whileLockIsHeld(() => talks.map(report), mostThatWait);
  for (const talk of talks) talk.close();
  expect(waiting).toBe(1);
  expect(codes).toEqual(Array.from({ length: CROWD }, () => '250'));
}, 20_000);
