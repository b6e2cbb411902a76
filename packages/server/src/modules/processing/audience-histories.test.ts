import fc from 'fast-check';
import { expect, test } from 'vitest';
import { testHasher } from '../../../testing/factories/send-services.ts';
import { audienceHistories, type Step, withIds } from '../../../testing/oracles/audience-histories.ts';
import { fixedClock } from '../../../testing/factories/clock.ts';
import { openTestDatabase } from '../../../testing/factories/database.ts';
import { putRecords } from '../../../testing/factories/ingest-queue.ts';
import { Fault } from '../../platform/fault.ts';
import { idMaker } from '../../platform/ids.ts';
import { silentLog } from '../../platform/log.ts';
import { predicateSql } from '../../platform/predicate/sql.ts';
import { sqlParams } from '../../platform/predicate/sql-values.ts';
import type { AudienceVersion } from '../audiences/model.ts';
import { type AudienceVersionKey, listBuilding } from '../audiences/build-version.ts';
import { loadModels } from '../audiences/load-models.ts';
import { listDueProjects } from '../../platform/locks/timers.ts';
import { createAudience, deleteAudience, editAudience } from '../audiences/change-audience.ts';
import { createProject } from '../administration/create-project.ts';
import { erasePerson } from '../profiles/erase-user.ts';
import { createProcessor, type Processor } from './process.ts';
import { listRuleNeeds } from '../rules/runs/rules-in-force.ts';

/**
 * `AUDIENCE_HISTORIES=1000` runs that many histories, and another `AUDIENCE_SEED` runs different ones. `AUDIENCE_SHRINK=1` shrinks a
 * failing history, which can take long.
 */
const HISCENARIOS = Number(process.env['AUDIENCE_HISTORIES'] ?? 30);
const SEED = Number(process.env['AUDIENCE_SEED'] ?? 1);
const SHRINKS = process.env['AUDIENCE_SHRINK'] !== undefined;
const EACH_MS = 10_000;

const clock = fixedClock();
const db = await openTestDatabase(clock);
const newId = idMaker(db.clock);
const first = createProcessor({ db, log: silentLog, newId, hasher: testHasher });
const second = createProcessor({ db, log: silentLog, newId, hasher: testHasher });
const workerOf = (worker: number): Processor => (worker === 0 ? first : second);

const PRIORITIES = ['live', 'bulk'] as const;
const HALF_HOUR_MS = 30 * 60_000;
/** More rounds than any of these histories needs, so a loop that runs longer does not terminate. */
const ROUNDS_MAX = 500;

/** A project, the audience at each place, and the number of events sent. */
type World = { projectId: number; ids: Map<number, string>; events: number };
type Play<Do extends Step['do']> = (world: World, step: Extract<Step, { do: Do }>) => Promise<unknown>;

const PLAYS: { [Do in Step['do']]: Play<Do> } = {
  users({ projectId }, { priority, users }) {
    const records = users.map(({ userId, email, plan, whenAgoMs }) => ({
      external_user_id: userId,
      ...(email !== null && { email }),
      traits: {
        ...(plan !== undefined && { plan }),
        ...(whenAgoMs !== null && { when: timeAgo(whenAgoMs) }),
      },
    }));
    return putRecords(db, { projectId, priority, kind: 'users', records });
  },
  events(world, { priority, events }) {
    const records = events.map(({ userId, name, properties, agoMs }) => ({
      external_user_id: userId,
      name,
      properties,
      message_id: `m${(world.events += 1)}`,
      ...(agoMs !== null && { occurred_at: timeAgo(agoMs) }),
    }));
    return putRecords(db, { projectId: world.projectId, priority, kind: 'events', records });
  },
  process: ({ projectId }, { priority, records, worker }) =>
    workerOf(worker).batch(priority, [projectId], records),
  async wait(world, { ms, isCompared }) {
    clock.advance(ms);
    if (isCompared) await compareAtRest(world);
  },
  async build({ projectId }, { steps, pick, worker }) {
    for (let n = 0; n < steps; n += 1) {
      const keys = await building(projectId);
      const chosen = keys[pick % Math.max(1, keys.length)];
      if (chosen) await workerOf(worker).build(chosen);
    }
  },
  finish: ({ projectId }) => buildAll(projectId),
  define({ projectId, ids }, { slot, definition: document }) {
    const definition = withIds(document, ids);
    const id = ids.get(slot);
    return unless('validation_failed', async () => {
      if (id !== undefined)
        await editAudience({ db, listRuleNeeds }, { projectId, reference: id, definition });
      else
        ids.set(
          slot,
          (await createAudience({ db, listRuleNeeds }, { projectId, name: `A${slot}`, definition })).id,
        );
    });
  },
  async drop({ projectId, ids }, { slot: key }) {
    const reference = ids.get(key);
    if (reference === undefined) return;
    await unless('validation_failed', async () => {
      await deleteAudience({ db, listRuleNeeds }, { projectId, reference });
      ids.delete(key);
    });
  },
  erase: ({ projectId }, { userId }) =>
    unless('not_found', () => erasePerson({ db, newId, hasher: testHasher }, { projectId, userId })),
};

