import pg from 'pg';
import type { Random } from '../../../packages/server/src/modules/operations/demo/random.ts';
import type { Database } from '../../../packages/server/src/platform/db/database.ts';
import type { Query, Session } from '../../../packages/server/src/platform/db/statements.ts';
import { InvariantError } from '../emails/checks.ts';
import { apply, keyNameOf, type Rows, runStore, type Defect, type Writes } from './rows.ts';

/** Connections of one process to rows in memory. Each statement waits until the scheduler of the simulation runs it. */
export type Wire = { database: Database; ready(): Statement[]; cut(): void };
export type Statement = { label: string; run(): void };

type OpenSession = {
  statements: (Statement & { mayRun: () => boolean; fail: (error: Error) => void })[];
  writes: Writes | null;
  isAborted: boolean;
};
export type World = {
  rows: Rows;
  random: Random;
  now: () => number;
  defect: Defect;
  isCalm: () => boolean;
};

export function openWire(world: World): Wire {
  const sessions = new Set<OpenSession>();
  let isCut = false;
  const openSession = (): Session => {
    const session: OpenSession = { statements: [], writes: null, isAborted: false };
    sessions.add(session);
    return sessionOf(world, session, () => isCut);
  };
  const database = {
    clock: { now: world.now },
    session: () => (isCut ? Promise.reject(new Error('dead')) : Promise.resolve(openSession())),
    query: (_text: string, values: unknown[]) => Promise.resolve(findAnswers(world.rows, values)),
  } as unknown as Database;
  return {
    database,
    ready: () => [...sessions].flatMap(({ statements: [first] }) => (first?.mayRun() ? [first] : [])),
    cut() {
      isCut = true;
      for (const session of sessions) {
        releaseLocks(world.rows, session);
        for (const statement of session.statements.splice(0)) statement.fail(new Error('dead'));
      }
    },
  };
}

function sessionOf(world: World, session: OpenSession, isCut: () => boolean): Session {
  const enqueue = (label: string, mayRun: () => boolean, run: () => object[]): Promise<never> =>
    new Promise((resolve, reject) => {
      if (isCut()) return reject(new Error('dead'));
      session.statements.push({
        label,
        mayRun,
        fail: reject,
        run() {
          session.statements.shift();
          try {
            resolve(run() as never);
          } catch (error) {
            if (error instanceof InvariantError) world.rows.broken ??= error;
            reject(error);
          }
        },
      });
    });
  return {
    script: (text: string) =>
      text === 'COMMIT'
        ? enqueue(
            'COMMIT',
            () => true,
            () => commit(world, session),
          )
        : lock(world, session, { text, enqueue }),
    prepared: ({ values }: Query) =>
      enqueue(
        'store',
        () => true,
        () => store(world, session, values ?? []),
      ),
    together: <T>(work: () => T) => work(),
    release: () => {},
  } as unknown as Session;
}

type LockOptions = {
  text: string;
  enqueue: (label: string, mayRun: () => boolean, run: () => object[]) => Promise<never>;
};

function lock({ rows }: World, session: OpenSession, { text, enqueue }: LockOptions): Promise<never> {
  const projects = (/project_id IN \(([\d,]+)\)/.exec(text)?.[1] ?? '').split(',').map(Number);
  const isFree = (): boolean => projects.every((id) => !rows.locks.has(id));
  return enqueue(`lock ${projects.join(', ')}`, isFree, () => {
    for (const id of projects) rows.locks.set(id, session);
    Object.assign(session, { writes: null, isAborted: false });
    return [];
  });
}

function store({ rows, random, defect, isCalm }: World, session: OpenSession, values: unknown[]): object[] {
  if (!isCalm() && random.chance(0.05)) {
    session.isAborted = true;
    throw Object.assign(new pg.DatabaseError('deadlock detected', 0, 'error'), { code: '40P01' });
  }
  const { row, writes } = runStore(rows, values, defect);
  session.writes = writes;
  return [row];
}

/** Commits. A transaction with a refused statement is rolled back. The connection may break before the commit or after it. */
function commit({ rows, random, defect, isCalm }: World, session: OpenSession): object[] {
  const chance = isCalm() ? 1 : random.next();
  const { writes, isAborted } = session;
  if (chance >= 0.05 && writes && !isAborted) apply(rows, writes, defect);
  releaseLocks(rows, session);
  if (chance < 0.1) throw new Error('the connection broke');
  return [];
}

function releaseLocks(rows: Rows, session: OpenSession): void {
  for (const [id, holder] of rows.locks) if (holder === session) rows.locks.delete(id);
  session.writes = null;
}

function findAnswers({ storedKeys }: Rows, [projects, keys]: unknown[]): object[] {
  return (projects as number[]).flatMap((projectId, i) => {
    const key = (keys as string[])[i] ?? '';
    const stored = storedKeys.get(keyNameOf(projectId, key));
    if (!stored) return [];
    const { fingerprint, status, acceptedAt } = stored;
    return [{ project_id: projectId, key, fingerprint, status, body: null, accepted_at: acceptedAt }];
  });
}
