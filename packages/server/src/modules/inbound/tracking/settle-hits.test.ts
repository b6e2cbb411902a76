import { expect, test } from 'vitest';
import { openStage } from '../../../../testing/scenario.ts';
import {
  sendTracked,
  settleAll,
  startTracking,
  type TrackedEmail,
} from '../../../../testing/servers/tracking.ts';
import { idMaker } from '../../../platform/ids.ts';
import { silentLog } from '../../../platform/log.ts';
import { settleHits } from './settle-hits.ts';

const stage = await openStage();
const { db } = stage.server;
const here = await startTracking(db);

/** Makes the database reject the classification of matching emails with this SQL state. */
async function refuse(where: string, state: string): Promise<void> {
  const name = `refuse_${state}`;
  await db.query(`CREATE FUNCTION beckon.${name}() RETURNS trigger LANGUAGE plpgsql AS
    $f$ BEGIN RAISE EXCEPTION 'no' USING ERRCODE = '${state}'; END $f$`);
  await db.query(`CREATE TRIGGER ${name} BEFORE UPDATE ON beckon.hit_count FOR EACH ROW
    WHEN (${where} AND NEW.classify_at IS NULL) EXECUTE FUNCTION beckon.${name}()`);
}

/** Adds emails that were opened long ago. */
async function addOpened({ scenario }: TrackedEmail, emails: number): Promise<void> {
  await db.query(
    `WITH l AS (INSERT INTO beckon.tracking_link (project_id, email_id, external_user_id, opens, urls)
       SELECT $1::bigint, gen_random_uuid(), 'ada', true, '{}' FROM generate_series(1, $2) RETURNING *)
     INSERT INTO beckon.hit_count (project_id, email_id, external_user_id, hits, classify_at)
     SELECT project_id, email_id, external_user_id, 1, 'epoch' FROM l`,
    [scenario.projectId, emails],
  );
}

async function waiting({ scenario }: TrackedEmail): Promise<number> {
  const [row] = await db.query<{ n: number }>(
    `SELECT count(*)::int AS n FROM beckon.hit_count WHERE project_id = $1 AND classify_at IS NOT NULL`,
    [scenario.projectId],
  );
  return row?.n ?? 0;
}

test('does not let a failing project delay others, however much waits in it', async () => {
  const [bad, good] = [await sendTracked(stage), await sendTracked(stage)];
  await addOpened(bad, 600);
  await refuse(`NEW.project_id = ${bad.scenario.projectId}`, 'P0001');
  await here.get(good.pixel);
  await settleAll(stage, [here]);
  await settleAll(stage, [here], 1_000);
  expect(await good.outcomes()).toEqual(['opened -1 no']);
  expect(await waiting(bad)).toBe(600);
  await db.query('DROP TRIGGER refuse_P0001 ON beckon.hit_count');
  await settleAll(stage, [here], 60_000);
  expect(await waiting(bad)).toBe(0);
});

test('does not let an email that cannot be classified delay others of its project', async () => {
  const email = await sendTracked(stage);
  await addOpened(email, 20);
  await refuse(`NEW.email_id = '${email.emailId}'`, '22000');
  await here.get(email.pixel);
  await settleAll(stage, [here]);
  expect(await waiting(email)).toBe(1);
  await db.query('DROP TRIGGER refuse_22000 ON beckon.hit_count');
  await settleAll(stage, [here], 60_000);
  expect(await email.outcomes()).toEqual(['opened -1 no']);
});

test('classifies 1,000 hits per transaction when a scanner followed every link of every email', async () => {
  const { scenario } = await sendTracked(stage);
  await db.query(
    `WITH l AS (INSERT INTO beckon.tracking_link (project_id, email_id, external_user_id, opens, urls)
       SELECT $1::bigint, gen_random_uuid(), 'ada', true, '{}' FROM generate_series(1, 35) RETURNING *)
     INSERT INTO beckon.hit_count (project_id, email_id, external_user_id, hits, classify_at)
     SELECT project_id, email_id, external_user_id, 1000000, 'epoch' FROM l`,
    [scenario.projectId],
  );
  let transactions = 0;
  const counting: typeof db.transaction = (work) => {
    transactions += 1;
    return db.transaction(work);
  };
  const deps = { db: { ...db, transaction: counting }, newId: idMaker(db.clock), log: silentLog };
  expect(await settleHits(deps)).toEqual({ emails: 35, isMore: false });
  expect(transactions).toBe(4);
});