test(
  'members match the definition, whatever is sent, built, defined and erased in any order',
  async () => {
    await fc.assert(
      fc.asyncProperty(audienceHistories, async (steps) => {
        clock.advance(1_000);
        const { id: projectId } = await createProject(db, { name: 'Acme' });
        const world: World = { projectId, ids: new Map(), events: 0 };
        for (const step of steps) await play(world, step);
        await compareAtRest(world);
        await buildAll(projectId);
        await compareAtRest(world);
        // Future changes: each definition looks at two hours at most, and some are nested.
        for (let halfHours = 0; halfHours < 5; halfHours += 1) {
          clock.advance(HALF_HOUR_MS + 1);
          await compareAtRest(world);
        }
        expect(await db.query('SELECT * FROM beckon.dead_letter')).toEqual([]);
      }),
      { numRuns: HISCENARIOS, seed: SEED, endOnFailure: !SHRINKS },
    );
  },
  HISCENARIOS * EACH_MS + (SHRINKS ? 3_600_000 : 0),
);

function play<Do extends Step['do']>(world: World, step: Extract<Step, { do: Do }>): Promise<unknown> {
  return PLAYS[step.do as Do](world, step);
}

function timeAgo(ms: number): string {
  return new Date(clock.now() - ms).toISOString();
}

/** A rejected step changes nothing, and the history continues. */
async function unless(code: Fault['code'], act: () => Promise<unknown>): Promise<void> {
  try {
    await act();
  } catch (error) {
    if (!(error instanceof Fault) || error.code !== code) throw error;
  }
}

async function building(projectId: number): Promise<AudienceVersionKey[]> {
  return (await listBuilding(db, 1_000)).filter((key) => key.projectId === projectId);
}

async function buildAll(projectId: number): Promise<void> {
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    const keys = await building(projectId);
    if (keys.length === 0) return;
    for (const key of keys) await first.build(key);
  }
  throw new Error('it is never built');
}

/** Processes everything that is queued or due, then compares the members of each served audience with its definition. */
async function compareAtRest({ projectId }: World): Promise<void> {
  for (const priority of PRIORITIES) while ((await first.batch(priority, [projectId])).records > 0);
  for (let round = 0; await isDue(projectId); round += 1) {
    if (round === ROUNDS_MAX) throw new Error('what is due is never done');
    await first.timers(projectId);
  }
  const model = (await loadModels(db, [projectId])).get(projectId);
  const served = (model?.versions ?? []).filter(({ state }) => state === 'served');
  for (const version of served) {
    const of = { audience: version.name, definition: JSON.stringify(version.predicate) };
    const expected = await passing(projectId, version);
    expect({ ...of, ...(await kept(projectId, version)) }).toEqual({
      ...of,
      members: expected,
      counted: expected.length,
    });
  }
  expect(await isWoken(projectId)).toBe(true);
}

async function isDue(projectId: number): Promise<boolean> {
  const projects = await listDueProjects(db, { work: 'process', now: new Date(clock.now()), limit: 10_000 });
  return projects.some((project) => project.projectId === projectId);
}

/** Evaluates the definition for all users again, by current data. */
async function passing(projectId: number, { predicate, references }: AudienceVersion): Promise<string[]> {
  const params = sqlParams([projectId, new Date(clock.now())]);
  const versionId = (audienceId: string): number | null => references.get(audienceId) ?? null;
  const passes = predicateSql(predicate, { params, projectId: '$1', now: '$2', versionId });
  const rows = await db.query<{ id: string }>(
    `SELECT p.external_user_id AS id FROM beckon.person p
     WHERE p.project_id = $1 AND $2::timestamptz IS NOT NULL AND ${passes} ORDER BY 1`,
    params.values,
  );
  return rows.map(({ id }) => id);
}

async function kept(
  projectId: number,
  { versionId }: AudienceVersion,
): Promise<{ members: string[]; counted: number | undefined }> {
  const rows = await db.query<{ id: string }>(
    'SELECT external_user_id AS id FROM beckon.audience_member WHERE project_id = $1 AND version_id = $2 ORDER BY 1',
    [projectId, versionId],
  );
  const [row] = await db.query<{ members: number }>(
    'SELECT members FROM beckon.audience_version WHERE project_id = $1 AND version_id = $2',
    [projectId, versionId],
  );
  return { members: rows.map(({ id }) => id), counted: row?.members };
}

/** Returns true if the project's alarm is set no later than the first time at which an evaluation may change by time alone. */
async function isWoken(projectId: number): Promise<boolean> {
  const [row] = await db.query<{ woken: boolean }>(
    `SELECT coalesce((SELECT next_at FROM beckon.project_timer WHERE project_id = $1 AND work = 'process') <= min(at), min(at) IS NULL) AS woken
     FROM beckon.audience_timer WHERE project_id = $1`,
    [projectId],
  );
  return row?.woken ?? false;
}
