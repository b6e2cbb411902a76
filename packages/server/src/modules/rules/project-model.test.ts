import { expect, test } from 'vitest';
import { fixedClock } from '../../../testing/factories/clock.ts';
import { openTestDatabase } from '../../../testing/factories/database.ts';
import type { ProjectLock } from '../../platform/locks/project-lock.ts';
import type { Tx } from '../../platform/db/statements.ts';
import { createProject } from '../administration/create-project.ts';
import { createModels } from './project-model.ts';

const clock = fixedClock();
const db = await openTestDatabase(clock);

async function projectLock(): Promise<ProjectLock> {
  const { id: projectId } = await createProject(db, { name: 'Acme' });
  return { projectId, model: 0, aheadMs: 0 };
}

/** Returns the models, and whether they were read from the database. */
function setUp(modelsMax: number) {
  const models = createModels(clock, modelsMax);
  let statements = 0;
  const counted: Tx = {
    query: (text, values) => ((statements += 1), db.query(text, values)),
    prepared: (query) => ((statements += 1), db.prepared(query)),
  };
  return async (...locks: ProjectLock[]): Promise<{ projects: number; isRead: boolean }> => {
    const before = statements;
    const found = await models.of(counted, locks);
    return { projects: found.size, isRead: statements > before };
  };
}

test('reads the definitions of a project again only when they have changed', async () => {
  const find = setUp(10);
  const lock = await projectLock();
  expect(await find(lock)).toEqual({ projects: 1, isRead: true });
  expect(await find(lock)).toEqual({ projects: 1, isRead: false });
  expect(await find({ ...lock, model: 1 })).toEqual({ projects: 1, isRead: true });
});

test('keeps the models of the projects that were used last', async () => {
  const find = setUp(2);
  const [first, second, third] = [await projectLock(), await projectLock(), await projectLock()];
  expect(await find(first, second)).toEqual({ projects: 2, isRead: true });
  expect(await find(first)).toEqual({ projects: 1, isRead: false });
  expect(await find(third)).toEqual({ projects: 1, isRead: true });
  expect(await find(first)).toEqual({ projects: 1, isRead: false });
  expect(await find(second)).toEqual({ projects: 1, isRead: true });
});

test('returns all models of a batch, even if it remembers fewer', async () => {
  const find = setUp(1);
  expect(await find(await projectLock(), await projectLock())).toEqual({ projects: 2, isRead: true });
});
